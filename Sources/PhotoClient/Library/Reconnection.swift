/// The pauses between attempts to reach photod while it is away: short at first, because systemd restarts photod in less
/// than a second, and then two seconds.
package struct Reconnection: Sendable {
  /// The longest pause. A connection that lasted longer than this was a success, so the next outage is a new one.
  package static let longestPause = Duration.seconds(2)

  private var pause = Duration.milliseconds(50)
  private var attempt = ContinuousClock.now

  package init() {}

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
  package mutating func begin() { attempt = .now }

  /// Waits before the next attempt.
  ///
  /// - Parameter madeProgress: whether the attempt that failed received something. Then this is a new outage, and the
  ///   pause is short.
  /// - Throws: `CancellationError`.
  package mutating func wait(madeProgress: Bool) async throws {
    if isNew(madeProgress) { pause = .milliseconds(50) }
    try await Task.sleep(for: pause)
    pause = min(pause * 2, Self.longestPause)
  }

  private func isNew(_ madeProgress: Bool) -> Bool { madeProgress || .now - attempt > Self.longestPause }
}

extension PhotoLibrary {
  /// Repeats a call that only reads while photod is away, for as long as ``patience``.
  func patiently<Value>(_ call: () async throws -> Value) async throws -> Value {
    var reconnection = Reconnection()
    let deadline = ContinuousClock.now + patience
    while true {
      reconnection.begin()
      do {
        return try await call()
      } catch let error as PhotoLibraryError where Reconnection.isOutage(error) {
        guard ContinuousClock.now < deadline else { throw error }
        try await reconnection.wait(madeProgress: false)
      }
    }
  }
}
