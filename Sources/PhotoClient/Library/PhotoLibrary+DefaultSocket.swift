#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

extension PhotoLibrary {
  /// The socket of the user's own daemon: `$PHOTOD_SOCKET`, else `$XDG_RUNTIME_DIR/photod/photod.sock`, else
  /// `/run/user/UID/photod/photod.sock`.
  public static var defaultSocketPath: String {
    func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    return socketPath(
      chosen: variable("PHOTOD_SOCKET"), runtimeDirectory: variable("XDG_RUNTIME_DIR"), userID: geteuid())
  }

  /// The socket that systemd and a photod without options use, whatever `PHOTOD_SOCKET` says.
  package static var standardSocketPath: String {
    socketPath(runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) }, userID: geteuid())
  }

  /// By the XDG Base Directory Specification 0.8, a relative path is invalid and must be ignored.
  static func socketPath(chosen: String? = nil, runtimeDirectory: String?, userID: uid_t) -> String {
    if let chosen, !chosen.isEmpty { return chosen }
    var directory = runtimeDirectory.flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/run/user/\(userID)"
    while directory.hasSuffix("/") { directory.removeLast() }
    return "\(directory)/photod/photod.sock"
  }
}
