import PhotoCatalog
import WatchRecords

/// Two photos that exchange their names (renameat2(2), RENAME_EXCHANGE) are told as two renames, and the first looks as
/// if it ended the photo that stands in its way. Here is who that was, until the second is told.
struct Exchanges {
  /// The halves stand side by side in the kernel's queue; a flood of other events may come between their batches.
  static let lifetime: Int64 = 10_000_000_000

  private var displaced: [Place: (row: FileRow, uptime: Int64)] = [:]
  /// By the asset that lost its place to an unknown file, or got a second name: the asset of that file or name.
  private var newcomers: [Int64: (assetID: Int64, uptime: Int64)] = [:]

  /// - Parameter row: the file as it was known before another came to its place.
  mutating func noteDisplaced(_ row: FileRow, from place: Place, uptime: Int64) {
    displaced = displaced.filter { uptime - $0.value.uptime < Self.lifetime }
    displaced[place] = (row, uptime)
  }

  mutating func takeDisplaced(from place: Place, uptime: Int64) -> FileRow? {
    guard let entry = displaced.removeValue(forKey: place), uptime - entry.uptime < Self.lifetime else { return nil }
    return entry.row
  }

  mutating func noteNewcomer(_ assetID: Int64, inPlaceOf other: Int64, uptime: Int64) {
    newcomers = newcomers.filter { uptime - $0.value.uptime < Self.lifetime }
    newcomers[other] = (assetID, uptime)
  }

  func hasDisplaced(from place: Place, uptime: Int64) -> Bool {
    displaced[place].map { uptime - $0.uptime < Self.lifetime } ?? false
  }

  func newcomer(inPlaceOf assetID: Int64, uptime: Int64) -> Int64? {
    newcomers[assetID].flatMap { uptime - $0.uptime < Self.lifetime ? $0.assetID : nil }
  }
}

extension Reconciler {
  /// What is told to leave its place stands there: it came in an exchange, or came back. Another file may have its inode.
  func isBackThere(_ row: FileRow, uptime: Int64) -> Bool {
    guard let there = current(row), there.identity.inode == row.inode else { return false }
    return hasSizeAndTime(row, there)
      || exchanges.hasDisplaced(from: Place(directoryID: row.directoryID, name: row.name), uptime: uptime)
  }

  /// Whether a photo has the former place of the file that was renamed over it. Then it did not leave, and the second half
  /// of the exchange is reported later.
  func isExchanged(_ row: FileRow, with source: FileRow) -> Bool {
    guard case .there(let stat) = files.look(path(of: source)) else { return false }
    // A new file may have the inode of one that was deleted.
    return stat.identity.inode == row.inode && hasSizeAndTime(row, stat)
  }

  /// The second half of an exchange: what is told to leave a place stood there before the file that has it now.
  ///
  /// - Parameters:
  ///   - source: the place.
  ///   - row: the file that the catalog has there now, and the disk too.
  ///   - stat: what stands in `target`.
  /// - Returns: false where it was not so.
  func endExchange(
    from source: Place, where row: FileRow, to target: Place, _ stat: FileStat, reading: ContentReading?,
    in batch: inout Batch
  ) throws -> Bool {
    guard let former = exchanges.takeDisplaced(from: source, uptime: batch.uptime), stat.byteCount > 0 else {
      return false
    }
    batch.evidence = .event
    if former.assetID == row.assetID {
      // A file that nobody knew came over it, and was taken for what a program saves.
      guard hasIdentity(former, stat), let arrived = files.stat(path(of: source)) else { return false }
      try move(row, to: target, stat, reading: reading, in: &batch)
      try fileFound(source, arrived, reading: nil, in: &batch)
      if let newcomer = try batch.writer.file(source.directoryID, source.name) {
        exchanges.noteNewcomer(newcomer.assetID, inPlaceOf: row.assetID, uptime: batch.uptime)
      }
      return true
    }
    // The photo was written since, or saved, which made another file of it, and that is not known anywhere.
    var ignored = reading
    guard try batch.writer.file(target.directoryID, target.name) == nil,
      try sourceOfMove(stat, to: target, reading: &ignored, in: batch) == nil,
      try hasIdentity(former, stat) || !wasDeleted(stat, at: target, in: batch),
      let buried = try batch.writer.tombstones(inode: former.inode).first(where: { $0.assetID == former.assetID })
    else { return false }
    let (content, file) = read(target, stat, assetID: former.assetID, reading: reading, isSampled: true)
    knownInodes.insert(file.inode)
    batch.noteChange()
    forgetListed(target)
    try restore(buried, content, file, in: &batch)
    return true
  }

  /// The asset that goes on for a photo that the kernel reports as deleted: the file that has its place since an exchange,
  /// or its second name.
  ///
  /// Some programs save by an exchange and then remove the old file. Others move a file by a second name.
  func heir(of row: FileRow, in batch: Batch) throws -> FileRow? {
    guard batch.evidence == .event, let newcomer = exchanges.newcomer(inPlaceOf: row.assetID, uptime: batch.uptime),
      let saved = try batch.writer.file(ofAsset: newcomer), try !batch.writer.hasUserData(newcomer),
      !batch.isLeaving(saved), isStillThere(saved, device: nil)
    else { return nil }
    return saved
  }
}
