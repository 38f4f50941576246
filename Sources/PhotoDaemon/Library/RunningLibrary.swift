import Logging
import PhotoServer

/// What the daemon runs: a library behind a socket, or what answers in its place when it can't be opened.
package protocol RunningLibrary: Sendable {
  /// What `systemctl status` shows, whenever it changes; ends with ``stop()``.
  var statusLines: AsyncStream<String> { get }

  /// It is to be closed and opened anew, for each of these.
  var reopenReasons: AsyncStream<ReopenReason> { get }

  /// Serves at this listening socket until ``stop()``; then, or when it throws, the descriptor is closed.
  func serve(on descriptor: Int32) async throws

  /// Takes roots, removal grace and warnings from a configuration that was read again.
  func reload(_ configuration: Configuration) async throws

  /// Calls back from a turn of the queue that does the work. A queue that hangs never does, and the watchdog ends photod.
  ///
  /// Must not block, and must not need a thread of the tasks' pool.
  func whenAlive(_ proven: @escaping @Sendable () -> Void)

  /// How long nobody has asked anything; zero while a call, or a stream, is being answered.
  var idleTime: Duration { get }

  /// Who is told that this one ends hears that another takes its place, and not that photod stops.
  func announceReopening()

  /// Takes no more connections, so that who connects now waits for who serves the socket next, and returns when those
  /// there are have been answered, or after a bounded time.
  func drain() async

  /// Ends streams and connections, closes the catalog, lets ``serve(on:)`` return. May be called before it, and twice.
  func stop() async
}

extension RunningLibrary {
  package var reopenReasons: AsyncStream<ReopenReason> { AsyncStream { $0.finish() } }
  package func announceReopening() {}
}

/// Why a library is opened anew while the daemon runs.
package enum ReopenReason: Hashable, Sendable {
  /// SQLite says that the catalog is damaged: it is verified, and made anew if it is.
  case damaged
  /// A person decided for a backup.
  case restored
  /// Somebody removed the catalog's file; what was in it is in a new one.
  case rescued
}

/// How to make what runs.
package struct DaemonParts: Sendable {
  /// How long a degraded daemon waits before it looks whether what is wrong was mended: a lock that another holds, a disk
  /// that is full.
  package var retryInterval = Duration.seconds(2)
  /// Opens the catalog and starts the first scan, without waiting for its end. A catalog of an older photod is brought up to
  /// date, and the progress says how far it is.
  package var openLibrary: @Sendable (Configuration, OpeningProgress, Logger) async throws -> any RunningLibrary
  /// Makes the stand-in that answers meanwhile.
  package var openStandIn: @Sendable (OpeningProgress, Logger) -> any RunningLibrary
  /// The same after the library was closed for a reason.
  package var reopenLibrary: @Sendable (Configuration, ReopenReason, Logger) async throws -> any RunningLibrary
  /// What answers `degraded` with these reasons: neither catalog nor roots.
  package var openDegraded: @Sendable (_ reasons: [String], Logger) async throws -> any RunningLibrary

  package init(
    openLibrary: @escaping @Sendable (Configuration, Logger) async throws -> any RunningLibrary,
    openDegraded: @escaping @Sendable (_ reasons: [String], Logger) async throws -> any RunningLibrary
  ) {
    self.openLibrary = { configuration, _, logger in try await openLibrary(configuration, logger) }
    openStandIn = { DegradedLibrary(opening: $0, $1) }
    reopenLibrary = { configuration, _, logger in try await openLibrary(configuration, logger) }
    self.openDegraded = openDegraded
  }
}
