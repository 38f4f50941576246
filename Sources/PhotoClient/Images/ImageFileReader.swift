import Dispatch
import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// Reads files of photod's store outside of the tasks' pool, which a slow disk would block.
enum ImageFileReader {
  private static let queue = DispatchQueue(label: "photod.pictures", attributes: .concurrent)

  /// - Throws: ``PhotoLibraryError/snapshotExpired(message:)`` if the file is gone or can't be read.
  static func bytes(_ path: String) async throws -> [UInt8] {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try content(of: path) }) }
    }
  }

  private static func content(of path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(path, errno) }
    defer { close(descriptor) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = buffer.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      if count < 0 { throw failure(path, errno) }
      if count == 0 { return bytes }
      bytes += buffer[..<count]
    }
  }

  private static func failure(_ path: String, _ code: Int32) -> PhotoLibraryError {
    .snapshotExpired(
      message: "The picture \(path) can't be read: \(errorText(code)). Request it again.")
  }
}
