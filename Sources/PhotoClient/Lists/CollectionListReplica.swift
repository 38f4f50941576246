import ChangeDetails
import PhotoContract
import PhotoModel

/// A client's copy of the list of collections. The observations from
/// ``PhotoLibrary/observeCollections(kinds:unchanged:)`` keep it equal to the daemon's list.
///
/// ```swift
/// var replica = CollectionListReplica()
/// for try await observation in library.observeCollections() {
///   switch try replica.apply(observation) {
///   case .list: sidebar.reload(replica.collections)
///   case .details(let details): sidebar.update(replica.collections, by: details)
///   case .partOfList, .unchanged: break
///   }
/// }
/// ```
///
/// Every observation is verified: the chain of tokens, the counts and the digest. After `OutOfStep` the list is as it
/// was before. Begin a new observation then.
public struct CollectionListReplica: Hashable, Sendable {
  /// The error of an observation that does not fit the list.
  public typealias OutOfStep = FetchResultReplica.OutOfStep

  /// The effect of an observation.
  public enum Step: Hashable, Sendable {
    /// A page was added, and more follow. ``CollectionListReplica/collections`` is still the previous list.
    case partOfList
    /// The whole list was replaced. The value is the reason, or `nil` for the first list.
    case list(Observation.Reload?)
    /// These details changed the list. The collections at `changedAfter` must be shown again.
    case details(FetchResultChangeDetails)
    /// The list is the same. Only the token is new.
    case unchanged
  }

  /// The collections in their order. Empty before the first ``Step/list(_:)``.
  ///
  /// - Complexity: O(1)
  public private(set) var collections: [AssetCollection] = []
  /// The token of ``collections``; `nil` before there is a list.
  ///
  /// - Complexity: O(1)
  public var token: String? { list.token }

  /// The ids of the collections. See ``CollectionID/element``.
  private var list = FetchResultReplica()
  /// The collections of a list that is not complete yet.
  private var pages: [AssetCollection] = []

  /// An empty list, before the first observation.
  public init() {}

  /// Applies one observation.
  ///
  /// - Complexity: O(n) for n collections, usually some hundreds or thousands.
  public mutating func apply(_ observation: CollectionObservation) throws(OutOfStep) -> Step {
    var next = list
    let step = try next.apply(
      Observation(
        token: observation.token, previousToken: observation.previousToken, count: observation.count,
        digest: observation.digest, offset: observation.offset, ids: observation.collections?.map(\.id.element),
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
      collections = try changed(to: next.ids.map(CollectionID.init(element:)), details, observation)
      list = next
      return .details(details)
    case .unchanged:
      list = next
      return .unchanged
    case .stale: throw OutOfStep(message: "an observation came without collections and without details")
    }
  }

  private func changed(
    to ids: [CollectionID], _ details: FetchResultChangeDetails, _ observation: CollectionObservation
  ) throws(OutOfStep) -> [AssetCollection] {
    let changed = details.changedAfter.flatMap { ids[$0.start..<$0.start + $0.count] }
    guard observation.inserted?.map(\.id.element) == details.insertedIDs, observation.updated?.map(\.id) == changed
    else {
      throw OutOfStep(message: "the collections that came or changed are not those that the details name")
    }
    var known = Dictionary(collections.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
    for collection in (observation.inserted ?? []) + (observation.updated ?? []) { known[collection.id] = collection }
    return ids.compactMap { known[$0] }
  }
}
