import NIOCore
import Synchronization

/// One call, as an interface sees it.
///
/// ```swift
/// func respond(to call: VarlinkServiceCall) async throws {
///   switch call.method {
///   case "Count":
///     let options = try call.parameters(CountOptions.self)
///     guard call.wantsMore else { throw VarlinkError.expectedMore }
///     for number in options.from..<options.to { try await call.replyContinuing(Number(number)) }
///     try await call.reply(Number(options.to))
///   default:
///     throw VarlinkError.methodNotImplemented(call.method)
///   }
/// }
/// ```
public struct VarlinkServiceCall: Sendable {
  /// The name of the method without that of the interface.
  public let method: String
  /// Whether the caller takes several replies.
  public let wantsMore: Bool
  /// Whether the caller takes no reply. Replies and errors are dropped then.
  public let isOneway: Bool
  /// The process that made the call.
  public let peer: VarlinkPeer
  /// The service that received the call, for interfaces that report on its connections.
  public let service: VarlinkService

  private let exchange: Exchange

  init(
    method: VarlinkMethod, envelope: CallEnvelope, message: ByteBuffer, peer: VarlinkPeer, service: VarlinkService,
    channel: MessageChannel
  ) {
    self.method = method.name
    self.isOneway = envelope.oneway
    // The service would never notice that a stream has no reader.
    self.wantsMore = envelope.more && !envelope.oneway
    self.peer = peer
    self.service = service
    exchange = Exchange(
      method: method, message: message, parameters: envelope.parameters, isOneway: envelope.oneway, channel: channel)
  }

  /// The parameters as a value. Missing parameters mean `{}`.
  ///
  /// - Throws: `VarlinkError.invalidParameter` with the path of the wrong member: one that does not decode, that is
  ///   beyond its bound, or that the interface does not have. If a mistyped option were ignored, another call would be
  ///   carried out than the caller meant.
  public func parameters<P: Decodable>(_ type: P.Type) throws -> P {
    try checkMembers(upTo: .max)
    do {
      let (message, range) = (exchange.message.withLock { $0 }, exchange.parameters.withLock { $0 })
      return try JSONCoding.decode(type, from: message, at: range)
    } catch let error as DecodingError {
      throw VarlinkError.invalidParameter(from: error)
    }
  }

  /// The parameters of a method that has no list and no long text. They are decoded on a thread that the calls of all
  /// clients share. Longer parameters are rejected, because decoding 16 MiB takes seconds.
  ///
  /// - Throws: `VarlinkError.invalidParameter`, as ``parameters(_:)`` does.
  public func shortParameters<P: Decodable>(_ type: P.Type) throws -> P {
    guard parameterByteCount <= Self.maximumShortParameters else { throw VarlinkError.invalidParameter("parameters") }
    return try parameters(type)
  }

  /// This is more than any path takes.
  package static let maximumShortParameters = 128 << 10

  /// - Parameter byteCount: longer parameters are not checked yet.
  /// - Throws: `VarlinkError.invalidParameter` with the path of a member that the interface does not have, or that is
  ///   beyond its bound.
  func checkMembers(upTo byteCount: Int) throws(VarlinkError) {
    guard let fault = exchange.firstFault(upTo: byteCount) else { return }
    throw .invalidParameter(fault)
  }

  /// The size of the parameters as JSON text; 0 after ``releaseMessage()``.
  public var parameterByteCount: Int { exchange.parameters.withLock { $0?.count ?? 0 } }

  /// Releases the text of the call, which has up to 16 MiB. This is for calls that go on for long after their
  /// parameters were read. From now on the parameters are `{}`.
  public func releaseMessage() {
    exchange.releaseMessage()
  }

  /// Sends the last reply. Returns when the connection can take more, so that a reader that doesn't read holds at most
  /// 1 MiB and one reply.
  ///
  /// - Throws: `CancellationError` if the connection is closed or the task is cancelled; `EncodingError`;
  ///   `VarlinkReplyError` if the last reply was already sent.
  public func reply<R: Encodable>(_ parameters: R) async throws {
    try await exchange.send(VarlinkEncoded(encoding: parameters), continues: false)
  }

  /// Sends the last reply from encoded parameters. Large ones are not copied.
  public func reply(encoded parameters: VarlinkEncoded) async throws {
    try await exchange.send(parameters, continues: false)
  }

  /// Sends the last reply; `parameters` are the bytes of a JSON object (see `VarlinkEncoded`).
  ///
  /// - Complexity: O(n) for n bytes.
  public func reply(encoded parameters: [UInt8]) async throws {
    try await exchange.send(VarlinkEncoded(parameters), continues: false)
  }

  /// Sends a reply that others follow. If the reader is behind, it suspends until this connection's buffer of 1 MiB has
  /// room again. The reply itself is in the buffer by then, even if the task is cancelled while it waits.
  ///
  /// - Throws: `VarlinkError.expectedMore` if the call lacks `more` (do not catch it); otherwise the errors of `reply`.
  public func replyContinuing<R: Encodable>(_ parameters: R) async throws {
    guard wantsMore else { throw VarlinkError.expectedMore }
    try await exchange.send(VarlinkEncoded(encoding: parameters), continues: true)
  }

  /// Sends a reply that others follow, from encoded parameters. This is for one value that goes to many callers.
  public func replyContinuing(encoded parameters: VarlinkEncoded) async throws {
    guard wantsMore else { throw VarlinkError.expectedMore }
    try await exchange.send(parameters, continues: true)
  }

  /// Sends a reply that others follow; `parameters` are the bytes of a JSON object (see `VarlinkEncoded`).
  ///
  /// - Complexity: O(n) for n bytes.
  public func replyContinuing(encoded parameters: [UInt8]) async throws {
    try await replyContinuing(encoded: VarlinkEncoded(parameters))
  }

  /// Returns when the kernel has taken all replies. This is for a sender of the current state, which should wait itself
  /// instead of letting old replies wait for the reader. `reply` and `replyContinuing` return while up to 1 MiB of
  /// replies waits.
  ///
  /// - Throws: `CancellationError` if the connection is closed, or the task is cancelled.
  public func drained() async throws {
    if !isOneway { try await exchange.drained() }
  }

  /// Returns when the client has read all bytes of its connection but so many at most. The kernel does not report this, so
  /// it is looked up in intervals of at most 0.1 s.
  ///
  /// - Parameter byteCount: includes the kernel's overhead, which is about a kilobyte for each reply.
  /// - Throws: the errors of ``drained()``, and `CancellationError` if the connection is closed meanwhile.
  package func isRead(butFor byteCount: Int) async throws {
    if !isOneway { try await exchange.isRead(butFor: byteCount) }
  }

  /// Whether the last reply was sent.
  var isAnswered: Bool { exchange.isAnswered.withLock { $0 } }

  /// Sends an error as the last reply, unless the last reply was already sent.
  func fail(_ error: VarlinkError) async throws {
    try await exchange.send(parts: ReplyEnvelope.encode(error: error), isLast: true)
  }

  /// Ends the call. Nothing can be sent any more, and the connection goes on to its next call.
  func end() {
    exchange.isAnswered.withLock { $0 = true }
    exchange.releaseMessage()
  }
}

/// An interface replied after its last reply, or after `respond(to:)` returned.
public struct VarlinkReplyError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The message for a log.
  public var description: String { "a reply after the last one" }
}

/// The part of a call that its copies share.
private final class Exchange: Sendable {
  let message: Mutex<ByteBuffer>
  let parameters: Mutex<Range<Int>?>
  let isAnswered = Mutex(false)
  private let method: VarlinkMethod
  /// Whether the members of the parameters are known and within their bounds.
  private let isChecked = Atomic(false)
  private let isOneway: Bool
  private let channel: MessageChannel

  init(method: VarlinkMethod, message: ByteBuffer, parameters: Range<Int>?, isOneway: Bool, channel: MessageChannel) {
    self.method = method
    self.message = Mutex(message)
    self.parameters = Mutex(parameters)
    self.isOneway = isOneway
    self.channel = channel
  }

  func releaseMessage() {
    parameters.withLock { $0 = nil }
    let released = message.withLock { message in
      defer { message = ByteBuffer() }
      return message.readableBytes
    }
    channel.release(released)
  }

  func firstFault(upTo byteCount: Int) -> String? {
    guard !isChecked.load(ordering: .relaxed), let range = parameters.withLock({ $0 }), range.count <= byteCount else {
      return nil
    }
    let fault = message.withLock { $0 }.withUnsafeReadableBytes { bytes in
      UnsafeRawBufferPointer(rebasing: bytes[range]).withMemoryRebound(to: UInt8.self) {
        ParameterSearch.firstFault(in: $0, shape: method.shape, types: method.types)
      }
    }
    if fault == nil { isChecked.store(true, ordering: .relaxed) }
    return fault
  }

  func send(_ parameters: VarlinkEncoded, continues: Bool) async throws {
    try await send(
      parts: ReplyEnvelope.encode(parameters: parameters.buffer, continues: continues), isLast: !continues)
  }

  func send(parts: [ByteBuffer], isLast: Bool) async throws {
    let wasAnswered = isAnswered.withLock { isAnswered in
      defer { isAnswered = isAnswered || isLast }
      return isAnswered
    }
    if wasAnswered { throw VarlinkReplyError() }
    if !isOneway { try await channel.send(parts) }
  }

  func drained() async throws { try await channel.drained() }

  func isRead(butFor byteCount: Int) async throws {
    var interval = Duration.milliseconds(1)
    while true {
      try await channel.drained()
      guard let unread = await MessageChannel.bytesInSockets(of: [channel]).first, unread > byteCount else { return }
      try await Task.sleep(for: interval)
      interval = Swift.min(interval * 2, Duration.milliseconds(100))
    }
  }
}
