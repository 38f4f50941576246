import NIOCore
import Synchronization

/// One accepted connection: takes its calls one at a time, in their order, and answers them.
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

  /// Must be called on the channel's event loop, before it is active.
  init(channel: any Channel, peer: VarlinkPeer, service: VarlinkService) throws {
    self.peer = peer
    self.service = service
    queue = MessageQueue(maximumCount: service.limits.maximumQueuedCalls, maximumBytes: 1 << 20)
    messages = try MessageChannel(channel, maximumMessageBytes: service.limits.maximumMessageBytes, sink: queue)
    idleCheck = NIOLoopBoundBox(nil, eventLoop: channel.eventLoop)
    scheduleIdleCheck(in: service.idleTime)
    channel.closeFuture.whenComplete { [idleCheck] _ in idleCheck.value?.cancel() }
  }

  /// How it is at this moment.
  var description: VarlinkConnection {
    let calls = calls.withLock { $0 }
    let traffic = messages.traffic
    return VarlinkConnection(
      peer: peer, connectedAt: connectedAt, answeredCallCount: calls.answered, runningCall: calls.running,
      bytesReceived: traffic.bytesReceived, bytesSent: traffic.bytesSent, bytesUnsent: traffic.bytesUnsent)
  }

  private enum Event { case closed, answered }

  /// Answers calls until the peer is done or gone, or `queue` is ended, and closes the connection.
  ///
  /// A peer that goes away cancels the call that is being answered for it. A oneway call is nobody's to wait for: it
  /// is carried out also when its sender is gone, as long as the service itself goes on.
  func run() async {
    await withTaskGroup(of: Event.self) { tasks in
      tasks.addTask { [messages] in
        await messages.closed()
        return .closed
      }
      var isOpen = true
      while !Task.isCancelled, let frame = await nextFrame() {
        guard let (call, interface) = await prepare(frame) else { continue }
        if call.isOneway {
          await answer(call, interface)
          continue
        }
        guard isOpen, messages.channel.isActive else { continue }
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
      // A peer that is there gets what was answered before, for as long as the service has time.
      if isOpen && !Task.isCancelled { await messages.flushAndClose() }
      messages.close()
      tasks.cancelAll()
    }
  }

  private func nextFrame() async -> MessageFramer.Frame? {
    do {
      return try await queue.next { messages.resumeReading() }
    } catch {
      return nil  // cancelled: the service is over
    }
  }

  // MARK: - One call

  /// Reads a message as a call and finds who answers it; nil when it was answered with an error here.
  private func prepare(_ frame: MessageFramer.Frame) async -> (VarlinkServiceCall, any VarlinkInterface)? {
    guard case .message(let message) = frame else {
      if frame == .tooLarge {
        await refuse(
          .invalidParameter("message"), because: "more than \(service.limits.maximumMessageBytes) bytes",
          isOneway: false)
      }
      return nil
    }
    let envelope: CallEnvelope
    do {
      envelope = try CallEnvelope(message)
    } catch {
      switch error {
      case .syntax(let syntax):
        await refuse(
          .invalidParameter("message"), because: "\(syntax.reason) at byte \(syntax.offset)", isOneway: false)
      case .field(let field, let isOneway):
        await refuse(
          .invalidParameter(field), because: "\(field) is missing or of the wrong type", isOneway: isOneway)
      }
      return nil
    }
    if envelope.upgrade {
      await refuse(
        .invalidParameter("upgrade"), because: "no method upgrades its connection", isOneway: envelope.oneway)
      return nil
    }
    switch service.resolve(envelope.method) {
    case .failure(let error):
      await send(error, isOneway: envelope.oneway)
      return nil
    case .success(let (interface, method)):
      let call = VarlinkServiceCall(
        method: method, envelope: envelope, message: message, peer: peer, channel: messages)
      return (call, interface)
    }
  }

  private func refuse(_ error: VarlinkError, because reason: String, isOneway: Bool) async {
    service.onEvent(.malformed(peer, reason: reason))
    await send(error, isOneway: isOneway)
  }

  private func send(_ error: VarlinkError, isOneway: Bool) async {
    guard !isOneway else { return }
    do {
      try await messages.send(ReplyEnvelope.encode(error: error))
    } catch {
      // The peer is gone; so will this connection be.
    }
  }

  /// Has the interface answer, and sees to it that there is an answer.
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
      // The peer is gone, or the service is over: the connection ends without an answer. The channel is closed a moment
      // before that cancels this task.
      if error is CancellationError, Task.isCancelled || !messages.channel.isActive { return }
      service.onEvent(.failed(peer, method: "\(interface.name).\(call.method)", error))
      guard !call.isAnswered else { return }
      do {
        try await call.fail(
          .internalError(
            interface: interface.name, message: "\(call.method) failed; the service's log says why. Try it again."))
      } catch {
        // The peer is gone; the event was reported.
      }
    }
  }

  private struct MissingReply: Error, CustomStringConvertible {
    var description: String { "respond(to:) returned without a reply" }
  }

  // MARK: - Idle connections

  /// One timer, set to the earliest moment at which the connection can have been idle for long enough.
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
