import Logging
import PhotoServer

/// A library behind a socket, or the stand-in that answers if the library can't be opened.
package protocol RunningLibrary: AnyObject, Sendable {
  /// The lines for `systemctl status`, one for each change. The stream ends with ``stop()``.
  var statusLines: AsyncStream<String> { get }

  /// Yields a reason each time the library must be closed and opened again.
  var reopenReasons: AsyncStream<ReopenReason> { get }

  /// Serves at this listening socket until ``stop()``. When it returns or throws, the descriptor is closed.
  func serve(on descriptor: Int32) async throws

  /// Accepts further connections at this listening socket, in the place of the one of ``serve(on:)``, whose file was
  /// deleted. The present connections continue. The descriptor is closed as that one is.
  ///
  /// - Returns: false if the library does not accept connections now.
  func move(to descriptor: Int32) async throws -> Bool

  /// Takes roots, removal grace and warnings from a configuration that was read again.
  func reload(_ configuration: Configuration) async throws

  /// Calls `proven` from a turn of the queue that does the work. If that queue hangs, there is no call, and the
  /// watchdog ends photod.
  ///
  /// It must not block, and must not need a thread of the tasks' pool.
  func whenAlive(_ proven: @escaping @Sendable () -> Void)

  /// How long there has been no call; zero while a call or a stream is being answered.
  var idleTime: Duration { get }

  /// After this, the error that ends calls says that the library is opened again, and not that photod stops.
  func announceReopening()

  /// Accepts no more connections, so that new clients wait for the next library at the socket. Returns when the present
  /// calls have been answered, or after a bounded time.
  func drain() async

  /// Ends streams and connections, and closes the catalog. ``serve(on:)`` then returns. It may be called before
  /// ``serve(on:)``, and twice.
  func stop() async
}

extension RunningLibrary {
  package var reopenReasons: AsyncStream<ReopenReason> { AsyncStream { $0.finish() } }
  package func announceReopening() {}
}

/// Why a library is opened again while the daemon runs.
package enum ReopenReason: Hashable, Sendable {
  /// SQLite reports that the catalog is damaged. It is verified, and rebuilt if that is true.
  case damaged
  /// A person restored a backup.
  case restored
  /// The catalog's file was removed or replaced. Its content was written to a new file.
  case rescued
}

/// The functions that open the libraries and their stand-ins.
package struct DaemonParts: Sendable {
  /// How long a degraded daemon waits before it tries again to open the library. A lock of another process or a full
  /// disk may be gone by then.
  package var retryInterval = Duration.seconds(2)
  /// Opens the catalog and starts the first scan, without waiting for its end. The catalog of an older photod is
  /// upgraded, with its progress reported. A degraded daemon tries this again and again.
  package var openLibrary:
    @Sendable (Configuration, OpeningProgress, _ isTriedAgain: Bool, Logger) async throws -> any RunningLibrary
  /// Makes the stand-in that answers during an upgrade.
  package var openStandIn: @Sendable (OpeningProgress, Logger) -> any RunningLibrary
  /// Opens the library again after it was closed for this reason.
  package var reopenLibrary: @Sendable (Configuration, ReopenReason, Logger) async throws -> any RunningLibrary
  /// Makes the stand-in that answers `degraded` with these reasons. It has no catalog and no roots.
  package var openDegraded: @Sendable (_ reasons: [String], Logger) async throws -> any RunningLibrary

  package init(
    openLibrary: @escaping @Sendable (Configuration, Logger) async throws -> any RunningLibrary,
    openDegraded: @escaping @Sendable (_ reasons: [String], Logger) async throws -> any RunningLibrary
  ) {
    self.openLibrary = { configuration, _, _, logger in try await openLibrary(configuration, logger) }
    openStandIn = { DegradedLibrary(opening: $0, $1) }
    reopenLibrary = { configuration, _, logger in try await openLibrary(configuration, logger) }
    self.openDegraded = openDegraded
  }
}
