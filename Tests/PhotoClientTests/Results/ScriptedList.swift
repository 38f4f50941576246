import ChangeDetails
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Varlink

@testable import PhotoClient

/// The list of a scripted daemon, which changes when the test says so. It answers FetchIDs, GetAssets and Observe as photod
/// does.
final class ScriptedList: Sendable {
  struct State {
    var ids: [AssetID]
    var sequence = 1
    /// Assets that left the library.
    var missing: Set<AssetID> = []
    /// Assets with a later revision.
    var revised: Set<AssetID> = []
    /// The lists by token, each with the assets that its commit touched.
    var past: [Past] = []
    /// The ids of each GetAssets.
    var batches: [[AssetID]] = []
    /// The `since` of each Observe.
    var resumed: [String?] = []
    var changed = PendingValue<Void>()
    /// The differences that were sent to observers.
    var sentCount = 0
  }

  struct Past {
    let ids: [AssetID]
    let touched: TouchedAssets
  }

  let state: Mutex<State>
  /// The number of ids in the first page of FetchIDs. The rest waits for ``restOfIDs``.
  let firstPage: Int
  let restOfIDs = PendingValue<Void>()
  /// GetAssets waits for it.
  let assets = PendingValue<Void>()
  /// How long each difference is on its way.
  let delay: Duration

  init(_ ids: [AssetID], firstPage: Int = .max, holdsAssets: Bool = false, delay: Duration = .zero) {
    self.delay = delay
    state = Mutex(State(ids: ids, past: [Past(ids: [], touched: .init()), Past(ids: ids, touched: .init())]))
    self.firstPage = firstPage
    if firstPage == .max { restOfIDs.resolve(.success(())) }
    if !holdsAssets { assets.resolve(.success(())) }
  }

  var token: String { state.withLock { "l.1.\($0.sequence)" } }
  var sentCount: Int { state.withLock { $0.sentCount } }
  var batches: [[AssetID]] { state.withLock { $0.batches } }

  /// One commit.
  ///
  /// - Parameter isSeen: false if the observers see it only together with the next commit, as if they were slow.
  func change(to ids: [AssetID], changed: Set<AssetID> = [], deleted: Set<AssetID> = [], isSeen: Bool = true) {
    let observers = state.withLock { state -> PendingValue<Void>? in
      let before = state.ids
      state.ids = ids
      state.sequence += 1
      state.missing.formUnion(deleted)
      state.revised.formUnion(changed)
      let moved = Set(ids).symmetricDifference(before)
      let touched = TouchedAssets(
        fields: Dictionary(uniqueKeysWithValues: changed.union(moved).map { ($0, ChangedFields.content) }),
        deleted: deleted)
      state.past.append(Past(ids: ids, touched: touched))
      guard isSeen else { return nil }
      defer { state.changed = PendingValue() }
      return state.changed
    }
    observers?.resolve(.success(()))
  }

  var answers: [String: ScriptedDaemon.Answer] {
    ["FetchIDs": fetchIDs, "GetAssets": getAssets, "Observe": observe]
  }

  private func fetchIDs(_ call: VarlinkServiceCall) async throws {
    let (ids, token) = state.withLock { ($0.ids, "l.1.\($0.sequence)") }
    let first = Array(ids.prefix(firstPage))
    if first.count == ids.count {
      return try await call.reply(AssetIDPage(token: token, total: ids.count, offset: 0, ids: ids))
    }
    try await call.replyContinuing(AssetIDPage(token: token, total: ids.count, offset: 0, ids: first))
    try await restOfIDs.value()
    try await call.reply(
      AssetIDPage(token: token, total: ids.count, offset: first.count, ids: Array(ids.dropFirst(first.count))))
  }

  private func getAssets(_ call: VarlinkServiceCall) async throws {
    let ids = try call.parameters(GetAssetsRequest.self).ids
    state.withLock { $0.batches.append(ids) }
    try await assets.value()
    let (missing, revised) = state.withLock { ($0.missing, $0.revised) }
    let found = ids.filter { !missing.contains($0) }.map { id in
      var found = asset(id)
      found.revision = revised.contains(id) ? "2" : "1"
      return found
    }
    try await call.reply(GetAssetsReply(token: token, assets: found, missing: ids.filter(missing.contains)))
  }

  private func observe(_ call: VarlinkServiceCall) async throws {
    let request = try call.parameters(ObserveRequest.self)
    state.withLock { $0.resumed.append(request.since) }
    var sent = request.since.flatMap(ChangeToken.init).map { Int($0.sequence) }
    if sent == nil {
      let (ids, sequence) = state.withLock { ($0.ids, $0.sequence) }
      try await send(
        Observation(
          token: "l.1.\(sequence)", count: ids.count, digest: ListDigest(of: ids).description, offset: 0, ids: ids,
          complete: true), call)
      sent = sequence
    } else if let since = sent, since == state.withLock({ $0.sequence }) {
      let ids = state.withLock { $0.ids }
      try await send(
        Observation(
          token: "l.1.\(since)", previousToken: "l.1.\(since)", count: ids.count,
          digest: ListDigest(of: ids).description), call)
    }
    while var since = sent {
      let (past, sequence, next) = state.withLock { ($0.past, $0.sequence, $0.changed) }
      if since < sequence {
        try await call.drained()
        var touched = TouchedAssets()
        for step in past[(since + 1)...sequence] { touched.merge(step.touched) }
        let (before, after) = (past[since].ids, past[sequence].ids)
        if delay > .zero { try await Task.sleep(for: delay) }
        if let details = FetchResultChangeDetails.full(from: before, to: after, touched: touched) {
          try await send(
            Observation(
              token: "l.1.\(sequence)", previousToken: "l.1.\(since)", count: after.count,
              digest: ListDigest(of: after).description, origin: "watcher", details: details), call)
          state.withLock { $0.sentCount += 1 }
          since = sequence
          sent = since
          continue
        }
        if request.unchanged == true {
          try await send(
            Observation(
              token: "l.1.\(sequence)", previousToken: "l.1.\(since)", count: after.count,
              digest: ListDigest(of: after).description), call)
          sent = sequence
          continue
        }
      }
      try await next.value()
    }
  }

  private func send(_ observation: Observation, _ call: VarlinkServiceCall) async throws {
    try await call.replyContinuing(ObserveReply(observation: observation))
  }
}
