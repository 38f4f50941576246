#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension PhotoLibrary {
  /// The socket of the user's own daemon: `$XDG_RUNTIME_DIR/photod/photod.sock`, else
  /// `/run/user/UID/photod/photod.sock`.
  public static var defaultSocketPath: String {
    socketPath(runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, userID: geteuid())
  }

  /// By the XDG Base Directory Specification 0.8, a relative path is invalid and must be ignored.
  static func socketPath(runtimeDirectory: String?, userID: uid_t) -> String {
    var directory = runtimeDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(userID)"
    while directory.hasSuffix("/") { directory.removeLast() }
    return "\(directory)/photod/photod.sock"
  }
}
