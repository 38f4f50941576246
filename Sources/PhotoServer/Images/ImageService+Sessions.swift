import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

// The calls of a session: its stream, and the calls that name it.
extension ImageService {
  func openSession(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    let wantsData = try call.shortParameters(OpenSessionRequest.self).wantsData ?? false
    let session = try engine.openSession(client: client(call), wantsData: wantsData)
    defer { session.close() }
    let signal = ImageSignal(session)
    connections.beginStream(call, .init(options: wantsData ? "data" : nil))
    try await call.replyContinuing(OpenSessionReply(session: session.name, results: []))
    while true {
      // If the client does not read, the results stay with the engine, which then stops working for the session.
      try await call.isRead(butFor: ImageLimits.unreadBytes)
      let hasSent = try await session.sendResults { results in
        for page in results.pages({ $0.wire }) {
          try await call.replyContinuing(OpenSessionReply(session: session.name, results: page))
        }
      }
      if hasSent { continue }
      if session.isEnded { throw unavailable() }
      try await signal.wait()
    }
  }

  func requestImages(_ call: VarlinkServiceCall) async throws {
    let parameters = try await parameters(call, RequestImagesRequest.self)
    try await inSession(parameters.session, call) { session in
      let demands = try parameters.requests.enumerated().map { index, request in
        try ImageDemand(request, at: "requests[\(index)]")
      }
      try session.request(demands)
      try await call.reply(VarlinkEmpty())
    }
  }

  func cancelRequests(_ call: VarlinkServiceCall) async throws {
    let parameters = try await parameters(call, CancelRequestsRequest.self)
    try await inSession(parameters.session, call) { session in
      let cancelled = await session.cancel(parameters.ids)
      try await call.reply(CancelRequestsReply(cancelled: cancelled))
    }
  }

  func startCaching(_ call: VarlinkServiceCall) async throws {
    let parameters = try await parameters(call, CachingRequest.self)
    try await inSession(parameters.session, call) { session in
      let (frame, mode) = try parameters.frame()
      try session.startCaching(assetIDs: parameters.assetIDs, frame: frame, contentMode: mode)
      try await call.reply(VarlinkEmpty())
    }
  }

  func stopCaching(_ call: VarlinkServiceCall) async throws {
    let parameters = try await parameters(call, CachingRequest.self)
    try await inSession(parameters.session, call) { session in
      let (frame, mode) = try parameters.frame()
      try session.stopCaching(assetIDs: parameters.assetIDs, frame: frame, contentMode: mode)
      try await call.reply(VarlinkEmpty())
    }
  }

  func stopCachingAll(_ call: VarlinkServiceCall) async throws {
    try await inSession(try call.shortParameters(StopCachingAllRequest.self).session, call) { session in
      try session.stopCachingAll()
      try await call.reply(VarlinkEmpty())
    }
  }

  func readImage(_ call: VarlinkServiceCall) async throws {
    let parameters = try call.shortParameters(ReadImageRequest.self)
    let offset = parameters.offset ?? 0
    guard offset >= 0 else { throw VarlinkError.invalidParameter("offset") }
    try await inSession(parameters.session, call, imageID: parameters.imageID) { session in
      // The bytes may be in a file, and the disk may be slow.
      let page = try await fileThreads.run(for: call.peer) {
        try session.readImage(parameters.imageID, offset: offset)
      }
      guard offset <= page.total else { throw VarlinkError.invalidParameter("offset") }
      try await call.reply(ReadImageReply(offset: offset, data: page.bytes.base64, total: page.total))
    }
  }

  /// Runs a call that names a session, and names the session and the picture in its errors.
  private func inSession(
    _ name: String, _ call: VarlinkServiceCall, imageID: String = "", _ body: (ImageSession) async throws -> Void
  ) async throws {
    do {
      try await body(try engine.session(name, client: client(call)))
    } catch let error as ImageRequestError {
      throw ImageContractError.from(error, session: name, imageID: imageID)
    }
  }
}

/// Waits for results of a session.
struct ImageSignal: Sendable {
  private let signals: AsyncStream<Void>

  init(_ session: ImageSession) {
    // Any number of signals is one signal: the reader takes all results then.
    let (signals, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    self.signals = signals
    session.onResults { continuation.yield() }
  }

  /// Returns when there are results, or when the session has ended.
  ///
  /// - Throws: `CancellationError` if the connection is closed.
  func wait() async throws {
    for await _ in signals { return }
    try Task.checkCancellation()
  }
}
