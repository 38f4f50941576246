import CFileAttribute
import FileContent
import Glibc

/// The checksum of a kept picture, in an extended attribute of its file. It finds damage between the header and the end,
/// which a failing disk or a loss of power leaves.
///
/// A file system may keep no attributes, and earlier versions wrote none. Then there is no checksum.
enum PictureChecksum {
  /// A larger picture has no checksum, because a request would wait for its reading. All but pictures of the photo's own
  /// size are smaller.
  static let mostBytes = 4 << 20
  /// The checksum is that of pieces, so that no picture must be in memory as a whole.
  private static let pieceBytes = 64 << 10
  private static let attribute = "user.photod.checksum"

  /// Writes the checksum of a file with these bytes. Without it, the picture can be used as well.
  static func write(_ bytes: [UInt8], to descriptor: Int32) {
    guard bytes.count <= mostBytes else { return }
    var checksum = UInt64(bytes.count)
    bytes.withUnsafeBytes { all in
      for start in stride(from: 0, to: all.count, by: pieceBytes) {
        let piece = UnsafeRawBufferPointer(rebasing: all[start..<min(start + pieceBytes, all.count)])
        checksum = ContentFingerprint.wyhash(piece, seed: checksum)
      }
    }
    _ = fileattribute_set(descriptor, attribute, checksum)
  }

  /// Whether the bytes of a file are those whose checksum it has. True if it has none.
  ///
  /// - Complexity: O(*n*) for *n* bytes, about 0.1 ms for a megabyte in the page cache.
  static func holds(_ descriptor: Int32, byteCount: Int) -> Bool {
    var expected: UInt64 = 0
    guard byteCount <= mostBytes, fileattribute_get(descriptor, attribute, &expected) == 0 else { return true }
    var checksum = UInt64(byteCount)
    for start in stride(from: 0, to: byteCount, by: pieceBytes) {
      let count = min(pieceBytes, byteCount - start)
      let piece = FileReading.bytes(of: descriptor, offset: start, count: count)
      guard piece.count == count else { return false }
      checksum = piece.withUnsafeBytes { ContentFingerprint.wyhash($0, seed: checksum) }
    }
    return checksum == expected
  }
}
