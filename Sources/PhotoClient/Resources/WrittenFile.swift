import Dispatch
import PhotoModel
import SystemErrors

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// A file that is being written under a hidden name beside its path, and gets its name when it is complete.
///
/// Its system calls run on a queue of their own, because a slow disk would block the tasks' pool.
final class WrittenFile: Sendable {
  private static let queue = DispatchQueue(label: "photod.resources", attributes: .concurrent)

  private let path: String
  private let hiddenPath: String
  private let descriptor: CInt
  private let overwriting: Bool

  private init(path: String, hiddenPath: String, descriptor: CInt, overwriting: Bool) {
    self.path = path
    self.hiddenPath = hiddenPath
    self.descriptor = descriptor
    self.overwriting = overwriting
  }

  deinit { close(descriptor) }

  /// - Throws: ``PhotoLibraryError/cannotWrite(path:message:)`` if there is a file at the path already, or if no file can
  ///   be made beside it.
  static func create(_ path: String, overwriting: Bool) async throws -> WrittenFile {
    try await onQueue {
      if !overwriting, exists(path) { throw fileExists(path) }
      let parts = path.split(separator: "/", omittingEmptySubsequences: false)
      let name = parts.last ?? ""
      guard !name.isEmpty else {
        throw PhotoLibraryError.cannotWrite(path: path, message: "\(path) is no file name. Choose another file.")
      }
      let folder = parts.dropLast().joined(separator: "/")
      // A name may have at most 255 bytes.
      let hidden = ".\(String(decoding: name.utf8.prefix(200), as: UTF8.self)).\(UInt64.random(in: 0 ... .max))"
      let hiddenPath = parts.count == 1 ? hidden : "\(folder)/\(hidden)"
      let descriptor = open(hiddenPath, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
      guard descriptor >= 0 else { throw failure(path, errno) }
      return WrittenFile(path: path, hiddenPath: hiddenPath, descriptor: descriptor, overwriting: overwriting)
    }
  }

  func write(_ bytes: [UInt8]) async throws {
    try await Self.onQueue { [self] in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { Self.systemWrite(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw Self.failure(path, errno) }
        rest = rest.dropFirst(count)
      }
    }
  }

  /// Writes the file to the disk, and gives it its name.
  func finish() async throws {
    try await Self.onQueue { [self] in
      guard fsync(descriptor) == 0 else { throw Self.failure(path, errno) }
      if !overwriting {
        // Unlike rename, link never replaces a file that appeared meanwhile.
        if link(hiddenPath, path) == 0 {
          unlink(hiddenPath)
          return
        }
        // Some file systems have no hard links.
        if errno == EEXIST || Self.exists(path) { throw Self.fileExists(path) }
      }
      guard rename(hiddenPath, path) == 0 else { throw Self.failure(path, errno) }
    }
  }

  /// Removes the unfinished file.
  func discard() async {
    await withCheckedContinuation { continuation in
      Self.queue.async { [hiddenPath] in
        unlink(hiddenPath)
        continuation.resume()
      }
    }
  }

  // MARK: - System calls

  private static func onQueue<Output: Sendable>(_ body: @escaping @Sendable () throws -> Output) async throws -> Output
  {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result(catching: body)) }
    }
  }

  /// The function of the C library, which the method hides.
  private static func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    #if canImport(Glibc)
      Glibc.write(descriptor, bytes, count)
    #elseif canImport(Musl)
      Musl.write(descriptor, bytes, count)
    #else
      Darwin.write(descriptor, bytes, count)
    #endif
  }

  private static func exists(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0
  }

  private static func fileExists(_ path: String) -> PhotoLibraryError {
    .cannotWrite(path: path, message: "\(path) exists. Choose another file, or overwrite it.")
  }

  private static func failure(_ path: String, _ code: CInt) -> PhotoLibraryError {
    .cannotWrite(
      path: path, message: "\(path) can't be written: \(errorText(code)). Choose another file.")
  }
}
