import PhotoCatalog
import PhotoModel
import WatchRecords

// Files and known photos are matched all at once, when all places that may hold one of them have been listed:
// 1. A file is the photo whose inode and birth time it has, wherever it is.
// 2. A file in the place of a photo whose own file turned up nowhere is that photo, saved by a program.
// 3. Any other file is new, or a deleted photo that came back.
extension Reconciler {
  /// Whether a listing or a scan is under way, or events were lost, so that a known file of this directory may still turn
  /// up in a place that was not looked at yet. A root on a share has no files of the volumes of other roots, and does not
  /// delay them.
  func isSearched(_ directoryID: DirectoryID) -> Bool {
    isSearched(group(of: directoryID))
  }

  private func group(of directoryID: DirectoryID) -> HeldFiles.Group {
    HeldFiles.Group(rootID: tree.rootID(of: directoryID), volumeID: tree.volumeID(of: directoryID))
  }

  private func isSearched(_ group: HeldFiles.Group) -> Bool {
    func mayHold(_ searched: RootID) -> Bool {
      if searched == group.rootID { return true }
      guard let top = tree.top(ofRoot: searched) else { return true }
      let searchedVolume = tree.volumeID(of: top)
      return !volumes.isShare(searchedVolume) || volumes.isSameFileSystem(searchedVolume, group.volumeID)
    }
    return listings.directories.contains { mayHold(tree.rootID(of: $0)) }
      || scans.underWay.values.contains { mayHold($0.rootID) } || roots.contains { $0.isBlind && mayHold($0.id) }
  }

  /// Keeps a file until it is decided which photo it is.
  func hold(_ place: Place, _ stat: FileStat, _ reading: ContentReading?) {
    held.hold(place, in: group(of: place.directoryID), stat, reading)
  }

  /// Whether it is too early to decide which photo a file is that is in the place of another.
  ///
  /// If no event was lost, an event decides at once: a rename of the known file would have been reported before it.
  func mustHold(_ place: Place) -> Bool {
    guard held.hasRoom(for: place) else { return false }
    if listings.current?.directoryID == place.directoryID || mayHaveMissed(place.directoryID) { return true }
    let rootID = tree.rootID(of: place.directoryID)
    // The scan may have ended, and wait for that of another root.
    return held.contains(place) && scans.contains { $0.rootID == rootID && $0.findsWhatWasLost }
  }

  /// Whether events of a directory may have been lost, and no scan has listed it since.
  func mayHaveMissed(_ directoryID: DirectoryID) -> Bool {
    let rootID = tree.rootID(of: directoryID)
    if roots[rootID]?.isBlind == true { return true }
    return scans.underWay.values.contains {
      $0.rootID == rootID && $0.findsWhatWasLost && !$0.listed.contains(directoryID)
    }
  }

  /// Notes that events were lost. Until the scans that follow have begun, no place is certain.
  func noteOverflow() {
    for (number, root) in roots.watched where listings.laneRoots?.contains(number) ?? true {
      if let top = tree.top(ofRoot: root.id), tree.number(of: top) != nil { roots[root.id]?.isBlind = true }
    }
  }

  /// Keeps the files that an incomplete scan found in the places of others. Another scan decides about them.
  func keepHeldFiles(of number: UInt16) {
    guard let root = roots[number: number], !root.isBlind,
      held.directories.contains(where: { tree.rootID(of: $0) == root.id })
    else { return }
    roots[root.id]?.isBlind = true
    roots[root.id]?.needsScan = true
  }

  /// Forgets the files that were found in and below a directory, because those records are void.
  func forgetHeldFiles(below id: DirectoryID) {
    guard !held.isEmpty else { return }
    for directory in tree.subtree(of: id) { held.remove(directory: directory) }
  }

  /// Decides which photos the held files are, once no listing and no scan that may find a known file is under way.
  ///
  /// - Complexity: O(n log n) in the files that are decided. Each file that is new or was saved is read, if it was not
  ///   read ahead. If this turn has no time for a file, a later one reads it.
  func decideHeldFiles(in batch: inout Batch) throws {
    guard !held.isEmpty else { return }
    var searched: [HeldFiles.Group: Bool] = [:]
    func isDecided(_ group: HeldFiles.Group) -> Bool {
      if let known = searched[group] { return !known }
      searched[group] = isSearched(group)
      return searched[group] == false
    }
    let files = held.take(where: isDecided, present: group(of:))
    guard !files.isEmpty else { return }
    batch.context.evidence = .scan
    var (moves, others): ([AssetID: FoundMove], [(place: Place, file: HeldFiles.File)]) = ([:], [])
    for (place, file) in files {
      let reading = file.reading
      guard try batch.writer.file(place.directoryID, place.name).map({ !isFile($0, inItsPlace: file.stat) }) ?? true,
        let source = try sourceOfMove(file.stat, to: place, reading: reading, in: batch)
      else {
        others.append((place, file))
        continue
      }
      let move = FoundMove(source: source, place: place, stat: file.stat, reading: reading)
      // If one file has several names (hard links), one of them is the photo's, preferably one in its folder.
      if let rival = moves[source.assetID], rival.staysInFolder || !move.staysInFolder {
        others.append((place, file))
      } else if let rival = moves.updateValue(move, forKey: source.assetID) {
        others.append((rival.place, HeldFiles.File(stat: rival.stat, reading: rival.reading)))
      }
    }
    try moveAll(moves, in: &batch)
    batch.context.evidence = .scan
    var new: [(place: Place, file: HeldFiles.File)] = []
    for (place, file) in others {
      if let row = try batch.writer.file(place.directoryID, place.name) {
        try decide(place, row: row, file.stat, reading: file.reading, in: &batch)
      } else {
        new.append((place, file))
      }
    }
    try insertAll(new, in: &batch)
  }

  /// Inserts new files. Each deleted asset that has come back is the file whose place is nearest to its own, of all that
  /// have its content.
  private func insertAll(_ new: [(place: Place, file: HeldFiles.File)], in batch: inout Batch) throws {
    var matches: [(match: FormerMatch, former: Tombstone, index: Int)] = []
    var (chosen, taken): ([Int: Tombstone], Set<AssetID>) = ([:], [])
    var contents = ContentIndex()
    for (index, (place, file)) in new.enumerated() where file.stat.byteCount > 0 {
      var (_, row) = read(place, file.stat, assetID: 0, reading: file.reading, isSampled: false)
      try sampleIfDeleted(&row, in: batch)
      contents.insert(row.marks, byteCount: row.byteCount)
      // The deleted asset's own file comes before its copies, wherever they are.
      if let same = try tombstone(ofInode: row, in: batch), taken.insert(same.assetID).inserted {
        chosen[index] = same
        continue
      }
      let path = path(of: place)
      for former in try formers(of: row, in: batch) {
        matches.append((FormerMatch(former, row, at: path), former, index))
      }
    }
    matches.sort { $1.match < $0.match }
    for (match, former, index) in matches where chosen[index] == nil {
      // A file with another content is the asset only if the asset's own file turned up nowhere. It may have turned up,
      // and get its hash later.
      if match.isContradicted, let byteCount = former.byteCount,
        contents.mayContain(former.marks, byteCount: byteCount)
      {
        continue
      }
      if taken.insert(former.assetID).inserted { chosen[index] = former }
    }
    for (index, (place, file)) in new.enumerated() {
      guard file.stat.byteCount > 0 else {
        try decide(place, row: nil, file.stat, reading: file.reading, in: &batch)
        continue
      }
      var (content, row) = read(place, file.stat, assetID: 0, reading: file.reading, isSampled: false)
      try sampleIfDeleted(&row, in: batch)
      try insert(content, row, as: chosen[index], in: &batch)
    }
  }

  /// Whether another file that is not in the library yet is in the place of a deleted asset. It is a better match than
  /// a file in another place, and is reported soon.
  func isAwaited(_ former: Tombstone, insteadOf path: [UInt8], in batch: Batch) throws -> Bool {
    guard former.path != path, let slash = former.path.lastIndex(of: UInt8(ascii: "/")),
      let folder = tree.directory(path: Array(former.path[..<slash])),
      let stat = files.stat(former.path), stat.byteCount == former.byteCount
    else { return false }
    return try batch.writer.file(folder, Array(former.path[(slash + 1)...])) == nil
  }

  private struct FoundMove {
    let source: FileRow
    let place: Place
    let stat: FileStat
    let reading: ContentReading?

    var staysInFolder: Bool { source.directoryID == place.directoryID }
  }

  /// Moves photos that may have exchanged their places.
  private func moveAll(_ moves: [AssetID: FoundMove], in batch: inout Batch) throws {
    let sorted = moves.sorted { $0.key < $1.key }
    for (assetID, move) in sorted {
      guard let occupant = try batch.writer.file(move.place.directoryID, move.place.name),
        occupant.assetID != assetID, moves[occupant.assetID] != nil
      else { continue }
      // A name that no file has, until it gets its own below. The letter behind the number keeps it from being a date.
      let name = Array("\u{1}moving-\(occupant.assetID)x".utf8)
      try batch.writer.moveFile(occupant, to: occupant.directoryID, name: name, changesAvailability: false)
    }
    var standIns: [(standIn: FileIdentity, place: Place)] = []
    for (assetID, move) in sorted {
      guard let row = try batch.writer.file(ofAsset: assetID) else { continue }
      let left = Place(directoryID: move.source.directoryID, name: move.source.name)
      batch.departing[left] = nil
      if let standIn = retries.takeStandIn(of: assetID) { standIns.append((standIn, left)) }
      try self.move(row, knownAs: move.source, to: move.place, move.stat, reading: move.reading, in: &batch)
    }
    for (standIn, place) in standIns { try decideStandIn(standIn, at: place, in: &batch) }
  }
}

/// How well a deleted asset matches a file. A file with another content is worse than any file that may have its content.
/// Then the nearest place is best. If several match equally well, the asset that was deleted last is best.
struct FormerMatch: Comparable {
  /// Whether the file has another content, so that only its path speaks for the asset.
  let isContradicted: Bool
  private let likeness: PlaceLikeness
  private let deletedDate: WallTime
  private let assetID: AssetID

  init(_ former: Tombstone, _ row: FileRow, at path: [UInt8]) {
    isContradicted = former.isContradicted(by: row)
    likeness = PlaceLikeness(former.path, path)
    deletedDate = former.deletedDate ?? .unknown
    assetID = former.assetID
  }

  static func < (lhs: Self, rhs: Self) -> Bool {
    if lhs.isContradicted != rhs.isContradicted { return lhs.isContradicted }
    if lhs.likeness != rhs.likeness { return lhs.likeness < rhs.likeness }
    return (lhs.deletedDate, lhs.assetID) < (rhs.deletedDate, rhs.assetID)
  }
}

extension Tombstone {
  /// Whether a file certainly has another content.
  func isContradicted(by row: FileRow) -> Bool {
    byteCount.map { $0 != row.byteCount } ?? false || !marks.mayEqual(row.marks)
  }
}
