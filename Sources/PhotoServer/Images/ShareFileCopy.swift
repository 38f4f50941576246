import Glibc
import PhotoImages

/// The copy of a file of a share from which a decoder makes a picture. A decoder needs a descriptor. If it had one of the
/// share, photod could wait for the share when it closes it.
enum ShareFileCopy {
  /// The largest file of a share that is copied.
  static let maximumBytes: Int64 = 512 << 20
  /// After this time, no further piece is begun. Each of the 16 calls for a piece may take up to 2 s more.
  private static let timeLimit = Duration.seconds(60)
  private static let pieceBytes: Int64 = 1 << 20

  /// Copies a file into a folder. The copy loses its name at once, so it is gone when all of its descriptors are closed.
  ///
  /// - Returns: a descriptor that is open for reading.
  static func make(_ source: ShareFileReader, in folder: String) throws(ImageFileError) -> Int32 {
    guard source.byteCount <= maximumBytes else { throw .tooLarge(limit: maximumBytes) }
    let copy = try makeNameless(in: folder)
    defer { close(copy) }
    let deadline = ContinuousClock.now + timeLimit
    var offset: Int64 = 0
    while offset < source.byteCount {
      guard ContinuousClock.now < deadline else { throw .tooSlow }
      let bytes = try source.read(at: offset, upTo: min(source.byteCount, offset + pieceBytes))
      try write(bytes, to: copy)
      offset += Int64(bytes.count)
    }
    // The decoder must not write to it.
    let reader = open("/proc/self/fd/\(copy)", O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { throw .notCopied(errno) }
    return reader
  }

  private static func makeNameless(in folder: String) throws(ImageFileError) -> Int32 {
    let path = "\(folder)/copy-\(UInt64.random(in: .min ... .max))"
    let flags = O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC
    var descriptor = open(path, flags, 0o600)
    if descriptor < 0, errno == ENOENT {
      let errorNumber = makePrivateFolders(folder)
      guard errorNumber == 0 else { throw .notCopied(errorNumber) }
      descriptor = open(path, flags, 0o600)
    }
    guard descriptor >= 0 else { throw .notCopied(errno) }
    unlink(path)
    return descriptor
  }

  private static func write(_ bytes: [UInt8], to copy: Int32) throws(ImageFileError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(copy, $0.baseAddress! + written, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .notCopied(count < 0 ? errno : EIO) }
      written += count
    }
  }
}
