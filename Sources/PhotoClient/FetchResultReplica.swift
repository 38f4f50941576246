import PhotoModel

/// A list as a client holds it, kept equal to the daemon's by what ``PhotoLibrary/observe(_:since:sinceDigest:sinceIDs:objects:reloadOnly:)`` sends.
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
/// Nothing that comes is trusted: the chain of tokens, the counts and the digest are checked each time. After
/// ``OutOfStep`` the list is as it was before; observe anew.
public struct FetchResultReplica: Hashable, Sendable {
  /// What an observation did.
  public enum Step: Hashable, Sendable {
    /// A page that more pages follow; ``FetchResultReplica/ids`` is still the list before.
    case partOfList
    /// The whole list is another one now; why, where it was not the first.
    case list(Observation.Reload?)
    /// The list was changed by these.
    case details(FetchResultChangeDetails)
    /// Nothing differs; only the token is another.
    case unchanged
    /// The list changed, and what it is now was not asked for (`reloadOnly`).
    case stale
  }

  /// The daemon and this list do not fit together any more. The remedy is to observe anew, without `since`.
  public struct OutOfStep: Error, Hashable, Sendable, CustomStringConvertible {
    public let message: String
    public var description: String { "out of step with the library: \(message)" }
  }

  /// The list. Empty before the first ``Step/list(_:)``.
  public private(set) var ids: [Int64] = []
  /// Of ``ids``; `nil` before there is a list.
  public private(set) var token: String?
  /// Of ``ids``.
  public private(set) var digest = ListDigest()

  /// Those of a list that is not complete yet.
  private var pages: Pages?

  private struct Pages: Hashable, Sendable {
    var ids: [Int64]
    var token: String
    var reload: Observation.Reload?
  }

  public init() {}

  /// A list that was stored with its token, to be gone on with: see ``PhotoLibrary/observe(_:resuming:objects:)``.
  ///
  /// - Complexity: O(n)
  public init(ids: [Int64], token: String) {
    self.ids = ids
    self.token = token
    digest = ListDigest(of: ids)
  }

  /// Takes in one observation.
  ///
  /// - Complexity: O(n): the digest is computed each time, about 3 ns an id.
  public mutating func apply(_ observation: Observation) throws(OutOfStep) -> Step {
    if observation.reload == .notWanted {
      token = observation.token
      pages = nil
      return .stale
    }
    if let page = observation.ids { return try take(page, of: observation) }
    guard pages == nil else { throw OutOfStep(message: "a list broke off after \(pages?.ids.count ?? 0) ids") }
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
    let after: [Int64]
    do {
      after = try details.applied(to: ids)
    } catch {
      throw OutOfStep(message: error.message)
    }
    try set(after, observation)
    return .details(details)
  }

  private mutating func take(_ page: [Int64], of observation: Observation) throws(OutOfStep) -> Step {
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

  /// Makes this the list, if it is the one that the daemon means.
  private mutating func set(_ list: [Int64], _ observation: Observation) throws(OutOfStep) {
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
