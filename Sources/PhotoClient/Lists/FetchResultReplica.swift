import ChangeDetails
import PhotoContract
import PhotoModel

/// A client's copy of a list. The observations from
/// ``PhotoLibrary/observe(_:since:sinceDigest:sinceIDs:objects:reloadOnly:unchanged:)`` keep it equal to the daemon's
/// list.
///
/// ```swift
/// var replica = FetchResultReplica()
/// for try await observation in library.observe(options) {
///   switch try replica.apply(observation) {
///   case .list: table.reload(replica.ids)
///   case .details(let details): table.update(replica.ids, by: details)
///   case .partOfList, .unchanged, .stale: break
///   }
/// }
/// ```
///
/// Every observation is verified: the chain of tokens, the counts and the digest. After ``OutOfStep`` the list is as it
/// was before. Begin a new observation then.
public struct FetchResultReplica: Hashable, Sendable {
  /// The effect of an observation.
  public enum Step: Hashable, Sendable {
    /// A page was added, and more follow. ``FetchResultReplica/ids`` is still the previous list.
    case partOfList
    /// The whole list was replaced. The value is the reason, or `nil` for the first list.
    case list(Observation.Reload?)
    /// These details changed the list.
    case details(FetchResultChangeDetails)
    /// The list is the same. Only the token is new.
    case unchanged
    /// The list changed, but its new content was not requested (`reloadOnly`).
    case stale
  }

  /// This list no longer matches the daemon's. The remedy is a new observation, without `since`.
  public struct OutOfStep: Error, Hashable, Sendable, CustomStringConvertible {
    /// The part that does not fit.
    public let message: String
    /// The message for a log.
    public var description: String { "out of step with the library: \(message)" }
  }

  /// The list. Empty before the first ``Step/list(_:)``.
  ///
  /// - Complexity: O(1)
  public private(set) var ids: [AssetID] = []
  /// The token of ``ids``; `nil` before there is a list.
  ///
  /// - Complexity: O(1)
  public private(set) var token: String?
  /// The digest of ``ids``.
  ///
  /// - Complexity: O(1)
  public private(set) var digest = ListDigest()

  /// The ids of a list that is not complete yet.
  private var pages: Pages?

  private struct Pages: Hashable, Sendable {
    var ids: [AssetID]
    var token: String
    var reload: Observation.Reload?
  }

  /// An empty list, before the first observation.
  public init() {}

  /// A list that was stored with its token, to continue an observation: see
  /// ``PhotoLibrary/observe(_:resuming:objects:)``.
  ///
  /// - Complexity: O(n)
  public init(ids: [AssetID], token: String) {
    self.ids = ids
    self.token = token
    digest = ListDigest(of: ids)
  }

  /// Applies one observation.
  ///
  /// - Complexity: O(n). The digest is computed each time, in about 3 ns for each id.
  public mutating func apply(_ observation: Observation) throws(OutOfStep) -> Step {
    if observation.reload == .notWanted {
      token = observation.token
      pages = nil
      return .stale
    }
    if let page = observation.ids { return try take(page, of: observation) }
    guard pages == nil else { throw OutOfStep(message: "a list ended early, after \(pages?.ids.count ?? 0) ids") }
    guard let token else { throw OutOfStep(message: "a difference came before there was a list") }
    guard observation.previousToken == token else {
      throw OutOfStep(
        message: "a difference from \(observation.previousToken ?? "nothing") came to the list at \(token)")
    }
    guard let details = observation.details else {
      try check(ids.count, digest, observation)
      self.token = observation.token
      return .unchanged
    }
    let after: [AssetID]
    do {
      after = try details.applied(to: ids)
    } catch {
      throw OutOfStep(message: error.message)
    }
    try set(after, observation)
    return .details(details)
  }

  /// Forgets the pages of a list whose connection was lost before it was complete.
  mutating func dropUnfinishedList() { pages = nil }

  private mutating func take(_ page: [AssetID], of observation: Observation) throws(OutOfStep) -> Step {
    var list: Pages
    if let pages, observation.offset != 0 {
      list = pages
    } else {
      list = Pages(ids: [], token: observation.token, reload: observation.reload)
    }
    guard observation.offset == list.ids.count, observation.token == list.token,
      list.ids.count + page.count <= observation.count
    else {
      throw OutOfStep(message: "a page at \(observation.offset ?? 0) came after \(list.ids.count) ids")
    }
    list.ids += page
    guard observation.complete == true else {
      pages = list
      return .partOfList
    }
    try set(list.ids, observation)
    return .list(list.reload)
  }

  /// Replaces the list with this one, if it has the count and digest of the daemon's.
  private mutating func set(_ list: [AssetID], _ observation: Observation) throws(OutOfStep) {
    let digest = ListDigest(of: list)
    try check(list.count, digest, observation)
    ids = list
    self.digest = digest
    token = observation.token
    pages = nil
  }

  private func check(_ count: Int, _ digest: ListDigest, _ observation: Observation) throws(OutOfStep) {
    guard count == observation.count else {
      throw OutOfStep(message: "the list has \(count) ids, the library's \(observation.count)")
    }
    guard digest.description == observation.digest else {
      throw OutOfStep(message: "the list's digest is \(digest), the library's \(observation.digest)")
    }
  }
}
