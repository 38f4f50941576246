// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A bounded, ordered queue of inputs from the watcher's thread to one consumer. The thread never waits in here. It
/// stops reading the socket while `isFull`, and is woken (`whenRoom`) when the consumer has taken half of the inputs.
///
/// An input may have a checkpoint of photod-watch. ``takePassed()`` returns the last one that the consumer has taken.
package final class InputChannel: Sendable {
  private struct State {
    var waiting: [(input: WatchInput, checkpoint: UInt32?)] = []
    var head = 0
    /// The last checkpoint that the consumer has taken, until the watcher asks for it.
    var passed: UInt32?
    var consumer: CheckedContinuation<WatchInput?, Never>?
    var isFinished = false
    var isThrottled = false

    var count: Int { waiting.count - head }

    mutating func pop() -> WatchInput? {
      guard head < waiting.count else { return nil }
      let limit = recordLimit
      let input = take()
      guard case .batch(var records) = input else { return input }
      while count >= InputChannel.backlog, case .batch(let more) = waiting[head].input,
        records.count + more.count <= limit
      {
        records += more
        _ = take()
      }
      return .batch(records)
    }

    /// The most records of the next merged batch.
    private var recordLimit: Int {
      let recordCount = waiting[head...].reduce(0) { sum, waiting in
        if case .batch(let records) = waiting.input { sum + records.count } else { sum }
      }
      return min(max(recordCount / InputChannel.partCount, InputChannel.smallLimit), InputChannel.largestMerged)
    }

    private mutating func take() -> WatchInput {
      let (input, checkpoint) = waiting[head]
      waiting[head] = (.batch([]), nil)
      head += 1
      if head == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        head = 0
      }
      passed = checkpoint ?? passed
      return input
    }
  }

  /// The next step of a consumer, depending on the state.
  private enum Step {
    case give(WatchInput?, wake: Bool)
    case wait
  }

  /// From this many waiting inputs on, the first batches are merged into one, so that a consumer that is behind takes
  /// larger steps. The last inputs stay separate, so that work always remains beside the current step.
  private static let backlog = 4
  /// A merged batch has at most one of so many equal parts of the waiting records. So the steps become shorter toward the
  /// end of a scan. A consumer that passes each step on to another thread then has short last steps, and neither thread
  /// waits long for the other.
  private static let partCount = 4
  /// Small batches are merged up to this number of records, which is that of a full frame.
  private static let smallLimit = 250
  /// The most records in a merged batch.
  private static let largestMerged = 2_048

  private let capacity: Int
  private let state = Mutex(State())
  private let whenRoom: @Sendable () -> Void

  /// - Parameter whenRoom: called once on the consumer's thread, after `isFull` was true and half of the inputs are
  ///   taken.
  package init(capacity: Int, whenRoom: @escaping @Sendable () -> Void) {
    self.capacity = capacity
    self.whenRoom = whenRoom
  }

  /// Whether no further frame should be read. If it returns true, `whenRoom` will be called.
  package var isFull: Bool {
    state.withLock { state in
      guard state.count >= capacity else { return false }
      state.isThrottled = true
      return true
    }
  }

  /// Never waits and never drops. A producer of batches must check `isFull` before it reads more.
  ///
  /// - Parameter checkpoint: the checkpoint that the input's records contained.
  package func add(_ input: WatchInput, checkpoint: UInt32? = nil) {
    let consumer = state.withLock { state -> CheckedContinuation<WatchInput?, Never>? in
      guard !state.isFinished else { return nil }
      guard let consumer = state.consumer else {
        state.waiting.append((input, checkpoint))
        return nil
      }
      state.consumer = nil
      state.passed = checkpoint ?? state.passed
      return consumer
    }
    consumer?.resume(returning: input)
  }

  /// Adds a checkpoint behind the last input that waits.
  ///
  /// - Returns: false if the consumer has taken all inputs, so that the checkpoint is passed already.
  package func add(checkpoint: UInt32) -> Bool {
    state.withLock { state in
      guard state.count > 0 else { return false }
      state.waiting[state.waiting.count - 1].checkpoint = checkpoint
      return true
    }
  }

  /// The last checkpoint that the consumer has taken since the previous call.
  package func takePassed() -> UInt32? { state.withLock { $0.passed.take() } }

  /// Ends the queue. The consumer gets the waiting inputs first.
  package func finish() {
    let consumer = state.withLock { state in
      state.isFinished = true
      defer { state.consumer = nil }
      return state.consumer
    }
    consumer?.resume(returning: nil)
  }

  /// The next input; nil at the end, or if the consumer's task is cancelled. The consumer goes on in its own executor.
  package func next(isolation: isolated (any Actor)? = #isolation) async -> WatchInput? {
    await withTaskCancellationHandler {
      await withCheckedContinuation(isolation: isolation) { continuation in
        let step = state.withLock { state -> Step in
          if let input = state.pop() {
            let wake = state.isThrottled && state.count <= capacity / 2
            if wake { state.isThrottled = false }
            return .give(input, wake: wake)
          }
          if state.isFinished || Task.isCancelled { return .give(nil, wake: false) }
          precondition(state.consumer == nil, "the watcher's inputs have one consumer")
          state.consumer = continuation
          return .wait
        }
        if case .give(let input, let wake) = step {
          continuation.resume(returning: input)
          if wake { whenRoom() }
        }
      }
    } onCancel: {
      let consumer = state.withLock { state in
        defer { state.consumer = nil }
        return state.consumer
      }
      consumer?.resume(returning: nil)
    }
  }
}
