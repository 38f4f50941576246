import ChangeDetails
import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

// The observation of a list: the list, followed by differences from the state that was last sent to this client.
extension LibraryService {
  /// A commit with more changes is probably one of many, as when files are copied. The following commits are gathered
  /// for a moment, so that a client redraws at most a hundred times a second. Smaller changes are sent at once.
  private static let fewChanges = 4
  static let gatheringTime = Duration.milliseconds(10)

  func observe(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    try await live.lists.held.withHolder(ofProcess: call.peer.pid) { try await self.observe(call, $0) }
  }

  private func observe(_ call: VarlinkServiceCall, _ holder: ClientLists.Holder) async throws {
    let reads = reads(call)
    var (observation, summary) = try await observation(of: call, holder, reads)
    var plan = observation.plan

    observers.withLock { $0 += 1 }
    defer { observers.withLock { $0 -= 1 } }
    live.lists.beginObserving(plan)
    defer {
      live.lists.held.release(holder)
      live.lists.endObserving(plan)
    }
    connections.beginStream(call, .init(options: summary, feed: live.feed))
    let send: ListObservation.Send = { [connections] observation, encoded in
      connections.updateStream(call, token: observation.token)
      try await call.replyContinuing(encoded: encoded)
    }
    try await observation.begin(send)
    follow(observation, &plan, holder)
    connections.updateStream(call, reached: observation.checkedSequence)
    while await live.feed.next(after: observation.checkedSequence) != nil {
      // A client that did not read gets one difference when it reads again, instead of all those in between.
      try await call.drained()
      try await observation.advance(send)
      follow(observation, &plan, holder)
      connections.updateStream(call, reached: observation.checkedSequence)
      // There may be many commits elsewhere, as in a scan. A client that only gets their tokens is not woken for each.
      if observation.lastChangeCount > Self.fewChanges || observation.lastWasUnchanged {
        try await Task.sleep(for: Self.gatheringTime)
      }
    }
    try Task.checkCancellation()
    throw library.ended
  }

  /// Observes the list of the new plan, if a smart album has got another query.
  private func follow(_ observation: ListObservation, _ plan: inout FetchPlan, _ holder: ClientLists.Holder) {
    guard observation.plan != plan else { return }
    live.lists.endObserving(plan)
    plan = observation.plan
    live.lists.beginObserving(plan)
    live.lists.held.hold(plan, by: holder)
  }

  /// The call may contain a million ids. This function releases the text of the call, and ``begin(_:)`` releases the ids.
  ///
  /// - Returns: the observation, and a short form of its options for a person.
  private func observation(of call: VarlinkServiceCall, _ holder: ClientLists.Holder, _ reads: ClientReads)
    async throws
    -> (ListObservation, summary: String?)
  {
    defer { call.releaseMessage() }
    let parameters = try await reads.parameters(call, ObserveRequest.self)
    // The ids stay in memory until the first difference is computed, so they count as held by this client.
    if let ids = parameters.sinceIDs {
      live.lists.held.hold(byteCount: ids.count * MemoryLayout<AssetID>.stride, by: holder)
    }
    let plan = try await reads.read(library.catalog) { [held = live.lists.held] reader in
      if let ids = parameters.sinceIDs, Set(ids).count != ids.count { throw VarlinkError.invalidParameter("sinceIDs") }
      let options = parameters.options ?? FetchOptions()
      let plan = try parameters.since == nil ? reader.plan(options) : reader.planOfResumption(options)
      held.hold(plan, by: holder)
      return plan
    }
    let observation = ListObservation(
      of: live, reads: reads, plan: plan, request: parameters, holder: holder
    ) { [library] in
      try await library.endTokens(because: $0)
    }
    return (observation, parameters.options?.summary(predicate: plan.predicate))
  }
}
