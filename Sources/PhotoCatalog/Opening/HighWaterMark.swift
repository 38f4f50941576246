import Glibc
import PhotoModel

/// The newest commit of a library, kept outside of the catalog's folder: `$XDG_STATE_HOME/photod/LIBRARY.mark`.
///
/// In an old copy of that whole folder, catalog and journal agree with each other. Only a file elsewhere shows that
/// later commits were made and ids were assigned. The file is one line, written in place:
///
///     photod mark 1 0f3a99c1 epoch=3 sequence=812 assets=20000 collections=10000 device=65024 inode=77 birth=17… closed=0 boot=4a0c…
///
/// The fourth word is the CRC-32C of everything after it.
///
/// 1. A commit writes its mark after COMMIT and before any client learns of the commit. A process that is killed in
///    between leaves a mark that is one commit behind. That is harmless, because only a catalog behind its mark is an
///    old copy.
/// 2. The mark is synced when the catalog is opened and closed, but not with each commit. If the machine went down
///    meanwhile, the mark is from another boot and may be behind. Any copy may be old then, so the epoch rises. The
///    mark may also be ahead, because commits that were not synced are lost. So it does not prove that the same file is
///    an old copy.
/// 3. A mark that was not closed belongs to one file. Another file in its place is a copy, whatever its sequence.
final class HighWaterMark {
  struct Record: Equatable {
    var epoch: Int64
    var sequence: Int64
    /// New assets get larger ids than this, and new collections larger ids than the next.
    var reservedAssets: AssetID
    var reservedCollections: CollectionID
    /// The catalog that was open.
    var file: FileNumbers
    /// Whether the catalog was closed in order.
    var isClosed: Bool
    var bootID: String
  }

  enum Found: Equatable {
    case nothing
    /// The file can't be parsed, for example after a power failure.
    case damaged
    case record(Record)

    var record: Record? { if case .record(let record) = self { record } else { nil } }
  }

  /// How a catalog compares with its mark.
  enum Verdict: Equatable {
    case current
    /// The catalog lacks commits.
    case older
    /// The catalog may lack commits.
    case uncertain
  }

  private static let magic = "photod mark 1 "
  /// The line is padded with spaces to a constant length, and fits into one page.
  private static let length = 512

  let path: String
  private let descriptor: Int32

  /// Opens the mark of a library, or creates it. Its folder must exist.
  init(of library: String, in folder: String) throws {
    // The name comes from a file of unknown origin.
    guard (1...64).contains(library.utf8.count),
      library.utf8.allSatisfy({ UInt8(ascii: "0") <= $0 && $0 <= UInt8(ascii: "z") })
    else {
      throw PrivateFileError(
        path: folder, verb: "used", code: EINVAL, reason: "the library's name is not one of photod's")
    }
    path = "\(folder)/\(library).mark"
    descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
    guard descriptor >= 0 else { throw PrivateFile.failure(path, "opened", errno) }
    var status = stat()
    // The descriptor is not closed here: an initializer that throws after its last property is set runs deinit.
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw PrivateFileError(path: path, verb: "used", code: EINVAL, reason: "it is not a regular file")
    }
  }

  deinit { PrivateFile.close(descriptor) }

  func read() throws -> Found {
    var bytes = [UInt8](repeating: 0, count: Self.length)
    var count = -1
    repeat { count = pread(descriptor, &bytes, bytes.count, 0) } while count < 0 && errno == EINTR
    guard count >= 0 else { throw PrivateFile.failure(path, "read", errno) }
    guard count > 0 else { return .nothing }
    return Record(line: bytes[..<count], magic: Self.magic).map(Found.record) ?? .damaged
  }

  /// - Parameter durable: Whether the mark and its name must be on disk on return.
  func write(_ record: Record, durable: Bool) throws {
    let fields = record.text
    var line = Array((Self.magic + Self.hex(CRC32C.checksum(of: fields.utf8)) + " " + fields).utf8)
    line += [UInt8](repeating: UInt8(ascii: " "), count: max(0, Self.length - 1 - line.count))
    try PrivateFile.write(line + [UInt8(ascii: "\n")], to: descriptor, at: 0, path)
    guard durable else { return }
    guard fdatasync(descriptor) == 0 else { throw PrivateFile.failure(path, "written", errno) }
    try PrivateFile.syncFolder(of: path)
  }

  fileprivate static func hex(_ number: UInt32) -> String {
    let digits = String(number, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension HighWaterMark.Found {
  /// - Parameters:
  ///   - epoch, sequence: The epoch and the last commit of the catalog that is being opened.
  ///   - file: The file of the catalog.
  func verdict(epoch: Int64, sequence: Int64, file: FileNumbers, bootID: String) -> HighWaterMark.Verdict {
    switch self {
    case .nothing: return .current
    case .damaged: return .uncertain
    case .record(let record):
      // The catalog was restored or rebuilt since.
      if epoch > record.epoch { return .current }
      if epoch < record.epoch { return .older }
      let isBehind = sequence < record.sequence
      if record.isClosed { return isBehind ? .older : .current }
      switch (record.bootID == bootID, record.file == file) {
      case (true, true): return isBehind ? .older : .current
      case (true, false), (false, false): return isBehind ? .older : .uncertain
      case (false, true): return .uncertain
      }
    }
  }
}

extension HighWaterMark.Record {
  fileprivate var text: String {
    "epoch=\(epoch) sequence=\(sequence) assets=\(reservedAssets) collections=\(reservedCollections) "
      + "device=\(file.device) inode=\(file.inode) birth=\(file.birthTime.nanoseconds) "
      + "closed=\(isClosed ? 1 : 0) boot=\(bootID)"
  }

  fileprivate init?(line: ArraySlice<UInt8>, magic: String) {
    let words = String(decoding: line, as: UTF8.self).split(whereSeparator: { $0 == " " || $0 == "\n" })
    guard line.starts(with: magic.utf8), words.count == 13,
      HighWaterMark.hex(CRC32C.checksum(of: words[4...].joined(separator: " ").utf8)) == words[3]
    else { return nil }
    func value<Number: FixedWidthInteger>(_ index: Int, _ key: String) -> Number? {
      words[index].hasPrefix(key + "=") ? Number(words[index].dropFirst(key.utf8.count + 1)) : nil
    }
    guard let epoch: Int64 = value(4, "epoch"), let sequence: Int64 = value(5, "sequence"),
      let assets: Int64 = value(6, "assets"), let collections: Int64 = value(7, "collections"),
      let device: UInt64 = value(8, "device"), let inode: UInt64 = value(9, "inode"),
      let birth: Int64 = value(10, "birth"), let closed: Int = value(11, "closed"), words[12].hasPrefix("boot=")
    else { return nil }
    self.init(
      epoch: epoch, sequence: sequence, reservedAssets: AssetID(rawValue: assets),
      reservedCollections: CollectionID(rawValue: collections),
      file: FileNumbers(device: device, inode: inode, birthTime: WallTime(nanoseconds: birth)), isClosed: closed == 1,
      bootID: String(words[12].dropFirst(5)))
  }
}
