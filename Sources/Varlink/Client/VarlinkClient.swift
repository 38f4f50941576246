import NIOCore
import NIOPosix

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// One connection to a Varlink service.
///
/// ```swift
/// let client = try await VarlinkClient.connect(path: "/run/user/1000/example.sock")
/// let answer = try await client.call("org.example.greeter.Greet", ["name": "Ada"], returning: Greeting.self)
/// for try await tick in client.stream("org.example.greeter.Tick", of: Tick.self) { print(tick) }
/// await client.close()
/// ```
///
/// Calls of several tasks share the connection. They are sent at once and answered in their order. While a stream runs,
/// other calls throw `VarlinkClientError.streamRunning`. Open another client for them.
///
/// All clients of a process share one thread for the network. If a client is released, its connection is
/// closed after its last stream has ended.
public final class VarlinkClient: Sendable {
  private let messages: MessageChannel
  private let connection: ClientConnection
  let maximumReplyBytes: Int

  /// The group is never shut down. It takes one idle thread in a process, and none before the first connection.
  private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private init(messages: MessageChannel, connection: ClientConnection, maximumReplyBytes: Int) {
    self.messages = messages
    self.connection = connection
    self.maximumReplyBytes = maximumReplyBytes
  }

  deinit { messages.close() }

  /// Connects to a service.
  ///
  /// - Parameters:
  ///   - path: the path of its Unix socket, at most 107 bytes.
  ///   - timeout: how long to retry if too many connections are waiting at the service. All other attempts to connect
  ///     to a Unix socket succeed or fail at once.
  ///   - maximumReplyBytes: a longer reply is an error and closes the connection.
  /// - Throws: `VarlinkClientError`, or `CancellationError`.
  public static func connect(
    path: String, timeout: Duration = .seconds(5), maximumReplyBytes: Int = 64 << 20
  ) async throws -> VarlinkClient {
    let descriptor = try await connectedSocket(path: path, timeout: timeout)
    let connection = ClientConnection()
    let messages = try await ClientBootstrap(group: group).withConnectedSocket(descriptor) { channel in
      channel.eventLoop.makeCompletedFuture {
        try MessageChannel(channel, maximumMessageBytes: maximumReplyBytes, sink: connection)
      }
    }
    return VarlinkClient(messages: messages, connection: connection, maximumReplyBytes: maximumReplyBytes)
  }

  private static func connectedSocket(path: String, timeout: Duration) async throws -> CInt {
    let deadline = ContinuousClock.now + timeout
    while true {
      do {
        return try VarlinkSocket.connect(path: path)
      } catch let failure as VarlinkSocket.Failure {
        switch failure.reason {
        case .system("connect", EAGAIN):
          guard ContinuousClock.now < deadline else { throw VarlinkClientError.timedOut(path: path) }
          try await Task.sleep(for: .milliseconds(10))
        case .system("connect", ENOENT), .system("connect", ENOTDIR):
          throw VarlinkClientError.noSuchSocket(path: path)
        case .system("connect", ECONNREFUSED):
          throw VarlinkClientError.connectionRefused(path: path)
        case .system("connect", EACCES), .system("connect", EPERM):
          throw VarlinkClientError.permissionDenied(path: path)
        default:
          throw VarlinkClientError.connectionFailed(path: path, reason: failure.clientReason)
        }
      }
    }
  }

  // MARK: - Calls

  /// Calls a method and waits for its one reply.
  ///
  /// - Parameters:
  ///   - method: the fully qualified name, such as `org.example.greeter.Greet`.
  ///   - parameters: encoded as a JSON object; a nil field is left out.
  /// - Throws: the service's `VarlinkError`, `VarlinkClientError`, `EncodingError`, or `CancellationError`. After a
  ///   cancellation the service goes on with the call, and its reply is dropped.
  public func call<P: Encodable, R: Decodable>(
    _ method: String, _ parameters: P, returning type: R.Type
  ) async throws -> R {
    try await reply(to: method, VarlinkEncoded(encoding: parameters)).decode(type)
  }

  /// Calls a method that takes no parameters.
  public func call<R: Decodable>(_ method: String, returning type: R.Type) async throws -> R {
    try await call(method, VarlinkEmpty(), returning: type)
  }

  /// Calls a method with parameters that are already encoded, and returns the parameters of the reply unchanged.
  ///
  /// - Complexity: O(n) for n bytes of the parameters and the reply.
  public func call(_ method: String, encoded parameters: VarlinkEncoded) async throws -> [UInt8] {
    try await reply(to: method, parameters).parameterBytes
  }

  /// Calls a method without a reply. Returns when the connection has taken the message. The client does not learn
  /// whether the service carried it out.
  public func oneway<P: Encodable>(_ method: String, _ parameters: P) async throws {
    let encoded = try VarlinkEncoded(encoding: parameters)
    try connection.check()
    do {
      try await messages.send([CallEnvelope.encode(method: method, parameters: encoded.buffer, oneway: true)])
    } catch is CancellationError where !Task.isCancelled {
      throw VarlinkClientError.connectionClosed
    }
  }

  /// Calls a method with `more`, and decodes its replies one by one as the iteration asks for them.
  ///
  /// Each iteration sends a call of its own when it begins. If the reader is slow, the socket is not read beyond 16
  /// replies or 1 MiB, and the service notices that. Leaving the loop early, or cancelling the task, closes this
  /// client's connection, because Varlink has no other way to cancel. A cancelled task gets none of the replies that
  /// have arrived.
  public func stream<P: Encodable, R: Decodable>(
    _ method: String, _ parameters: P, of type: R.Type
  ) -> VarlinkReplies<R> {
    VarlinkReplies(raw: VarlinkRawReplies(client: self, method: method, Result { try .init(encoding: parameters) }))
  }

  /// Calls a method that takes no parameters with `more`.
  public func stream<R: Decodable>(_ method: String, of type: R.Type) -> VarlinkReplies<R> {
    stream(method, VarlinkEmpty(), of: type)
  }

  /// Calls a method with `more` and returns the parameters of its replies unchanged.
  public func stream(_ method: String, encoded parameters: VarlinkEncoded) -> VarlinkRawReplies {
    VarlinkRawReplies(client: self, method: method, .success(parameters))
  }

  /// Closes the connection. Calls that wait for a reply end with `VarlinkClientError.connectionClosed`.
  public func close() async {
    connection.inputEnded()
    await messages.flushAndClose()
  }

  // MARK: - Shared with streams

  private func reply(to method: String, _ parameters: VarlinkEncoded) async throws -> ReplyEnvelope {
    let call = CallEnvelope.encode(method: method, parameters: parameters.buffer)
    let reply = try connection.expectReply { messages.enqueue([call]) }
    let envelope = try envelope(await reply.value())
    guard !envelope.continues else {
      abandon()
      throw VarlinkClientError.malformedReply("several replies to a call without more")
    }
    return envelope
  }

  func startStream(_ method: String, _ parameters: VarlinkEncoded) throws -> MessageQueue {
    let call = CallEnvelope.encode(method: method, parameters: parameters.buffer, more: true)
    return try connection.expectStream { messages.enqueue([call]) }
  }

  func endStream() { connection.endStream() }

  func resumeReading() { messages.resumeReading() }

  /// Reads a frame as a reply. If it is not a reply, the connection can't be trusted any more and is closed.
  func envelope(_ frame: MessageFramer.Frame) throws -> ReplyEnvelope {
    do {
      guard case .message(let message) = frame else {
        throw VarlinkClientError.replyTooLarge(maximumBytes: maximumReplyBytes)
      }
      return try ReplyEnvelope(message)
    } catch let error as VarlinkClientError {
      abandon()
      throw error
    }
  }

  /// Closes the connection without waiting.
  package func abandon() {
    connection.inputEnded()
    messages.close()
  }
}
