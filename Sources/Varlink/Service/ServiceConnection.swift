import NIOCore
import Synchronization

/// One accepted connection. It takes calls one at a time, in their order, and answers them.
final class ServiceConnection: Sendable {
  let peer: VarlinkPeer
  let messages: MessageChannel
  let queue: MessageQueue
  private let service: VarlinkService
  private let idleCheck: NIOLoopBoundBox<Scheduled<Void>?>
  private let connectedAt = ContinuousClock.now
  private let calls = Mutex(Calls())

  private struct Calls {
    var answered = 0
    var running: VarlinkConnection.RunningCall?
  }

  /// Must be called on the channel's event loop, before the channel is active.
  init(channel: any Channel, peer: VarlinkPeer, service: VarlinkService) throws {
    self.peer = peer
    self.service = service
    queue = MessageQueue(maximumCount: service.limits.maximumQueuedCalls, maximumBytes: 1 << 20)
    service.memory.open(peer.connection)
    messages = try MessageChannel(
      channel, maximumMessageBytes: service.limits.maximumMessageBytes, sink: queue,
      share: MessageShare(memory: service.memory, connection: peer.connection) { service.evict($0) })
    idleCheck = NIOLoopBoundBox(nil, eventLoop: channel.eventLoop)
    scheduleIdleCheck(in: service.idleTime)
    channel.closeFuture.whenComplete { [idleCheck] _ in idleCheck.value?.cancel() }
  }

  /// The connection's current state.
  var description: VarlinkConnection {
    let calls = calls.withLock { $0 }
    let traffic = messages.traffic
    return VarlinkConnection(
      peer: peer, connectedAt: connectedAt, answeredCallCount: calls.answered, runningCall: calls.running,
      bytesReceived: traffic.bytesReceived, bytesSent: traffic.bytesSent, bytesUnsent: traffic.bytesUnsent)
  }

  private enum Event { case closed, answered }

  /// Answers calls until the peer closes the connection or `queue` is ended, and then closes the connection.
  ///
  /// If the peer disconnects, its running call is cancelled. A oneway call is an exception: no client waits for its
  /// reply, so it runs to its end. After the connection is closed, no queued call is begun.
  func run() async {
    await withTaskGroup(of: Event.self) { tasks in
      tasks.addTask { [messages] in
        await messages.closed()
        return .closed
      }
      var isOpen = true
      calls: while isOpen, !Task.isCancelled {
        let (call, interface): (VarlinkServiceCall, any VarlinkInterface)
        switch await nextCall() {
        case .call(let next, let answering): (call, interface) = (next, answering)
        case .refused:
          // After the connection is closed, the queued messages are not even parsed.
          guard messages.channel.isActive else { break calls }
          continue
        case .ended: break calls
        }
        guard messages.channel.isActive else { break calls }
        if call.isOneway {
          await answer(call, interface)
          continue
        }
        tasks.addTask {
          await self.answer(call, interface)
          return .answered
        }
        if await tasks.next() == .closed {
          isOpen = false
          tasks.cancelAll()
          _ = await tasks.next()
        }
      }
      // A connected peer gets the pending replies, as long as the service has time.
      if isOpen && !Task.isCancelled { await messages.flushAndClose() }
      messages.close()
      tasks.cancelAll()
    }
  }

  private func nextFrame() async -> MessageFramer.Frame? {
    do {
      return try await queue.next { messages.resumeReading() }
    } catch {
      return nil  // The task is cancelled, because the service ends.
    }
  }

  // MARK: - One call

  private enum Next {
    case call(VarlinkServiceCall, any VarlinkInterface)
    /// A message was not a call, and was answered with an error.
    case refused
    case ended
  }

  /// This is a function of its own, so that only the call refers to its message.
  private func nextCall() async -> Next {
    guard let frame = await nextFrame() else { return .ended }
    let next = await prepare(frame)
    if case .refused = next { messages.release(frame.byteCount) }
    return next
  }

  /// Parses a message as a call and finds the interface that answers it.
  private func prepare(_ frame: MessageFramer.Frame) async -> Next {
    guard case .message(let message) = frame else {
      if frame == .tooLarge {
        await refuse(
          .invalidParameter("message"), because: "more than \(service.limits.maximumMessageBytes) bytes",
          isOneway: false)
      }
      return .refused
    }
    guard let scanned = await scan(message) else { return .ended }
    let envelope: CallEnvelope
    do throws(CallEnvelope.Failure) {
      envelope = try scanned.get()
    } catch {
      switch error {
      case .syntax(let syntax):
        await refuse(
          .invalidParameter("message"), because: "\(syntax.reason) at byte \(syntax.offset)", isOneway: false)
      case .field(let field, let isOneway):
        await refuse(
          .invalidParameter(field), because: "\(field) is missing or of the wrong type", isOneway: isOneway)
      }
      return .refused
    }
    if envelope.upgrade {
      await refuse(
        .invalidParameter("upgrade"), because: "no method upgrades its connection", isOneway: envelope.oneway)
      return .refused
    }
    switch service.resolve(envelope.method) {
    case .failure(let error):
      await send(error, isOneway: envelope.oneway)
      return .refused
    case .success(let (interface, method)):
      let call = VarlinkServiceCall(
        method: method, envelope: envelope, message: message, peer: peer, service: service, channel: messages)
      do {
        try call.checkMembers(upTo: Self.shortParameters)
      } catch {
        await send(error, isOneway: envelope.oneway)
        return .refused
      }
      return .call(call, interface)
    }
  }

  /// Scans a message. Long messages are scanned one after the other on a separate thread, and processes take turns. On
  /// the threads that answer calls, a few clients that send them without pause would delay all others.
  ///
  /// - Returns: nil if the task was cancelled. It then does not wait for this scan or earlier ones, because the service
  ///   could not stop in time.
  private func scan(_ message: ByteBuffer) async -> Result<CallEnvelope, CallEnvelope.Failure>? {
    guard message.readableBytes > Self.shortMessage else { return CallEnvelope.reading(message) }
    let scanned = OneShot<Result<CallEnvelope, CallEnvelope.Failure>>()
    service.scanning.add(of: peer.pid, isLong: message.readableBytes > Self.longMessage) {
      guard scanned.isWanted else { return nil }
      let result = CallEnvelope.reading(message)
      return { scanned.complete(.success(result)) }
    }
    do { return try await scanned.value() } catch { return nil }
  }

  /// A message up to this size is scanned within a fraction of a millisecond.
  private static let shortMessage = 64 << 10

  /// A longer message is scanned with a low priority. It takes some milliseconds.
  private static let longMessage = 1 << 20

  /// Parameters up to this size are checked at once. Longer ones are checked when the interface decodes them.
  private static let shortParameters = 16 << 10

  private func refuse(_ error: VarlinkError, because reason: String, isOneway: Bool) async {
    service.onEvent(.malformed(peer, reason: reason))
    await send(error, isOneway: isOneway)
  }

  private func send(_ error: VarlinkError, isOneway: Bool) async {
    guard !isOneway else { return }
    do {
      try await messages.send(ReplyEnvelope.encode(error: error))
    } catch {
      // The peer has disconnected, and this connection ends soon.
    }
  }

  /// Calls the interface, and sends an error if it does not reply.
  private func answer(_ call: VarlinkServiceCall, _ interface: any VarlinkInterface) async {
    calls.withLock { calls in
      calls.running = .init(method: "\(interface.name).\(call.method)", wantsMore: call.wantsMore)
    }
    defer {
      call.end()
      calls.withLock { calls in
        calls.running = nil
        calls.answered += 1
      }
    }
    do {
      do {
        try await interface.respond(to: call)
        if call.isOneway || call.isAnswered { return }
        throw MissingReply()
      } catch let error as VarlinkError {
        if !call.isAnswered { return try await call.fail(error) }
        throw error
      }
    } catch {
      // The peer has disconnected, or the service ends. So the connection ends without a reply. The channel closes a
      // moment before this task is cancelled.
      if error is CancellationError, Task.isCancelled || !messages.channel.isActive { return }
      service.onEvent(.failed(peer, method: "\(interface.name).\(call.method)", error))
      guard !call.isAnswered else { return }
      do {
        try await call.fail(
          .internalError(
            interface: interface.name, message: "\(call.method) failed; the service's log says why. Try it again."))
      } catch {
        // The peer has disconnected. The event was reported.
      }
    }
  }

  private struct MissingReply: Error, CustomStringConvertible {
    var description: String { "respond(to:) returned without a reply" }
  }

  // MARK: - Idle connections

  /// Sets one timer to the earliest moment at which the idle timeout can end.
  private func scheduleIdleCheck(in time: TimeAmount) {
    let eventLoop = messages.channel.eventLoop
    idleCheck.value = eventLoop.scheduleTask(in: time) { [self] in
      guard let since = queue.idleSince else { return scheduleIdleCheck(in: service.idleTime) }
      let end = since + service.idleTime
      if end > .now() { return scheduleIdleCheck(in: end - .now()) }
      service.onEvent(.idle(peer))
      messages.close()
    }
  }
}
