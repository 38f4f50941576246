import Dispatch
import Glibc
import ImageRecords

/// A picture to decode.
struct RenderingWork: Sendable {
  var key: PicturePlan.WorkKey
  var options: ImageOptions
  var pixelSize: ImageFrame?
  /// Whether no request asked for it when it began.
  var isCaching = false
}

// The lane of decoded pictures.
extension ImageEngine {
  /// How long caching pauses if the store is full, in seconds.
  private static let cachingPauseTime: UInt32 = 30
  /// The bytes of a picture that caching makes: about those of 512 pixels.
  private static let usualBytes: Int64 = 24 << 10
  /// The largest picture that is received from photod-image.
  private static let mostBytesOfPicture = 128 << 20

  /// Members of caching sets whose files are on shares and get no turn. After so many, the thread waits for a turn.
  private static let mostPutBack = 64

  /// Renders the picture of the next request, or of a caching set.
  /// - Returns: false if there is nothing to do.
  func serveRendering() -> Bool {
    if let work = renderingShares.takeParked() ?? takeRequest() {
      switch render(work) {
      case .outcome(let outcome): finish(work, outcome)
      case .unwanted: finishUnwanted(work)
      case .parked: break
      }
      return true
    }
    for _ in 0..<Self.mostPutBack {
      guard let (session, member) = takeCachingMember() else { return false }
      let isDone = cache(member)
      shared.withLock { state in
        state.cachingCount -= 1
        if !isDone { state.caching.putBack(member, to: session) }
      }
      if isDone { return true }
    }
    return false
  }

  private func takeRequest() -> RenderingWork? {
    shared.withLock { state in
      guard !state.isEnding, let job = state.takeRendering(), let first = job.waiters.first else { return nil }
      let request = state.sessions[first.session]?.requests[first.sequence]
      return RenderingWork(key: job.key, options: request?.options ?? ImageOptions(), pixelSize: request?.pixelSize)
    }
  }

  private func finish(_ work: RenderingWork, _ outcome: Outcome) {
    if case .failure = outcome { shared.withLock { $0.counts.failed += 1 } }
    let (served, unserved, isUnwanted) = shared.withLock { state -> ([ImageTicket], [ImageTicket], Bool) in
      var served: [ImageTicket] = []
      var unserved: [ImageTicket] = []
      let tickets = state.rendering.finish(work.key)
      for ticket in tickets {
        guard case .kept(let found, _, false, _) = outcome,
          let request = state.sessions[ticket.session]?.requests[ticket.sequence], request.pixelSize == nil,
          !work.key.target.isMet(by: found.header.size, request.options)
        else {
          served.append(ticket)
          continue
        }
        unserved.append(ticket)
      }
      return (served, unserved, tickets.isEmpty)
    }
    if case .kept(let found, _, _, let isFresh) = outcome, !unserved.isEmpty || isUnwanted {
      shared.withLock { state in
        if isUnwanted, isFresh { state.counts.undelivered += 1 }
        for ticket in unserved { Self.requestAgain(ticket, work.key, size: found.header.size, &state) }
      }
    }
    deliver(outcome, to: served, isFinal: true, .rendering)
    renderingThreads.wake()
  }

  /// Ends work that all its requests cancelled before the file was opened. Those that have joined it since wait again.
  private func finishUnwanted(_ work: RenderingWork) {
    shared.withLock { state in
      for ticket in state.rendering.finish(work.key) {
        state.sessions[ticket.session]?.release(.rendering)
        state.addRendering(ticket, work.key)
      }
    }
  }

  /// Puts a request back whose picture is too small, because the aspect ratio was not known. Now it is.
  private static func requestAgain(
    _ ticket: ImageTicket, _ former: PicturePlan.WorkKey, size: ImageFrame, _ state: inout State
  ) {
    state.sessions[ticket.session]?.release(.rendering)
    state.sessions[ticket.session]?.requests[ticket.sequence]?.pixelSize = size
    guard let request = state.sessions[ticket.session]?.requests[ticket.sequence] else { return }
    var key = former
    key.target = PictureTarget(request.options, pixelSize: size)
    state.addRendering(ticket, key)
  }

  // MARK: - One picture

  private enum Rendering {
    case outcome(Outcome)
    /// All requests were cancelled before decoding began.
    case unwanted
    /// The file is on a share, and has to wait for its turn.
    case parked
  }

  /// Makes a picture of the revision that the asset has now. If it changes meanwhile, the picture is made again once.
  private func render(_ work: RenderingWork) -> Rendering {
    var isSecondTry = false
    while true {
      let plan: PicturePlan
      switch self.plan(work.options, work.key.assetID, pixelSize: work.pixelSize) {
      case .plan(let made): plan = made
      case .outcome(let outcome): return .outcome(outcome)
      }
      let rendering = render(plan, work)
      guard case .outcome(let outcome) = rendering else { return rendering }
      guard case .kept(_, _, _, false) = outcome else {
        if let outcome = afterChange(plan, outcome, isSecondTry: isSecondTry) { return .outcome(outcome) }
        isSecondTry = true
        continue
      }
      return .outcome(outcome)
    }
  }

  /// Checks whether the asset is still what it was when decoding began.
  /// - Returns: nil if the picture is to be made again.
  private func afterChange(_ plan: PicturePlan, _ outcome: Outcome, isSecondTry: Bool) -> Outcome? {
    let revision: String?
    do { revision = try assets.imageAsset(plan.asset.id)?.revision } catch {
      // The picture is right for the revision that it names.
      configuration.logger.error("an asset could not be read", metadata: ["error": "\(error)"])
      return outcome
    }
    guard revision != plan.asset.revision, revision == nil || !isSecondTry else { return outcome }
    if case .kept(let found, _, _, _) = outcome { store.unpin(found.key, wasSent: false) }
    guard revision == nil else { return nil }
    // The notice of the deletion may have come before the picture was kept.
    store.remove(assetIDs: [plan.asset.id])
    return .failure(.noSuchAsset, "the asset \(plan.asset.id) was deleted")
  }

  private func render(_ plan: PicturePlan, _ work: RenderingWork) -> Rendering {
    if let found = findFitting(plan, work.options) {
      shared.withLock { $0.counts.cacheHits += 1 }
      return .outcome(.kept(found, revision: plan.asset.revision, isDegraded: false, isFresh: false))
    }
    if let failure = knownFailure(plan, isEmbedded: false) { return .outcome(.failure(failure.kind, failure.message)) }
    guard plan.asset.isAvailable else { return .outcome(offline(plan)) }
    // The request may have been cancelled while the asset was read.
    guard work.isCaching || shared.withLock({ $0.rendering.hasWaiters(work.key) }) else { return .unwanted }
    guard assets.isOnShare(plan.file) else { return .outcome(decode(plan)) }
    // A member of a caching set is not parked: it goes back to its set.
    guard work.isCaching ? renderingShares.begin() : renderingShares.begin(orPark: work) else { return .parked }
    defer {
      renderingShares.end()
      renderingThreads.wake()
    }
    return .outcome(decode(plan))
  }

  private func decode(_ plan: PicturePlan) -> Outcome {
    let descriptor: Int32
    switch open(plan.file) {
    case .success(let opened): descriptor = opened
    case .failure(.offline): return offline(plan)
    case .failure(.gone): return .failure(.unavailable, "the file of the photo is gone")
    case .failure(.errno(let number)):
      return .failure(.unreadable, "the file can't be opened: \(String(cString: strerror(number)))")
    }
    defer { Glibc.close(descriptor) }
    let request = request(plan, .rendered, frame: frame(of: plan.work.target), maximumBytes: Self.mostBytesOfPicture)
    switch maker.make(request, from: descriptor) {
    case .picture(let picture):
      shared.withLock { $0.counts.made += 1 }
      return keep(picture, plan)
    case .failed(let failure, let message): return note(failure, message, plan, isEmbedded: false)
    case .blamed(let message): return note(.unreadable, message, plan, isEmbedded: false)
    case .unavailable(let kind, let message): return .failure(kind, message)
    }
  }

  private func frame(of target: PictureTarget) -> PictureFrame? {
    switch target {
    case .original: nil
    case .kept(let side): PictureFrame(width: UInt32(side), height: UInt32(side))
    case .exact(let frame, let covers):
      PictureFrame(width: UInt32(frame.width), height: UInt32(frame.height), covers: covers)
    }
  }

  private func keep(_ picture: MadePicture, _ plan: PicturePlan) -> Outcome {
    do {
      let found = try store.put(plan.key(plan.target(for: picture.header.size)), picture.bytes, picture.header)
      return .kept(found, revision: plan.asset.revision, isDegraded: false, isFresh: true)
    } catch {
      let reason = String(cString: strerror(error.errorNumber))
      configuration.logger.error(
        "a picture can't be kept",
        metadata: ["directory": "\(configuration.cacheDirectory)", "reason": "\(reason)"])
      let message = "the picture can't be written to \(configuration.cacheDirectory): \(reason)"
      return .failure(.storageFull, message)
    }
  }

  // MARK: - Caching

  private func takeCachingMember() -> (session: Int, member: CachingSets.Member)? {
    let now = configuration.clock.seconds()
    let mayCache = shared.withLock { state in
      if let pause = state.cachingPause, pause <= now { state.cachingPause = nil }
      return Self.mayCache(state) && state.caching.pendingCount > 0
    }
    guard mayCache else { return nil }
    guard store.makeRoom(for: min(Self.usualBytes, store.maximumBytes / 16)) else {
      shared.withLock { $0.cachingPause = now + Self.cachingPauseTime }
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(Int(Self.cachingPauseTime) + 1)) { [weak self] in
        self?.renderingThreads.wake()
      }
      return nil
    }
    return shared.withLock { state in
      guard Self.mayCache(state),
        let taken = state.caching.take(isReading: { state.sessions[$0]?.hasRoom(.rendering) ?? false })
      else { return nil }
      state.cachingCount += 1
      return taken
    }
  }

  /// Whether no request waits. One in the immediate lane may need a thread of this lane next.
  private static func mayCache(_ state: State) -> Bool {
    !state.isEnding && state.cachingPause == nil && state.immediate.runningCount == 0
      && !state.immediate.hasWork { state.sessions[$0]?.hasRoom(.immediate) ?? false }
      && !state.rendering.hasWork { state.sessions[$0]?.hasRoom(.rendering) ?? false }
  }

  /// Makes the picture of a member of a caching set, if it is not kept. Unknown assets and failures are ignored.
  /// - Returns: false if its file is on a share, and has to wait for its turn.
  private func cache(_ member: CachingSets.Member) -> Bool {
    let options = ImageOptions(
      frame: member.want.frame, contentMode: member.want.contentMode, delivery: .highQuality)
    guard case .plan(let plan) = plan(options, member.assetID, pixelSize: nil), plan.asset.isAvailable else {
      return true
    }
    if let found = findFitting(plan, options) {
      store.unpin(found.key, wasSent: false)
      return true
    }
    // A request for the same picture makes it, or will.
    guard shared.withLock({ $0.rendering.begin(plan.work) }) else { return true }
    let work = RenderingWork(key: plan.work, options: options, isCaching: true)
    guard let outcome = renderForCaching(work) else {
      // Requests that came meanwhile wait in the lane.
      finishUnwanted(work)
      return false
    }
    finishCaching(work, outcome)
    return true
  }

  /// - Returns: nil if the file has to wait for its turn.
  private func renderForCaching(_ work: RenderingWork) -> Outcome? {
    guard case .plan(let plan) = plan(work.options, work.key.assetID, pixelSize: nil) else {
      return .failure(.noSuchAsset, "there is no asset \(work.key.assetID)")
    }
    guard case .outcome(let outcome) = render(plan, work) else { return nil }
    return afterChange(plan, outcome, isSecondTry: true) ?? outcome
  }

  /// Requests that came meanwhile get the picture.
  private func finishCaching(_ work: RenderingWork, _ outcome: Outcome) {
    guard shared.withLock({ $0.rendering.hasWaiters(work.key) }) else {
      if case .failure = outcome { shared.withLock { $0.counts.failed += 1 } }
      let joined = shared.withLock { $0.rendering.finish(work.key) }
      return deliver(outcome, to: joined, isFinal: true, .rendering)
    }
    finish(work, outcome)
  }
}
