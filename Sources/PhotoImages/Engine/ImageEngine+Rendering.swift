import Dispatch
import Glibc
import ImageRecords
import SystemErrors

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
  /// The largest picture that is received from a decoder.
  private static let mostBytesOfPicture = 128 << 20

  /// Renders the picture of the next request, or of a caching set.
  /// - Returns: false if there is nothing to do.
  func serveRendering() -> Bool {
    if let work = takeRequest() {
      if let outcome = render(work) { finish(work, outcome) } else { finishUnwanted(work) }
      return true
    }
    while let (session, member) = takeCachingMember() {
      let lookup = cache(member, of: session)
      shared.withLock { state in
        if lookup != .rendered { state.cachingLookupCount -= 1 }
        if lookup == .postponed { state.caching.postpone(member, of: session) }
      }
      if lookup != .postponed { return true }
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
    // One turn of the lock: the statistics never miss a request or a picture.
    let served = shared.withLock { state -> [ImageTicket] in
      let tickets = state.finishRendering(work.key)
      guard case .kept(let found, _, let isDegraded, let isFresh) = outcome else { return tickets }
      if tickets.isEmpty, isFresh { state.counts.undelivered += 1 }
      guard !isDegraded else { return tickets }
      return tickets.filter { ticket in
        guard let request = state.sessions[ticket.session]?.requests[ticket.sequence], request.pixelSize == nil,
          !work.key.target.isMet(by: found.header.size, request.options)
        else { return true }
        Self.requestAgain(ticket, work.key, size: found.header.size, &state)
        return false
      }
    }
    closeUnusedCopies()
    deliver(outcome, to: served, isFinal: true, .rendering)
    wakeRendering()
  }

  /// Ends work that all its requests cancelled before the file was open. Requests that have joined it since wait again.
  private func finishUnwanted(_ work: RenderingWork) {
    shared.withLock { state in
      for ticket in state.finishRendering(work.key) {
        state.sessions[ticket.session]?.release(.rendering)
        state.addRendering(ticket, work.key)
      }
    }
    closeUnusedCopies()
    wakeRendering()
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
    state.copies.add(key, after: former)
    state.addRendering(ticket, key)
  }

  // MARK: - One picture

  /// Makes a picture of the revision that the asset has now. If it changes meanwhile, the picture is made again once.
  ///
  /// - Returns: nil if all requests were cancelled before decoding began.
  private func render(_ work: RenderingWork) -> Outcome? {
    var isSecondTry = false
    while true {
      let plan: PicturePlan
      switch self.plan(work.options, work.key.assetID, pixelSize: work.pixelSize) {
      case .plan(let made): plan = made
      case .outcome(let outcome): return outcome
      }
      guard let outcome = render(plan, work) else { return nil }
      guard case .kept(_, _, _, false) = outcome else {
        if let outcome = afterChange(plan, outcome, isSecondTry: isSecondTry) { return outcome }
        isSecondTry = true
        continue
      }
      return outcome
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
    guard revision != plan.asset.revision else { return outcome }
    let isKept = revision != nil && isSecondTry
    if case .kept(let found, _, _, _) = outcome, !isKept { store.unpin(found.key, wasSent: false) }
    // The notice of the change may have come before the picture was kept.
    guard revision == nil else {
      store.removeStale(assetIDs: [plan.asset.id])
      return isKept ? outcome : nil
    }
    store.remove(assetIDs: [plan.asset.id])
    return .failure(.noSuchAsset, "the asset \(plan.asset.id) was deleted")
  }

  private func render(_ plan: PicturePlan, _ work: RenderingWork) -> Outcome? {
    if let found = findFitting(plan, work.options) {
      shared.withLock { $0.counts.cacheHits += 1 }
      return .kept(found, revision: plan.asset.revision, isDegraded: plan.isDegraded(found), isFresh: false)
    }
    if let failure = knownFailure(plan, .rendered) { return .failure(failure.kind, failure.message) }
    guard plan.asset.isAvailable else { return unavailable(plan, Self.offline) }
    // The request may have been cancelled while the asset was read.
    guard work.isCaching || shared.withLock({ $0.rendering.hasWaiters(work.key) }) else { return nil }
    return decode(plan, work)
  }

  private func decode(_ plan: PicturePlan, _ work: RenderingWork) -> Outcome? {
    let file: OpenImageFile
    switch openForRendering(plan, work) {
    case .success(let opened): file = opened
    case .failure(.unwanted): return nil
    case .failure(.errno(let number)):
      return .failure(.unreadable, "the file can't be opened: \(errorText(number))")
    case .failure(.tooLarge(let limit)):
      return .failure(
        .tooLarge, "the file is on a share, and has more than \(limit >> 20) MiB. Copy it to a drive of this machine.")
    case .failure(.notCopied(let number)): return unkept(number, "the file of the share can't be copied to")
    case .failure(let error): return unreadable(plan, error)
    }
    let request = request(plan, .rendered, frame: frame(of: plan.work.target), maximumBytes: Self.mostBytesOfPicture)
    let making = maker.make(request, from: file.descriptor)
    // If the file changed meanwhile, the result is neither kept nor shared nor remembered. The same holds if it is not
    // known whether it changed.
    switch assets.state(of: plan.file, file) {
    case .unchanged: break
    case .changed: return unavailable(plan, Self.changed)
    case .unknown(let error): return unreadable(plan, error)
    }
    switch making {
    case .picture(let picture):
      shared.withLock { $0.counts.made += 1 }
      return keep(picture, plan)
    case .failed(let failure, let message): return note(failure, message, plan, .rendered)
    case .blamed(let message): return note(.unreadable, message, plan, .rendered)
    case .late(let message): return .failure(.unavailable, message)
    case .unavailable(let kind, let message): return .failure(kind, message)
    }
  }

  /// Opens the file, or takes the copy that was made of it for an embedded picture. A further copy ends when no request
  /// and no caching set needs it any more.
  private func openForRendering(_ plan: PicturePlan, _ work: RenderingWork) -> Result<OpenImageFile, ImageFileError> {
    if plan.work.isOnShare, let copy = shared.withLock({ $0.copies.find(plan) }) { return .success(copy) }
    return open(plan.file) { [shared] in
      shared.withLock { state in
        !state.isEnding && (state.rendering.hasWaiters(work.key) || state.caching.holds(work.key.assetID))
      }
    }
  }

  /// The result if the file can't be opened, or can't be compared with the catalog after it was read.
  private func unreadable(_ plan: PicturePlan, _ error: ImageFileError) -> Outcome {
    switch error {
    case .offline: unavailable(plan, Self.offline)
    case .changed: unavailable(plan, Self.changed)
    case .gone: .failure(.unavailable, "the file of the photo is gone")
    case .tooSlow:
      unavailable(plan, "the share of the photo is too slow: its file could not be copied in time. Try again.")
    case .tooLarge(_): .failure(.tooLarge, "the file of the photo is too large")
    case .unwanted: .failure(.unavailable, "the request was cancelled")
    case .readFailed(let number), .errno(let number), .notCopied(let number):
      unavailable(
        plan, "the file can't be read: \(errorText(number)). Check its disk or share, and try again.")
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

  private func keep(_ picture: ReceivedPicture, _ plan: PicturePlan) -> Outcome {
    do {
      let found = try store.put(plan.key(of: picture), picture.bytes, picture.header)
      sharedThumbnails?.share(found.key)
      return .kept(found, revision: plan.asset.revision, isDegraded: found.key.isDegraded, isFresh: true)
    } catch {
      return unkept(error.errorNumber, "the picture can't be written to")
    }
  }

  /// The result if the cache directory can't be written.
  private func unkept(_ errorNumber: Int32, _ problem: String) -> Outcome {
    let reason = errorText(errorNumber)
    configuration.logger.error(
      "a picture can't be kept",
      metadata: ["directory": "\(configuration.cacheDirectory)", "reason": "\(reason)"])
    // The first sentence is the problem, and the rest is the remedy.
    let remedy =
      PictureStore.WriteError(errorNumber: errorNumber).isFull
      ? "Make room on the disk that holds the cache."
      : "Make this folder writable for photod, or start photod with another folder in XDG_CACHE_HOME."
    return .failure(.storageFull, "\(problem) \(configuration.cacheDirectory): \(reason). \(remedy)")
  }

  // MARK: - Caching

  /// The result of looking for the picture of a caching set's member.
  private enum CachingLookup {
    /// There is nothing to make now.
    case over
    /// The picture was made, as a job of the queue.
    case rendered
    /// The file is on a share, and has to wait for its turn.
    case postponed
  }

  private func takeCachingMember() -> (session: Int, member: CachingSets.Member)? {
    // Each picture is shared too, which takes longer than to make it.
    guard sharedThumbnails?.isFull != true else { return nil }
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
        let taken = state.caching.take(
          mayTakePostponed: state.rendering.hasShareTurn,
          isReading: { state.sessions[$0]?.hasRoom(.rendering) ?? false })
      else { return nil }
      state.cachingLookupCount += 1
      return taken
    }
  }

  /// Whether no request waits. One in another lane may need a thread of this lane next.
  private static func mayCache(_ state: State) -> Bool {
    !state.isEnding && state.cachingPause == nil && !servesOtherLanes(state) && !hasWaitingRequests(state)
  }

  /// Whether a request is looked up, or gets its immediate picture from a file that is on no share.
  private static func servesOtherLanes(_ state: State) -> Bool {
    state.lookups.runningCount > 0 || state.immediate.runningCount > state.immediateShareCount
  }

  private static func hasWaitingRequests(_ state: State) -> Bool {
    state.lookups.hasWork { state.sessions[$0]?.hasRoom(.immediate) ?? false }
      || state.immediate.hasWork { state.sessions[$0]?.hasRoom(.immediate) ?? false }
      || state.rendering.hasWork { state.sessions[$0]?.hasRoom(.rendering) ?? false }
  }

  /// Whether a request waits, or is served now. Pictures for caching sets do not count, nor do files on shares, which may
  /// not answer.
  static func hasRequests(_ state: State) -> Bool {
    state.isEnding || servesOtherLanes(state) || state.rendering.servesLocalRequest || hasWaitingRequests(state)
  }

  /// Makes the picture of a member of a caching set, if it is not kept. Unknown assets and failures are ignored.
  private func cache(_ member: CachingSets.Member, of session: Int) -> CachingLookup {
    let options = ImageOptions(
      frame: member.want.frame, contentMode: member.want.contentMode, delivery: .highQuality)
    guard case .plan(let plan) = plan(options, member.assetID, pixelSize: nil), plan.asset.isAvailable else {
      return .over
    }
    if let found = findFitting(plan, options) {
      // It may have been made before thumbnails were shared.
      sharedThumbnails?.share(found.key)
      store.unpin(found.key, wasSent: false)
      return .over
    }
    let beginning = shared.withLock { state in
      let beginning = state.rendering.begin(plan.work)
      switch beginning {
      // The statistics have the member once at each moment.
      case .begun: state.cachingLookupCount -= 1
      // The requests that the picture is made for may be cancelled before it is decoded.
      case .isRunning: state.caching.hold(member, of: session, until: plan.work)
      case .noTurn: break
      }
      return beginning
    }
    switch beginning {
    case .begun: break
    case .isRunning: return .over
    case .noTurn: return .postponed
    }
    let work = RenderingWork(key: plan.work, options: options, isCaching: true)
    // A request may join at any time, so the picture is made again after a change, as for a request.
    if let outcome = render(work) { finishCaching(work, outcome) } else { finishUnwanted(work) }
    return .rendered
  }

  /// Requests that came meanwhile get the picture.
  private func finishCaching(_ work: RenderingWork, _ outcome: Outcome) {
    guard shared.withLock({ $0.rendering.hasWaiters(work.key) }) else {
      if case .failure = outcome { shared.withLock { $0.counts.failed += 1 } }
      let joined = shared.withLock { $0.finishRendering(work.key) }
      closeUnusedCopies()
      deliver(outcome, to: joined, isFinal: true, .rendering)
      // A file on a share may have its turn now.
      return wakeRendering()
    }
    finish(work, outcome)
  }
}
