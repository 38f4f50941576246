import Logging
import Synchronization

/// A log for messages that a client can cause over and over. It logs each message once a minute at most, with the
/// number of those in between as `more`. So a client in a loop does not fill the journal.
struct RepeatedMessages: LogHandler {
  static let pause = Duration.seconds(60)

  private struct Last {
    var time: ContinuousClock.Instant
    /// The number of messages since then that were not logged.
    var more = 0
  }

  /// The last time of each message, shared by all copies of the logger.
  private final class Memory: Sendable {
    let last = Mutex<[String: Last]>([:])
  }

  private var handler: any LogHandler
  private let memory = Memory()
  private let now: @Sendable () -> ContinuousClock.Instant

  /// Returns a logger that counts repeated messages, and writes the others to `logger`.
  ///
  /// - Parameter now: The clock, which tests replace.
  static func counted(
    _ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) -> Logger {
    Logger(label: logger.label) { _ in RepeatedMessages(handler: logger.handler, now: now) }
  }

  private init(handler: any LogHandler, now: @escaping @Sendable () -> ContinuousClock.Instant) {
    self.handler = handler
    self.now = now
  }

  func log(event: LogEvent) {
    let time = now()
    let message = event.message.description
    let more: Int? = memory.last.withLock { last in
      guard let previous = last[message], time - previous.time < Self.pause else {
        defer { last[message] = Last(time: time) }
        return last[message]?.more ?? 0
      }
      last[message]?.more += 1
      return nil
    }
    guard let more else { return }
    var event = event
    if more > 0 { event.metadata = (event.metadata ?? [:]).merging(["more": "\(more)"]) { $1 } }
    handler.log(event: event)
  }

  var logLevel: Logger.Level {
    get { handler.logLevel }
    set { handler.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { handler.metadata }
    set { handler.metadata = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { handler[metadataKey: key] }
    set { handler[metadataKey: key] = newValue }
  }
}
