import PhotoModel

/// Finds the photos of an export in another library, or in the same one.
///
/// A photo of the export and one of the library belong together by the first of these rules that applies:
///
/// 1. They have the same hash of the whole content, and no other photo of either side has it.
/// 2. They have the same path.
/// 3. They have the same path below a watched folder.
///
/// A path alone proves nothing, because cameras give the same names again and again. So the second and third rule also
/// need the same hash, or the same size if the export has no hash. In the library of the export, the second rule needs
/// neither, because there a photo whose file was edited since has kept its path.
///
/// Each photo of the library belongs to one photo of the export at most. photod hashes the files of photos with user data.
/// In a new library, no photo has any. So the matcher has files hashed: first those at the places of photos, then those of
/// the same size as photos that were not found.
struct PhotoMatcher {
  /// A photo of the library that may be one of the export.
  struct Candidate: Hashable {
    let id: AssetID
    let path: [UInt8]
    let byteCount: Int64
    var contentHash: String?
  }

  private let photos: [ExportedPhoto]
  private let roots: [[UInt8]]
  private let isSameLibrary: Bool
  private let idsByPath: [[UInt8]: AssetID]
  private var candidates: [AssetID: Candidate]
  private var idsByHash: [String: [AssetID]] = [:]
  /// The photos of the library whose files could not be hashed.
  private var unreadable: Set<AssetID> = []
  /// Parallel to the photos of the export.
  private(set) var matches: [AssetID?]
  /// The photos of the library that have one of the export, with its index.
  private var taken: [AssetID: Int] = [:]

  /// - Parameters:
  ///   - roots: the watched folders of the library.
  ///   - isSameLibrary: whether the export is one of this library.
  ///   - idsByPath: for the paths of ``paths(of:roots:)`` that the library has.
  ///   - hashOf: reads the file of a candidate whose hash is unknown. nil stands for a file that can't be read, or has
  ///     changed. It is called once for each file at most.
  init(
    _ photos: [ExportedPhoto], roots: [[UInt8]], isSameLibrary: Bool, idsByPath: [[UInt8]: AssetID],
    candidates: [Candidate], hashOf: (Candidate) -> String?
  ) {
    self.photos = photos
    self.roots = roots
    self.isSameLibrary = isSameLibrary
    self.idsByPath = idsByPath
    self.candidates = Dictionary(candidates.map { ($0.id, $0) }) { first, _ in first }
    matches = Array(repeating: nil, count: photos.count)
    for candidate in self.candidates.values {
      if let hash = candidate.contentHash { idsByHash[hash, default: []].append(candidate.id) }
    }
    matchByHash()
    if isSameLibrary { matchByPath() }
    let atPlaces = photos.indices.filter { matches[$0] == nil }.flatMap { index in
      placed(index).filter { photos[index].contentHash != nil && $0.byteCount == photos[index].byteCount }
    }
    learn(atPlaces, hashOf)
    matchByHash()
    matchByPath()
    matchByRelativePath()
    // The paths have distinguished the copies of a photo. One copy may be left on each side.
    matchByHash()
    learn(ofMissingSizes, hashOf)
    matchByHash()
  }

  /// The paths that a photo of an export may have in a library with these roots. Its own path is first.
  static func paths(of photo: ExportedPhoto, roots: [[UInt8]]) -> [[UInt8]] {
    let relative = photo.relativePath
    return [FilePath.bytes(photo.path)] + roots.compactMap { root in relative.map { root + [UInt8(ascii: "/")] + $0 } }
  }

  // MARK: Files whose content must be read

  /// The photos of the library that have the size of a photo of the export for which none was found.
  private var ofMissingSizes: [Candidate] {
    let sizes = Set(
      photos.indices.filter { matches[$0] == nil && photos[$0].contentHash != nil }.map { photos[$0].byteCount })
    return candidates.values.filter { sizes.contains($0.byteCount) }
  }

  private mutating func learn(_ some: [Candidate], _ hashOf: (Candidate) -> String?) {
    for id in Set(some.map(\.id)).sorted() where taken[id] == nil {
      guard let candidate = candidates[id], candidate.contentHash == nil, !unreadable.contains(id) else { continue }
      if let hash = hashOf(candidate) {
        candidates[id]?.contentHash = hash
        idsByHash[hash, default: []].append(id)
      } else {
        unreadable.insert(id)
      }
    }
  }

  // MARK: Rules

  private mutating func matchByHash() {
    var exported: [String: [Int]] = [:]
    for (index, photo) in photos.enumerated() where matches[index] == nil {
      if let hash = photo.contentHash { exported[hash, default: []].append(index) }
    }
    for (hash, indexes) in exported where indexes.count == 1 {
      let ids = (idsByHash[hash] ?? []).filter { taken[$0] == nil }
      if ids.count == 1 { match(indexes[0], ids[0]) }
    }
  }

  private mutating func matchByPath() {
    for index in photos.indices where matches[index] == nil {
      guard let id = idsByPath[FilePath.bytes(photos[index].path)], taken[id] == nil, let candidate = candidates[id],
        isSameLibrary || isSame(candidate, photos[index])
      else { continue }
      match(index, id)
    }
  }

  private mutating func matchByRelativePath() {
    for index in photos.indices where matches[index] == nil {
      let ids = Set(
        placed(index).filter { taken[$0.id] == nil && isSame($0, photos[index]) }.map(\.id))
      if ids.count == 1, let id = ids.first { match(index, id) }
    }
  }

  /// The photos of the library at the places that the photo of the export may have.
  private func placed(_ index: Int) -> [Candidate] {
    Self.paths(of: photos[index], roots: roots).compactMap { idsByPath[$0] }.compactMap { candidates[$0] }
  }

  /// Whether nothing that is known of their contents differs.
  private func isSame(_ candidate: Candidate, _ photo: ExportedPhoto) -> Bool {
    guard let hash = photo.contentHash else { return candidate.byteCount == photo.byteCount }
    return candidate.contentHash == hash
  }

  private mutating func match(_ index: Int, _ id: AssetID) {
    matches[index] = id
    taken[id] = index
  }

  // MARK: Photos that were not found

  /// Why no photo of the library belongs to a photo of the export.
  func problem(of index: Int, lines: [Int]) -> String {
    let photo = photos[index]
    let equal = photo.contentHash.flatMap { idsByHash[$0] } ?? []
    let places = placed(index)
    let same = equal + places.filter { isSame($0, photo) }.map(\.id)
    if let other = same.compactMap({ taken[$0] }).min() {
      return "line \(lines[other]) of the export has the same content, and was matched to the photo here"
    }
    if equal.count > 1 { return "\(equal.count) photos here have its content, and none of them has its place" }
    if places.contains(where: { unreadable.contains($0.id) && $0.byteCount == photo.byteCount }) {
      return "the file at its place here can't be read, so its content can't be compared"
    }
    if !places.isEmpty { return "the photo at its place here is another one" }
    return
      "no photo here has its place\(photo.contentHash == nil ? ", and the export has no hash of its content" : " or its content")"
  }
}
