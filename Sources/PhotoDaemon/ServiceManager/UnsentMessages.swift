import Logging

/// The messages that the service manager must receive in the end.
///
/// The manager's queue may be full. A message that it refused is kept, and sent again until the manager takes it.
/// Without `READY=1`, the manager takes the start for a failed one. Without a status, `systemctl status` shows an older
/// one.
struct UnsentMessages {
  private enum Readiness {
    /// There is nothing to send, because photod opens or reloads the library.
    case unsent
    case refused(status: String?)
    case sent
  }

  private var readiness = Readiness.unsent
  /// The newest status, if the manager refused it.
  private var status: String?
  private let notifier: ServiceNotifier
  private let logger: Logger

  init(_ notifier: ServiceNotifier, _ logger: Logger) {
    self.notifier = notifier
    self.logger = logger
  }

  var areNone: Bool {
    if case .refused = readiness { return false }
    return status == nil
  }

  /// Sends `RELOADING=1`. A `READY=1` must follow.
  mutating func reloading() {
    readiness = .unsent
    notifier.reloading()
  }

  /// - Parameters:
  ///   - status: nil leaves the status as it is.
  ///   - waits: whether to wait, for up to a second, if the manager's queue is full.
  mutating func ready(status: String? = nil, waits: Bool = true) {
    let refusal = notifier.ready(status: status, waits: waits)
    readiness = refusal == nil ? .sent : .refused(status: status)
    note(refusal, of: "READY=1")
  }

  mutating func send(_ text: String) {
    let refusal = notifier.status(text)
    status = refusal == nil ? nil : text
    note(refusal, of: "STATUS=\(text)")
  }

  mutating func sendAgain() {
    if case .refused(let status) = readiness { ready(status: status, waits: false) }
    if let status { send(status) }
  }

  /// Drops all messages, because they do not matter when photod stops.
  mutating func forget() { (readiness, status) = (.unsent, nil) }

  private func note(_ refusal: String?, of message: String) {
    guard let refusal else { return }
    logger.debug("manager busy", metadata: ["message": "\(message)", "error": "\(refusal)"])
  }
}
