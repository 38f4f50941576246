#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension PhotoLibrary {
  /// `$XDG_RUNTIME_DIR/photod/photod.sock`, else `/run/user/UID/photod/photod.sock`: where the user's own daemon is.
  public static var defaultSocketPath: String {
    socketPath(runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, userID: geteuid())
  }

  /// XDG Base Directory Specification 0.8: a relative path is invalid and ignored.
  static func socketPath(runtimeDirectory: String?, userID: uid_t) -> String {
    var directory = runtimeDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(userID)"
    while directory.hasSuffix("/") { directory.removeLast() }
    return "\(directory)/photod/photod.sock"
  }
}
