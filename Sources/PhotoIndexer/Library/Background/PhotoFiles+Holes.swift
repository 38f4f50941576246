import Glibc

extension PhotoFiles {
  /// Whether less than a sixteenth of a file is on its disk. Its size says nothing about its content then, and reading all
  /// of its holes may take for ever.
  ///
  /// - Returns: false if that is not known, as on a share.
  func isMostlyHoles(_ path: [UInt8], byteCount: Int64) -> Bool {
    guard !mayWait(path), let status = LongPath.status(path) else { return false }
    return Int64(status.st_blocks) < byteCount / 16 / Self.blockBytes
  }

  /// The unit of `st_blocks`, on all file systems.
  private static var blockBytes: Int64 { 512 }
}
