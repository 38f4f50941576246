import PhotoModel
import PhotoTestSupport
import TestFetches
import Testing

@testable import PhotoCatalog

/// Random commits of every kind to a random library, with the history that the library would write.
struct RandomCommits {
  let library: PredicateLibrary
  private var random: SeededGenerator
  /// The ids of all present assets.
  private var live: [AssetID]
  /// A counter for file names that were not used before.
  private var names = 0
  private var hasAlbum = true
  /// Whether some commits also delete an asset and restore it at once.
  var restoresAtOnce = false
  private var buried: [AssetID] = []
  /// The effects of the commits by sequence.
  private(set) var effects: [Int64: CommitEffects] = [:]

  init(seed: UInt64) throws {
    library = try PredicateLibrary(seed: seed)
    random = SeededGenerator(seed: seed &* 7_919)
    live = library.assets.map(\.id)
    // The history begins with the library's first commit.
    try catalog.write { writer in
      writer.record.insert(asset: 1)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
  }

  var catalog: Catalog { library.fixture.catalog }
  private var albumID: CollectionID { library.random.albumID }

  /// Makes one commit with one to five changes.
  mutating func commit() throws { try commit(changes: Int.random(in: 1...5, using: &random)) }

  /// - Returns: what the commit recorded.
  @discardableResult
  mutating func commit(changes count: Int) throws -> CommitRecord {
    var changing = self
    let record = try commit { writer in
      for _ in 0..<count { try changing.change(writer) }
      if changing.restoresAtOnce, Int.random(in: 0..<3, using: &changing.random) == 0 {
        try changing.deleteAndRestore(writer)
      }
      // This makes no difference to a search.
      if Int.random(in: 0..<4, using: &changing.random) == 0 {
        _ = try writer.indexText(limit: .random(in: 1...60, using: &changing.random))
      }
    }
    changing.effects = effects
    self = changing
    return record
  }

  /// Makes one commit with the changes of a test.
  @discardableResult
  mutating func commit(_ body: (CatalogWriter) throws -> Void) throws -> CommitRecord {
    try catalog.write { writer in
      try body(writer)
      try writer.compareContents()
      guard !writer.record.isEmpty else { return writer.record }
      let sequence = try writer.append(origin: "watcher", date: .init(microseconds: 1))
      effects[sequence] = try writer.effects(origin: "watcher")
      return writer.record
    }
  }

  func effects(after sequence: Int64, through last: Int64) throws -> CommitEffects {
    var merged = CommitEffects()
    for sequence in sequence..<last { merged.merge(try #require(effects[sequence + 1])) }
    return merged
  }

  private mutating func change(_ writer: CatalogWriter) throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<6: try setAvailability(writer)
    case 6..<12: try moveDirectory(writer)
    case 12..<24: try editAlbum(writer)
    case 24..<34: try insert(writer)
    case 34..<38: try restore(writer)
    case 38..<40: try takeOver(writer)
    case 40: try addDirectory(writer)
    case 41: try removeDirectory(writer)
    default: try edit(writer)
    }
  }

  // MARK: Assets

  private mutating func edit(_ writer: CatalogWriter) throws {
    guard let id = live.randomElement(using: &random), var row = try writer.file(ofAsset: id) else { return }
    switch Int.random(in: 0..<8, using: &random) {
    case 7: try hash(row, writer)
    case 0: try writer.setUserData(of: id, isFavorite: .random(using: &random), isHidden: nil)
    case 1: try writer.setUserData(of: id, isFavorite: nil, isHidden: .random(using: &random))
    case 2:
      try run(writer, "UPDATE asset SET is_trashed = NOT is_trashed WHERE id = ?", [.id(id)])
      writer.record.update(asset: id, .trashed)
      try writer.recordCollections(holding: id)
    case 3:
      let target = try directory(writer)
      try writer.moveFile(
        row, to: target, name: name(),
        changesAvailability: try isAvailable(row.directoryID, writer) != isAvailable(target, writer))
    case 4:
      // With a tombstone the asset may come back; without one it never does.
      if Bool.random(using: &random) {
        let place = try self.path(of: row, writer)
        try writer.removeWithTombstone(
          row, directoryPath: Array(place.prefix(place.count - row.name.count)), date: .init(microseconds: 1))
        buried.append(id)
      } else {
        try writer.deleteAsset(id)
      }
      live.removeAll { $0 == id }
    default:
      let hasNewBytes = Bool.random(using: &random)
      if hasNewBytes { row.byteCount += 1 }
      try writer.updateContent(content(), file: row, hasNewBytes: hasNewBytes)
    }
  }

  /// Writes one of few hashes, so that files with the same content occur. An absent hash stands for a changed file.
  private mutating func hash(_ row: FileRow, _ writer: CatalogWriter) throws {
    var row = row
    let sample = ContentDigest(high: 1, low: .random(in: 0...1, using: &random))
    let hash = [nil, sample, ContentDigest(high: 2, low: .random(in: 0...1, using: &random))].randomElement(
      using: &random)
    row.marks = ContentMarks(fingerprint: 1, sample: sample, hash: hash ?? nil)
    try run(
      writer, "UPDATE resource SET proof_state = 2 WHERE directory_id = ? AND name = ?",
      [.id(row.directoryID), .text(row.name)])
    // As a request of a hash does.
    writer.comparison.note(row.assetID)
    try writer.updateStat(row)
  }

  private mutating func insert(_ writer: CatalogWriter) throws {
    let row = FileRow(
      assetID: 0, directoryID: try directory(writer), name: name(), byteCount: .random(in: 0...5, using: &random),
      modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
    let new = try writer.insertAsset(
      content(), file: row, addedDate: WallTime(seconds: .random(in: -2...6, using: &random) * 3_600))
    live.append(new)
  }

  /// Restores an asset with its flags and its places in albums.
  private mutating func restore(_ writer: CatalogWriter) throws {
    guard let id = buried.randomElement(using: &random), let tombstone = try writer.tombstone(of: id) else { return }
    buried.removeAll { $0 == id }
    let row = FileRow(
      assetID: 0, directoryID: try directory(writer), name: name(), byteCount: 1, modificationTime: 1, changeTime: 1,
      inode: 1, birthTime: 1, readTime: 1)
    try writer.restore(tombstone, content: content(), file: row, hasNewBytes: false, path: try path(of: row, writer))
    live.append(id)
  }

  /// Deletes an asset and restores it, which is an update for clients.
  private mutating func deleteAndRestore(_ writer: CatalogWriter) throws {
    guard let id = live.randomElement(using: &random), let row = try writer.file(ofAsset: id) else { return }
    let path = try path(of: row, writer)
    try writer.removeWithTombstone(
      row, directoryPath: Array(path.prefix(path.count - row.name.count)), date: .init(microseconds: 1))
    guard let tombstone = try writer.tombstone(of: id) else { return }
    try writer.restore(tombstone, content: content(), file: row, hasNewBytes: false, path: path)
  }

  /// Deletes an asset, and moves another one to its file.
  private mutating func takeOver(_ writer: CatalogWriter) throws {
    guard let id = live.randomElement(using: &random), let copyID = live.randomElement(using: &random), id != copyID,
      let row = try writer.file(ofAsset: id), var copy = try writer.file(ofAsset: copyID),
      let content = try writer.content(of: copyID)
    else { return }
    try writer.deleteAsset(copyID)
    live.removeAll { $0 == copyID }
    let hasNewBytes = copy.byteCount != row.byteCount
    copy.modificationTime = row.modificationTime
    try writer.moveFile(
      row, toCopy: copy, content, hasNewBytes: hasNewBytes,
      changesAvailability: try isAvailable(row.directoryID, writer) != isAvailable(copy.directoryID, writer))
  }

  /// The fields have few values, so that any key gives most assets the same rank as others.
  private mutating func content() -> AssetContent {
    AssetContent(
      mediaType: [.image, .video, .audio].randomElement(using: &random) ?? .image,
      mediaSubtypes: Bool.random(using: &random) ? [.screenshot] : [], contentType: "image/jpeg",
      creationDate: Bool.random(using: &random)
        ? PhotoDate(microseconds: .random(in: -2...6, using: &random) * 3_600_000_000) : nil,
      pixelWidth: Bool.random(using: &random) ? .random(in: -1...4, using: &random) : nil,
      durationSeconds: Bool.random(using: &random) ? [-0.5, 0, 2.5].randomElement(using: &random) : nil,
      camera: Bool.random(using: &random)
        ? Camera(make: "Canon", model: ["EOS R6", "X-T5"].randomElement(using: &random)) : nil,
      title: Bool.random(using: &random) ? RandomLibrary.texts.randomElement(using: &random) : nil,
      caption: Bool.random(using: &random) ? RandomTexts.text(using: &random) : nil,
      keywords: Bool.random(using: &random)
        ? Array(PredicateLibrary.keywords.shuffled(using: &random).prefix(2)) : [],
      rating: Bool.random(using: &random) ? .random(in: 0...5, using: &random) : nil)
  }

  private mutating func directory(_ writer: CatalogWriter) throws -> DirectoryID {
    guard Int.random(in: 0..<4, using: &random) == 0 else {
      return DirectoryID(rawValue: .random(in: 1...6, using: &random))
    }
    return try added(writer).randomElement(using: &random) ?? 1
  }

  /// The directories that commits added.
  private func added(_ writer: CatalogWriter) throws -> [DirectoryID] {
    let select = try RawStatement(writer.database, "SELECT id FROM directory WHERE id > 6 ORDER BY id")
    var ids: [DirectoryID] = []
    try select.forEachRow { ids.append(select.directoryID(0)) }
    return ids
  }

  private func isAvailable(_ directory: DirectoryID, _ writer: CatalogWriter) throws -> Bool {
    var paths = try DirectoryPaths(writer.database)
    return try paths.place(directory).isAvailable
  }

  private func path(of row: FileRow, _ writer: CatalogWriter) throws -> [UInt8] {
    var paths = try DirectoryPaths(writer.database)
    return try paths.place(row.directoryID).path(of: row.name)
  }

  private mutating func name() -> [UInt8] {
    names += 1
    return Array("\(["a", "m", "Z", "é"].randomElement(using: &random) ?? "")-\(names).jpg".utf8)
  }

  // MARK: Albums

  /// Adds, removes or moves members, or deletes the album. It may also only touch the album, as a new favorite in it
  /// does.
  private mutating func editAlbum(_ writer: CatalogWriter) throws {
    guard hasAlbum, let id = live.randomElement(using: &random) else { return }
    let rank = SQLValue.real(.random(in: 0...90, using: &random))
    switch Int.random(in: 0..<40, using: &random) {
    case 0:
      try run(writer, "DELETE FROM collection WHERE id = ?", [.id(albumID)])
      hasAlbum = false
      writer.record.delete(collection: albumID)
      return
    case 1..<15:
      try run(
        writer, "INSERT OR REPLACE INTO album_asset (collection_id, asset_id, rank) VALUES (?, ?, ?)",
        [.id(albumID), .id(id), rank])
    case 15..<25:
      try run(
        writer, "DELETE FROM album_asset WHERE collection_id = ? AND asset_id = ?", [.id(albumID), .id(id)])
    case 25..<35:
      try run(
        writer, "UPDATE album_asset SET rank = ? WHERE collection_id = ? AND asset_id = ?",
        [rank, .id(albumID), .id(id)])
    default: return writer.record.update(collection: albumID)
    }
    writer.record.edit(album: albumID, placing: [id])
  }

  // MARK: Directories and volumes

  private mutating func setAvailability(_ writer: CatalogWriter) throws {
    let isAvailable = Bool.random(using: &random)
    if Bool.random(using: &random) {
      let root = Int64.random(in: 1...3, using: &random)
      guard try value(writer, "SELECT is_available FROM root WHERE id = ?", root) != (isAvailable ? 1 : 0) else {
        return
      }
      try writer.setRootAvailable(RootID(rawValue: root), isAvailable)
    } else {
      let directory = DirectoryID(rawValue: .random(in: 4...6, using: &random))
      guard
        try value(writer, "SELECT is_available FROM directory WHERE id = ?", directory.rawValue)
          != (isAvailable ? 1 : 0)
      else { return }
      try writer.setDirectoryAvailable(directory, isAvailable)
    }
  }

  /// Gives a directory another name or another parent. The directories 4, 5 and 6 are below others.
  private mutating func moveDirectory(_ writer: CatalogWriter) throws {
    let directory = Int64.random(in: 4...6, using: &random)
    let parents: [Int64] = directory == 5 ? [1, 2, 3, 4] : [1, 2, 3]
    var row = DirectoryRow(
      id: DirectoryID(rawValue: directory),
      parentID: DirectoryID(rawValue: parents.randomElement(using: &random) ?? 1), rootID: nil, name: name(),
      volumeID: 1, inode: 0, birthTime: .unknown)
    if Int.random(in: 0..<8, using: &random) == 0 {
      try writer.parkDirectory(&row)
    } else {
      try writer.moveDirectory(&row)
    }
  }

  private mutating func addDirectory(_ writer: CatalogWriter) throws {
    try writer.insertDirectory(
      parentID: DirectoryID(rawValue: .random(in: 1...6, using: &random)), rootID: nil, name: name(), volumeID: 1,
      inode: 9, birthTime: 1)
  }

  /// Removes a directory with the files in it.
  private mutating func removeDirectory(_ writer: CatalogWriter) throws {
    guard let directory = try added(writer).randomElement(using: &random) else { return }
    let gone = Set(try writer.files(in: directory).map(\.assetID))
    try writer.deleteDirectory(directory)
    live.removeAll(where: gone.contains)
  }

  private func run(_ writer: CatalogWriter, _ sql: String, _ values: [SQLValue]) throws {
    let statement = try RawStatement(writer.database, sql)
    statement.bind(values)
    try statement.run()
  }

  private func value(_ writer: CatalogWriter, _ sql: String, _ id: Int64) throws -> Int64? {
    let statement = try RawStatement(writer.database, sql)
    statement.bind(1, id)
    return try statement.firstRow { statement.int64(0) }
  }
}
