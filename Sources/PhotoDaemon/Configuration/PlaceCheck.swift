import Glibc
import SystemErrors

/// Checks the places of the catalog and the socket without changing anything, so that `photod --check-config` finds
/// most of what a start would find. It does not read the catalog.
enum PlaceCheck {
  /// - Throws: `inputOutput` if something other than a file is at the path of the catalog.
  static func catalog(_ path: String) throws(StartError) {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
    let kind = status.st_mode & S_IFMT == S_IFDIR ? "a folder" : "a pipe, a socket or a device"
    throw StartError(
      .inputOutput, "the catalog \(path) is no file: it is \(kind)",
      remedy: "Choose the path of a file with --catalog or in the configuration. photod makes the file.")
  }

  /// - Throws: `usage` for a path too long for a socket; `cannotCreate` if something other than a socket is there.
  static func socket(_ path: String) throws(StartError) {
    try SocketFile.check(path)
    var status = stat()
    guard lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFSOCK else { return }
    throw SocketFile.noSocket(path)
  }

  /// - Throws: `cannotCreate` if the folder does not exist and can't be made, or if no file can be made in it.
  static func folder(of path: String) throws(StartError) {
    var folder = PrivateDirectory.parent(of: path)
    var status = stat()
    while access(folder, F_OK) != 0, errno == ENOENT, folder != "/" {
      // A link whose target is missing takes the place of a folder.
      if lstat(folder, &status) == 0 { throw PrivateDirectory.noDirectory(folder) }
      folder = PrivateDirectory.parent(of: folder)
    }
    guard stat(folder, &status) == 0 else { throw PrivateDirectory.failure(folder, errno) }
    guard status.st_mode & S_IFMT == S_IFDIR else { throw PrivateDirectory.noDirectory(folder) }
    guard access(folder, W_OK | X_OK) == 0 else {
      throw StartError(
        .cannotCreate, "no file can be made in \(folder): \(errorText(errno))",
        remedy: PrivateDirectory.isBelowRuntimeDirectories(path)
          ? PrivateDirectory.missingRuntimeDirectory
          : "Make it writable for your user, or choose other paths with --catalog and --socket.")
    }
  }
}
