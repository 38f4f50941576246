import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

// The call for scripts: a session of its own, whose results are the replies.
extension ImageService {
  func makeImages(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    let parameters = try await parameters(call, MakeImagesRequest.self)
    let requests = parameters.requests
    var seen: Set<Int64> = []
    for request in requests where !seen.insert(request.id).inserted {
      throw ImageContractError.duplicate(
        request.id, "The id \(request.id) occurs twice in this call. Give each request an id of its own.")
    }
    // The ids need not ascend, so the session has the positions of the requests.
    let demands = try requests.enumerated().map { index, request in
      var demand = try ImageDemand(request, at: "requests[\(index)]", id: Int64(index + 1))
      if demand.options.delivery == .opportunistic { demand.options.delivery = .highQuality }
      return demand
    }
    guard !requests.isEmpty else { return try await call.reply(MakeImagesReply(results: [])) }
    let session = try engine.openSession(
      client: client(call), wantsData: parameters.wantsData ?? false, isPrivate: true)
    defer { session.close() }
    let signal = ImageSignal(session)
    connections.beginStream(call, .init(options: "\(requests.count) pictures"))
    try session.request(demands)
    var openCount = requests.count
    while true {
      try await call.isRead(butFor: ImageLimits.unreadBytes)
      let results = session.takeResults().filter(\.isFinal)
      guard !results.isEmpty else {
        if session.isEnded { throw unavailable() }
        try await signal.wait()
        continue
      }
      openCount -= results.count
      let pages = try await fileThreads.run(for: call.peer) {
        results.pages { Self.whole($0, id: requests[Int($0.requestID) - 1].id, of: session) }
      }
      for page in pages.dropLast() { try await call.replyContinuing(MakeImagesReply(results: page)) }
      let last = MakeImagesReply(results: pages.last ?? [])
      guard openCount > 0 else { return try await call.reply(last) }
      try await call.replyContinuing(last)
    }
  }

  /// The result with the whole picture, however large: the caller has no session to read it from.
  private static func whole(_ result: PictureResult, id: Int64, of session: ImageSession) -> ImageResult {
    if case .picture(let picture) = result.outcome, case .stored = picture.content,
      picture.byteCount > ImageLimits.maximumDataBytes
    {
      let message =
        "The picture has \(picture.byteCount) bytes, and a reply has room for \(ImageLimits.maximumDataBytes). Give a smaller frame, leave out wantsData, or use OpenSession and ReadImage."
      return ImageResult(requestID: id, isFinal: true, failure: ImageFailure(kind: .tooLarge, message: message))
    }
    let wire = result.wire(id: id) { bytes(of: $0, in: session) }
    guard wire.image?.imageID != nil else { return wire }
    // It can't be read any more, because the disk failed or the session has ended.
    let message = "The picture was made, but could not be read from the store. Request it again."
    return ImageResult(requestID: id, isFinal: true, failure: ImageFailure(kind: .unreadable, message: message))
  }

  /// - Returns: nil if they can't be read.
  private static func bytes(of imageID: String, in session: ImageSession) -> [UInt8]? {
    var bytes: [UInt8] = []
    while true {
      guard case .success(let page) = Result(catching: { try session.readImage(imageID, offset: bytes.count) }),
        page.total <= ImageLimits.maximumDataBytes
      else { return nil }
      bytes += page.bytes
      if bytes.count >= page.total { return bytes }
      if page.bytes.isEmpty { return nil }
    }
  }
}
