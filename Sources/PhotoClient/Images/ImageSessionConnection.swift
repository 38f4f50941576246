import PhotoContract
import PhotoModel
import Synchronization
import Varlink

/// The session of an ``ImageManager``: its stream, and the connection for its calls.
///
/// One task sends. It takes the operations in their order and awaits each reply, so that photod gets them in this order.
/// Cancellations come first, because they make room for requests. Requests that gather meanwhile are sent as one call.
/// Another task reads the stream. If the session is lost, the sender
/// opens another one, and repeats the requests without a final result and the caching sets.
final class ImageSessionConnection: Sendable {
  /// A frame of a caching set.
  struct Frame: Hashable, Sendable {
    var size: ImageSize
    var contentMode: ImageContentMode
  }

  private enum Operation: Sendable {
    case request(Int64)
    case startCaching([AssetID], Frame)
    case stopCaching([AssetID], Frame)
    case stopCachingAll
  }

  private enum Batch: Sendable {
    case requests([ImageRequest])
    case cancellations([Int64])
    case caching(Operation)
  }

  private struct Pending: Sendable {
    var request: ImageRequest
    let continuation: AsyncThrowingStream<AssetImage, any Error>.Continuation
    var isSent = false
    var hasDegraded = false
  }

  /// A session that is open.
  private struct Session: Sendable {
    /// Tells sessions apart whose ends are noticed late.
    let number: Int
    let name: String
    let calls: VarlinkClient
    let reader: Task<Void, Never>
  }

  private struct State {
    var lastID: Int64 = 0
    var pending: [Int64: Pending] = [:]
    /// The open requests as photod counts them: a cancelled one until photod has replied to the cancellation.
    var sentCount = 0
    var operations: [Operation] = []
    /// The sent requests whose cancellation is not sent.
    var cancelled: [Int64] = []
    /// The members are numbered in the order in which they were added, which is that of their work.
    var caching: [Frame: [AssetID: Int]] = [:]
    var lastCached = 0
    var session: Session?
    var sessionCount = 0
    var isSending = false
    /// Whether photod was away for so long that the sender ended. The next operation starts it again.
    var hasGivenUp = false
    /// How often the manager was closed.
    var closeCount = 0
    /// The callers that wait until everything is sent.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The contract's limits.
  private static let mostPerCall = 1_000
  private static let mostCancelled = 10_000
  private static let mostOpen = 10_000

  private let path: String
  private let wantsData: Bool
  private let patience: Duration
  private let state = Mutex(State())

  init(path: String, wantsData: Bool, patience: Duration) {
    self.path = path
    self.wantsData = wantsData
    self.patience = patience
  }

  // MARK: - Operations

  func submit(_ request: ImageRequest, _ continuation: AsyncThrowingStream<AssetImage, any Error>.Continuation) {
    let id = state.withLock { state in
      state.lastID += 1
      var request = request
      request.id = state.lastID
      state.pending[state.lastID] = Pending(request: request, continuation: continuation)
      state.operations.append(.request(state.lastID))
      state.hasGivenUp = false
      return state.lastID
    }
    continuation.onTermination = { [weak self] reason in
      if case .cancelled = reason { self?.cancel(id) }
    }
    send()
  }

  private func cancel(_ id: Int64) {
    state.withLock { state in
      guard let pending = state.pending.removeValue(forKey: id) else { return }
      // A request that was not sent is skipped by the sender.
      guard pending.isSent else { return }
      state.cancelled.append(id)
    }
    send()
  }

  func startCaching(_ ids: [AssetID], _ frame: Frame) {
    state.withLock { state in
      for id in ids where state.caching[frame]?[id] == nil {
        state.lastCached += 1
        state.caching[frame, default: [:]][id] = state.lastCached
      }
      state.operations.append(.startCaching(ids, frame))
      state.hasGivenUp = false
    }
    send()
  }

  func stopCaching(_ ids: [AssetID], _ frame: Frame) {
    state.withLock { state in
      for id in ids { state.caching[frame]?[id] = nil }
      if state.caching[frame]?.isEmpty == true { state.caching[frame] = nil }
      if state.session != nil { state.operations.append(.stopCaching(ids, frame)) }
    }
    send()
  }

  func stopCachingAll() {
    state.withLock { state in
      state.caching = [:]
      if state.session != nil { state.operations.append(.stopCachingAll) }
    }
    send()
  }

  /// How often the manager was closed. It tells whether a request was made before the last time.
  var closeCount: Int { state.withLock { $0.closeCount } }

  /// Ends the session, and the requests without a final result.
  func close() {
    let (session, pending) = state.withLock { state in
      defer {
        state.closeCount += 1
        state.pending = [:]
        state.sentCount = 0
        state.operations = []
        state.cancelled = []
        state.caching = [:]
        state.session = nil
      }
      return (state.session, state.pending.values.map(\.continuation))
    }
    for continuation in pending { continuation.finish(throwing: CancellationError()) }
    if let session { Self.end(session) }
  }

  private static func end(_ session: Session) {
    session.reader.cancel()
    session.calls.abandon()
  }

  func readImage(_ imageID: String, of name: String) async throws -> [UInt8] {
    guard let session = state.withLock({ $0.session }), session.name == name else {
      throw PhotoLibraryError.snapshotExpired(message: "The session of the picture has ended. Request it again.")
    }
    var bytes: [UInt8] = []
    while true {
      let request = ReadImageRequest(session: name, imageID: imageID, offset: bytes.count)
      let page = try await session.calls.call(
        "\(ImageManager.interface).ReadImage", request, returning: ImagePage.self)
      bytes += page.bytes
      if bytes.count >= page.total { return bytes }
      if page.bytes.isEmpty { throw PhotoLibraryError.malformedReply("ReadImage replied with an empty page") }
    }
  }

  // MARK: - Sending

  /// Starts the sender, unless it runs or has nothing to do.
  private func send() {
    let starts = state.withLock { state in
      guard !state.isSending, Self.hasWork(state) else { return false }
      state.isSending = true
      return true
    }
    if starts { Task { await self.sendAll() } }
  }

  private static func hasWork(_ state: State) -> Bool {
    if state.session == nil { return !state.hasGivenUp && (!state.pending.isEmpty || !state.caching.isEmpty) }
    if !state.cancelled.isEmpty { return true }
    guard let first = state.operations.first else { return false }
    if case .request = first { return state.sentCount < mostOpen }
    return true
  }

  private func sendAll() async {
    var lostAt: ContinuousClock.Instant?
    var delay = Duration.milliseconds(20)
    while mayGoOn() {
      do {
        guard let session = try await openSession() else { continue }
        while let batch = nextBatch(of: session) { try await perform(batch, session) }
        (lostAt, delay) = (nil, .milliseconds(20))
      } catch {
        let failure = PhotoLibraryError.translated(error, at: path)
        dropSession()
        let now = ContinuousClock.now
        if lostAt == nil { lostAt = now }
        guard Self.mayPass(failure), let since = lostAt, now - since < patience else {
          failAll(failure)
          // A request that was submitted meanwhile gets the whole patience.
          (lostAt, delay) = (nil, .milliseconds(20))
          continue
        }
        do { try await Task.sleep(for: delay) } catch {
          // The task of the sender is never cancelled. If it were, the next attempt would come early.
        }
        delay = min(delay * 2, .seconds(1))
      }
    }
  }

  /// Whether there is work. The sender has ended if not: the decision and the end are one step.
  private func mayGoOn() -> Bool {
    let (goesOn, waiters) = state.withLock { state -> (Bool, [CheckedContinuation<Void, Never>]) in
      state.isSending = Self.hasWork(state)
      guard !state.isSending else { return (true, []) }
      defer { state.waiters = [] }
      return (false, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return goesOn
  }

  /// Returns when photod has replied to everything that was submitted before, or can't be reached.
  func sent() async {
    await withCheckedContinuation { continuation in
      let isDone = state.withLock { state in
        guard state.isSending || Self.hasWork(state) else { return true }
        state.waiters.append(continuation)
        return false
      }
      if isDone { continuation.resume() } else { send() }
    }
  }

  /// Whether a later attempt may succeed.
  private static func mayPass(_ error: any Error) -> Bool {
    switch error as? PhotoLibraryError {
    case .unreachable, .connectionClosed, .libraryUnavailable: true
    // The session is gone.
    case .unknown(let name, _): name == "org.photod.images.NoSuchSession"
    default: false
    }
  }

  /// Opens a session, unless one is open.
  ///
  /// - Returns: nil if the manager was closed meanwhile, or if no request or caching set needs a session any more.
  private func openSession() async throws -> Session? {
    let (open, closeCount) = state.withLock { ($0.session, $0.closeCount) }
    if let open { return open }
    let stream = try await VarlinkClient.connect(path: path)
    let replies = stream.stream(
      "\(ImageManager.interface).OpenSession", OpenSessionRequest(wantsData: wantsData ? true : nil),
      of: OpenSessionReply.self)
    let calls = try await VarlinkClient.connect(path: path)
    let (names, name) = AsyncThrowingStream.makeStream(of: String.self, throwing: (any Error).self)
    let number = state.withLock { state in
      state.sessionCount += 1
      return state.sessionCount
    }
    let reader = Task { [weak self] in
      do {
        for try await reply in replies {
          name.yield(reply.session)
          self?.deliver(reply)
        }
        throw VarlinkClientError.connectionClosed
      } catch {
        name.finish(throwing: error)
        self?.sessionEnded(number)
      }
    }
    var iterator = names.makeAsyncIterator()
    guard let first = try await iterator.next() else { throw VarlinkClientError.connectionClosed }
    let session = Session(number: number, name: first, calls: calls, reader: reader)
    let isWanted = state.withLock { state in
      // close() ended the sessions that it found, but not this one.
      guard state.closeCount == closeCount, !state.pending.isEmpty || !state.caching.isEmpty else { return false }
      state.session = session
      // The new session knows nothing of the earlier one.
      state.sentCount = 0
      state.cancelled = []
      for id in state.pending.keys { state.pending[id]?.isSent = false }
      state.operations = state.pending.keys.sorted().map { .request($0) }
      for (frame, ids) in state.caching {
        state.operations.append(.startCaching(ids.sorted { $0.value < $1.value }.map(\.key), frame))
      }
      return true
    }
    if isWanted { return session }
    Self.end(session)
    return nil
  }

  /// Takes operations of one kind, in their order; nil if there is nothing to send now.
  private func nextBatch(of session: Session) -> Batch? {
    state.withLock { state in
      guard state.session?.number == session.number else { return nil }
      if !state.cancelled.isEmpty {
        defer { state.cancelled.removeFirst(min(state.cancelled.count, Self.mostCancelled)) }
        return .cancellations(Array(state.cancelled.prefix(Self.mostCancelled)))
      }
      var requests: [ImageRequest] = []
      var taken = 0
      loop: for operation in state.operations {
        switch operation {
        case .request(let id):
          guard requests.count < Self.mostPerCall, state.sentCount < Self.mostOpen else { break loop }
          if let request = state.pending[id]?.request {
            requests.append(request)
            state.pending[id]?.isSent = true
            state.sentCount += 1
          }
        case .startCaching, .stopCaching, .stopCachingAll:
          guard taken == 0 else { break loop }
          state.operations.removeFirst()
          return .caching(operation)
        }
        taken += 1
      }
      state.operations.removeFirst(taken)
      return requests.isEmpty ? nil : .requests(requests)
    }
  }

  private func perform(_ batch: Batch, _ session: Session) async throws {
    func call<P: Encodable>(_ method: String, _ parameters: P) async throws {
      _ = try await session.calls.call("\(ImageManager.interface).\(method)", parameters, returning: VarlinkEmpty.self)
    }
    do {
      switch batch {
      case .requests(let requests):
        try await call("RequestImages", RequestImagesRequest(session: session.name, requests: requests))
      case .cancellations(let ids):
        // After the reply, photod no longer counts them. If the session was closed meanwhile, the count has begun anew.
        defer { state.withLock { if $0.session?.number == session.number { $0.sentCount -= ids.count } } }
        _ = try await session.calls.call(
          "\(ImageManager.interface).CancelRequests", CancelRequestsRequest(session: session.name, ids: ids),
          returning: CancelRequestsReply.self)
      case .caching(.startCaching(let ids, let frame)):
        try await call("StartCaching", Self.caching(ids, frame, session))
      case .caching(.stopCaching(let ids, let frame)):
        try await call("StopCaching", Self.caching(ids, frame, session))
      case .caching: try await call("StopCachingAll", StopCachingAllRequest(session: session.name))
      }
    } catch let error as VarlinkError where error.name != "org.photod.images.NoSuchSession" {
      // photod refused this call. Caching is only a hint, so its refusal has no effect.
      guard case .requests(let requests) = batch else { return }
      let failure = PhotoLibraryError.translated(error, at: path)
      for request in requests { finish(request.id, throwing: failure) }
    }
  }

  private static func caching(_ ids: [AssetID], _ frame: Frame, _ session: Session) -> CachingRequest {
    CachingRequest(
      session: session.name, assetIDs: ids, targetWidth: frame.size.width, targetHeight: frame.size.height,
      contentMode: frame.contentMode)
  }

  // MARK: - Results

  private func deliver(_ reply: OpenSessionReply) {
    for result in reply.results {
      let image = result.image(in: reply.session)
      let isLast = result.isFinal || result.failure != nil
      let continuation = state.withLock { state -> AsyncThrowingStream<AssetImage, any Error>.Continuation? in
        guard let pending = state.pending[result.requestID] else { return nil }
        if isLast {
          state.pending[result.requestID] = nil
          if pending.isSent { state.sentCount -= 1 }
        } else {
          // After a reconnection, the degraded picture comes a second time.
          if pending.hasDegraded { return nil }
          state.pending[result.requestID]?.hasDegraded = true
        }
        return pending.continuation
      }
      switch image {
      case .success(let image): continuation?.yield(image)
      case .failure(let error): continuation?.finish(throwing: error)
      }
      if isLast { continuation?.finish() }
    }
    // There may be room for further requests.
    send()
  }

  private func finish(_ id: Int64, throwing error: any Error) {
    let pending = state.withLock { state in
      let pending = state.pending.removeValue(forKey: id)
      if pending?.isSent == true { state.sentCount -= 1 }
      return pending
    }
    pending?.continuation.finish(throwing: error)
  }

  /// Ends all requests after photod was away for too long. The caching set stays, and is sent with the next operation.
  private func failAll(_ error: any Error) {
    let pending = state.withLock { state in
      defer {
        state.pending = [:]
        state.sentCount = 0
        state.operations = []
        state.cancelled = []
        state.hasGivenUp = true
      }
      return state.pending.values.map(\.continuation)
    }
    for continuation in pending { continuation.finish(throwing: error) }
  }

  private func dropSession() {
    let session = state.withLock { state in
      defer { state.session = nil }
      return state.session
    }
    if let session { Self.end(session) }
  }

  private func sessionEnded(_ number: Int) {
    let session = state.withLock { state -> Session? in
      guard state.session?.number == number else { return nil }
      defer { state.session = nil }
      return state.session
    }
    guard let session else { return }
    Self.end(session)
    send()
  }
}

/// ReadImageReply with decoded data.
private struct ImagePage: Decodable {
  let bytes: [UInt8]
  let total: Int

  init(from decoder: any Decoder) throws {
    let reply = try ReadImageReply(from: decoder)
    guard let bytes = Base64.bytes(reply.data) else {
      throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "the data is not base64"))
    }
    self.bytes = bytes
    total = reply.total
  }
}
