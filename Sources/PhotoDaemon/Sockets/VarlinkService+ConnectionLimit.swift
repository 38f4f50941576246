import Glibc
import Varlink

extension VarlinkService.Limits {
  /// With fewer connections where this process may not have files for as many: libdispatch ends a process that can open
  /// none.
  ///
  /// - Parameter fileLimit: how many it may have open; what `RLIMIT_NOFILE` says now, if it isn't given.
  static func leavingFiles(of fileLimit: Int? = nil) -> Self {
    var limits = Self()
    var now = rlimit()
    let isKnown = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &now) == 0
    guard let files = fileLimit ?? (isKnown ? Int(clamping: now.rlim_cur) : nil) else { return limits }
    limits.maximumConnections = max(1, min(limits.maximumConnections, (files - own) / perConnection))
    limits.maximumConnectionsOfProcess = max(1, limits.maximumConnections / 2)
    return limits
  }

  /// Of the catalog's readers, its journal and backups, and photod-watch.
  private static let own = 128
  /// The socket, and the catalog and its log while a snapshot is read for it, which few do at once.
  private static let perConnection = 2
}
