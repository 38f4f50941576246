import Glibc
import ImageRecords
import PhotoContract
import PhotoModel

// The immediate lane: kept pictures, shared thumbnails and embedded pictures.
extension ImageEngine {
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

  /// Serves the next request of the immediate lane.
  /// - Returns: false if there is none.
  func serveImmediate() -> Bool {
    let job = shared.withLock { state -> ImageQueue<DemandKey>.Job? in
      state.isEnding ? nil : state.takeImmediate()
    }
    guard let job else { return false }
    switch step(job.key) {
    case .final(let outcome):
      if case .failure = outcome { shared.withLock { $0.counts.failed += 1 } }
      let tickets = shared.withLock { $0.immediate.finish(job.key) }
      deliver(outcome, to: tickets, isFinal: true, .immediate)
    case .render(let plan, let immediate):
      let tickets = shared.withLock { state in
        let tickets = state.immediate.finish(job.key)
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
    return true
  }

  private func step(_ demand: DemandKey) -> Step {
    let options = demand.options
    let plan: PicturePlan
    switch self.plan(options, demand.assetID, pixelSize: nil) {
    case .plan(let made): plan = made
    case .outcome(let outcome): return .final(outcome)
    }
    if let found = findFitting(plan, options) {
      shared.withLock { $0.counts.cacheHits += 1 }
      return .final(
        .kept(found, revision: plan.asset.revision, isDegraded: plan.isDegraded(found), isFresh: false))
    }
    guard plan.asset.isAvailable else { return .final(unavailable(plan, Self.offline)) }
    if let failure = knownFailure(plan, .rendered) { return .final(.failure(failure.kind, failure.message)) }
    switch options.delivery {
    case .highQuality: return .render(plan, Immediate())
    case .opportunistic:
      let smaller = findFirst(plan, plan.otherSizes.smaller).map {
        Outcome.kept($0, revision: plan.asset.revision, isDegraded: true, isFresh: false)
      }
      return .render(plan, smaller.map { Immediate(outcome: $0) } ?? immediate(plan, demand))
    case .fast:
      if let larger = findFirst(plan, plan.otherSizes.larger) {
        shared.withLock { $0.counts.cacheHits += 1 }
        return .final(
          .kept(larger, revision: plan.asset.revision, isDegraded: plan.isDegraded(larger), isFresh: false))
      }
      if let smaller = findFirst(plan, plan.otherSizes.smaller) {
        shared.withLock { $0.counts.cacheHits += 1 }
        return .final(.kept(smaller, revision: plan.asset.revision, isDegraded: true, isFresh: false))
      }
      let immediate = immediate(plan, demand)
      guard let outcome = immediate.outcome else { return .render(plan, immediate) }
      if let bytes = immediate.reservedBytes { shared.withLock { $0.copies.endReservation(of: bytes) } }
      return .final(outcome)
    }
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
      shared.withLock { !$0.isEnding && $0.immediate.hasWaiters(demand) }
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
    plan.work.milliseconds == nil && shared.withLock { $0.immediate.hasWaiters(demand) }
  }

  /// Makes a picture that is not kept. A failure is remembered, and counts as none.
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
        return .outcome(.failure(.noSuchAsset, "there is no asset \(assetID)"))
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
