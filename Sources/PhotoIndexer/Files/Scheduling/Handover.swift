import Synchronization

/// Passes values from one task to another, in order and one at a time.
///
/// Both tasks stay in their own executors. If these are also the executors that the tasks prefer, a value wakes one thread
/// only: that of the task that takes it.
final class Handover<Value: Sendable>: Sendable {
  private struct State {
    var value: Value?
    var taker: CheckedContinuation<Value?, Never>?
    /// The task whose value is not taken yet.
    var giver: CheckedContinuation<Void, Never>?
    var isFinished = false
  }

  private let state = Mutex(State())

  /// Returns once the value is taken, or is no longer wanted.
  func put(_ value: Value, isolation: isolated (any Actor)? = #isolation) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { (giver: CheckedContinuation<Void, Never>) in
        let (taker, isDone) = state.withLock { state -> (CheckedContinuation<Value?, Never>?, Bool) in
          if state.isFinished || Task.isCancelled { return (nil, true) }
          if let taker = state.taker.take() { return (taker, true) }
          (state.value, state.giver) = (value, giver)
          return (nil, false)
        }
        taker?.resume(returning: value)
        if isDone { giver.resume() }
      }
    } onCancel: {
      finish()
    }
  }

  /// The next value, or nil after the last one or if the task is cancelled.
  func take(isolation: isolated (any Actor)? = #isolation) async -> Value? {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { (taker: CheckedContinuation<Value?, Never>) in
        let (value, giver, isDone) = state.withLock { state -> (Value?, CheckedContinuation<Void, Never>?, Bool) in
          if let value = state.value.take() { return (value, state.giver.take(), true) }
          if state.isFinished || Task.isCancelled { return (nil, nil, true) }
          state.taker = taker
          return (nil, nil, false)
        }
        giver?.resume()
        if isDone { taker.resume(returning: value) }
      }
    } onCancel: {
      finish()
    }
  }

  /// Ends the sequence: no further value comes.
  func finish() {
    let (taker, giver) = state.withLock { state in
      state.isFinished = true
      return (state.taker.take(), state.giver.take())
    }
    taker?.resume(returning: nil)
    giver?.resume()
  }
}
