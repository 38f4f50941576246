import Synchronization

/// How far the library is with the inputs from photod-watch. It shows whether a sync has anything left to wait for.
///
/// The threads that read ahead look here, so that a sync without anything to wait for needs no turn of the library's queue.
/// The changes of clients may keep that queue busy.
final class InputProgress: Sendable {
  private struct State {
    /// The inputs that a thread has taken to read them ahead, and that the library has not applied yet.
    var unappliedCount = 0
    /// Whether the applied inputs leave nothing for which a sync must wait.
    var isSettled = false
  }

  private let state = Mutex(State())

  /// Whether the library has everything that was reported before the input that comes next.
  var isComplete: Bool { state.withLock { $0.unappliedCount == 0 && $0.isSettled } }

  /// Notes that an input was taken. It must be followed by ``end()``.
  func begin() { state.withLock { $0.unappliedCount += 1 } }

  /// Notes that an input was applied.
  func end() { state.withLock { $0.unappliedCount -= 1 } }

  func note(isSettled: Bool) { state.withLock { $0.isSettled = isSettled } }
}
