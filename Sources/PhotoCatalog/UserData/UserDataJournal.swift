import Glibc
import PhotoModel

// The journal of user data: `catalog.userdata`, beside `catalog.sqlite`, mode 0600.
//
// It holds what a person typed for each asset (favorite, hidden), and what its file is known by, so that nothing of it is
// lost with the catalog. A journal and not a second database: it shares no code and no page format with what may be
// damaged; what damages a line costs that line; and one write and one fdatasync(2) acknowledge a request.
//
// The file is text, a line a record, each ending with a newline:
//
//     photod user data 1
//     bfb5aa9d 7.0 library uuid=4a0c… epoch=3
//     77d0a2c1 7.0 ids assets=20000 collections=10000
//     bfb5aa9d 7.0 library uuid=4a0c… epoch=3
//     77d0a2c1 7.0 ids assets=20000 collections=10000
//     0be2f1d3 7.0 asset id=12 favorite=1 added=1763… volume=uuid:9c1e… inode=77 birth=… size=… modified=… path=/home/a/b.jpg
//     5f0c9a11 7.0 all count=1
//     1c9b36e0 8.1 asset id=13 favorite=1 …
//     90a7b5cc 8.0 asset id=14 favorite=1 …
//     e2d3f410 9.0 closed
//
//   - The first word is the CRC-32C (``CRC32C``) of the line after it, eight hex digits.
//   - The second is the number of the batch, which rises by one, and how many lines of the batch are still to come. A
//     batch is what one transaction of the catalog writes; its number is in the catalog too (`library.journal_number`),
//     by which the next start knows which batches the catalog lacks. At the end of the file, a batch that lacks lines was
//     not acknowledged, and is cut off: that is what a crash leaves. No length is written: values are percent-encoded, so
//     that the next newline is where reading goes on after a damaged line; a length could be damaged too.
//   - Then the kind and its fields, in any order. A line of an unknown kind, and of an asset a field with an unknown key,
//     is of a later photod: it is kept. The last line of an asset counts. `library` and `ids` are there twice, and not side
//     by side (a damaged newline costs two lines), since without them nothing says whose journal it is, and which ids
//     were given.
//   - What comes up to `all` was written by a compaction, from the catalog, to a new file that then took the name. It holds
//     everything up to its number.

/// Appends to the journal of user data.
///
/// It is the catalog's: used only inside of its write transactions, of which there is one at a time.
final class UserDataJournal {
  static let magic = "photod user data 1"
  /// How many ids are reserved at a time: a rebuild begins above them, and every so many new photos one fsync is paid.
  static let reservation: Int64 = 10_000

  /// Where a test makes something fail, or looks.
  enum Step: Hashable, Sendable { case append, sync, cut, rewrite, renamed, commit, committed }

  let path: String
  private(set) var number: Int64
  private(set) var reservedAssets: Int64
  private(set) var reservedCollections: Int64
  /// It must be written anew before anything is appended: what is on disk is not known, or not to be believed.
  var mustRewrite = false
  /// Since it was opened a folder was away from its place for longer than a commit: what commits say of renamed folders
  /// can't be replayed then, and entries are written instead.
  var hasParkedFolders = false

  private var descriptor: Int32
  private let hook: @Sendable (Step) throws -> Void
  private var length: Int
  private var lineBytes: [Int64: Int]
  private var liveBytes: Int
  private var moveCount: Int
  /// Fields of a later version, which every new line of their asset repeats.
  private var others: [Int64: [UserDataField]]
  /// Lines of a later version.
  private(set) var otherLines: [[UInt8]]
  private var undo: Undo?
  /// Above this length it is compacted; raised where that fails.
  private var compactionLength = 0

  private struct Undo {
    let length: Int
    let number: Int64
    let reserved: (Int64, Int64)
    let lineBytes: [Int64: Int?]
  }

  // MARK: - Opening

  /// - Returns: nil where there is none.
  static func read(_ path: String, after number: Int64) throws -> UserDataContents? {
    guard let bytes = try PrivateFile.read(path) else { return nil }
    var contents = UserDataContents(parsing: bytes, after: number)
    // A flipped bit of that digit is no newer version: the lines can be read.
    if contents.readableLineCount == 0, let line = bytes.split(separator: UInt8(ascii: "\n")).first,
      let version = Int(String(decoding: line, as: UTF8.self).dropFirst(magic.count - 1)),
      line.starts(with: magic.utf8.dropLast()),
      version > 1
    {
      throw PhotoError(
        "catalogTooNew",
        "The journal \(path) was written by a newer photod. Install that version again, or name another file with --catalog."
      )
    }
    contents.finish()
    return contents
  }

  /// Goes on with a journal that was read, and is not damaged; a torn end is cut off.
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
    liveBytes = lineBytes.values.reduce(0, +)
    moveCount = contents.moveCount
    others = contents.entries.compactMapValues { $0.others.isEmpty ? nil : $0.others }
    otherLines = contents.others
    // The old one goes on only where nothing fails: deinit closes what was opened.
    guard ftruncate(descriptor, off_t(length)) == 0 else { throw PrivateFile.failure(path, "cut", errno) }
  }

  /// Writes a journal that holds all, and gives it its name when it is on disk.
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
  }

  /// What a compaction writes.
  struct State {
    var library: String
    var epoch: Int64
    var number: Int64
    var reservedAssets: Int64
    var reservedCollections: Int64
    var entries: [UserDataEntry]
    /// Lines of a later version.
    var others: [[UInt8]]

    fileprivate var othersOfAssets: [Int64: [UserDataField]] {
      Dictionary(entries.filter { !$0.others.isEmpty }.map { ($0.id, $0.others) }, uniquingKeysWith: { $1 })
    }
  }

  private static func write(
    _ state: State, to path: String, _ hook: (Step) throws -> Void
  ) throws -> (descriptor: Int32, length: Int, lineBytes: [Int64: Int]) {
    var bytes = Array((magic + "\n").utf8)
    var lineBytes: [Int64: Int] = [:]
    func add(_ record: UserDataRecord) {
      UserDataContents.append(record, number: state.number, left: 0, to: &bytes)
    }
    for _ in 0..<2 {
      add(.library(uuid: state.library, epoch: state.epoch))
      add(.ids(assets: state.reservedAssets, collections: state.reservedCollections))
    }
    for payload in state.others { add(.other(payload)) }
    for entry in state.entries {
      let start = bytes.count
      add(.asset(entry))
      lineBytes[entry.id] = bytes.count - start
    }
    add(.all(count: state.entries.count))
    try hook(.rewrite)
    return (try PrivateFile.replace(path, with: bytes) { try hook(.renamed) }, bytes.count, lineBytes)
  }

  deinit { close(descriptor) }

  // MARK: - Appending

  /// Something was typed for this asset.
  func holds(_ id: Int64) -> Bool { lineBytes[id] != nil }
  var heldIDs: some Collection<Int64> { lineBytes.keys }
  func others(of id: Int64) -> [UserDataField] { others[id] ?? [] }
  var idsWithOthers: some Collection<Int64> { others.keys }

  /// Adds a batch. Where it throws, nothing was added.
  ///
  /// - Parameter durable: on disk when it returns.
  func append(_ records: [UserDataRecord], durable: Bool) throws {
    let (bytes, lines) = UserDataContents.frame(records, number: number + 1)
    let undo = Undo(
      length: length, number: number, reserved: (reservedAssets, reservedCollections),
      lineBytes: Dictionary(uniqueKeysWithValues: lines.keys.map { ($0, lineBytes[$0]) }))
    do {
      try hook(.append)
      try PrivateFile.write(bytes, to: descriptor, at: length, path)
      if durable {
        try hook(.sync)
        // What failed to be written once may be taken for written the next time: see https://lwn.net/Articles/752063/
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
    self.undo = undo
    length += bytes.count
    number += 1
    for record in records {
      switch record {
      case .asset(let entry):
        let count = entry.isEmpty ? nil : lines[entry.id]
        liveBytes += (count ?? 0) - (lineBytes[entry.id] ?? 0)
        lineBytes[entry.id] = count
      case .ids(let assets, let collections): (reservedAssets, reservedCollections) = (assets, collections)
      case .moved: moveCount += 1
      default: break
      }
    }
  }

  /// Takes the last batch back: its transaction failed.
  func revert() {
    guard let undo else { return }
    self.undo = nil
    (length, number) = (undo.length, undo.number)
    (reservedAssets, reservedCollections) = undo.reserved
    for (id, count) in undo.lineBytes {
      liveBytes += (count ?? 0) - (lineBytes[id] ?? 0)
      lineBytes[id] = count
    }
    cut(to: length)
  }

  private func cut(to length: Int) {
    do {
      try hook(.cut)
      guard ftruncate(descriptor, off_t(length)) == 0, fdatasync(descriptor) == 0 else {
        throw PrivateFile.failure(path, "cut", errno)
      }
    } catch {
      // The next one that is written replaces the file.
      mustRewrite = true
    }
  }

  // MARK: - Compaction

  /// It is more than twice what a new one would be, and 64 KiB; or it has so many moved folders that reading it takes long.
  var wantsCompaction: Bool {
    (length > 2 * liveBytes + 65_536 || moveCount > 200) && length > compactionLength
  }

  /// Replaces it by what a new one holds. Where it throws, the old one stays, or the new one is there and the disk may lose
  /// its name: then what is open is no longer what the next start reads, and it must be written anew.
  func rewrite(_ state: State) throws {
    let file: (descriptor: Int32, length: Int, lineBytes: [Int64: Int])
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
    (undo, mustRewrite, compactionLength) = (nil, false, 0)
  }

  /// Not again before it has grown by half.
  func putOffCompaction() { compactionLength = length + length / 2 }

  /// Nobody removed it, nor put another in its place; false also where that can't be said now.
  var hasItsName: Bool { PrivateFile.isName(path, of: descriptor, followsLinks: false) == true }

  /// Somebody certainly did.
  var hasLostItsName: Bool { PrivateFile.isName(path, of: descriptor, followsLinks: false) == false }
}
