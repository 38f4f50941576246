import NIOCore
import Synchronization

/// The messages of one connection that wait to be handled. The event loop fills the queue, and one task empties it.
///
/// The queue is bounded. If it holds `maximumCount` messages or `maximumBytes`, `receive` returns false. Then it gets
/// no message, and the socket is not read, until half of it has been taken.
final class MessageQueue: MessageSink {
  private struct State {
    var frames = CircularBuffer<MessageFramer.Frame>()
    var bytes = 0
    var isFull = false
    var hasEnded = false
    var waiter: OneShot<MessageFramer.Frame?>?
    /// The time of the last change between having work and having none; nil while the consumer works on a message.
    var idleSince: NIODeadline? = .now()
  }

  private let state = Mutex(State())
  private let maximumCount: Int
  private let maximumBytes: Int

  init(maximumCount: Int, maximumBytes: Int) {
    self.maximumCount = maximumCount
    self.maximumBytes = maximumBytes
  }

  /// Since when the consumer has been waiting for a whole message; nil while it handles one.
  var idleSince: NIODeadline? { state.withLock { $0.idleSince } }

  /// The number of messages that were begun or wait. If there are none, also since when; nil otherwise.
  var work: (count: Int, noneSince: NIODeadline?) {
    state.withLock { state in
      let count = state.frames.count + (state.idleSince == nil ? 1 : 0)
      return (count, count == 0 ? state.idleSince : nil)
    }
  }

  /// Adds a message. Returns false if the socket should not be read for now.
  func receive(_ frame: MessageFramer.Frame) -> Bool {
    state.withLock { state in
      guard !state.hasEnded else { return true }
      if let waiter = state.waiter {
        state.waiter = nil
        if waiter.complete(.success(frame)) {
          state.idleSince = nil
          return true
        }
      }
      state.frames.append(frame)
      state.bytes += frame.byteCount
      if state.frames.count >= maximumCount || state.bytes >= maximumBytes { state.isFull = true }
      return !state.isFull
    }
  }

  func inputEnded() { end() }

  /// Ends the queue: no more messages will come. With `dropping`, waiting messages are dropped, too.
  func end(dropping: Bool = false) {
    let waiter = state.withLock { state in
      state.hasEnded = true
      if dropping {
        state.frames.removeAll()
        state.bytes = 0
      }
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.complete(.success(nil))
  }

  /// The next message; nil at the end.
  ///
  /// - Parameter resumeReading: called if the queue was full and has room again.
  /// - Throws: `CancellationError`. The messages stay in the queue.
  func next(resumeReading: () -> Void) async throws -> MessageFramer.Frame? {
    let waiter = OneShot<MessageFramer.Frame?>()
    let (frame, mayRead) = state.withLock { state -> (MessageFramer.Frame??, Bool) in
      if let frame = state.frames.popFirst() {
        state.idleSince = nil
        state.bytes -= frame.byteCount
        let mayRead = state.isFull && state.frames.count <= maximumCount / 2 && state.bytes <= maximumBytes / 2
        if mayRead { state.isFull = false }
        return (.some(frame), mayRead)
      }
      state.idleSince = .now()
      if state.hasEnded { return (.some(nil), false) }
      state.waiter = waiter
      return (nil, false)
    }
    if mayRead { resumeReading() }
    if let frame { return frame }
    return try await waiter.value()
  }
}

extension MessageFramer.Frame {
  var byteCount: Int {
    if case .message(let buffer) = self { return buffer.readableBytes }
    return 0
  }
}
