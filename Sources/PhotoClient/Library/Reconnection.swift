/// The pauses between attempts to reach photod while it is away: short at first, because systemd restarts photod in less
/// than a second, and then two seconds.
package struct Reconnection: Sendable {
  /// The longest pause. A connection that lasted longer than this was a success, so the next outage is a new one.
  package static let longestPause = Duration.seconds(2)

  private var pause = Duration.milliseconds(50)
  private var attempt: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters:
  ///   - now: the time. Tests have a clock of their own.
  ///   - sleep: waits by that clock.
  package init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.now, self.sleep) = (now, sleep)
    attempt = now()
  }

  /// Whether photod stops, died, or does not run. After any other error, another attempt would fail in the same way.
  package static func isOutage(_ error: PhotoLibraryError) -> Bool {
    switch error {
    case .connectionClosed, .libraryUnavailable, .unreachable: true
    default: false
    }
  }

  /// Whether the outage has lasted so long that a person wants to know. A restart of photod takes less.
  ///
  /// - Parameter madeProgress: as for ``wait(madeProgress:)``.
  package func isLong(madeProgress: Bool) -> Bool { !isNew(madeProgress) && pause > .seconds(1) }

  /// Notes the time at which an attempt begins.
  package mutating func begin() { attempt = now() }

  /// Waits before the next attempt.
  ///
  /// - Parameter madeProgress: whether the attempt that failed received something. Then this is a new outage, and the
  ///   pause is short.
  /// - Throws: `CancellationError`.
  package mutating func wait(madeProgress: Bool) async throws {
    if isNew(madeProgress) { pause = .milliseconds(50) }
    try await sleep(pause)
    pause = min(pause * 2, Self.longestPause)
  }

  private func isNew(_ madeProgress: Bool) -> Bool { madeProgress || now() - attempt > Self.longestPause }

  /// Runs a body to its end, and again after each outage, for as long as it takes.
  ///
  /// - Parameters:
  ///   - body: continues from the place that it has reached.
  ///   - place: the place that the body has reached. If it advanced before an outage, this is a new outage.
  ///   - onLongOutage: is called once for an outage that lasts longer than a restart of photod.
  /// - Throws: the errors of the body that are no outages, and `CancellationError`.
  package mutating func repeating<Place: Equatable>(
    _ body: () async throws -> Void, place: () -> Place, onLongOutage: (PhotoLibraryError) -> Void
  ) async throws {
    var isReported = false
    while true {
      let before = place()
      begin()
      do {
        return try await body()
      } catch let error as PhotoLibraryError where Self.isOutage(error) {
        let madeProgress = place() != before
        if !isLong(madeProgress: madeProgress) {
          isReported = false
        } else if !isReported {
          isReported = true
          onLongOutage(error)
        }
        try await wait(madeProgress: madeProgress)
      }
    }
  }
}

extension PhotoLibrary {
  /// How long a call is repeated if photod has never been there. It may be about to start.
  private static let firstPatience = Duration.seconds(2)

  /// Repeats a call while photod is away, for as long as ``patience``. If photod has not replied to any call before, and
  /// does not run, it is repeated only for ``firstPatience``.
  ///
  /// - Parameter call: may be carried out twice. Photod may have done so before it went away.
  func patiently<Value>(_ call: () async throws -> Value) async throws -> Value {
    var reconnection = Reconnection()
    let start = ContinuousClock.now
    while true {
      reconnection.begin()
      do {
        return try await call()
      } catch let error as PhotoLibraryError where Reconnection.isOutage(error) {
        let isFirst = error.isWithoutDaemon && !hasBeenReached.load(ordering: .relaxed)
        guard .now - start < (isFirst ? min(patience, Self.firstPatience) : patience) else { throw error }
        try await reconnection.wait(madeProgress: false)
      }
    }
  }
}
