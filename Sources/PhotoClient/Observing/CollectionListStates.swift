import PhotoContract
import PhotoModel

/// The states of one list of collections, as one connection gives them.
///
/// An observation says nothing about the assets of a collection. So the collections that contain an asset are fetched
/// after each observation, and the state has the token of the fetch. photod may commit between the two. Then the state
/// waits for the observation of its token, which names the collections whose cover got another picture.
///
/// A whole list does not name them. So the history since the last state shows which covers got another picture.
struct CollectionListStates {
  struct State {
    let token: String
    /// The list; nil if it is as before.
    fileprivate let list: CollectionFetchResult?
    /// The collections that photod named as changed.
    fileprivate let updated: Set<CollectionID>
    /// All collections of the library.
    fileprivate let existing: Set<CollectionID>

    /// - Returns: nil if nothing changed.
    func change(from before: CollectionFetchResult) -> CollectionFetchResultChange? {
      list.flatMap { CollectionFetchResultChange(from: before, to: $0, updated: updated, existing: existing) }
    }
  }

  private let result: CollectionFetchResult
  private var replica = CollectionListReplica()
  /// The collections that photod named as changed after the last state.
  private var updated: Set<CollectionID> = []
  /// A list whose token no observation has reached.
  private var fetched: CollectionFetchResult?
  /// The token of the last state, of this connection or of the one before.
  private(set) var token: String

  /// - Parameter token: the token of the last state.
  init(of result: CollectionFetchResult, since token: String) { (self.result, self.token) = (result, token) }

  /// - Parameter eachTokenComes: whether there are observations of commits that changed no collection. Without them, a
  ///   state can't wait for the observation of its token.
  /// - Returns: the states that are complete now, oldest first.
  mutating func take(_ observation: CollectionObservation, eachTokenComes: Bool) async throws -> [State] {
    let step = try replica.apply(observation)
    if step == .partOfList { return [] }
    var named = (observation.updated ?? []).map(\.id)
    if case .list = step, observation.token != token { named = try await redrawnCollections(until: observation.token) }
    guard result.query.asset != nil else {
      if step == .unchanged {
        token = observation.token
        return [State(token: observation.token, list: nil, updated: [], existing: [])]
      }
      updated.formUnion(named)
      return [takeState(list(replica.collections, observation.token))]
    }
    var states: [State] = []
    if let known = fetched {
      if ChangeInbox.isEarlier(observation.token, than: known.token) {
        updated.formUnion(named)
        return []
      }
      fetched = nil
      if observation.token == known.token {
        updated.formUnion(named)
        return [takeState(known)]
      }
      // photod merged the commit of that token with later ones. Their names belong to the next state.
      states.append(takeState(known))
    }
    updated.formUnion(named)
    let (collections, token) = try await result.library.collections(of: result.query)
    if eachTokenComes, ChangeInbox.isEarlier(observation.token, than: token) {
      fetched = list(collections, token)
    } else {
      states.append(takeState(list(collections, token)))
    }
    return states
  }

  /// The collections whose cover may have got another picture since the last state. If the history does not reach back to
  /// that, these are all that have a cover.
  private func redrawnCollections(until last: String) async throws -> [CollectionID] {
    let covers = Set(replica.collections.compactMap(\.keyAssetID))
    if covers.isEmpty { return [] }
    var redrawn: Set<AssetID> = []
    do {
      for try await change in result.library.fetchPersistentChanges(since: token) {
        // The next observation names the covers of later commits.
        if ChangeInbox.isEarlier(last, than: change.token) { break }
        // A photo that was deleted and came back may have another picture, too.
        redrawn.formUnion(covers.intersection(change.insertedAssets))
        guard change.changedFields?.contains("content") ?? true else { continue }
        redrawn.formUnion(covers.intersection(change.updatedAssets))
      }
    } catch PhotoLibraryError.changeTokenExpired {
      redrawn = covers
    }
    return replica.collections.filter { $0.keyAssetID.map(redrawn.contains) ?? false }.map(\.id)
  }

  private func list(_ collections: [AssetCollection], _ token: String) -> CollectionFetchResult {
    CollectionFetchResult(result.query, result.query.selected(from: collections), token: token, of: result.library)
  }

  private mutating func takeState(_ list: CollectionFetchResult) -> State {
    defer { (updated, token) = ([], list.token) }
    return State(
      token: list.token, list: list, updated: updated, existing: Set(replica.collections.map(\.id)))
  }
}
