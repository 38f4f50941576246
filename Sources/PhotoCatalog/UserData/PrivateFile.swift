import Glibc
import PhotoModel

/// Why a file beside the catalog could not be written or read.
struct PrivateFileError: Error, CustomStringConvertible {
  let path: String
  let verb: String
  let code: Int32

  var isFull: Bool { code == ENOSPC || code == EDQUOT }
  var description: String { "\(path) can't be \(verb): \(String(cString: strerror(code)))" }
}

/// Files that only their user may read, written so that a crash leaves the old or the new.
enum PrivateFile {
  static func failure(_ path: String, _ verb: String, _ code: Int32) -> PrivateFileError {
    PrivateFileError(path: path, verb: verb, code: code)
  }

  /// To read and write.
  static func open(_ path: String, _ flags: Int32 = 0) throws -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o600)
    guard descriptor >= 0 else { throw failure(path, "opened", errno) }
    return descriptor
  }

  /// All of it, or its beginning; nil where there is no such file.
  static func read(_ path: String, first limit: Int = .max) throws -> [UInt8]? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(path, "opened", errno)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw failure(path, "read", errno) }
    var bytes = [UInt8](repeating: 0, count: min(Int(status.st_size), limit))
    var count = 0
    while count < bytes.count {
      let got = bytes[count...].withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if got < 0, errno == EINTR { continue }
      guard got >= 0 else { throw failure(path, "read", errno) }
      if got == 0 { break }
      count += got
    }
    return Array(bytes[..<count])
  }

  static func write(_ bytes: [UInt8], to descriptor: Int32, at offset: Int, _ path: String) throws {
    var count = 0
    while count < bytes.count {
      let written = bytes[count...].withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset + count))
      }
      if written < 0, errno == EINTR { continue }
      guard written > 0 else { throw failure(path, "written", written == 0 ? ENOSPC : errno) }
      count += written
    }
  }

  /// Gives a file new contents: the name has the old ones, or all of the new.
  ///
  /// - Parameter renamed: called when it has the name, before that is certain to last. Where it throws, or what comes after
  ///   it, the name is that of the new one all the same.
  /// - Returns: the file, open to read and write.
  static func replace(_ path: String, with bytes: [UInt8], renamed: () throws -> Void = {}) throws -> Int32 {
    let new = path + ".new"
    let descriptor = try open(new, O_CREAT | O_TRUNC)
    do {
      try write(bytes, to: descriptor, at: 0, new)
      guard fsync(descriptor) == 0 else { throw failure(new, "written", errno) }
      guard Glibc.rename(new, path) == 0 else { throw failure(new, "renamed", errno) }
      try renamed()
      try syncFolder(of: path)
      return descriptor
    } catch {
      close(descriptor)
      unlink(new)
      throw error
    }
  }

  /// On disk when it returns.
  static func rename(_ path: String, to other: String) throws {
    guard Glibc.rename(path, other) == 0 else { throw failure(path, "renamed", errno) }
    try syncFolder(of: other)
  }

  /// The names in the folder of this path are on disk when it returns.
  static func syncFolder(of path: String) throws {
    let folder = folder(of: path)
    let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw failure(folder, "opened", errno) }
    defer { close(descriptor) }
    // Some file systems have no fsync for folders.
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else { throw failure(folder, "written", errno) }
  }

  static func sync(_ path: String) throws {
    let descriptor = try open(path)
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw failure(path, "written", errno) }
  }

  /// - Returns: whether there was one.
  @discardableResult
  static func remove(_ path: String) throws -> Bool {
    if unlink(path) == 0 { return true }
    guard errno == ENOENT else { throw failure(path, "removed", errno) }
    return false
  }

  static func exists(_ path: String) -> Bool { byteCount(path) != nil }

  static func byteCount(_ path: String) -> Int64? {
    var status = stat()
    return lstat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// When it was last written, in microseconds since 1970.
  static func date(of path: String) throws -> Int64 {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path, "read", errno) }
    return Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
  }

  /// When it, or what the file system knows of it, as its name, was changed last, in microseconds since 1970.
  static func statusDate(of path: String) throws -> Int64 {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw failure(path, "read", errno) }
    return Int64(status.st_ctim.tv_sec) * 1_000_000 + Int64(status.st_ctim.tv_nsec) / 1000
  }

  /// Has ``statusDate(of:)`` be now, which takes no room on a disk that is full.
  static func touchStatus(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0, chmod(path, status.st_mode & 0o7777) == 0 else {
      throw failure(path, "looked at", errno)
    }
  }

  /// What is in a folder, in no order; nothing where there is no folder.
  static func names(in path: String) throws -> [String] {
    guard let folder = opendir(path) else {
      if errno == ENOENT { return [] }
      throw failure(path, "read", errno)
    }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      names.append(
        withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
    }
    return names
  }

  /// Nil only where there certainly is no such file: what can't be looked at now must not be taken for gone.
  static func certainByteCount(_ path: String) throws -> Int64? {
    var status = stat()
    if lstat(path, &status) == 0 { return Int64(status.st_size) }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw failure(path, "looked at", errno)
  }

  /// Whether a path leads to the file that is open.
  ///
  /// - Returns: nil where that can't be said now: a disk that fails for a moment has not lost the name.
  static func isName(_ path: String, of descriptor: Int32, followsLinks: Bool = true) -> Bool? {
    var (mine, named) = (stat(), stat())
    guard fstat(descriptor, &mine) == 0 else { return nil }
    guard (followsLinks ? stat(path, &named) : lstat(path, &named)) == 0 else {
      return errno == ENOENT || errno == ENOTDIR ? false : nil
    }
    return mine.st_dev == named.st_dev && mine.st_ino == named.st_ino
  }

  static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}

/// A file that is in use, to know whether it still has its name.
final class HeldFile: Sendable {
  private let path: String
  /// O_PATH: an ordinary one would, when it is closed, take SQLite's locks with it (https://www.sqlite.org/howtocorrupt.html,
  /// 2.2), and without one the inode's number need not stay on every file system.
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    let pathOnly: Int32 = 0o10000000
    descriptor = Glibc.open(path, pathOnly | O_CLOEXEC)
    guard descriptor >= 0 else { throw PrivateFile.failure(path, "opened", errno) }
  }

  deinit { close(descriptor) }

  /// It certainly has.
  var hasItsName: Bool { PrivateFile.isName(path, of: descriptor) == true }

  /// It certainly has not: the name is gone, or another's.
  var hasLostItsName: Bool { PrivateFile.isName(path, of: descriptor) == false }

  /// Whether this is a name of the same file.
  func isAlso(_ name: String) -> Bool { PrivateFile.isName(name, of: descriptor) == true }
}
