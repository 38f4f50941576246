import PhotoModel

/// The list of collections as a client holds it, kept equal to the daemon's by what
/// ``PhotoLibrary/observeCollections(kinds:)`` sends.
///
/// ```swift
/// var replica = CollectionListReplica()
/// for try await observation in library.observeCollections() {
///   switch try replica.apply(observation) {
///   case .list: sidebar.reload(replica.collections)
///   case .details(let details): sidebar.update(replica.collections, by: details)
///   case .partOfList: break
///   }
/// }
/// ```
///
/// Nothing that comes is trusted: the chain of tokens, the counts and the digest are checked each time. After `OutOfStep` the
/// list is as it was before; observe anew.
public struct CollectionListReplica: Hashable, Sendable {
  public typealias OutOfStep = FetchResultReplica.OutOfStep

  /// What an observation did.
  public enum Step: Hashable, Sendable {
    /// A page that more pages follow; ``CollectionListReplica/collections`` is still the list before.
    case partOfList
    /// The whole list is another one now; why, where it was not the first.
    case list(Observation.Reload?)
    /// The list was changed by these; what is at `changedAfter` shows something else than before.
    case details(FetchResultChangeDetails)
  }

  /// In their order. Empty before the first ``Step/list(_:)``.
  public private(set) var collections: [AssetCollection] = []
  /// Of ``collections``; `nil` before there is a list.
  public var token: String? { list.token }

  /// Their ids.
  private var list = FetchResultReplica()
  /// Those of a list that is not complete yet.
  private var pages: [AssetCollection] = []

  public init() {}

  /// Takes in one observation.
  ///
  /// - Complexity: O(n), of some hundred or thousand collections.
  public mutating func apply(_ observation: CollectionObservation) throws(OutOfStep) -> Step {
    var next = list
    let step = try next.apply(
      Observation(
        token: observation.token, previousToken: observation.previousToken, count: observation.count,
        digest: observation.digest, offset: observation.offset, ids: observation.collections?.map(\.id),
        complete: observation.complete, reload: observation.reload, details: observation.details))
    switch step {
    case .partOfList:
      pages = (observation.offset == 0 ? [] : pages) + (observation.collections ?? [])
      list = next
      return .partOfList
    case .list(let reload):
      collections = (observation.offset == 0 ? [] : pages) + (observation.collections ?? [])
      pages = []
      list = next
      return .list(reload)
    case .details(let details):
      collections = try changed(to: next.ids, details, observation)
      list = next
      return .details(details)
    case .unchanged, .stale: throw OutOfStep(message: "an observation came without collections and without details")
    }
  }

  private func changed(
    to ids: [Int64], _ details: FetchResultChangeDetails, _ observation: CollectionObservation
  ) throws(OutOfStep) -> [AssetCollection] {
    let changed = details.changedAfter.flatMap { ids[$0.start..<$0.start + $0.count] }
    guard observation.inserted?.map(\.id) == details.insertedIDs, observation.updated?.map(\.id) == changed else {
      throw OutOfStep(message: "the collections that came or changed are not those that the details name")
    }
    var known = Dictionary(collections.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for collection in (observation.inserted ?? []) + (observation.updated ?? []) { known[collection.id] = collection }
    return ids.compactMap { known[$0] }
  }
}
