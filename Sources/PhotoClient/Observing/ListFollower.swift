import ChangeDetails
import PhotoContract
import PhotoModel

/// Follows the list of one result, also while photod is restarted, until its task is cancelled.
struct ListFollower: Sendable {
  let result: FetchResult
  let inbox: InboxWriter

  /// A call with more ids than this takes longer than a call without them that is repeated if photod needs them.
  private static let fewIDs = 10_000

  private var library: PhotoLibrary { result.lineage.library }

  func follow() async {
    var chain = ListChain(result)
    var pauses = ObservationPauses()
    /// Why the next list replaces the one before; nil if the list before continues.
    var reload: FetchResultChange.ReloadReason?
    /// Whether photod needs the ids of the list before, because it no longer keeps that list.
    var needsIDs = false
    var tokens = TokenReplies(for: inbox)
    var replica = FetchResultReplica()
    do {
      replica = FetchResultReplica(ids: try await result.ids, token: result.token)
    } catch {
      // The rest of the ids never arrived. The list begins anew.
      reload = .tokenExpired
    }
    while !Task.isCancelled {
      pauses.begin()
      do {
        let sendsIDs = needsIDs || replica.ids.count <= Self.fewIDs
        needsIDs = false
        replica.dropUnfinishedList()
        for try await observation in observations(since: replica, sendingIDs: sendsIDs, tokens.areRequested) {
          pauses.madeProgress()
          if observation.reload == .tokenExpired, !sendsIDs {
            // With the ids, the difference is exact as long as the history reaches back.
            needsIDs = true
            break
          }
          if let step = try take(observation, &replica, &chain, &reload) {
            try await inbox.put(.assets(step), isKnown: tokens.changesGiveTheToken)
          } else if observation.token == replica.token {
            tokens.reached(observation.token)
          }
        }
        if needsIDs { continue }
        tokens.connectionWasLost()
        try await pauses.wait(after: .connectionClosed)
      } catch is CancellationError {
        return
      } catch is FetchResultReplica.OutOfStep {
        // This list is not photod's. Begin with the whole list.
        (replica, reload) = (FetchResultReplica(), .digestMismatch)
        let problem = PhotoLibraryError.malformedReply("the observed list differs from that of photod")
        inbox.report(problem)
        do { try await pauses.wait(after: problem) } catch { return }
      } catch let error as PhotoLibraryError {
        if tokens.fallBack(after: error) { continue }
        inbox.report(error)
        let reason: FetchResultChange.ReloadReason? =
          switch error {
          case .noSuchCollection: .collectionDeleted
          case .notAuthorized: .accessChanged
          default: nil
          }
        var cause = error
        if let reason, reload != reason {
          do {
            if let step = try await emptied(&chain, reason) { try await inbox.put(.assets(step), isKnown: false) }
            (replica, reload) = (FetchResultReplica(), reason)
          } catch let problem as PhotoLibraryError {
            cause = problem
          } catch {
            return
          }
        }
        do { try await pauses.wait(after: cause) } catch { return }
      } catch {
        return
      }
    }
  }

  private func observations(
    since replica: FetchResultReplica, sendingIDs: Bool, _ wantsTokens: Bool
  ) -> LibraryReplies<Observation> {
    var request =
      sendingIDs
      ? PhotoLibrary.request(result.options, resuming: replica)
      : ObserveRequest(
        options: result.options, since: replica.token,
        sinceDigest: replica.token.map { _ in replica.digest.description })
    request.objects = true
    request.unchanged = wantsTokens ? true : nil
    return library.observe(request)
  }

  /// Empties a list that photod refuses.
  ///
  /// - Returns: nil if it was empty, and its album was not deleted or the app knows that.
  private func emptied(_ chain: inout ListChain, _ reason: FetchResultChange.ReloadReason) async throws -> ListStep? {
    guard !chain.current.isEmpty || (reason == .collectionDeleted && !chain.isOfDeletedCollection) else { return nil }
    // The error has no token, so it is read afterwards. If the deletion is undone in between, the album is there at that
    // token. Then the next attempt brings its list.
    let token = reason == .collectionDeleted ? try await library.status().token : chain.current.token
    chain.current.lineage.pages.invalidateAll()
    return chain.advance(
      to: [], token: token, .reload(reason), origin: nil, isCollectionDeleted: reason == .collectionDeleted)
  }

  /// - Returns: the change of the list, if there is one.
  private func take(
    _ observation: Observation, _ replica: inout FetchResultReplica, _ chain: inout ListChain,
    _ reload: inout FetchResultChange.ReloadReason?
  ) throws(FetchResultReplica.OutOfStep) -> ListStep? {
    // The reason comes with the first page.
    if let reason = observation.reload { reload = .init(reason) }
    let step = try replica.apply(observation)
    let pages = chain.current.lineage.pages
    let isDeleted = observation.collectionDeleted == true
    switch step {
    case .partOfList, .stale: return nil
    case .unchanged:
      // An empty album was deleted, or is back. photod says on each new connection that it is deleted, and the app gets
      // one change.
      guard isDeleted != chain.isOfDeletedCollection else { return nil }
      let same = FetchResultChangeDetails(countBefore: replica.ids.count, countAfter: replica.ids.count)
      return chain.advance(
        to: replica.ids, token: observation.token, .details(same), origin: observation.origin,
        isCollectionDeleted: isDeleted)
    case .list:
      let reason = reload ?? .unknown
      reload = nil
      pages.invalidateAll()
      // The app has this empty list of the deleted album.
      if isDeleted, chain.isOfDeletedCollection { return nil }
      return chain.advance(
        to: replica.ids, token: observation.token, .reload(reason), origin: observation.origin,
        isCollectionDeleted: isDeleted)
    case .details(let details):
      reload = nil
      for range in details.changedAfter { pages.invalidate(replica.ids[range.start..<range.start + range.count]) }
      pages.invalidate(details.insertedIDs)
      // They may have left the list because they changed.
      if let before = chain.current.snapshot.complete {
        for range in details.removedBefore { pages.invalidate(before[range.start..<range.start + range.count]) }
      }
      pages.keep((observation.insertedAssets ?? []) + (observation.changedAssets ?? []))
      return chain.advance(
        to: replica.ids, token: observation.token, .details(details), origin: observation.origin,
        isCollectionDeleted: isDeleted)
    }
  }
}

/// Follows a list of collections, also while photod is restarted, until its task is cancelled.
struct CollectionListFollower: Sendable {
  let result: CollectionFetchResult
  let inbox: InboxWriter

  func follow() async {
    var current = result
    /// The token of the last state. It is later than that of `current` if the list stayed as it was.
    var token = result.token
    var pauses = ObservationPauses()
    var tokens = TokenReplies(for: inbox, areNeeded: result.query.asset != nil)
    while !Task.isCancelled {
      pauses.begin()
      do {
        // The list is short, so it comes whole after a lost connection. The change is computed here.
        var states = CollectionListStates(of: result, since: token)
        let request = ObserveCollectionsRequest(
          kinds: result.query.kinds?.map(\.rawValue), unchanged: tokens.areRequested ? true : nil)
        for try await observation in result.library.observeCollections(request) {
          pauses.madeProgress()
          for state in try await states.take(observation, eachTokenComes: tokens.areRequested) {
            token = state.token
            guard let change = state.change(from: current) else {
              tokens.reached(state.token)
              continue
            }
            current = change.after
            try await inbox.put(.collections(CollectionListStep(change: change)), isKnown: tokens.changesGiveTheToken)
          }
        }
        tokens.connectionWasLost()
        try await pauses.wait(after: .connectionClosed)
      } catch is CancellationError {
        return
      } catch let error as PhotoLibraryError {
        if tokens.fallBack(after: error) { continue }
        inbox.report(error)
        if case .notAuthorized = error, !current.isEmpty {
          let empty = CollectionFetchResult(result.query, [], token: current.token, of: result.library)
          if let change = CollectionFetchResultChange(from: current, to: empty) {
            current = empty
            do {
              try await inbox.put(.collections(CollectionListStep(change: change)), isKnown: false)
            } catch {
              return
            }
          }
        }
        do { try await pauses.wait(after: error) } catch { return }
      } catch {
        // The replica is out of step, and begins anew.
        let problem = PhotoLibraryError.malformedReply("\(error)")
        inbox.report(problem)
        do { try await pauses.wait(after: problem) } catch { return }
      }
    }
  }
}

/// The pauses between attempts to observe a list.
struct ObservationPauses {
  /// photod answers, but not with the list: the access was taken away, or it holds too many lists. Only a person can
  /// change that.
  private static let longestPause = Duration.seconds(30)

  /// An attempt that lasted longer than this was a success, so the next failure is a new one. An attempt that received
  /// something is not: it may fail each time when the list has come, and send the whole list again.
  private static let success = Duration.seconds(10)

  private var reconnection: Reconnection
  private var refusals = 0
  private var hasProgress = false
  private var attempt: ContinuousClock.Instant
  private let now: @Sendable () -> ContinuousClock.Instant
  private let sleep: @Sendable (Duration) async throws -> Void

  /// - Parameters: as for ``Reconnection/init(now:sleep:)``.
  init(
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    (self.now, self.sleep) = (now, sleep)
    reconnection = Reconnection(now: now, sleep: sleep)
    attempt = now()
  }

  mutating func begin() {
    hasProgress = false
    attempt = now()
    reconnection.begin()
  }

  mutating func madeProgress() { hasProgress = true }

  /// - Throws: `CancellationError`.
  mutating func wait(after error: PhotoLibraryError) async throws {
    if Reconnection.isOutage(error) { return try await reconnection.wait(madeProgress: hasProgress) }
    if now() - attempt > Self.success { refusals = 0 }
    refusals += 1
    try await sleep(min(.milliseconds(100) * (1 << min(refusals, 10)), Self.longestPause))
  }
}
