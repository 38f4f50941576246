/// The replies to a call with `more`, decoded when they are requested. See `VarlinkClient.stream`.
public struct VarlinkReplies<Reply: Decodable>: AsyncSequence, Sendable {
  /// One decoded reply.
  public typealias Element = Reply

  let raw: VarlinkRawReplies

  /// Prepares the call. It is sent when the first reply is requested.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(raw: raw.makeAsyncIterator()) }

  /// One call and its replies. If it is released before the last reply, the connection is closed.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let raw: VarlinkRawReplies.AsyncIterator

    /// The next reply; nil after the last.
    ///
    /// - Throws: the service's `VarlinkError`, `VarlinkClientError`, or `CancellationError`. An error ends the stream.
    public mutating func next() async throws -> Reply? { try await raw.run.next()?.decode(Reply.self) }
  }
}

/// The parameters of the replies to a call with `more`, each the bytes of a JSON object.
public struct VarlinkRawReplies: AsyncSequence, Sendable {
  /// The JSON object of the parameters of one reply.
  public typealias Element = [UInt8]

  private let client: VarlinkClient
  private let method: String
  private let parameters: Result<VarlinkEncoded, any Error>

  init(client: VarlinkClient, method: String, _ parameters: Result<VarlinkEncoded, any Error>) {
    self.client = client
    self.method = method
    self.parameters = parameters
  }

  /// Prepares the call. It is sent when the first reply is requested.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(run: StreamRun(client: client, method: method, parameters: parameters))
  }

  /// One call and its replies. If it is released before the last reply, the connection is closed.
  public struct AsyncIterator: AsyncIteratorProtocol {
    let run: StreamRun

    /// Like `next()` of `VarlinkReplies`.
    ///
    /// - Complexity: O(n) for the n bytes of the reply.
    public mutating func next() async throws -> [UInt8]? { try await run.next()?.parameterBytes }
  }
}

/// One iteration of a stream. If it is released before the end of the stream, the connection is closed.
final class StreamRun {
  private enum State {
    /// Nothing was sent yet.
    case idle
    case running(MessageQueue)
    case over
  }

  private let client: VarlinkClient
  private let method: String
  private let parameters: Result<VarlinkEncoded, any Error>
  private var state = State.idle

  init(client: VarlinkClient, method: String, parameters: Result<VarlinkEncoded, any Error>) {
    self.client = client
    self.method = method
    self.parameters = parameters
  }

  deinit {
    if case .running = state { client.abandon() }
  }

  func next() async throws -> ReplyEnvelope? {
    let queue: MessageQueue
    switch state {
    case .over: return nil
    case .running(let started): queue = started
    case .idle:
      state = .over
      try Task.checkCancellation()
      queue = try client.startStream(method, parameters.get())
      state = .running(queue)
    }
    let frame: MessageFramer.Frame?
    do {
      // The queue gives replies that wait in it also to a cancelled task.
      try Task.checkCancellation()
      frame = try await queue.next { client.resumeReading() }
    } catch {
      state = .over
      client.abandon()
      throw error
    }
    guard let frame else {
      state = .over
      throw VarlinkClientError.connectionClosed
    }
    do {
      let reply = try client.envelope(frame)
      if !reply.continues { finish() }
      return reply
    } catch {
      finish()
      throw error
    }
  }

  private func finish() {
    state = .over
    client.endStream()
  }
}
