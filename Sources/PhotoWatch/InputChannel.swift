// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Inputs on their way from the watcher's thread to one consumer: bounded, in order. The thread never waits in here; it
/// stops reading the socket while `isFull`, and is woken (`whenRoom`) when the consumer has taken half.
package final class InputChannel: Sendable {
  private struct State {
    var waiting: [WatchInput] = []
    var head = 0
    var consumer: CheckedContinuation<WatchInput?, Never>?
    var isFinished = false
    var isThrottled = false

    var count: Int { waiting.count - head }

    mutating func pop() -> WatchInput? {
      guard head < waiting.count else { return nil }
      let input = take()
      guard case .batch(var records) = input, count >= InputChannel.backlog else { return input }
      while count >= InputChannel.backlog, case .batch(let more) = waiting[head],
        records.count + more.count <= InputChannel.largestMerged
      {
        records += more
        _ = take()
      }
      return .batch(records)
    }

    private mutating func take() -> WatchInput {
      let input = waiting[head]
      waiting[head] = .batch([])
      head += 1
      if head == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        head = 0
      }
      return input
    }
  }

  /// What a consumer does next with the state it met.
  private enum Step {
    case give(WatchInput?, wake: Bool)
    case wait
  }

  /// Of so many inputs that wait the first batches are given as one: who is behind takes larger steps. The last ones stay
  /// apart, so that there is always something to do beside the step that is being taken.
  private static let backlog = 4
  /// Records.
  private static let largestMerged = 2_048

  private let capacity: Int
  private let state = Mutex(State())
  private let whenRoom: @Sendable () -> Void

  /// - parameter whenRoom: called on the consumer's thread once after `isFull` was true and half is taken.
  package init(capacity: Int, whenRoom: @escaping @Sendable () -> Void) {
    self.capacity = capacity
    self.whenRoom = whenRoom
  }

  /// Whether no frame should be read now; when true, `whenRoom` will be called.
  package var isFull: Bool {
    state.withLock { state in
      guard state.count >= capacity else { return false }
      state.isThrottled = true
      return true
    }
  }

  /// Never waits and never drops: who adds batches asks `isFull` before it reads more.
  package func add(_ input: WatchInput) {
    let consumer = state.withLock { state -> CheckedContinuation<WatchInput?, Never>? in
      guard !state.isFinished else { return nil }
      guard let consumer = state.consumer else {
        state.waiting.append(input)
        return nil
      }
      state.consumer = nil
      return consumer
    }
    consumer?.resume(returning: input)
  }

  /// The consumer gets what is waiting and then the end.
  package func finish() {
    let consumer = state.withLock { state in
      state.isFinished = true
      defer { state.consumer = nil }
      return state.consumer
    }
    consumer?.resume(returning: nil)
  }

  /// nil at the end, or when the consumer's task is cancelled.
  package func next() async -> WatchInput? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
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

/// The inputs of one `InputChannel`.
package struct WatchInputs: AsyncSequence, Sendable {
  package struct Iterator: AsyncIteratorProtocol {
    let channel: InputChannel

    package func next() async -> WatchInput? { await channel.next() }
    package func next(isolation actor: isolated (any Actor)?) async -> WatchInput? { await channel.next() }
  }

  let channel: InputChannel

  package init(channel: InputChannel) { self.channel = channel }

  package func makeAsyncIterator() -> Iterator { Iterator(channel: channel) }
}
