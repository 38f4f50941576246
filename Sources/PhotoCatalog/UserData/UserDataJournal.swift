import Glibc
import PhotoModel

// The journal of user data: `catalog.userdata`, beside `catalog.sqlite`, mode 0600.
//
// It holds the user data of each asset (``AssetUserData``), and the albums that a person made. So these survive the
// loss of the catalog. It also holds the properties by which the asset's file is recognized. It is a journal and not a
// second database for three reasons. It shares no code and no page format with the catalog that may be damaged. Damage
// to a line costs only that line. One write and one fdatasync(2) acknowledge a request.
//
// The file is text, with one record in each line. Every line ends with a newline:
//
//     photod user data 1
//     bfb5aa9d 7.0 library uuid=4a0c… epoch=3
//     77d0a2c1 7.0 ids assets=20000 collections=10000
//     bfb5aa9d 7.0 library uuid=4a0c… epoch=3
//     77d0a2c1 7.0 ids assets=20000 collections=10000
//     0be2f1d3 7.0 asset id=12 favorite=1 added=1763… volume=uuid:9c1e… inode=77 birth=… size=… modified=… path=/home/a/b.jpg
//     a2c07714 7.0 collection id=31 kind=album title=Summer%20in%20Rome
//     60b1f90e 7.0 placed album=31 ids=12
//     5f0c9a11 7.0 all count=1
//     1c9b36e0 8.1 asset id=13 favorite=1 …
//     90a7b5cc 8.0 asset id=14 favorite=1 …
//     e2d3f410 9.0 closed
//
//   - The first word is the CRC-32C (``CRC32C``) of the rest of the line, as eight hex digits.
//   - The second word is the number of the batch, and the number of lines of the batch that follow this one. The number
//     rises by one with each batch. A transaction of the catalog writes one batch. The catalog has the number
//     too (`library.journal_number`), so that the next start knows which batches the catalog lacks. An incomplete batch
//     at the end of the file is the trace of a crash. It was not acknowledged and is cut off. There are no lengths,
//     because they could be damaged too. Values are percent-encoded, so reading resumes at the next newline after a
//     damaged line.
//   - The kind and its fields follow, in any order. Lines of an unknown kind, fields of an asset or a collection with
//     an unknown key, values of edits that can't be read, and collections of an unknown `kind` with their assets, are
//     from a later photod and are kept. `deleted`, `placed`, `removed` and `moved` are operations, which a compaction
//     replaces by their results. So they never get new fields: a later version adds another kind of line. The last
//     line of an asset counts. `library` and `ids` are written twice, because without them neither the library nor
//     the assigned ids are known. The copies are apart, because a damaged newline costs two lines.
//   - The line of an asset or a collection is whole, and the last one counts. The assets of an album have no such line,
//     because an album may have 100,000 of them. `placed` and `removed` are operations: assets are placed before an asset
//     or at the end, or removed. A compaction writes the assets of an album as operations, too. An asset has a line
//     before it is placed. No line follows when it leaves its last album: the reader drops lines that nothing needs. When
//     a tombstone expires, its asset is removed from its albums and gets a line without user data.
//   - So the first placement of an asset costs a whole line, 250 to 450 bytes, and each later one a few bytes. A shared line
//     for the folder and the volume of many files would be shorter. But damage to it would cost all of these files. An
//     earlier photod does not know such lines, and could not recognise the files after the loss of the catalog.
//   - A compaction wrote everything up to `all`, from the catalog, to a new file that then took the name. It holds
//     everything up to its number.

/// Appends to the journal of user data.
///
/// It belongs to the catalog and is used only in write transactions, of which there is one at a time.
final class UserDataJournal {
  static let magic = "photod user data 1"
  /// The number of ids that are reserved at a time. A rebuild assigns ids above the reserved ones, and each reservation
  /// costs one fsync.
  static let reservation: Int64 = 10_000

  /// About the bytes of one asset in the line of an album.
  private static let memberBytes = 8
  /// The least bytes that are written at a time if a batch has more.
  private static let partBytes = 1 << 20
  /// Damage to a line costs the places of this number of assets.
  static let assetsPerLine = 100

  /// The points at which a test can observe the journal or cause a failure.
  enum Step: Hashable, Sendable { case append, sync, cut, rewrite, written, renamed, commit, committed }

  let path: String
  private(set) var number: Int64
  private(set) var reservedAssets: AssetID
  private(set) var reservedCollections: CollectionID
  /// Whether the file must be rewritten before anything is appended, because its contents are unknown or unreliable.
  var mustRewrite = false
  /// Whether a folder stayed parked for longer than one commit since the journal was opened. In that case the renames
  /// of commits can't be replayed, so entries are written instead.
  var hasParkedFolders = false

  private var descriptor: Int32
  private let hook: @Sendable (Step) throws -> Void
  private var length: Int
  private var lineBytes: [AssetID: Int]
  /// About the bytes that a new journal would need. The places of assets in albums count as they were at the last compaction.
  private var liveBytes: Int
  /// The assets that were removed from an album since their line was written. They may have no user data any more, so
  /// their lines are not counted. A wrong guess only makes the next compaction come earlier.
  private var doubtful: Set<AssetID> = []
  private var moveCount: Int
  /// The fields from a later version. Every new line of their asset repeats them.
  private var others: [AssetID: [UserDataField]]
  /// The lines from a later version.
  private(set) var otherLines: [[UInt8]]
  /// The fields of collections from a later version.
  private var othersOfCollections: [CollectionID: [UserDataField]]
  /// The assets of the collections whose kind is from a later version.
  private(set) var otherAlbums: [(id: CollectionID, assets: [AssetID])]
  private(set) var otherMembers: Set<AssetID>
  private var undo: Undo?
  /// The journal is compacted only above this length. A failed compaction raises it.
  private var compactionLength = 0

  private struct Undo {
    let length: Int
    let number: Int64
    let reserved: (AssetID, CollectionID)
    let lineBytes: [AssetID: Int?]
    let liveBytes: Int
    /// The assets that became doubtful, and those that ceased to be.
    var doubted: [AssetID] = []
    var confirmed: [AssetID] = []
  }

  // MARK: - Opening

  /// The largest readable journal. It has room for some five million photos with user data, and all of it is read into
  /// memory.
  private static let longest = 1 << 30

  /// - Returns: nil if there is no journal.
  static func read(_ path: String, after number: Int64) throws -> UserDataContents? {
    let found: [UInt8]?
    do { found = try PrivateFile.read(path, atMost: longest) } catch let error as PrivateFileError
      where error.code == EFBIG
    {
      throw PhotoError(
        "catalogUnreadable",
        "The journal of user data can't be used: \(error). Move it away: the catalog has all of your user data.")
    }
    guard let bytes = found else { return nil }
    var contents = UserDataContents(parsing: bytes, after: number)
    // A damaged digit in the first line does not mean a newer version: in that case the other lines can be read.
    if contents.readableLineCount == 0, let line = bytes.split(separator: UInt8(ascii: "\n")).first,
      let version = Int(String(decoding: line, as: UTF8.self).dropFirst(magic.count - 1)),
      line.starts(with: magic.utf8.dropLast()),
      version > 1
    {
      throw PhotoError(
        "catalogTooNew",
        "The journal \(path) was written by a newer photod. Install that version again, or give another file with --catalog."
      )
    }
    contents.finish()
    return contents
  }

  /// Continues a journal that was read and is not damaged. An incomplete batch at its end is cut off.
  init(
    _ path: String, continuing contents: UserDataContents, hook: @escaping @Sendable (Step) throws -> Void
  ) throws {
    self.path = path
    self.hook = hook
    descriptor = try PrivateFile.open(path)
    number = contents.number
    (reservedAssets, reservedCollections) = (contents.reservedAssets, contents.reservedCollections)
    length = contents.end
    lineBytes = contents.lineBytes.filter { contents.entries[$0.key] != nil }
    liveBytes = lineBytes.values.reduce(0, +) + contents.albums.values.reduce(0) { $0 + $1.count * Self.memberBytes }
    moveCount = contents.moveCount
    others = contents.entries.compactMapValues { $0.others.isEmpty ? nil : $0.others }
    otherLines = contents.others
    othersOfCollections = contents.collections.compactMapValues { $0.others.isEmpty ? nil : $0.others }
    otherAlbums = contents.otherAlbums.sorted { $0.key < $1.key }.map { ($0.key, $0.value.ids) }
    otherMembers = Set(otherAlbums.flatMap(\.assets))
    // The journal is usable only if this succeeds. Otherwise deinit closes the file.
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw PrivateFile.failure(path, "cut", errno) }
  }

  /// Writes a complete journal, and gives it its name when it is on disk.
  init(writing state: State, to path: String, hook: @escaping @Sendable (Step) throws -> Void) throws {
    self.path = path
    self.hook = hook
    let file = try Self.write(state, to: path, hook)
    (descriptor, length, lineBytes) = (file.descriptor, file.length, file.lineBytes)
    liveBytes = file.length
    number = state.number
    (reservedAssets, reservedCollections) = (state.reservedAssets, state.reservedCollections)
    moveCount = 0
    others = state.othersOfAssets
    otherLines = state.others
    othersOfCollections = state.othersOfCollections
    otherAlbums = state.otherAlbums
    otherMembers = Set(otherAlbums.flatMap(\.assets))
  }

  /// The data that a compaction writes.
  struct State {
    var library: String
    var epoch: Int64
    var number: Int64
    var reservedAssets: AssetID
    var reservedCollections: CollectionID
    var entries: [UserDataEntry]
    var collections: [UserCollection]
    /// The assets of each of the user's albums, in their order.
    var albums: [(id: CollectionID, assets: [AssetID])]
    /// The same of collections whose kind is from a later version.
    var otherAlbums: [(id: CollectionID, assets: [AssetID])] = []
    /// The lines from a later version.
    var others: [[UInt8]]

    fileprivate var othersOfCollections: [CollectionID: [UserDataField]] {
      Dictionary(
        collections.filter { !$0.others.isEmpty }.map { ($0.id, $0.others) }, uniquingKeysWith: { $1 })
    }

    fileprivate var othersOfAssets: [AssetID: [UserDataField]] {
      Dictionary(entries.filter { !$0.others.isEmpty }.map { ($0.id, $0.others) }, uniquingKeysWith: { $1 })
    }
  }

  private static func write(
    _ state: State, to path: String, _ hook: (Step) throws -> Void
  ) throws -> (descriptor: Int32, length: Int, lineBytes: [AssetID: Int]) {
    var lines = RecordLine()
    lines.append((magic + "\n").utf8)
    var lineBytes: [AssetID: Int] = [:]
    func add(_ record: UserDataRecord) {
      UserDataContents.append(record, number: state.number, left: 0, to: &lines)
    }
    for _ in 0..<2 {
      add(.library(uuid: state.library, epoch: state.epoch))
      add(.ids(assets: state.reservedAssets, collections: state.reservedCollections))
    }
    for payload in state.others { add(.other(payload)) }
    for entry in state.entries {
      let start = lines.bytes.count
      add(.asset(entry))
      lineBytes[entry.id] = lines.bytes.count - start
    }
    for collection in state.collections { add(.collection(collection)) }
    for album in state.albums + state.otherAlbums {
      for start in stride(from: 0, to: album.assets.count, by: assetsPerLine) {
        add(
          .placed(
            album: album.id, before: nil, Array(album.assets[start..<min(start + assetsPerLine, album.assets.count)])))
      }
    }
    add(.all(count: state.entries.count))
    try hook(.rewrite)
    let descriptor = try PrivateFile.replace(path, with: lines.bytes) {
      try hook(.written)
    } renamed: {
      try hook(.renamed)
    }
    return (descriptor, lines.bytes.count, lineBytes)
  }

  deinit { PrivateFile.close(descriptor) }

  // MARK: - Appending

  /// Whether the journal has user data of this asset.
  func holds(_ id: AssetID) -> Bool { lineBytes[id] != nil }
  var heldIDs: some Collection<AssetID> { lineBytes.keys }
  func others(of id: AssetID) -> [UserDataField] { others[id] ?? [] }
  var idsWithOthers: some Collection<AssetID> { others.keys }
  func others(of id: CollectionID) -> [UserDataField] { othersOfCollections[id] ?? [] }

  /// Appends a batch. If it throws, nothing was appended.
  ///
  /// - Parameters:
  ///   - released: The assets that were removed from albums. Nothing else may be left of their user data.
  ///   - durable: Whether the batch must be on disk on return.
  func append(_ records: [UserDataRecord], releasing released: Set<AssetID> = [], durable: Bool) throws {
    var end = length
    let newLineBytes: [AssetID: Int]
    do {
      try hook(.append)
      newLineBytes = try write(records, to: &end)
      if durable {
        try hook(.sync)
        // After a failed fsync, a later one may report success for lost data: see https://lwn.net/Articles/752063/
        guard fdatasync(descriptor) == 0 else {
          let code = errno
          mustRewrite = true
          throw PrivateFile.failure(path, "written", code)
        }
      }
    } catch {
      cut(to: length)
      throw error
    }
    var undo = Undo(
      length: length, number: number, reserved: (reservedAssets, reservedCollections),
      lineBytes: Dictionary(uniqueKeysWithValues: newLineBytes.keys.map { ($0, lineBytes[$0]) }), liveBytes: liveBytes)
    length = end
    number += 1
    for id in released {
      guard let count = lineBytes[id], doubtful.insert(id).inserted else { continue }
      undo.doubted.append(id)
      liveBytes = max(liveBytes - count - Self.memberBytes, 0)
    }
    for record in records {
      switch record {
      case .asset(let entry):
        let count = entry.isEmpty ? nil : newLineBytes[entry.id]
        let isCounted = doubtful.remove(entry.id) == nil
        if !isCounted { undo.confirmed.append(entry.id) }
        liveBytes = max(liveBytes + (count ?? 0) - (isCounted ? lineBytes[entry.id] ?? 0 : 0), 0)
        lineBytes[entry.id] = count
      case .placed(_, _, let ids):
        for id in ids where doubtful.remove(id) != nil {
          undo.confirmed.append(id)
          liveBytes += (lineBytes[id] ?? 0) + Self.memberBytes
        }
      case .ids(let assets, let collections): (reservedAssets, reservedCollections) = (assets, collections)
      case .moved: moveCount += 1
      default: break
      }
    }
    self.undo = undo
  }

  /// Writes the lines of a batch at an offset, which becomes their end. A large batch is written in parts.
  ///
  /// - Returns: the length of the line of each asset, in bytes.
  private func write(_ records: [UserDataRecord], to end: inout Int) throws -> [AssetID: Int] {
    var lines = RecordLine()
    var lineBytes: [AssetID: Int] = [:]
    lineBytes.reserveCapacity(records.count)
    for (index, record) in records.enumerated() {
      let start = lines.bytes.count
      UserDataContents.append(record, number: number + 1, left: records.count - 1 - index, to: &lines)
      if case .asset(let entry) = record { lineBytes[entry.id] = lines.bytes.count - start }
      guard index == records.count - 1 || lines.bytes.count >= Self.partBytes else { continue }
      try PrivateFile.write(lines.bytes, to: descriptor, at: end, path)
      end += lines.bytes.count
      lines.removeAll()
    }
    return lineBytes
  }

  /// Removes the last batch, because its transaction failed.
  func revert() {
    guard let undo else { return }
    self.undo = nil
    (length, number) = (undo.length, undo.number)
    (reservedAssets, reservedCollections) = undo.reserved
    for (id, count) in undo.lineBytes { lineBytes[id] = count }
    liveBytes = undo.liveBytes
    // An asset may have become doubtful and have been placed again in one batch.
    doubtful.formUnion(undo.confirmed)
    doubtful.subtract(undo.doubted)
    cut(to: length)
  }

  private func cut(to length: Int) {
    do {
      try hook(.cut)
      guard ftruncate(descriptor, off_t(length)) == 0, fdatasync(descriptor) == 0 else {
        throw PrivateFile.failure(path, "cut", errno)
      }
    } catch {
      // The next batch rewrites the file.
      mustRewrite = true
    }
  }

  // MARK: - Compaction

  /// Whether the journal exceeds twice the size of a new one plus 64 KiB, or has so many moves that reading it takes
  /// long.
  var wantsCompaction: Bool {
    (length > 2 * liveBytes + 65_536 || moveCount > 200) && length > compactionLength
  }

  /// Replaces the journal by a new one. If it throws, either the old one stays, or the new one has the name but the
  /// disk may lose it. In the second case the open file is not what the next start reads, so it must be rewritten.
  func rewrite(_ state: State) throws {
    let file: (descriptor: Int32, length: Int, lineBytes: [AssetID: Int])
    do { file = try Self.write(state, to: path, hook) } catch {
      if !hasItsName { mustRewrite = true }
      throw error
    }
    close(descriptor)
    (descriptor, length, lineBytes) = (file.descriptor, file.length, file.lineBytes)
    liveBytes = length
    number = state.number
    (reservedAssets, reservedCollections) = (state.reservedAssets, state.reservedCollections)
    moveCount = 0
    others = state.othersOfAssets
    otherLines = state.others
    othersOfCollections = state.othersOfCollections
    doubtful = []
    (undo, mustRewrite, compactionLength) = (nil, false, 0)
  }

  /// Puts the next compaction off until the journal has grown by half.
  func putOffCompaction() { compactionLength = length + length / 2 }

  /// Whether the file certainly still has its name. False if it was removed or replaced, or if this can't be determined
  /// now.
  var hasItsName: Bool { PrivateFile.isName(path, of: descriptor, followsLinks: false) == true }

  /// Whether the file was certainly removed or replaced.
  var hasLostItsName: Bool { PrivateFile.isName(path, of: descriptor, followsLinks: false) == false }
}
