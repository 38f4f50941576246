import CFileBirth
import Glibc
import PhotoModel
import SystemErrors

/// The reason why a file beside the catalog could not be written or read.
struct PrivateFileError: Error, CustomStringConvertible {
  let path: String
  let verb: String
  let code: Int32
  /// The reason if no system call failed.
  var reason: String?

  var isFull: Bool { code == ENOSPC || code == EDQUOT }
  var description: String { "\(path) can't be \(verb): \(reason ?? errorText(code))" }
}

/// Files that only their user may read. After a crash a file has either its old or its new contents.
enum PrivateFile {
  static func failure(_ path: String, _ verb: String, _ code: Int32) -> PrivateFileError {
    PrivateFileError(path: path, verb: verb, code: code)
  }

  /// Opens a file for reading and writing.
  static func open(_ path: String, _ flags: Int32 = 0) throws -> Int32 {
    let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | flags, 0o600)
    guard descriptor >= 0 else { throw failure(path, "opened", errno) }
    return descriptor
  }

  /// Closes a descriptor, or nothing if it is -1.
  ///
  /// A descriptor that is closed twice may close a file of another thread, because the system reuses its number. A
  /// debug build traps on that.
  static func close(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    let isClosed = Glibc.close(descriptor) == 0
    assert(isClosed || errno != EBADF, "descriptor \(descriptor) is closed twice")
  }

  /// Opens a regular file for reading. Other files are refused, and a pipe without a writer does not block.
  ///
  /// - Returns: The descriptor, which the caller closes, and the size. nil if there is no such file.
  static func openToRead(_ path: String) throws -> (descriptor: Int32, byteCount: Int)? {
    let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw failure(path, "opened", errno)
    }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else {
      let code = errno
      close(descriptor)
      throw failure(path, "read", code)
    }
    guard status.st_mode & S_IFMT == S_IFREG else {
      close(descriptor)
      throw PrivateFileError(path: path, verb: "read", code: EINVAL, reason: "it is not a regular file")
    }
    return (descriptor, Int(status.st_size))
  }

  /// The contents of a file, if it is no longer than `limit` bytes. nil if there is no such file.
  static func read(_ path: String, atMost limit: Int) throws -> [UInt8]? {
    guard let (descriptor, byteCount) = try openToRead(path) else { return nil }
    defer { close(descriptor) }
    guard byteCount <= limit else {
      throw PrivateFileError(
        path: path, verb: "read", code: EFBIG,
        reason:
          "it has \(byteText(Int64(clamping: byteCount))), and photod reads at most \(byteText(Int64(clamping: limit)))"
      )
    }
    return try read(descriptor, byteCount, path)
  }

  /// The beginning of a file, or nil if there is no such file.
  static func read(_ path: String, first limit: Int) throws -> [UInt8]? {
    guard let (descriptor, byteCount) = try openToRead(path) else { return nil }
    defer { close(descriptor) }
    return try read(descriptor, min(byteCount, limit), path)
  }

  private static func read(_ descriptor: Int32, _ byteCount: Int, _ path: String) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: byteCount)
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

  /// Copies a regular file into an open one, in pieces of 1 MiB.
  ///
  /// - Returns: Whether there is such a file.
  static func copy(_ path: String, to target: Int32, _ targetPath: String) throws -> Bool {
    guard let (descriptor, byteCount) = try openToRead(path) else { return false }
    defer { close(descriptor) }
    let piece = 1 << 20
    var offset = 0
    // The copy ends at the size of the beginning. Otherwise a program that keeps writing would prolong it forever.
    while offset < byteCount {
      let bytes = try read(descriptor, min(piece, byteCount - offset), path)
      if bytes.isEmpty { break }
      try write(bytes, to: target, at: offset, targetPath)
      offset += bytes.count
    }
    return true
  }

  /// The number of bytes that an ordinary user may still write to the file system of a folder. nil if it is not
  /// reported.
  static func freeBytes(in folder: String) -> Int64? {
    var status = statvfs()
    guard statvfs(folder, &status) == 0, status.f_blocks > 0 else { return nil }
    let (bytes, overflows) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflows ? .max : Int64(clamping: bytes)
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

  /// Replaces the contents of a file. At every moment the name has either the old contents or all of the new ones.
  ///
  /// - Parameters:
  ///   - synced: Called when the new contents are on disk, before the rename.
  ///   - renamed: Called after the rename, before it is on disk. If this closure or a later step throws, the name belongs
  ///     to the new file all the same.
  /// - Returns: The new file, open for reading and writing.
  static func replace(
    _ path: String, with bytes: [UInt8], synced: () throws -> Void = {}, renamed: () throws -> Void = {}
  ) throws -> Int32 {
    let new = try TemporaryFile(beside: path)
    do {
      try write(bytes, to: new.descriptor, at: 0, new.path)
      guard fsync(new.descriptor) == 0 else { throw failure(new.path, "written", errno) }
      try synced()
      guard Glibc.rename(new.path, path) == 0 else { throw failure(new.path, "renamed", errno) }
      try renamed()
      try syncFolder(of: path)
      return new.descriptor
    } catch {
      close(new.descriptor)
      unlink(new.path)
      throw error
    }
  }

  /// Renames a file like ``rename(_:to:)``, but throws if the new name is taken.
  static func renameWithoutReplacing(_ path: String, to other: String) throws {
    if link(path, other) != 0 {
      // FAT and some FUSE file systems have no links.
      guard errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS || errno == EMLINK else {
        throw failure(other, "made", errno)
      }
      guard !exists(other) else { throw failure(other, "made", EEXIST) }
      return try rename(path, to: other)
    }
    try remove(path)
    try syncFolder(of: other)
  }

  /// Renames a file. The new name is on disk on return.
  static func rename(_ path: String, to other: String) throws {
    guard Glibc.rename(path, other) == 0 else { throw failure(path, "renamed", errno) }
    try syncFolder(of: other)
  }

  /// Syncs the folder of this path. The names in it are on disk on return.
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

  /// - Returns: Whether there was such a file.
  @discardableResult
  static func remove(_ path: String) throws -> Bool {
    if unlink(path) == 0 { return true }
    guard errno == ENOENT else { throw failure(path, "removed", errno) }
    return false
  }

  static func exists(_ path: String) -> Bool { byteCount(path) != nil }

  /// Whether this path leads to a regular file, directly or through a link.
  static func isRegular(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }

  static func byteCount(_ path: String) -> Int64? {
    var status = stat()
    return lstat(path, &status) == 0 ? Int64(status.st_size) : nil
  }

  /// The date of the last write.
  static func date(of path: String) throws -> WallTime {
    var status = stat()
    guard stat(path, &status) == 0 else { throw failure(path, "read", errno) }
    return WallTime(status.st_mtim)
  }

  /// The date of the last change of the file or its attributes (ctime). A rename changes it too.
  static func statusDate(of path: String) throws -> WallTime {
    var status = stat()
    guard lstat(path, &status) == 0 else { throw failure(path, "read", errno) }
    return WallTime(status.st_ctim)
  }

  /// Sets ``statusDate(of:)`` to the current time. This works even on a full disk.
  static func touchStatus(_ path: String) throws {
    var status = stat()
    guard lstat(path, &status) == 0, chmod(path, status.st_mode & 0o7777) == 0 else {
      throw failure(path, "examined", errno)
    }
  }

  /// The names in a folder, in no order. Empty if the folder does not exist.
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

  /// The size of a file. It is nil only if the file certainly does not exist. A file that can't be examined now must
  /// not count as missing, so this throws.
  static func certainByteCount(_ path: String) throws -> Int64? {
    var status = stat()
    if lstat(path, &status) == 0 { return Int64(status.st_size) }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw failure(path, "examined", errno)
  }

  /// The same for the target of a link.
  static func certainByteCount(followed path: String) throws -> Int64? {
    var status = stat()
    if stat(path, &status) == 0 { return Int64(status.st_size) }
    if errno == ENOENT || errno == ENOTDIR { return nil }
    throw failure(path, "examined", errno)
  }

  /// Whether a path leads to the file that is open.
  ///
  /// - Returns: nil if this can't be determined now, because a disk that fails for a moment has not lost the name.
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

  /// The last component of a path.
  static func name(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
  }
}

/// The identity of a file. It holds on this machine until it restarts.
struct FileNumbers: Hashable, Sendable {
  var device: UInt64
  var inode: UInt64
  /// Unknown if the file system does not record it.
  var birthTime: WallTime
}

/// A file that is kept open to detect whether it still has its name.
final class HeldFile: Sendable {
  private let path: String
  /// The descriptor is opened with O_PATH. An ordinary descriptor would release SQLite's locks when it is closed
  /// (https://www.sqlite.org/howtocorrupt.html, 2.2). Without any descriptor, some file systems may change the inode's
  /// number.
  private let descriptor: Int32

  init(_ path: String) throws {
    self.path = path
    let pathOnly: Int32 = 0o10000000
    descriptor = Glibc.open(path, pathOnly | O_CLOEXEC)
    guard descriptor >= 0 else { throw PrivateFile.failure(path, "opened", errno) }
  }

  deinit { PrivateFile.close(descriptor) }

  var numbers: FileNumbers {
    get throws {
      var status = stat()
      guard fstat(descriptor, &status) == 0 else { throw PrivateFile.failure(path, "examined", errno) }
      return FileNumbers(
        device: UInt64(status.st_dev), inode: UInt64(status.st_ino),
        birthTime: WallTime(nanoseconds: filebirth_of(descriptor)))
    }
  }

  /// Whether the file certainly still has its name.
  var hasItsName: Bool { PrivateFile.isName(path, of: descriptor) == true }

  /// Whether the file certainly lost its name: the name is gone or belongs to another file.
  var hasLostItsName: Bool { PrivateFile.isName(path, of: descriptor) == false }

  /// Whether this is another name of the same file.
  func isAlso(_ name: String) -> Bool { PrivateFile.isName(name, of: descriptor) == true }
}
