import ChangeDetails
import PhotoContract
import PhotoModel

/// A change of the library, as it concerns some observed results, as PhotoKit's `PHChange`.
///
/// All details of a change lead to the library's state at one ``token``. Results that have no details did not change.
public struct Change: Sendable {
  /// The place in the history of the library to which the change leads.
  public let token: String
  /// `watcher`, `rescan`, `mount`, `migration`, or `client:<name>`; `nil` if the change has several
  /// origins, or changed only lists of albums.
  public let origin: String?

  let assetLists: [ListStep]
  let collectionLists: [CollectionListStep]

  init(token: String, assetLists: [ListStep], collectionLists: [CollectionListStep]) {
    self.token = token
    self.assetLists = assetLists
    self.collectionLists = collectionLists
    let origins = Set(assetLists.map(\.origin))
    origin = origins.count == 1 ? origins.first ?? nil : nil
  }

  /// The change of a result that the app holds; `nil` if it did not change.
  ///
  /// - Parameter result: an observed result, or one that followed it. If the app skipped changes, the details lead from its
  ///   result to the one after this change. If it already has this change, they are `nil`.
  /// - Complexity: O(1), and O(n log n) if the app skipped changes.
  public func details(for result: FetchResult) -> FetchResultChange? {
    assetLists.lazy.compactMap { $0.change(from: result) }.first
  }

  /// The change of a list of collections that the app holds; `nil` if it did not change.
  ///
  /// - Complexity: O(1), and O(n log n) if the app skipped changes.
  public func details(for result: CollectionFetchResult) -> CollectionFetchResultChange? {
    collectionLists.lazy.compactMap { $0.change(from: result) }.first
  }

  /// The change of an asset that the app holds; `nil` if it did not change.
  ///
  /// It finds assets of the observed results. To observe one asset alone, fetch it with
  /// ``PhotoLibrary/fetchAssets(withIDs:with:)``.
  ///
  /// - Parameter asset: the asset as the app has it. If the app skipped changes, they count, too.
  /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
  /// - Complexity: O(k) for k changed assets, and O(n) after a reload.
  public func details(for asset: Asset) async throws -> ObjectChangeDetails? {
    var isDeleted = false
    var holder: ListStep?
    for step in assetLists {
      switch step.mention(of: asset.id) {
      case .none: continue
      case .deleted: isDeleted = true
      case .changed: break
      }
      holder = step
    }
    guard let holder else { return nil }
    if isDeleted { return ObjectChangeDetails(before: asset, after: nil) }
    let after = try await holder.after.lineage.pages.assets([asset.id], page: [asset.id])[0]
    return after == asset ? nil : ObjectChangeDetails(before: asset, after: after)
  }
}

/// The change of one asset, as PhotoKit's `PHObjectChangeDetails`.
public struct ObjectChangeDetails: Hashable, Sendable {
  /// The asset as the app had it.
  public let before: Asset
  /// The asset as it is now; `nil` if it left the library.
  public let after: Asset?

  /// Whether its files show something else, so that pictures of it must be requested again.
  public var assetContentChanged: Bool { after.map { $0.revision != before.revision } ?? false }
  /// Whether it left the library.
  public var objectWasDeleted: Bool { after == nil }
}

extension ListStep {
  enum Mention { case none, changed, deleted }

  /// How the change names an asset.
  func mention(of id: AssetID) -> Mention {
    // Without all ids, only the asset itself shows whether it changed.
    guard let before = before.snapshot.complete, let after = after.snapshot.complete else { return .changed }
    guard case .details(let details) = outcome else {
      return before.contains(id) || after.contains(id) ? .changed : .none
    }
    func has(_ ranges: [IndexRange], _ list: [AssetID]) -> Bool {
      ranges.contains { list[$0.start..<$0.start + $0.count].contains(id) }
    }
    if has(details.deletedBefore, before) { return .deleted }
    let isNamed =
      has(details.changedAfter, after) || has(details.removedBefore, before) || details.insertedIDs.contains(id)
    if isNamed { return .changed }
    // The app may have skipped the changes before this one. The last of them that names the asset decides.
    for step in skipped.reversed() {
      if step.touched.deleted.contains(id) { return .deleted }
      if step.touched.fields[id] != nil { return .changed }
    }
    return .none
  }
}

/// One change of an observed list of collections.
struct CollectionListStep: Sendable {
  let change: CollectionFetchResultChange

  func change(from result: CollectionFetchResult) -> CollectionFetchResultChange? {
    guard result.query == change.after.query, result.library === change.after.library else { return nil }
    if result.token == change.before.token, result.collections == change.before.collections { return change }
    if result.token == change.after.token { return nil }
    if let known = ChangeToken(result.token), let reached = ChangeToken(change.after.token),
      known.epoch == reached.epoch,
      known.library == reached.library, known.sequence >= reached.sequence
    {
      return nil
    }
    // The lists are short, so any two of them can be compared.
    return CollectionFetchResultChange(from: result, to: change.after)
  }
}
