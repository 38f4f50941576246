import Glibc
import SystemErrors

/// Directories that only their user may enter.
enum PrivateDirectory {
  /// Makes the directory and the missing ones above it, each with mode 0700. An existing directory is left as it is,
  /// unless it is photod's own `photod` directory and others may enter it. Then it gets mode 0700 too.
  ///
  /// - Throws: `cannotCreate`, with the directory that could not be made.
  static func make(_ path: String) throws(StartError) {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else {
        throw noDirectory(path)
      }
      if path.hasSuffix("/photod"), status.st_uid == geteuid(), status.st_mode & 0o077 != 0, chmod(path, 0o700) != 0 {
        throw failure(path, errno)
      }
      return
    }
    guard errno == ENOENT else { throw failure(path, errno) }
    let parent = PrivateDirectory.parent(of: path)
    if parent != path { try make(parent) }
    guard mkdir(path, 0o700) != 0 else { return }
    guard errno == EEXIST else { throw failure(path, errno) }
    // Another photod may have made it at the same moment. Otherwise it is a link whose target is missing.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw noDirectory(path) }
  }

  /// Returns the directory that holds this path: `/` for a path without another slash.
  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }

  static func noDirectory(_ path: String) -> StartError {
    StartError(.cannotCreate, "\(path) is no directory", remedy: "Move it away, or choose another path.")
  }

  static func failure(_ path: String, _ code: Int32) -> StartError {
    StartError(
      .cannotCreate, "the directory \(path) can't be made: \(errorText(code))",
      remedy: isBelowRuntimeDirectories(path)
        ? missingRuntimeDirectory
        : "Make the directory above it writable for your user, or choose other paths with --catalog and --socket.")
  }

  /// Whether only root can make the directory. logind makes `/run/user/UID` at a login.
  static func isBelowRuntimeDirectories(_ path: String) -> Bool { path == "/run/user" || path.hasPrefix("/run/user/") }

  /// The remedy if there is no `/run/user/UID`, as after `su` or in a container.
  static let missingRuntimeDirectory =
    "Only systemd-logind makes this directory, when you log in. Otherwise set XDG_RUNTIME_DIR to a folder of your user "
    + "with mode 700, for photod and for its clients, or choose the socket with --socket."
}
