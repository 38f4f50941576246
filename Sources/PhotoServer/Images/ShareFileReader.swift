import Glibc
import PhotoImages
import PhotoWatch
import WatchRecords

/// Reads a file of a share through the process that may wait for the share, so that photod never waits for it longer than
/// ``ShareFileWorker/patience``. All pieces are of one state of the file, or reading fails with `changed`: the process
/// compares the file before and after it reads a piece.
struct ShareFileReader: Sendable {
  private let path: [UInt8]
  private let share: ShareFileWorker
  private let opened: FileStat

  /// A piece of this size comes within the time that photod waits, even from a slow share.
  private static let pieceBytes = 64 << 10

  var byteCount: Int64 { opened.byteCount }

  /// - Throws: an error if the file is not the one that the catalog knows.
  init(_ file: ImageFile, _ share: ShareFileWorker) throws(ImageFileError) {
    (path, self.share) = (file.path, share)
    opened = try Self.ask(.look(path: file.path), share).stat
    guard file.matches(opened) else { throw .changed }
  }

  /// Reads the bytes from `start` to `end`, which is not beyond ``byteCount``.
  func read(at start: Int64, upTo end: Int64) throws(ImageFileError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(Int(max(0, end - start)))
    while start + Int64(bytes.count) < end {
      let offset = start + Int64(bytes.count)
      let count = UInt32(min(end - offset, Int64(Self.pieceBytes)))
      let answer = try Self.ask(.read(path: path, offset: UInt64(offset), count: count), share)
      let stat = answer.stat
      guard stat.identity.inode == opened.identity.inode, stat.byteCount == opened.byteCount,
        stat.modificationTime == opened.modificationTime, stat.changeTime == opened.changeTime
      else { throw .changed }
      // A file that ends early has another size now.
      guard !answer.bytes.isEmpty else { throw .changed }
      bytes += answer.bytes
    }
    return bytes
  }

  private static func ask(_ call: FileCall, _ share: ShareFileWorker) throws(ImageFileError) -> FileAnswer {
    guard let answer = share.ask(call) else { throw .offline }
    switch answer.errorNumber {
    case 0: break
    // The file was deleted or replaced on its share.
    case ESTALE: throw .changed
    case let number: throw ImageFileError(errorNumber: number)
    }
    guard answer.mode & S_IFMT == S_IFREG else { throw .gone }
    return answer
  }
}
