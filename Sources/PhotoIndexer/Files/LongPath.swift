import Glibc

/// Paths beyond PATH_MAX, which no system call takes whole, so they are walked in pieces. Folders may be nested as deep
/// as their file system permits, and photos in them are photos.
package enum LongPath {
  /// O_PATH of open(2), which is not imported. It permits the walk even if the folder may not be read.
  private static let walkOnly: Int32 = 0o10_000_000

  /// Calls `body` with a directory and a path relative to it that together lead to `path`: with AT_FDCWD and the path
  /// itself, unless that is too long.
  ///
  /// - Returns: nil if a piece can't be opened. errno has the reason then, and is never 0.
  static func with<Value>(_ path: [UInt8], _ body: (Int32, UnsafePointer<CChar>) -> Value) -> Value? {
    guard path.count >= Int(PATH_MAX) else { return withCPath(path) { body(AT_FDCWD, $0) } }
    var base = AT_FDCWD
    var rest = path[...]
    while rest.count >= Int(PATH_MAX) {
      // A name has 255 bytes at most, so there is a slash in any such piece that leads somewhere.
      guard let slash = rest.prefix(Int(PATH_MAX) - 1).lastIndex(of: UInt8(ascii: "/")), slash > rest.startIndex else {
        errno = ENAMETOOLONG
        break
      }
      let next = withCPath(Array(rest[..<slash])) { openat(base, $0, walkOnly | O_DIRECTORY | O_CLOEXEC) }
      leave(base)
      base = next
      guard base >= 0 else { return nil }
      rest = rest[(slash + 1)...].drop { $0 == UInt8(ascii: "/") }
    }
    defer { leave(base) }
    guard rest.count < Int(PATH_MAX) else { return nil }
    return withCPath(rest.isEmpty ? [UInt8(ascii: ".")] : Array(rest)) { body(base, $0) }
  }

  /// openat(2) of the path.
  package static func open(_ path: [UInt8], _ flags: Int32) -> Int32 { with(path) { openat($0, $1, flags) } ?? -1 }

  /// Opens a directory only to look at names in it, and to open those.
  static func openToWalk(_ path: [UInt8]) -> Int32 { open(path, walkOnly | O_DIRECTORY | O_CLOEXEC) }

  /// The same for a directory in another one. A link to a directory is not followed.
  static func openToWalk(_ name: UnsafePointer<CChar>, in folder: Int32) -> Int32 {
    openat(folder, name, walkOnly | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
  }

  /// Returns nil if the path is no directory that can be read.
  static func openDirectory(_ path: [UInt8]) -> OpaquePointer? {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    guard let directory = fdopendir(descriptor) else {
      close(descriptor)
      return nil
    }
    return directory
  }

  /// fstatat(2) of the path, without following a link. It is nil if the call fails. errno has the reason then.
  static func status(_ path: [UInt8]) -> stat? {
    var status = stat()
    return with(path, { fstatat($0, $1, &status, AT_SYMLINK_NOFOLLOW) }) == 0 ? status : nil
  }

  /// Keeps the errno of the call before it.
  private static func leave(_ descriptor: Int32) {
    guard descriptor >= 0 else { return }
    let code = errno
    close(descriptor)
    errno = code
  }
}
