import Glibc

/// The environment, the ids and the working directory of the process, and the folders that the XDG Base Directory
/// Specification 0.8 derives from them.
package struct ProcessEnvironment: Sendable {
  package var variables: [String: String]
  package var processID: pid_t
  package var userID: uid_t
  /// The directory to which paths on the command line may be relative.
  package var currentDirectory: String

  package init(variables: [String: String], processID: pid_t, userID: uid_t, currentDirectory: String) {
    self.variables = variables
    self.processID = processID
    self.userID = userID
    self.currentDirectory = currentDirectory
  }

  /// Reads the environment, and removes the variables that are meant for this process alone, so that no child of it
  /// finds `LISTEN_FDS` or `NOTIFY_SOCKET`. Call it before any thread is started, because `unsetenv` is not safe beside
  /// `getenv`.
  package static func take() -> ProcessEnvironment {
    var variables: [String: String] = [:]
    var entry = environ
    while let text = entry.pointee {
      let pair = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      if pair.count == 2 { variables[String(pair[0])] = String(pair[1]) }
      entry += 1
    }
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"] {
      unsetenv(name)
    }
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let directory = getcwd(&buffer, buffer.count).map { String(cString: $0) } ?? "/"
    return ProcessEnvironment(
      variables: variables, processID: getpid(), userID: geteuid(), currentDirectory: directory)
  }

  /// `$HOME`, or the home directory in the user database.
  package var home: String? {
    if let home = absolutePath("HOME") { return home }
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    var buffer = [CChar](repeating: 0, count: 16_384)
    guard getpwuid_r(userID, &entry, &buffer, buffer.count, &found) == 0, found != nil, let home = entry.pw_dir else {
      return nil
    }
    return String(cString: home)
  }

  package var configurationHome: String? { absolutePath("XDG_CONFIG_HOME") ?? home.map { "\($0)/.config" } }
  package var dataHome: String? { absolutePath("XDG_DATA_HOME") ?? home.map { "\($0)/.local/share" } }
  package var stateHome: String? { absolutePath("XDG_STATE_HOME") ?? home.map { "\($0)/.local/state" } }
  package var cacheHome: String? { absolutePath("XDG_CACHE_HOME") ?? home.map { "\($0)/.cache" } }
  package var runtimeDirectory: String { absolutePath("XDG_RUNTIME_DIR") ?? "/run/user/\(userID)" }

  /// The process was started by a service manager, which waits for READY=1 or holds the socket. Such a process reports
  /// a problem to its clients and does not exit, because it would be started again for ever.
  package var isActivated: Bool {
    variables["NOTIFY_SOCKET"] != nil || variables["LISTEN_PID"] == "\(processID)"
  }

  /// By the specification, a relative path is invalid and ignored.
  private func absolutePath(_ name: String) -> String? {
    guard let value = variables[name], value.hasPrefix("/") else { return nil }
    return value.count > 1 && value.hasSuffix("/") ? String(value.dropLast()) : value
  }
}
