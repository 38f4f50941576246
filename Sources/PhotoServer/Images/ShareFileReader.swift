import Dispatch
import Glibc
import PhotoImages
import PhotoWatch
import WatchRecords

/// Reads a file of a share through the process that may wait for the share. So photod waits for a silent share for at
/// most ``ShareFileWorker/patience``. All pieces are of one state of the file, or reading fails with
/// `changed`: the process compares the file before and after it reads a piece.
struct ShareFileReader: Sendable {
  private let path: [UInt8]
  private let share: ShareFileWorker
  private let opened: FileStat

  /// A piece of this size comes within the time that photod waits, even from a slow share.
  static let pieceBytes = 64 << 10

  var byteCount: Int64 { opened.byteCount }

  /// - Throws: an error if the file is not the one that the catalog knows.
  init(_ file: ImageFile, _ share: ShareFileWorker) throws(ImageFileError) {
    (path, self.share) = (file.path, share)
    guard let answer = share.ask(.look(path: file.path)) else { throw .offline }
    opened = try Self.stat(of: answer)
    guard file.matches(opened) else { throw .changed }
  }

  /// Reads the bytes from `start` to `end`, which is not beyond ``byteCount``.
  ///
  /// - Parameters:
  ///   - limit: when reading ends in any case. It fails with `tooSlow` then.
  ///   - isWanted: is called before each piece. Reading fails with `unwanted` if it returns false.
  func read(
    at start: Int64, upTo end: Int64, until limit: DispatchTime = .distantFuture, isWanted: () -> Bool = { true }
  ) throws(ImageFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(max(0, end - start)))
    while start + Int64(bytes.count) < end {
      guard isWanted() else { throw .unwanted }
      let offset = start + Int64(bytes.count)
      bytes += try piece(at: offset, Int(min(end - offset, Int64(Self.pieceBytes))), until: limit)
    }
    return bytes
  }

  private func piece(at offset: Int64, _ count: Int, until limit: DispatchTime) throws(ImageFileError) -> [UInt8] {
    let call = FileCall.read(path: path, offset: UInt64(offset), count: UInt32(count))
    guard let answer = share.ask(call, until: limit) else { throw share.hasPassed(limit) ? .tooSlow : .offline }
    guard answer.errorNumber != ESTALE else { throw staleness() }
    guard isSame(try Self.stat(of: answer)) else { throw .changed }
    // A file that ends early has another size now.
    guard !answer.bytes.isEmpty else { throw .changed }
    return answer.bytes
  }

  /// The reason for ESTALE: the file was replaced or written meanwhile, or a server that was started again does not know
  /// the open file any more. Only in the first case, a change of the asset follows.
  private func staleness() -> ImageFileError {
    guard let answer = share.ask(.look(path: path)) else { return .offline }
    do throws(ImageFileError) {
      return isSame(try Self.stat(of: answer)) ? .readFailed(ESTALE) : .changed
    } catch {
      return error
    }
  }

  private func isSame(_ stat: FileStat) -> Bool {
    stat.identity.inode == opened.identity.inode && stat.byteCount == opened.byteCount
      && stat.modificationTime == opened.modificationTime && stat.changeTime == opened.changeTime
  }

  private static func stat(of answer: FileAnswer) throws(ImageFileError) -> FileStat {
    guard answer.errorNumber == 0 else { throw ImageFileError(errorNumber: answer.errorNumber) }
    guard answer.mode & S_IFMT == S_IFREG else { throw .gone }
    return answer.stat
  }
}
