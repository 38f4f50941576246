import ChangeDetails
import PhotoContract
import PhotoModel

/// The change of one ``CollectionFetchResult`` in a ``Change``. It always has details, because the lists are short.
public struct CollectionFetchResultChange: Sendable {
  /// The result that the app had.
  public let before: CollectionFetchResult
  /// The result that follows it.
  public let after: CollectionFetchResult
  /// The details in the form of the contract. Their ids are the numbers of the collections.
  public let details: FetchResultChangeDetails

  /// Always `true`.
  ///
  /// - Complexity: O(1)
  public var hasIncrementalChanges: Bool { true }
  /// The positions in ``before`` of the collections that left the list.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var removedIndexes: RangeSet<Int> { RangeSet(details.removedBefore) }
  /// The positions in ``after`` of the collections that came.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var insertedIndexes: RangeSet<Int> { RangeSet(details.insertedAfter) }
  /// The positions in ``after`` of the collections that changed and stayed.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var changedIndexes: RangeSet<Int> { RangeSet(details.changedAfter) }
  /// The collections that left the list, in the order of ``before``.
  ///
  /// - Complexity: O(k) for k collections.
  public var removedObjects: [AssetCollection] { removedIndexes.collections(of: before) }
  /// The collections that came, in the order of ``after``.
  ///
  /// - Complexity: O(k) for k collections.
  public var insertedObjects: [AssetCollection] { insertedIndexes.collections(of: after) }
  /// The collections that changed and stayed, in the order of ``after``.
  ///
  /// - Complexity: O(k) for k collections.
  public var changedObjects: [AssetCollection] { changedIndexes.collections(of: after) }
  /// Whether collections that stayed changed their order.
  ///
  /// - Complexity: O(1)
  public var hasMoves: Bool { !details.moves.isEmpty }
  /// The collections that changed their order among those that stayed, ascending by their new position.
  ///
  /// - Complexity: O(1)
  public var moves: [Move] { details.moves }

  /// Calls a closure for each move with the position in ``before`` and the position in ``after``.
  ///
  /// - Complexity: O(m) for m moves.
  public func enumerateMoves(_ body: (_ from: Int, _ to: Int) throws -> Void) rethrows {
    for move in moves { try body(move.fromBefore, move.toAfter) }
  }

  /// - Parameters:
  ///   - updated: collections that changed in between, even if they are as before.
  ///   - existing: all collections of the library, to distinguish deleted ones from others that only left the list; nil
  ///     if they are not known.
  /// - Returns: nil if nothing changed.
  init?(
    from before: CollectionFetchResult, to after: CollectionFetchResult, updated: Set<CollectionID> = [],
    existing: Set<CollectionID>? = nil
  ) {
    let known = Dictionary(before.map { ($0.id, $0) }) { first, _ in first }
    var touched = TouchedAssets()
    var names: Set<String> = []
    for collection in after {
      guard let old = known[collection.id], old != collection || updated.contains(collection.id) else { continue }
      touched.fields[collection.id.element] = .metadata
      names.formUnion(collection.changedFields(since: old))
    }
    if let existing { touched.deleted = Set(before.map(\.id).filter { !existing.contains($0) }.map(\.element)) }
    guard
      var details = FetchResultChangeDetails.full(
        from: before.map(\.id.element), to: after.map(\.id.element), touched: touched)
    else { return nil }
    details.changedFields = AssetCollection.fieldNames.filter(names.contains)
    self.before = before
    self.after = after
    self.details = details
  }
}

extension RangeSet<Int> {
  fileprivate func collections(of result: CollectionFetchResult) -> [AssetCollection] {
    ranges.flatMap { $0.map { result[$0] } }
  }
}

extension AssetCollection {
  /// The words of the contract for fields that change, in its order.
  fileprivate static let fieldNames = ["title", "parent", "path", "count", "keyAsset", "dates", "query"]

  fileprivate func changedFields(since old: AssetCollection) -> [String] {
    let isEqual = [
      title == old.title, parentID == old.parentID, path == old.path, count == old.count,
      keyAssetID == old.keyAssetID && chosenKeyAssetID == old.chosenKeyAssetID,
      startDate == old.startDate && endDate == old.endDate, query == old.query && problem == old.problem,
    ]
    // If nothing differs, its cover has another picture.
    guard isEqual.contains(false) else { return ["keyAsset"] }
    return zip(Self.fieldNames, isEqual).filter { !$0.1 }.map(\.0)
  }
}
