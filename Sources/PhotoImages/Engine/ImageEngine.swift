import Dispatch
import Logging
import PhotoContract
import PhotoModel
import Synchronization

/// Makes pictures of the library's assets for sessions, and keeps them.
///
/// Each request goes through up to three lanes, which have threads of their own:
///
/// 1. The lookup reads the catalog and the kept pictures only. So a kept picture never waits behind a decode, nor behind a
///    disk with photos that spins up.
/// 2. The immediate lane decodes the embedded picture, or the thumbnail of another program.
/// 3. The lane for rendering decodes the whole picture, if the first two have found no final result. It also serves the
///    members of caching sets, while no request waits in any lane.
///
/// | delivery | a kept picture fits | else, the first two lanes send | then |
/// |---|---|---|---|
/// | opportunistic | it is final | the largest smaller kept picture, else the embedded one, degraded | a new one is final |
/// | fast | it is final | a larger or smaller kept picture, else the embedded one: final | only without one, a new one is final |
/// | highQuality | it is final | nothing | a new one is final |
///
/// If the drive is offline, a kept picture of another size is final: a larger one as it is, a smaller one degraded.
/// If no picture of the asset is kept, the request fails with `unavailable`.
///
/// The order of locks is: the store's, then the engine's, then the maker's. The engine never calls the store while it
/// holds its own.
package final class ImageEngine: Sendable {
  struct DemandKey: Hashable, Sendable {
    var assetID: AssetID
    var options: ImageOptions
  }

  /// A request that needs an immediate picture, with the asset that the lookup has found. Equal requests are equal work.
  struct ImmediateKey: Hashable, Sendable {
    var demand: DemandKey
    var plan: PicturePlan

    static func == (one: ImmediateKey, other: ImmediateKey) -> Bool { one.demand == other.demand }

    func hash(into hasher: inout Hasher) { hasher.combine(demand) }
  }

  struct State {
    var isEnding = false
    var sessions: [Int: SessionState] = [:]
    var numbers: [String: Int] = [:]
    var nextNumber = 1
    var lookups = ImageQueue<DemandKey>()
    var immediate = ImageQueue<ImmediateKey>()
    var rendering = RenderingQueue()
    /// The threads of the immediate lane that read files on shares.
    var immediateShareCount = 0
    var copies = WaitingCopies()
    var caching = CachingSets()
    /// The store is full of pictures that it must keep. No caching begins until then.
    var cachingPause: UInt32?
    /// The members of caching sets whose pictures are looked up now. A picture that is made is a job of `rendering`.
    var cachingLookupCount = 0
    /// The requests that have left the other lanes, and are not in `rendering` yet.
    var movingCount = 0
    var failures = FailureMemory()
    var counts = PictureStatistics()

    /// Adds a request to a lane.
    mutating func addLookup(_ ticket: ImageTicket, _ key: DemandKey) {
      lookups.add(ticket, key) { sessions[$0]?.reserve(.immediate) ?? false }
    }

    mutating func addImmediate(_ ticket: ImageTicket, _ key: ImmediateKey) {
      immediate.add(ticket, key) { sessions[$0]?.reserve(.immediate) ?? false }
    }

    mutating func addRendering(_ ticket: ImageTicket, _ key: PicturePlan.WorkKey) {
      rendering.add(ticket, key) { sessions[$0]?.reserve(.rendering) ?? false }
    }

    mutating func takeLookup() -> ImageQueue<DemandKey>.Job? {
      lookups.take { sessions[$0]?.reserve(.immediate) ?? false }
    }

    mutating func takeImmediate() -> ImageQueue<ImmediateKey>.Job? {
      immediate.take { sessions[$0]?.reserve(.immediate) ?? false }
    }

    mutating func takeRendering() -> RenderingQueue.Job? {
      rendering.take { sessions[$0]?.reserve(.rendering) ?? false }
    }

    /// Ends a job of the lane for rendering.
    /// - Returns: the requests that it serves.
    mutating func finishRendering(_ key: PicturePlan.WorkKey) -> [ImageTicket] {
      caching.endWork(key)
      return rendering.finish(key)
    }

    /// Removes the copies whose work has ended or was cancelled. The caller closes them.
    mutating func removeUnusedCopies() -> [OpenImageFile] {
      copies.removeUnused { rendering.exists($0) }
    }
  }

  let configuration: ImageConfiguration
  let assets: any ImageAssets
  let maker: any PictureMaker
  let store: PictureStore
  let shared: EngineState
  /// Nil if thumbnails of other programs are neither read nor written.
  let sharedThumbnails: SharedThumbnails?
  let lookupThreads = LaneThreads()
  let immediateThreads = LaneThreads()
  let renderingThreads = LaneThreads()

  /// How many threads look up pictures.
  private static let lookupThreadCount = 2
  /// How many threads decode immediate pictures.
  static let immediateThreadCount = 2

  package convenience init(configuration: ImageConfiguration, assets: any ImageAssets) {
    self.init(
      configuration: configuration, assets: assets,
      maker: PictureDecoders(
        images: configuration.imageProgram, previews: configuration.previewProgram,
        videos: configuration.videoProgram, logger: configuration.logger))
  }

  init(configuration: ImageConfiguration, assets: any ImageAssets, maker: any PictureMaker) {
    let shared = EngineState()
    self.configuration = configuration
    self.assets = assets
    self.maker = maker
    self.shared = shared
    shared.withLock { $0.rendering.mostShareJobs = max(1, configuration.workers - 1) }
    let library = PictureHash.library(configuration.library)
    store = PictureStore(
      directory: configuration.cacheDirectory, library: library, maximumBytes: configuration.maximumBytes,
      clock: configuration.clock, logger: configuration.logger,
      revision: { [logger = configuration.logger] assetID in
        do {
          return try assets.imageAsset(assetID).map { PictureHash.revision($0.revision) }
        } catch {
          // The pictures of the old revision are never shown. They stay until they are evicted as the oldest ones.
          logger.debug("an asset could not be read", metadata: ["error": "\(error)"])
          return nil
        }
      },
      missing: { [logger = configuration.logger] ids in
        do {
          return try assets.missingAssets(ids)
        } catch {
          // Their pictures are removed at a later start, unless they are evicted before.
          logger.debug("assets could not be looked up", metadata: ["error": "\(error)"])
          return []
        }
      },
      isHeld: { assetID in shared.withLock { $0.caching.holds(assetID) } })
    sharedThumbnails = configuration.sharedThumbnails.map { [store, renderingThreads] thumbnails in
      SharedThumbnails(
        thumbnails, recordsDirectory: "\(configuration.cacheDirectory)/shared/\(String(library, radix: 16))",
        .init(
          assets: assets, maker: maker, store: store, clock: configuration.clock, logger: configuration.logger,
          maximumPixels: configuration.maximumPixels,
          isBusy: { shared.withLock { Self.hasRequests($0) } }, onRoom: { renderingThreads.wake() }))
    }
    store.scan()
    sharedThumbnails?.start()
  }

  // MARK: - Sessions

  /// - Parameters:
  ///   - wantsData: whether pictures come as bytes, and never as paths.
  ///   - isPrivate: whether the session serves one call of `MakeImages`. It is not counted, its name can't be looked up,
  ///     its ids need only differ, and each request gets its final result only.
  /// - Throws: `tooManySessions`.
  package func openSession(
    client: ImageClient, wantsData: Bool, isPrivate: Bool = false
  ) throws(ImageRequestError) -> ImageSession {
    let opened = shared.withLock { state -> Result<ImageSession, ImageRequestError> in
      let counted = state.sessions.values.filter { !$0.isPrivate }
      if !isPrivate, counted.count >= ImageLimits.maximumSessions {
        return .failure(.tooManySessions(limit: ImageLimits.maximumSessions))
      }
      if !isPrivate, counted.count(where: { $0.client == client }) >= ImageLimits.maximumSessionsOfClient {
        return .failure(.tooManySessions(limit: ImageLimits.maximumSessionsOfClient))
      }
      let session = ImageSession(number: state.nextNumber, engine: self)
      state.nextNumber += 1
      // A session that comes after the end has ended.
      guard !state.isEnding else { return .success(session) }
      state.sessions[session.number] = SessionState(
        session: session, client: client, wantsData: wantsData, isPrivate: isPrivate)
      if !isPrivate { state.numbers[session.name] = session.number }
      state.lookups.addSession(session.number, client: client)
      state.immediate.addSession(session.number, client: client)
      state.rendering.addSession(session.number, client: client)
      state.caching.addSession(session.number, client: client)
      if !isPrivate { maker.keepReady(true) }
      return .success(session)
    }
    lookupThreads.start(Self.lookupThreadCount, isShort: true) { [self] in serveLookup() }
    immediateThreads.start(Self.immediateThreadCount, isShort: true) { [self] in serveImmediate() }
    renderingThreads.start(configuration.workers) { [self] in serveRendering() }
    return try opened.get()
  }

  /// Finds a session of the same listener.
  /// - Throws: `noSuchSession`.
  package func session(_ name: String, client: ImageClient) throws(ImageRequestError) -> ImageSession {
    let found = shared.withLock { state in state.numbers[name].flatMap { state.sessions[$0] } }
    guard let found, found.client.listener == client.listener else { throw .noSuchSession }
    return found.session
  }

  func close(_ number: Int) {
    let (pins, notify) = shared.withLock { state in
      let removed = Self.removeSession(number, &state)
      if !state.sessions.values.contains(where: { !$0.isPrivate }) { maker.keepReady(false) }
      return removed
    }
    for key in pins { store.unpin(key, wasSent: false) }
    closeUnusedCopies()
    notify?()
    // Work that waited for requests of the session, such as caching, can begin.
    wakeAll()
  }

  private static func removeSession(_ number: Int, _ state: inout State) -> ([PictureKey], (@Sendable () -> Void)?) {
    guard let removed = state.sessions.removeValue(forKey: number) else { return ([], nil) }
    state.numbers[removed.session.name] = nil
    state.lookups.removeSession(number)
    state.immediate.removeSession(number)
    state.rendering.removeSession(number)
    state.caching.removeSession(number)
    state.cachingPause = nil
    state.counts.undelivered += removed.results.count { $0.isFresh }
    return (removed.results.compactMap { $0.found?.key }, removed.notify)
  }

  func isEnded(_ number: Int) -> Bool { shared.withLock { $0.sessions[number] == nil } }

  func onResults(_ notify: @escaping @Sendable () -> Void, _ number: Int) {
    let isDue = shared.withLock { state in
      state.sessions[number]?.notify = notify
      return state.sessions[number].map { !$0.results.isEmpty } ?? true
    }
    if isDue { notify() }
  }

  // MARK: - The library and the store

  package func statistics() -> PictureStatistics {
    let now = configuration.clock.seconds()
    var statistics = shared.withLock { state in
      var counts = state.counts
      counts.sessions = state.sessions.values.count { !$0.isPrivate }
      counts.queued = Self.queuedCount(state, now: now)
      counts.running =
        state.lookups.runningCount + state.immediate.runningCount + state.movingCount + state.rendering.runningCount
        + state.cachingLookupCount
      return counts
    }
    statistics.bytes = store.byteCount
    statistics.maximumBytes = store.maximumBytes
    return statistics
  }

  /// The requests and members that wait for their turn. A session that does not read its results gets no turn, and its
  /// requests and members are not counted. So this gets to 0 when all other work is done. A session that reads them has
  /// no room for moments only, and is counted.
  private static func queuedCount(_ state: State, now: UInt32) -> Int {
    func counts(_ session: Int, _ lane: ImageLane) -> Bool {
      state.sessions[session].map { $0.hasRoom(lane) || $0.isReading(now: now) } ?? false
    }
    return state.lookups.waitingCount { counts($0, .immediate) }
      + state.immediate.waitingCount { counts($0, .immediate) }
      + state.rendering.waitingCount { counts($0, .rendering) } + state.caching.pendingCount { counts($0, .rendering) }
  }

  /// Empties the store, and forgets failures. Pictures that were sent in the last 60 s go when that time is over.
  package func clear() throws {
    store.clear()
    shared.withLock { state in
      state.failures.removeAll()
      state.cachingPause = nil
    }
    wakeAll()
  }

  /// Removes the kept pictures of deleted assets and their shared thumbnails, in the background.
  package func assetsWereRemoved(_ ids: [AssetID]) {
    store.remove(assetIDs: ids)
    sharedThumbnails?.settle(ids)
  }

  /// Removes the kept pictures of other revisions, in the background. An asset that only moved keeps its pictures.
  package func assetsChanged(_ ids: [AssetID]) { store.removeStale(assetIDs: ids) }

  /// Whether ``filesChanged(_:)`` has anything to do.
  package var followsFiles: Bool { sharedThumbnails?.followsLibrary ?? false }

  /// Moves or removes the shared thumbnails of assets whose files were renamed or changed, or that were hidden or trashed.
  /// It is done in the background. The call takes the time of a set's insertions.
  ///
  /// - Parameter ids: nil means all assets, if it is not known which of them changed.
  package func filesChanged(_ ids: [AssetID]?) {
    if let ids { sharedThumbnails?.settle(ids) } else { sharedThumbnails?.settleAll() }
  }

  /// Changes the size of the store, in bytes.
  package func setMaximumBytes(_ maximumBytes: Int64) {
    store.setMaximumBytes(maximumBytes)
    shared.withLock { $0.cachingPause = nil }
    wakeAll()
  }

  /// Begins or ends the writing of shared thumbnails. Earlier thumbnails stay.
  package func setSharing(_ isSharing: Bool) { sharedThumbnails?.setWriting(isSharing) }

  /// How long the end waits for the threads, and when it removes no more pictures.
  private static let threadEndLimit = DispatchTimeInterval.seconds(1)
  private static let removalEndLimit = DispatchTimeInterval.milliseconds(1250)

  /// Ends all sessions, threads and processes, and carries out the removals that were ordered. A thread that waits for a
  /// disk is left behind after a second. Removals that a slow disk would delay are left to the next start. Further
  /// calls do nothing.
  package func shutDown() {
    let begin = DispatchTime.now()
    let removed = shared.withLock { state -> [([PictureKey], (@Sendable () -> Void)?)]? in
      guard !state.isEnding else { return nil }
      state.isEnding = true
      return state.sessions.keys.map { Self.removeSession($0, &state) }
    }
    guard let removed else { return }
    _ = shared.withLock { $0.copies.removeAll() }
    for (pins, notify) in removed {
      for key in pins { store.unpin(key, wasSent: false) }
      notify?()
    }
    maker.shutDown()
    sharedThumbnails?.shutDown()
    lookupThreads.end()
    immediateThreads.end()
    renderingThreads.end()
    // All of them share the second.
    let deadline = begin + Self.threadEndLimit
    sharedThumbnails?.waitForEnd(until: deadline)
    lookupThreads.waitForEnd(until: deadline)
    immediateThreads.waitForEnd(until: deadline)
    renderingThreads.waitForEnd(until: deadline)
    store.finishRemovals(until: begin + Self.removalEndLimit)
  }

  func wakeAll() {
    lookupThreads.wake()
    immediateThreads.wake()
    wakeRendering()
  }

  /// Work that waits for the end of requests can begin, such as caching and sharing.
  func wakeRendering() {
    renderingThreads.wake()
    sharedThumbnails?.wake()
  }
}

/// The state of an engine with its lock. The store asks it for the caching sets.
final class EngineState: Sendable {
  private let state = Mutex(ImageEngine.State())

  func withLock<Value: Sendable>(_ body: (inout ImageEngine.State) -> Value) -> Value {
    state.withLock { body(&$0) }
  }
}
