import NIOCore
import Synchronization

/// The pending replies of a client's connection: those of calls, in the order of the calls, and after them at most one
/// stream.
final class ClientConnection: MessageSink {
  typealias Frame = MessageFramer.Frame

  private struct State {
    /// One entry for each call that was sent and has no reply yet. The entry of a cancelled call stays, and its reply
    /// is dropped.
    var calls = CircularBuffer<OneShot<Frame>>()
    var stream: MessageQueue?
    var hasEnded = false
  }

  private let state = Mutex(State())

  /// Registers a call and sends it in one step, because only the order assigns replies to calls.
  ///
  /// - Parameter send: hands the message to the event loop; must not wait.
  func expectReply(sending send: () -> Void) throws(VarlinkClientError) -> OneShot<Frame> {
    let reply = OneShot<Frame>()
    try state.withLock { state throws(VarlinkClientError) in
      try Self.check(state)
      state.calls.append(reply)
      send()
    }
    return reply
  }

  /// Like `expectReply`, for all replies from now until `endStream()`.
  func expectStream(sending send: () -> Void) throws(VarlinkClientError) -> MessageQueue {
    let queue = MessageQueue(maximumCount: 16, maximumBytes: 1 << 20)
    try state.withLock { state throws(VarlinkClientError) in
      try Self.check(state)
      state.stream = queue
      send()
    }
    return queue
  }

  /// Ends the stream after its last reply, so that the connection is free for other calls.
  func endStream() { state.withLock { $0.stream = nil } }

  /// Checks the connection for a message without reply.
  func check() throws(VarlinkClientError) {
    try state.withLock { state throws(VarlinkClientError) in try Self.check(state) }
  }

  private static func check(_ state: State) throws(VarlinkClientError) {
    if state.hasEnded { throw .connectionClosed }
    if state.stream != nil { throw .streamRunning }
  }

  // MARK: - MessageSink

  func receive(_ frame: Frame) -> Bool {
    let (call, stream) = state.withLock { state in
      let call = state.calls.popFirst()
      return (call, call == nil ? state.stream : nil)
    }
    if let call {
      call.complete(.success(frame))
      return true
    }
    // A frame that no call expects is dropped.
    return stream?.receive(frame) ?? true
  }

  func inputEnded() {
    let (calls, stream) = state.withLock { state in
      state.hasEnded = true
      defer { state.calls.removeAll() }
      return (Array(state.calls), state.stream)
    }
    for call in calls { call.complete(.failure(VarlinkClientError.connectionClosed)) }
    stream?.end()
  }
}
