import Logging
import Synchronization

/// Logs what a program that connects can cause over and over: each message once a minute at most, with the number of those
/// in between, so that a client in a loop does not fill the journal.
final class RepeatedMessages: Sendable {
  static let pause = Duration.seconds(60)

  private struct Last {
    var time: ContinuousClock.Instant
    /// Not logged since.
    var more = 0
  }

  private let last = Mutex<[String: Last]>([:])
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameter now: A test's clock.
  init(now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) { self.now = now }

  /// - Parameter message: A constant, which is what is counted.
  func log(_ level: Logger.Level, _ message: String, _ metadata: Logger.Metadata, _ logger: Logger) {
    let time = now()
    let more: Int? = last.withLock { last in
      guard let previous = last[message], time - previous.time < Self.pause else {
        defer { last[message] = Last(time: time) }
        return last[message]?.more ?? 0
      }
      last[message]?.more += 1
      return nil
    }
    guard let more else { return }
    var metadata = metadata
    if more > 0 { metadata["more"] = "\(more)" }
    logger.log(level: level, "\(message)", metadata: metadata)
  }
}
