import Glibc
import ImageRecords
import PhotoContract
import PhotoModel

// The lanes before rendering: kept pictures, then shared thumbnails and embedded pictures.
extension ImageEngine {
  private enum Lookup {
    case ended(Step)
    /// No picture is kept that can be sent, but there may be an immediate one.
    case mayDecode(PicturePlan)
  }

  private enum Step {
    case final(Outcome)
    /// The picture must be rendered. A degraded one may be sent before.
    case render(PicturePlan, Immediate)
  }

  /// An immediate picture, and the copy of a file on a share that was made for it.
  private struct Immediate {
    var outcome: Outcome?
    var copy: OpenImageFile?
    /// The room that is reserved for the copy in ``WaitingCopies``.
    var reservedBytes: Int64?
  }

  /// Looks up the pictures of the next request.
  /// - Returns: false if there is none.
  func serveLookup() -> Bool {
    let job = shared.withLock { state -> ImageQueue<DemandKey>.Job? in
      state.isEnding ? nil : state.takeLookup()
    }
    guard let job else { return false }
    switch lookUp(job.key) {
    case .ended(let step): finish(step) { $0.lookups.finish(job.key) }
    case .mayDecode(let plan):
      shared.withLock { state in
        for ticket in state.lookups.finish(job.key) {
          state.sessions[ticket.session]?.release(.immediate)
          state.addImmediate(ticket, ImmediateKey(demand: job.key, plan: plan))
        }
      }
      immediateThreads.wake()
    }
    return true
  }

  /// Decodes the immediate picture of the next request.
  /// - Returns: false if there is none.
  func serveImmediate() -> Bool {
    let job = shared.withLock { state -> ImageQueue<ImmediateKey>.Job? in
      state.isEnding ? nil : state.takeImmediate()
    }
    guard let job else { return false }
    finish(decode(job.key.plan, job.key.demand)) { $0.immediate.finish(job.key) }
    return true
  }

  /// - Parameter end: ends the job, and returns the requests that it serves.
  private func finish(_ step: Step, end: (inout State) -> [ImageTicket]) {
    switch step {
    case .final(let outcome):
      if case .failure = outcome { shared.withLock { $0.counts.failed += 1 } }
      let tickets = shared.withLock { end(&$0) }
      deliver(outcome, to: tickets, isFinal: true, .immediate)
    case .render(let plan, let immediate):
      let tickets = shared.withLock { state in
        let tickets = end(&state)
        state.movingCount += tickets.count
        return tickets
      }
      if let degraded = immediate.outcome { deliver(degraded, to: tickets, isFinal: false, .immediate) }
      let now = configuration.clock.seconds()
      _ = shared.withLock { state in
        state.movingCount -= tickets.count
        for ticket in tickets {
          if immediate.outcome == nil { state.sessions[ticket.session]?.release(.immediate) }
          guard state.sessions[ticket.session]?.requests[ticket.sequence] != nil else { continue }
          state.addRendering(ticket, plan.work)
        }
        if let bytes = immediate.reservedBytes { state.copies.endReservation(of: bytes) }
        if let copy = immediate.copy { state.copies.add(copy, of: plan, now: now) }
        return state.removeUnusedCopies()
      }
    }
    wakeRendering()
  }

  private func lookUp(_ demand: DemandKey) -> Lookup {
    let options = demand.options
    let plan: PicturePlan
    switch self.plan(options, demand.assetID, pixelSize: nil) {
    case .plan(let made): plan = made
    case .outcome(let outcome): return .ended(.final(outcome))
    }
    if let found = findFitting(plan, options) { return .ended(.final(kept(found, plan))) }
    guard plan.asset.isAvailable else { return .ended(.final(unavailable(plan, Self.offline))) }
    if let failure = knownFailure(plan, .rendered) {
      return .ended(.final(.failure(failure.kind, failure.message)))
    }
    switch options.delivery {
    case .highQuality: return .ended(.render(plan, Immediate()))
    case .opportunistic:
      if let smaller = findFirst(plan, plan.otherSizes.smaller) {
        let outcome = Outcome.kept(smaller, revision: plan.asset.revision, isDegraded: true, isFresh: false)
        return .ended(.render(plan, Immediate(outcome: outcome)))
      }
    case .fast:
      if let larger = findFirst(plan, plan.otherSizes.larger) { return .ended(.final(kept(larger, plan))) }
      if let smaller = findFirst(plan, plan.otherSizes.smaller) {
        shared.withLock { $0.counts.cacheHits += 1 }
        return .ended(.final(.kept(smaller, revision: plan.asset.revision, isDegraded: true, isFresh: false)))
      }
    }
    return mayHaveImmediate(plan) ? .mayDecode(plan) : .ended(.render(plan, Immediate()))
  }

  /// A kept picture as the final result.
  private func kept(_ found: PictureStore.Found, _ plan: PicturePlan) -> Outcome {
    shared.withLock { $0.counts.cacheHits += 1 }
    return .kept(found, revision: plan.asset.revision, isDegraded: plan.isDegraded(found), isFresh: false)
  }

  /// Whether a picture may be there that is decoded at once. An embedded picture of a video is none of its frames.
  private func mayHaveImmediate(_ plan: PicturePlan) -> Bool {
    plan.work.milliseconds == nil && (sharedThumbnails != nil || knownFailure(plan, .embedded) == nil)
  }

  private func decode(_ plan: PicturePlan, _ demand: DemandKey) -> Step {
    let immediate = immediate(plan, demand)
    guard demand.options.delivery == .fast, let outcome = immediate.outcome else { return .render(plan, immediate) }
    if let bytes = immediate.reservedBytes { shared.withLock { $0.copies.endReservation(of: bytes) } }
    return .final(outcome)
  }

  /// A picture that is decoded at once: a shared thumbnail that is large enough, else the embedded picture, else a smaller
  /// thumbnail.
  private func immediate(_ plan: PicturePlan, _ demand: DemandKey) -> Immediate {
    if let thumbnail = sharedThumbnail(plan, demand, mustSuffice: true) { return Immediate(outcome: thumbnail) }
    var immediate = embedded(plan, demand)
    if immediate.outcome == nil { immediate.outcome = sharedThumbnail(plan, demand, mustSuffice: false) }
    return immediate
  }

  /// The picture that the camera embedded. A failure counts as none, because a new picture is made then.
  private func embedded(_ plan: PicturePlan, _ demand: DemandKey) -> Immediate {
    guard mayMakeImmediate(plan, demand), knownFailure(plan, .embedded) == nil else { return Immediate() }
    guard plan.work.isOnShare else {
      guard case .success(let file) = open(plan.file) else { return Immediate() }
      return Immediate(outcome: embedded(plan, demand, in: file))
    }
    // Without a turn, the request goes on to the lane for rendering at once.
    guard var immediate = beginOnShare(plan.file.byteCount, demand.options.delivery) else { return Immediate() }
    defer { shared.withLock { $0.immediateShareCount -= 1 } }
    let copying = open(plan.file) { [shared] in
      shared.withLock { !$0.isEnding && $0.immediate.hasWaiters(ImmediateKey(demand: demand, plan: plan)) }
    }
    guard case .success(let copy) = copying else { return immediate }
    immediate.copy = copy
    immediate.outcome = embedded(plan, demand, in: copy)
    return immediate
  }

  private func embedded(_ plan: PicturePlan, _ demand: DemandKey, in file: OpenImageFile) -> Outcome? {
    let wanted = demand.options.frame.map { frame in
      PictureTarget.longerSide(
        of: plan.file.index == 0 ? plan.asset.pixelSize : nil, frame, covers: demand.options.contentMode == .aspectFill)
    }
    let side = min(Self.mostImmediateSide, wanted ?? .max)
    let request = request(
      plan, .embedded, frame: PictureFrame(width: UInt32(side), height: UInt32(side)),
      maximumBytes: ImageLimits.maximumInlineBytes)
    let made = makeImmediate(.embedded, request, from: file.descriptor, plan) {
      assets.state(of: plan.file, file) == .unchanged
    }
    guard let made else { return nil }
    // The decoder knows a smaller frame than the request has. The file could fill more of the latter.
    let isCut = side < wanted ?? .max && max(made.header.size.width, made.header.size.height) >= side - 1
    return .made(
      made, revision: plan.asset.revision,
      isDegraded: made.isDegraded || isCut || demand.options.delivery == .opportunistic)
  }

  /// The longest side of an embedded picture, in pixels. A larger one would take too long.
  private static let mostImmediateSide = 1024

  /// Files on shares get all threads of the lane but one. A file is copied only if the lane for rendering can use the copy
  /// as well, so that no file is copied twice. A fast request mostly needs no rendering.
  ///
  /// - Returns: nil if the file has no turn, else an immediate picture with its reservation.
  private func beginOnShare(_ byteCount: Int64, _ delivery: ImageOptions.Delivery) -> Immediate? {
    guard byteCount <= WaitingCopies.maximumBytes else { return nil }
    let now = configuration.clock.seconds()
    let (immediate, _) = shared.withLock { state -> (Immediate?, [OpenImageFile]) in
      let outdated = state.copies.removeOutdated(now: now)
      guard state.immediateShareCount < Self.immediateThreadCount - 1 else { return (nil, outdated) }
      let isReserved = state.copies.reserve(byteCount)
      guard isReserved || delivery == .fast else { return (nil, outdated) }
      state.immediateShareCount += 1
      return (Immediate(reservedBytes: isReserved ? byteCount : nil), outdated)
    }
    return immediate
  }

  func mayMakeImmediate(_ plan: PicturePlan, _ demand: DemandKey) -> Bool {
    shared.withLock { $0.immediate.hasWaiters(ImmediateKey(demand: demand, plan: plan)) }
  }

  /// Makes a picture that is not kept. A failure is remembered, and counts as none. A picture that came too late is not
  /// tried again for a while, because it would hold up others.
  ///
  /// - Parameter isUnchanged: whether the picture is certainly of the content that the plan names. It is called after
  ///   decoding.
  func makeImmediate(
    _ source: FailureMemory.Source, _ request: PictureRequest, from descriptor: Int32, _ plan: PicturePlan,
    isUnchanged: () -> Bool
  ) -> ReceivedPicture? {
    let making = maker.makeImmediately(request, from: descriptor)
    guard isUnchanged() else { return nil }
    switch making {
    case .picture(let picture):
      guard picture.bytes.count <= ImageLimits.maximumInlineBytes else { return nil }
      shared.withLock { $0.counts.made += 1 }
      return picture
    case .failed(let failure, let message): note(failure, message, plan, source)
    case .blamed(let message): note(.unreadable, message, plan, source)
    case .late(let message):
      let end = configuration.clock.seconds() + FailureMemory.lateTime
      let failure = FailureMemory.Failure(kind: .unavailable, message: message, end: end)
      var key = plan.failureKey(source)
      key.result = nil
      shared.withLock { [key] state in state.failures.note(failure, of: key) }
    case .unavailable: break
    }
    return nil
  }

  // MARK: - For both lanes

  enum Planned {
    case plan(PicturePlan)
    case outcome(Outcome)
  }

  func plan(_ options: ImageOptions, _ assetID: AssetID, pixelSize: ImageFrame?) -> Planned {
    do {
      guard let asset = try assets.imageAsset(assetID) else {
        return .outcome(.failure(.noSuchAsset, "no asset has the id \(assetID)"))
      }
      var plan = try PicturePlan(options, asset, library: store.library, pixelSize: pixelSize)
      plan.work.isOnShare = assets.isOnShare(plan.file)
      return .plan(plan)
    } catch let refusal as PicturePlan.Refusal {
      return .outcome(.failure(refusal.kind, refusal.message))
    } catch {
      configuration.logger.error("an asset could not be read", metadata: ["error": "\(error)"])
      return .outcome(.failure(.unreadable, "the catalog can't be read: \(error)"))
    }
  }

  /// A kept picture that is as large as the request asks. It is pinned.
  func findFitting(_ plan: PicturePlan, _ options: ImageOptions) -> PictureStore.Found? {
    if let found = store.find(plan.key(plan.work.target)) {
      if plan.work.target.isMet(by: found.header.size, options) { return found }
      store.unpin(found.key, wasSent: false)
      // The picture shows the aspect ratio, so the next size is the right one.
      let larger = PictureTarget(options, pixelSize: found.header.size)
      if larger != plan.work.target { return store.find(plan.key(larger)) }
    }
    guard case .kept(let side) = plan.work.target else {
      return store.find(plan.key(plan.work.target, isDegraded: true))
    }
    for isDegraded in [false, true] {
      guard let original = store.find(plan.key(.original, isDegraded: isDegraded)) else { continue }
      if max(original.header.size.width, original.header.size.height) < side { return original }
      store.unpin(original.key, wasSent: false)
    }
    return nil
  }

  func findFirst(_ plan: PicturePlan, _ targets: [PictureTarget]) -> PictureStore.Found? {
    for target in targets {
      if let found = store.find(plan.key(target)) { return found }
      if target == .original, let found = store.find(plan.key(target, isDegraded: true)) { return found }
    }
    return nil
  }

  static let offline = "the drive of the photo is offline, and no picture of it is kept"
  /// The first sentence is the problem, and the rest is the remedy.
  static let changed =
    "the file of the photo was changed, and photod has not read it yet. Request the picture again after the next change of the asset."

  /// The result while the file can't be read: a kept picture of another size, or a failure that is not remembered.
  func unavailable(_ plan: PicturePlan, _ reason: String) -> Outcome {
    let found =
      findFirst(plan, plan.otherSizes.larger).map { ($0, plan.isDegraded($0)) }
      ?? findFirst(plan, plan.otherSizes.smaller).map { ($0, true) }
    guard let (found, isDegraded) = found else {
      return .failure(.unavailable, reason)
    }
    shared.withLock { $0.counts.cacheHits += 1 }
    return .kept(found, revision: plan.asset.revision, isDegraded: isDegraded, isFresh: false)
  }

  /// - Parameter isWanted: whether a file on a share is still to be copied.
  func open(
    _ file: ImageFile, isWanted: @Sendable () -> Bool = { true }
  ) -> Result<OpenImageFile, ImageFileError> {
    do throws(ImageFileError) {
      return .success(try assets.open(file, isWanted: isWanted))
    } catch {
      return .failure(error)
    }
  }

  /// Closes the copies that no work needs any more. They are closed after the lock, because the disk frees their bytes
  /// then.
  func closeUnusedCopies() { _ = shared.withLock { $0.removeUnusedCopies() } }

  func request(_ plan: PicturePlan, _ kind: PictureKind, frame: PictureFrame?, maximumBytes: Int) -> PictureRequest {
    // The catalog's orientation is that of the file to show. Others have their own.
    let orientation = plan.file.index == 0 ? plan.asset.orientation ?? 0 : 0
    return PictureRequest(
      name: Array(plan.file.name.prefix(255)), contentType: plan.file.contentType, kind: kind, frame: frame,
      format: plan.work.isPNG ? .png : .automatic, orientation: (1...8).contains(orientation) ? UInt8(orientation) : 0,
      atMilliseconds: plan.work.milliseconds.map { UInt64(clamping: $0) },
      maximumPixels: UInt64(max(0, configuration.maximumPixels)), maximumBytes: UInt64(maximumBytes))
  }

  func knownFailure(_ plan: PicturePlan, _ source: FailureMemory.Source) -> FailureMemory.Failure? {
    let key = plan.failureKey(source)
    let now = configuration.clock.seconds()
    return shared.withLock { $0.failures.failure(of: key, now: now) }
  }

  /// Remembers that a picture of this revision can't be made. A file that could not be read is tried again.
  /// - Returns: the failure.
  @discardableResult
  func note(
    _ failure: PictureFailure, _ message: String, _ plan: PicturePlan, _ source: FailureMemory.Source
  ) -> Outcome {
    let kind: PictureFailureKind =
      switch failure {
      case .unsupported: .unsupported
      case .tooLarge, .resultTooLarge: .tooLarge
      case .readFailed: .unavailable
      case .unreadable, .noEmbeddedPicture, .outOfMemory: .unreadable
      }
    guard failure != .readFailed else { return .failure(kind, "\(message). Check its disk, and try again.") }
    let now = configuration.clock.seconds()
    let remembered = FailureMemory.Failure(
      kind: kind, message: message, end: kind == .unsupported ? now + FailureMemory.unsupportedTime : nil)
    var key = plan.failureKey(source)
    if !failure.dependsOnResult { key.result = nil }
    shared.withLock { $0.failures.note(remembered, of: key) }
    // A missing decoder, or too little memory, is not the fault of the file. Another size may be possible.
    if source == .rendered, plan.work.milliseconds == nil, failure == .unreadable || failure == .tooLarge {
      sharedThumbnails?.shareFailure(
        .init(assetID: plan.work.assetID, revision: plan.work.revision, file: plan.work.file))
    }
    return .failure(kind, message)
  }
}
