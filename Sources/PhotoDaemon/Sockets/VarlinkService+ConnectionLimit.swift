import Glibc
import Varlink

extension VarlinkService.Limits {
  /// Returns the default limits, with fewer connections if this process may not have files for all of them. libdispatch
  /// ends a process that can open no file.
  ///
  /// - Parameter fileLimit: how many files the process may have open; nil for the present `RLIMIT_NOFILE`.
  static func leavingFiles(of fileLimit: Int? = nil) -> Self {
    var limits = Self()
    var now = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &now) == 0
    guard let files = fileLimit ?? (isKnown ? Int(clamping: now.rlim_cur) : nil) else { return limits }
    limits.maximumConnections = max(1, min(limits.maximumConnections, (files - own) / perConnection))
    limits.maximumConnectionsOfProcess = max(1, limits.maximumConnections / 2)
    return limits
  }

  /// The files of the catalog's readers, its journal and backups, and photod-watch.
  private static let own = 128
  /// The files of a connection. One is its socket. The other stands for the catalog and its log, which are open while a
  /// snapshot is read for the connection. But few connections do that at once.
  private static let perConnection = 2
}
