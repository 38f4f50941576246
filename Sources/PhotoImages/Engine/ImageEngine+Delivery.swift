import PhotoContract

// Results on their way to sessions.
extension ImageEngine {
  /// The picture that a piece of work found or made, or its failure.
  enum Outcome: Sendable {
    /// A kept picture, with one pin.
    case kept(PictureStore.Found, revision: String, isDegraded: Bool, isFresh: Bool)
    /// A picture that is not kept.
    case made(ReceivedPicture, revision: String, isDegraded: Bool)
    case failure(PictureFailureKind, String)
  }

  /// Gives a result to requests, each of which has reserved room. Requests that were cancelled meanwhile get none.
  ///
  /// - Parameter lane: the lane whose reservation is used.
  func deliver(_ outcome: Outcome, to tickets: [ImageTicket], isFinal: Bool, _ lane: ImageLane) {
    let wantsData = shared.withLock { state in tickets.map { state.sessions[$0.session]?.wantsData ?? false } }
    var isFresh = false
    var data: [UInt8]?
    switch outcome {
    case .kept(let found, _, _, let isNew):
      isFresh = isNew
      if wantsData.contains(true), found.byteCount <= ImageLimits.maximumInlineBytes { data = store.bytes(of: found) }
      for _ in tickets { store.pin(found.key) }
    case .made(_, _, _): isFresh = true
    case .failure: break
    }
    var results: [(ImageTicket, SessionState.WaitingResult)] = []
    for (ticket, wantsData) in zip(tickets, wantsData) {
      results.append((ticket, result(of: outcome, ticket, isFinal: isFinal, wantsData: wantsData, data, isFresh)))
      // A picture that serves several requests was decoded once.
      isFresh = false
    }
    let now = configuration.clock.seconds()
    let (notifications, unused) = shared.withLock { state in Self.enqueue(results, lane, now: now, &state) }
    if case .kept(let found, _, _, _) = outcome {
      for result in results where result.1.found == nil { store.unpin(found.key, wasSent: false) }
      for key in unused { store.unpin(key, wasSent: false) }
      store.unpin(found.key, wasSent: data != nil)
    }
    for notify in notifications { notify() }
  }

  private func result(
    of outcome: Outcome, _ ticket: ImageTicket, isFinal: Bool, wantsData: Bool, _ data: [UInt8]?, _ isFresh: Bool
  ) -> SessionState.WaitingResult {
    let (picture, found): (PictureResult.Outcome, PictureStore.Found?)
    switch outcome {
    case .failure(let kind, let message): (picture, found) = (.failure(kind: kind, message: message), nil)
    case .made(let made, let revision, let isDegraded):
      (picture, found) = (
        .picture(
          Picture(
            content: .data(made.bytes), contentType: made.header.contentType, width: made.header.size.width,
            height: made.header.size.height, byteCount: made.bytes.count, isDegraded: isDegraded, revision: revision)),
        nil
      )
    case .kept(let kept, let revision, let isDegraded, _):
      let content: Picture.Content? =
        !wantsData
        ? .file(path: kept.path)
        : kept.byteCount > ImageLimits.maximumInlineBytes
          ? .stored(imageID: Self.randomImageID()) : data.map { .data($0) }
      guard let content else {
        (picture, found) = (.failure(kind: .unreadable, message: "the kept picture can't be read"), nil)
        break
      }
      (picture, found) = (
        .picture(
          Picture(
            content: content, contentType: kept.header.contentType, width: kept.header.size.width,
            height: kept.header.size.height, byteCount: kept.byteCount, isDegraded: isDegraded, revision: revision)),
        data != nil && wantsData ? nil : kept
      )
    }
    var byteCount = SessionState.resultOverhead
    if case .picture(let picture) = picture, case .data(let bytes) = picture.content {
      byteCount = SessionState.encodedBytes(bytes.count)
    }
    return SessionState.WaitingResult(
      sequence: ticket.sequence, result: PictureResult(requestID: 0, isFinal: isFinal, outcome: picture),
      found: found, isFresh: isFresh, byteCount: byteCount)
  }

  private static func randomImageID() -> String {
    String(UInt64.random(in: .min ... .max), radix: 16) + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
  }

  /// - Returns: the closures to call, and the pinned pictures of requests that are gone.
  private static func enqueue(
    _ results: [(ImageTicket, SessionState.WaitingResult)], _ lane: ImageLane, now: UInt32, _ state: inout State
  ) -> ([@Sendable () -> Void], [PictureKey]) {
    var notifications: [@Sendable () -> Void] = []
    var unused: [PictureKey] = []
    for (ticket, waiting) in results {
      state.sessions[ticket.session]?.release(lane)
      guard let request = state.sessions[ticket.session]?.requests[ticket.sequence] else {
        if let found = waiting.found { unused.append(found.key) }
        if waiting.isFresh { state.counts.undelivered += 1 }
        continue
      }
      var waiting = waiting
      waiting.result.requestID = request.id
      let isFirst = state.sessions[ticket.session]?.append(waiting, now: now) == true
      if isFirst, let notify = state.sessions[ticket.session]?.notify { notifications.append(notify) }
    }
    return (notifications, unused)
  }
}
