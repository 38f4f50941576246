import PhotoCatalog
import PhotoModel
import WatchRecords

/// The names of files that have many (hard links), while further names of them are found.
///
/// A new name of a known file is a move if one of the known names has gone. To decide that, each of them must be looked
/// at. A look at all of them for every further name would take hours with 30,000 names. So if a file has many names, a
/// name that was looked at is passed over for two seconds, unless a record reports that it has left.
struct LinkedFiles {
  /// A file with fewer names is not remembered: all of its names are looked at each time.
  static let many = 16
  private static let lifetime = Duration.seconds(2)

  private struct Names {
    /// The rows that were not looked at yet.
    var unseen: ArraySlice<FileRow>
    /// When all rows are looked at again.
    let end: MonotonicTime
  }

  private var files: [UInt64: Names] = [:]
  /// When the old entries are removed next.
  private var nextPruning = MonotonicTime.boot
  /// The number of entries that were looked at to remove the old ones.
  private(set) var prunedCount = 0

  /// The rows of an inode that are to be looked at now.
  mutating func unseenRows(
    inode: UInt64, uptime: MonotonicTime, in catalog: some FileLookups
  ) throws -> ArraySlice<FileRow> {
    if let names = files[inode], uptime < names.end { return names.unseen }
    if uptime >= nextPruning {
      // An entry lives for two seconds, so it is looked at only once or twice.
      prunedCount += files.count
      files = files.filter { uptime < $0.value.end }
      nextPruning = uptime + Self.lifetime
    }
    let rows = try catalog.files(inode: inode)[...]
    files[inode] = rows.count > Self.many ? Names(unseen: rows, end: uptime + Self.lifetime) : nil
    return rows
  }

  /// Notes that all but these rows of an inode were looked at.
  mutating func noteSeen(inode: UInt64, but unseen: ArraySlice<FileRow>) { files[inode]?.unseen = unseen }

  /// Notes that a record reports that a file has left its place.
  mutating func noteLeft(_ row: FileRow) { files[row.inode]?.unseen.append(row) }
}

// Second names of known files.
extension Reconciler {
  /// Whether the current record reports a second name of a known file, and no move of it.
  ///
  /// CREATE makes a second name, and a rename never does. The first name may lack the file already. Then a program has
  /// saved another file there, its folder was renamed, or the first name was removed. Only the first name's own record
  /// tells which. If events of its folder may have been lost, that record may never come. Then the file is the photo
  /// whose inode and birth time it has.
  func isSecondName(of row: FileRow, in batch: Batch) -> Bool {
    batch.context.event.naming == .created
      && batch.departing[Place(directoryID: row.directoryID, name: row.name)] == nil
      && !mayHaveMissed(row.directoryID)
  }

  /// Inserts a second name as a provisional asset. It is not read for some seconds, or until the next sync. The first
  /// name's own record comes before that. If photod ends in between, the catalog shows that it is in doubt.
  func insertSecondName(_ place: Place, _ stat: FileStat, of row: FileRow, in batch: inout Batch) throws {
    let file = FileRow(place, stat, assetID: 0, readTime: .unknown)
    try insert(promisedContent(name: place.name), file, as: nil, in: &batch)
    try noteSecondName(place, of: row, in: batch)
    guard let inserted = try batch.writer.file(place.directoryID, place.name) else { return }
    retries.addPending(inserted.assetID, on: volumeID(of: inserted), at: batch.uptime + ReadRetries.firstDelay)
  }

  /// The assets that have this very file under other names, or had it when the library could look there last.
  func knownFiles(of row: FileRow, in batch: Batch) throws -> [AssetID] {
    guard remembered.mayHaveFile(inode: row.inode) else { return [] }
    return try batch.writer.files(inode: row.inode, limit: LinkedFiles.many).filter { isSameFile($0, row) }
      .map(\.assetID)
  }

  /// Whether the files of two rows are one.
  func isSameFile(_ one: FileRow, _ other: FileRow) -> Bool {
    let volumeID = tree.volumeID(of: other.directoryID)
    return isFile(one, elsewhere: other.stat, on: volumeID)
      && (volumes.hasLastingInodes(volumeID) || one.marks.provesContent(of: other.marks))
  }

  /// Notes a second name. If the next record reports that the first name was removed, the second name
  /// becomes the photo's file: some programs move a file in this way.
  func noteSecondName(_ place: Place, of row: FileRow, in batch: Batch) throws {
    guard let linked = try batch.writer.file(place.directoryID, place.name) else { return }
    remembered.noteNewcomer(linked.assetID, inPlaceOf: row.assetID, in: batch)
  }
}
