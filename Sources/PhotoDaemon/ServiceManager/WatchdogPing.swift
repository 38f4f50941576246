import Dispatch
import Synchronization

/// Sends the watchdog ping to the service manager, at half of the watchdog's interval, as sd_watchdog_enabled(3)
/// advises.
///
/// It has a thread of its own and uses no task, because tasks may take every thread of their pool. The ping must depend
/// on the library's queue and on nothing else.
final class WatchdogPing: Sendable {
  /// The proof that photod lives.
  enum Proof: Sendable {
    /// photod starts or stops. The manager's own limits apply, so pings are sent without asking a library.
    case none
    case library(any RunningLibrary)
  }

  private let proof = Mutex(Proof.none)
  private let queue = DispatchQueue(label: "photod.watchdog")
  private let notifier: ServiceNotifier
  /// The time between pings. The queue's monotonic clock stops while the machine sleeps, as the manager's does.
  private let interval: DispatchTimeInterval
  /// The time between pings is longer than a second.
  private let isLong: Bool
  private let isEnded = Atomic(false)

  /// - Returns: nil if no watchdog waits for pings.
  init?(_ notifier: ServiceNotifier) {
    guard let interval = notifier.watchdogInterval else { return nil }
    self.notifier = notifier
    isLong = interval / 2 > .seconds(1)
    let (seconds, attoseconds) = (interval / 2).components
    self.interval = .nanoseconds(Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }

  func start() { queue.async { self.turn() } }

  func end() { isEnded.store(true, ordering: .relaxed) }

  /// After this returns, the previous library is not asked any more.
  func use(_ proof: Proof) { self.proof.withLock { $0 = proof } }

  private func turn() {
    guard !isEnded.load(ordering: .relaxed) else { return }
    ask()
    queue.asyncAfter(deadline: .now() + interval) { self.turn() }
  }

  private func ask() {
    proof.withLock { proof in
      switch proof {
      case .none: send()
      // A library that hangs never calls back, and the watchdog ends photod.
      case .library(let library): library.whenAlive { self.queue.async { self.send() } }
      }
    }
  }

  /// Sends a ping. If a busy manager does not take it, the library is asked again a second later. At the next turn, the
  /// whole watchdog interval would be over.
  private func send() {
    guard !isEnded.load(ordering: .relaxed), notifier.alive() != nil, isLong else { return }
    queue.asyncAfter(deadline: .now() + .seconds(1)) { if !self.isEnded.load(ordering: .relaxed) { self.ask() } }
  }
}
