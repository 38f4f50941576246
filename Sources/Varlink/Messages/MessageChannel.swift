import NIOCore
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Receives the messages of a channel. It is called on the channel's event loop and must not block.
protocol MessageSink: AnyObject, Sendable {
  /// Returns false if no further frame must come until `resumeReading()`. Meanwhile the socket is not read.
  func receive(_ frame: MessageFramer.Frame) -> Bool
  /// No more frames will come, because the peer shut down its sending side or the channel is closed. All frames were
  /// given.
  func inputEnded()
}

/// One connection as tasks use it: it transfers whole messages, and a write waits until the peer reads.
final class MessageChannel: Sendable {
  let channel: any Channel
  private let handler: NIOLoopBound<MessageHandler>
  private let closing = OneShot<Void>()
  let traffic = Traffic()
  private let share: MessageShare?

  /// The bytes that a connection transferred, readable from any thread.
  final class Traffic: Sendable {
    fileprivate let received = Atomic(0)
    fileprivate let written = Atomic(0)
    fileprivate let unsent = Atomic(0)

    /// The bytes that were read from the socket.
    var bytesReceived: Int { received.load(ordering: .relaxed) }
    /// The bytes that the kernel has taken.
    var bytesSent: Int { max(0, written.load(ordering: .relaxed) - bytesUnsent) }
    /// The bytes that wait in this process for the reader.
    var bytesUnsent: Int { max(0, unsent.load(ordering: .relaxed)) }

    /// Adds bytes to be sent. A negative count is for bytes that were not sent.
    fileprivate func add(_ byteCount: Int) {
      written.add(byteCount, ordering: .relaxed)
      unsent.add(byteCount, ordering: .relaxed)
    }
  }

  /// How many bytes may wait for a reader before senders are suspended. The memory for replies of a connection is this
  /// and one message.
  static let writeBufferBytes = 1 << 20

  /// The largest receive buffer. A connection keeps it while it is open, and a service has 2,048 connections.
  private static let serviceReceiveBytes = 16 << 10
  private static let clientReceiveBytes = 256 << 10

  /// Must be called on the channel's event loop, before the channel is active.
  ///
  /// - Parameter share: the share of a service's memory; nil for a client.
  init(
    _ channel: any Channel, maximumMessageBytes: Int, sink: any MessageSink, share: MessageShare? = nil
  ) throws {
    self.share = share
    let handler = MessageHandler(maximumMessageBytes: maximumMessageBytes, sink: sink, traffic: traffic, share: share)
    self.channel = channel
    self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(handler)
    let options = channel.syncOptions
    try options?.setOption(.allowRemoteHalfClosure, value: true)
    try options?.setOption(
      .writeBufferWaterMark, value: .init(low: Self.writeBufferBytes / 4, high: Self.writeBufferBytes))
    let receiveBytes = share == nil ? Self.clientReceiveBytes : Self.serviceReceiveBytes
    try options?.setOption(
      .recvAllocator, value: AdaptiveRecvByteBufferAllocator(minimum: 1024, initial: 4096, maximum: receiveBytes))
    channel.closeFuture.whenComplete { [closing] _ in closing.complete(.success(())) }
  }

  /// Writes the parts of one message and returns when the channel is below its water mark again. If little is unsent,
  /// it returns at once, so that no thread is woken for it.
  ///
  /// - Throws: `CancellationError` if the channel is closed, or if the task is cancelled while it waits. In the second
  ///   case the message is sent nevertheless.
  func send(_ parts: [ByteBuffer]) async throws {
    guard channel.isActive else { throw CancellationError() }
    let sent = enqueue(parts)
    if traffic.bytesUnsent <= Self.writeBufferBytes / 4 { return }
    try await sent.value()
  }

  /// Like `send`, without waiting. Messages are written in the order of these calls.
  @discardableResult
  func enqueue(_ parts: [ByteBuffer]) -> OneShot<Void> {
    let sent = OneShot<Void>()
    traffic.add(parts.reduce(0) { $0 + $1.readableBytes })
    channel.eventLoop.execute { [handler] in handler.value.send(parts, sent) }
    return sent
  }

  /// Returns when the kernel has taken all bytes, so that none wait here for the reader.
  ///
  /// - Throws: the errors of ``send(_:)``.
  func drained() async throws {
    guard traffic.bytesUnsent > 0 else { return }
    let drained = OneShot<Void>()
    channel.eventLoop.execute { [handler] in handler.value.drained(drained) }
    try await drained.value()
  }

  /// Roughly the bytes that the kernel has and the peer has not read, including the kernel's overhead for each piece. A
  /// channel that was closed meanwhile has none.
  ///
  /// - Parameter channels: channels of one event loop, which reads all of them in one job.
  static func bytesInSockets(of channels: [MessageChannel]) async -> [Int] {
    guard let eventLoop = channels.first?.channel.eventLoop else { return [] }
    let found = eventLoop.flatSubmit {
      EventLoopFuture.whenAllComplete(channels.map { $0.bytesInSocket() }, on: eventLoop)
    }
    do {
      return try await found.get().map { if case .success(let count) = $0 { count } else { 0 } }
    } catch {
      return channels.map { _ in 0 }  // The event loop has ended.
    }
  }

  private func bytesInSocket() -> EventLoopFuture<Int> {
    guard let provider = channel as? any SocketOptionProvider else { return channel.eventLoop.makeSucceededFuture(0) }
    let found: EventLoopFuture<SocketMemory> = provider.unsafeGetSocketOption(
      level: SocketOptionLevel(SOL_SOCKET), name: SocketOptionName(SO_MEMINFO))
    return found.map { Int($0.sent) }
  }

  /// Counts a message that the sink got as released.
  func release(_ byteCount: Int) { share?.addCalls(-byteCount) }

  /// Continues to read after the sink had enough.
  func resumeReading() {
    channel.eventLoop.execute { [handler] in handler.value.resumeReading() }
  }

  /// Waits until the channel is closed, or the task is cancelled. Only one task may call it, and only once.
  func closed() async {
    do { try await closing.value() } catch {}
  }

  /// Closes when the kernel has taken everything written so far, and returns then. If the task is cancelled, it closes
  /// at once.
  func flushAndClose() async {
    await withTaskCancellationHandler {
      do {
        try await channel.writeAndFlush(ByteBuffer()).get()
      } catch {
        // The connection is already closed, so no reader is left for the unsent bytes.
      }
    } onCancel: {
      close()
    }
    close()
  }

  /// Closes at once. Unsent bytes are dropped.
  func close() {
    channel.close(promise: nil)
  }
}

/// The result of SO_MEMINFO of socket(7), with the order of `SK_MEMINFO_…` in linux/sock_diag.h.
private struct SocketMemory: Sendable {
  var received: UInt32 = 0
  var receiveBuffer: UInt32 = 0
  /// For a Unix socket, the bytes that its peer has yet to read.
  var sent: UInt32 = 0
  var rest: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0, 0, 0)
}

/// Frames messages, controls reading, and suspends senders. It is used on the channel's event loop only.
private final class MessageHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private var framer: MessageFramer
  private let sink: any MessageSink
  private let traffic: MessageChannel.Traffic
  private let share: MessageShare?
  private var context: ChannelHandlerContext?
  /// The sink has enough. The bytes that it did not get stay in the framer and are counted. Frames would take much more
  /// memory than their bytes, because a client can send a frame with each byte.
  private var isPaused = false
  private var hasInputEnded = false
  /// A read was requested while the handler was paused. It is made when the handler resumes.
  private var heldBackRead = false
  /// Senders that resume when the channel is writable again.
  private var waitingSenders: [OneShot<Void>] = []

  init(
    maximumMessageBytes: Int, sink: any MessageSink, traffic: MessageChannel.Traffic, share: MessageShare?
  ) {
    self.traffic = traffic
    self.share = share
    framer = MessageFramer(maximumMessageBytes: maximumMessageBytes)
    self.sink = sink
  }

  func send(_ parts: [ByteBuffer], _ sent: OneShot<Void>) {
    let byteCount = parts.reduce(0) { $0 + $1.readableBytes }
    guard let context, context.channel.isActive else {
      traffic.add(-byteCount)
      sent.complete(.failure(CancellationError()))
      return
    }
    // When the last part is with the kernel, all parts are.
    let isSent = context.eventLoop.makePromise(of: Void.self)
    isSent.futureResult.whenComplete { [traffic, share] _ in
      traffic.unsent.subtract(byteCount, ordering: .relaxed)
      share?.removeReply(parts)
    }
    share?.addReply(parts)
    for part in parts.dropLast() { context.write(wrapOutboundOut(part), promise: nil) }
    if let last = parts.last { context.write(wrapOutboundOut(last), promise: isSent) } else { isSent.succeed() }
    context.flush()
    // The flush may have closed the channel, and then the context is gone.
    if self.context == nil {
      sent.complete(.failure(CancellationError()))
    } else if context.channel.isWritable {
      sent.complete(.success(()))
    } else {
      waitingSenders.append(sent)
    }
  }

  func drained(_ drained: OneShot<Void>) {
    guard let context, context.channel.isActive else {
      drained.complete(.failure(CancellationError()))
      return
    }
    // The kernel takes this empty write after all earlier ones.
    let isSent = context.eventLoop.makePromise(of: Void.self)
    isSent.futureResult.whenComplete { result in
      switch result {
      case .success: drained.complete(.success(()))
      case .failure: drained.complete(.failure(CancellationError()))
      }
    }
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: isSent)
  }

  func resumeReading() {
    isPaused = false
    giveFrames()
    guard !isPaused, heldBackRead, let context else { return }
    heldBackRead = false
    context.read()
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    endWaiting(.failure(CancellationError()))
  }

  func read(context: ChannelHandlerContext) {
    if isPaused { heldBackRead = true } else { context.read() }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    traffic.received.add(bytes.readableBytes, ordering: .relaxed)
    let before = framer.pendingByteCount
    framer.push(bytes)
    share?.addCalls(framer.pendingByteCount - before)
    giveFrames()
  }

  /// Gives frames to the sink until it has enough.
  private func giveFrames() {
    var byteCount = -framer.pendingByteCount
    defer { share?.addCalls(byteCount + framer.pendingByteCount) }
    while !isPaused {
      guard let frame = framer.next() else {
        if hasInputEnded { sink.inputEnded() }
        return
      }
      byteCount += frame.byteCount
      isPaused = !sink.receive(frame)
      if frame == .unrecoverable {
        context?.close(promise: nil)
        return
      }
    }
  }

  private func endInput() {
    hasInputEnded = true
    giveFrames()
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { endWaiting(.success(())) }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .inputClosed? = event as? ChannelEvent { endInput() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    endInput()
    endWaiting(.failure(CancellationError()))
    if let share { share.memory.close(share.connection) }
    context.fireChannelInactive()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    // The peer has closed the connection, so the error concerns no one else.
    context.close(promise: nil)
  }

  private func endWaiting(_ result: Result<Void, any Error>) {
    let senders = waitingSenders
    waitingSenders = []
    for sender in senders { sender.complete(result) }
  }
}
