import PhotoContract
import PhotoModel

// The calls that name a session.
extension ImageEngine {
  func request(_ demands: [ImageDemand], _ number: Int) throws(ImageRequestError) {
    let problem = shared.withLock { state in Self.accept(demands, number, &state) }
    if let problem { throw problem }
    lookupThreads.wake()
  }

  private static func accept(_ demands: [ImageDemand], _ number: Int, _ state: inout State) -> ImageRequestError? {
    guard var session = state.sessions[number] else { return .noSuchSession }
    guard demands.count <= ImageLimits.maximumRequestsOfCall else {
      return .tooManyRequests(limit: ImageLimits.maximumRequestsOfCall)
    }
    guard session.requests.count + demands.count <= ImageLimits.maximumRequests else {
      return .tooManyRequests(limit: ImageLimits.maximumRequests)
    }
    var highest = session.highestID
    for demand in demands {
      if !session.isPrivate, let highest, demand.id <= highest { return .duplicateRequest(demand.id) }
      guard session.sequences.updateValue(session.nextSequence, forKey: demand.id) == nil else {
        return .duplicateRequest(demand.id)
      }
      var options = demand.options
      if session.isPrivate, options.delivery == .opportunistic { options.delivery = .highQuality }
      session.requests[session.nextSequence] = SessionState.OpenRequest(
        id: demand.id, assetID: demand.assetID, options: options)
      session.nextSequence += 1
      highest = demand.id
    }
    session.highestID = highest
    let first = session.nextSequence - Int64(demands.count)
    state.sessions[number] = session
    for sequence in first..<session.nextSequence {
      guard let request = session.requests[sequence] else { continue }
      state.addLookup(
        ImageTicket(session: number, sequence: sequence),
        DemandKey(assetID: request.assetID, options: request.options))
    }
    return nil
  }

  func cancel(_ ids: [Int64]?, _ number: Int) -> [Int64] {
    let (cancelled, pins) = shared.withLock { state -> ([Int64], [PictureKey]) in
      guard let session = state.sessions[number] else { return ([], []) }
      let sequences = ids?.compactMap { session.sequences[$0] } ?? Array(session.requests.keys)
      var cancelled: [Int64] = []
      for sequence in sequences {
        // An id may be named twice.
        guard let id = state.sessions[number]?.requests[sequence]?.id else { continue }
        cancelled.append(id)
        state.sessions[number]?.close(sequence)
        let ticket = ImageTicket(session: number, sequence: sequence)
        if state.lookups.cancel(ticket) == .running { state.sessions[number]?.release(.immediate) }
        if state.immediate.cancel(ticket) == .running { state.sessions[number]?.release(.immediate) }
        if state.rendering.cancel(ticket) == .running { state.sessions[number]?.release(.rendering) }
      }
      return (cancelled.sorted(), Self.dropResults(of: Set(sequences), number, &state))
    }
    for key in pins { store.unpin(key, wasSent: false) }
    closeUnusedCopies()
    // The results that went made room for others.
    if !pins.isEmpty || !cancelled.isEmpty { wakeAll() }
    return cancelled
  }

  /// Removes the waiting results of cancelled requests.
  /// - Returns: their pinned pictures.
  private static func dropResults(of sequences: Set<Int64>, _ number: Int, _ state: inout State) -> [PictureKey] {
    guard let results = state.sessions[number]?.results else { return [] }
    let dropped = results.filter { sequences.contains($0.sequence) }
    guard !dropped.isEmpty else { return [] }
    state.sessions[number]?.results.removeAll { sequences.contains($0.sequence) }
    state.sessions[number]?.waitingBytes -= dropped.reduce(0) { $0 + $1.byteCount }
    state.counts.undelivered += dropped.count { $0.isFresh }
    return dropped.compactMap { $0.found?.key }
  }

  // MARK: - Results

  func takeResults(_ number: Int) -> [PictureResult] {
    let now = configuration.clock.seconds()
    let end = now + RecentlySent.time
    let taken = shared.withLock { state -> [SessionState.WaitingResult] in
      guard var session = state.sessions.removeValue(forKey: number) else { return [] }
      defer { state.sessions[number] = session }
      let taken = session.takeResults(now: now)
      for result in taken {
        if let found = result.found, case .picture(let picture) = result.result.outcome,
          case .stored(let imageID) = picture.content
        {
          session.images[imageID] = SessionState.StoredImage(found: found, end: end)
        }
      }
      session.images = session.images.filter { $0.value.end + RecentlySent.time >= end }
      return taken
    }
    for result in taken {
      if let found = result.found { store.unpin(found.key, wasSent: true) }
    }
    if !taken.isEmpty { wakeAll() }
    return taken.map(\.result)
  }

  func readImage(
    _ imageID: String, offset: Int, _ number: Int
  ) throws(ImageRequestError) -> (bytes: [UInt8], total: Int) {
    let image = shared.withLock { state -> Result<PictureStore.Found?, ImageRequestError> in
      guard let session = state.sessions[number] else { return .failure(.noSuchSession) }
      return .success(session.images[imageID].flatMap { $0.end >= configuration.clock.seconds() ? $0.found : nil })
    }
    guard let found = try image.get(),
      let bytes = store.bytes(of: found, offset: offset, count: ImageLimits.pageBytes)
    else { throw .noSuchImage }
    return (bytes, found.byteCount)
  }

  // MARK: - Caching

  /// - Throws: `tooManyRequests` if the session would have more than ``ImageLimits/maximumCachingMembers`` members.
  func startCaching(_ assetIDs: [AssetID], _ want: CachingSets.Want, _ number: Int) throws(ImageRequestError) {
    let problem = shared.withLock { state -> ImageRequestError? in
      guard state.sessions[number] != nil else { return .noSuchSession }
      guard state.caching.count(of: number, adding: assetIDs, want) <= ImageLimits.maximumCachingMembers else {
        return .tooManyRequests(limit: ImageLimits.maximumCachingMembers)
      }
      state.caching.add(assetIDs, want, to: number)
      return nil
    }
    if let problem { throw problem }
    renderingThreads.wake()
  }

  func stopCaching(_ assetIDs: [AssetID], _ want: CachingSets.Want, _ number: Int) throws(ImageRequestError) {
    try changeCaching(number) { $0.caching.remove(assetIDs, want, from: number) }
  }

  func stopCachingAll(_ number: Int) throws(ImageRequestError) {
    try changeCaching(number) { $0.caching.removeAll(from: number) }
  }

  private func changeCaching(_ number: Int, _ change: (inout State) -> Void) throws(ImageRequestError) {
    let isKnown = shared.withLock { state in
      guard state.sessions[number] != nil else { return false }
      change(&state)
      // Pictures that are no longer held can be evicted.
      state.cachingPause = nil
      return true
    }
    guard isKnown else { throw .noSuchSession }
    renderingThreads.wake()
  }
}
