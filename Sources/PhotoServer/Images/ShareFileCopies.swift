import Dispatch
import Glibc
import PhotoImages

/// Copies files of shares for the decoders that make pictures. A decoder needs a descriptor. If it had one of the share,
/// photod could wait for the share when it closes it.
///
/// A copy loses its name at once. So it is gone when its descriptor is closed, also if photod is killed.
final class ShareFileCopies: Sendable {
  /// The largest file of a share that is copied.
  static let maximumFileBytes: Int64 = 512 << 20
  /// After this time, a copy ends. The time that it waits for space does not count.
  static let timeLimit = DispatchTimeInterval.seconds(60)

  /// The room for all copies, which image-cache-size does not limit.
  let space: CopySpace
  private let folder: String
  private let now: @Sendable () -> DispatchTime

  /// - Parameters:
  ///   - folder: the folder of the copies while they have names. It is made if it is not there.
  ///   - now: the clock for the time limit. Tests have one of their own.
  init(folder: String, space: CopySpace = CopySpace(), now: @escaping @Sendable () -> DispatchTime = { .now() }) {
    self.folder = folder
    self.space = space
    self.now = now
  }

  /// Copies a file.
  ///
  /// - Parameter isWanted: is called before each piece.
  func make(_ source: ShareFileReader, isWanted: () -> Bool) throws(ImageFileError) -> OpenImageFile {
    let byteCount = source.byteCount
    guard byteCount <= Self.maximumFileBytes else { throw .tooLarge(limit: Self.maximumFileBytes) }
    guard space.take(byteCount, isWanted: isWanted) else { throw .unwanted }
    do throws(ImageFileError) {
      return OpenImageFile(try copy(source, isWanted), copiedBytes: byteCount) { [space] in space.release(byteCount) }
    } catch {
      space.release(byteCount)
      throw error
    }
  }

  private func copy(_ source: ShareFileReader, _ isWanted: () -> Bool) throws(ImageFileError) -> Int32 {
    let copy = try makeNameless()
    defer { close(copy) }
    let limit = now() + Self.timeLimit
    var offset: Int64 = 0
    while offset < source.byteCount {
      guard now() < limit else { throw .tooSlow }
      let end = min(source.byteCount, offset + Int64(ShareFileReader.pieceBytes))
      let bytes = try source.read(at: offset, upTo: end, until: limit, isWanted: isWanted)
      try write(bytes, to: copy)
      offset += Int64(bytes.count)
    }
    // The decoder must not write to it.
    let reader = open("/proc/self/fd/\(copy)", O_RDONLY | O_CLOEXEC)
    guard reader >= 0 else { throw .notCopied(errno) }
    return reader
  }

  private func makeNameless() throws(ImageFileError) -> Int32 {
    // If photod is killed before unlink(2), the next start removes the empty file.
    let path = "\(folder)/\(TemporaryNames.copyStart)\(UInt64.random(in: .min ... .max))"
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

  private func write(_ bytes: [UInt8], to copy: Int32) throws(ImageFileError) {
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { Glibc.write(copy, $0.baseAddress! + written, $0.count - written) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw .notCopied(count < 0 ? errno : EIO) }
      written += count
    }
  }
}
