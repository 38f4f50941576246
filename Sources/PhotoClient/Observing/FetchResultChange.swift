import ChangeDetails
import PhotoContract
import PhotoModel

/// The change of one ``FetchResult`` in a ``Change``, as PhotoKit's `PHFetchResultChangeDetails`.
///
/// ```swift
/// if change.hasIncrementalChanges {
///   grid.performBatchUpdates(deleting: change.removedIndexes, inserting: change.insertedIndexes, moving: change.moves)
///   grid.reload(at: change.changedIndexes)   // after the batch, and never inside it
/// } else {
///   grid.reload()
/// }
/// photos = change.after
/// ```
public struct FetchResultChange: Sendable {
  /// Why there are no details of a change.
  public enum ReloadReason: Hashable, Sendable {
    /// The details would be larger than the list.
    case tooManyChanges
    /// The history does not reach back to the list before.
    case tokenExpired
    /// photod knows another list at the token of the list before.
    case digestMismatch
    /// The program has another access to the library than before.
    case accessChanged
    /// The library was rebuilt or restored, or it is another one.
    case libraryReplaced
    /// photod knows no album with the title or the id of the list, so the list is empty, or the album is back. If an album is
    /// deleted while it is observed, its assets are removed, with details: see
    /// ``FetchResultChange/isCollectionDeleted``.
    case collectionDeleted
    /// The app skipped so many changes that they are no longer kept.
    case tooManySkipped
    /// A reason of a later photod.
    case unknown

    init(_ reload: Observation.Reload) {
      self =
        switch reload {
        case .tooManyChanges: .tooManyChanges
        case .tokenExpired: .tokenExpired
        case .digestMismatch: .digestMismatch
        case .accessChanged: .accessChanged
        case .libraryReplaced: .libraryReplaced
        case .notWanted, .unknown: .unknown
        }
    }
  }

  /// The result that the app had.
  public let before: FetchResult
  /// The result that follows it.
  public let after: FetchResult
  /// The details in the form of the contract; `nil` if the list must be reloaded.
  public let details: FetchResultChangeDetails?
  /// Why there are no details; `nil` if there are.
  public let reloadReason: ReloadReason?

  /// Whether the album of the list no longer exists. The list is empty then, and it may have been empty before.
  ///
  /// If the deletion is undone, another change follows, also if the album has no photos. A list of a whole library is
  /// never of a deleted album.
  public let isCollectionDeleted: Bool

  init(from before: FetchResult, to after: FetchResult, _ outcome: ListOutcome, isCollectionDeleted: Bool) {
    self.before = before
    self.after = after
    self.isCollectionDeleted = isCollectionDeleted
    switch outcome {
    case .details(let details): (self.details, reloadReason) = (details, nil)
    case .reload(let reason): (details, reloadReason) = (nil, reason)
    }
  }

  /// Whether the indexes below describe the change. Otherwise they are empty, and the list must be reloaded.
  ///
  /// - Complexity: O(1)
  public var hasIncrementalChanges: Bool { details != nil }

  // MARK: - Indexes

  /// The positions in ``before`` of the assets that left the list.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var removedIndexes: RangeSet<Int> { RangeSet(details?.removedBefore ?? []) }
  /// The positions in ``after`` of the assets that came.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var insertedIndexes: RangeSet<Int> { RangeSet(details?.insertedAfter ?? []) }
  /// The positions in ``after`` of the assets that changed and stayed.
  ///
  /// - Complexity: O(r) for r ranges of positions.
  public var changedIndexes: RangeSet<Int> { RangeSet(details?.changedAfter ?? []) }
  /// Whether assets that stayed changed their order.
  ///
  /// - Complexity: O(1)
  public var hasMoves: Bool { !moves.isEmpty }
  /// The assets that changed their order among those that stayed, ascending by their new position.
  ///
  /// - Complexity: O(1)
  public var moves: [Move] { details?.moves ?? [] }

  /// Calls a closure for each move with the position in ``before`` and the position in ``after``.
  ///
  /// - Complexity: O(m) for m moves.
  public func enumerateMoves(_ body: (_ from: Int, _ to: Int) throws -> Void) rethrows {
    for move in moves { try body(move.fromBefore, move.toAfter) }
  }

  // MARK: - Ids

  /// The ids of the assets that left the list, in the order of ``before``.
  ///
  /// - Complexity: O(k) for k assets.
  public var removedIDs: [AssetID] { ids(details?.removedBefore, in: before) }
  /// The ids of the assets that left the library, and not only the list.
  ///
  /// - Complexity: O(k) for k assets.
  public var deletedIDs: [AssetID] { ids(details?.deletedBefore, in: before) }
  /// The ids of the assets that came, in the order of ``after``.
  ///
  /// - Complexity: O(1)
  public var insertedIDs: [AssetID] { details?.insertedIDs ?? [] }
  /// The ids of the assets that changed and stayed, in the order of ``after``.
  ///
  /// - Complexity: O(k) for k assets.
  public var changedIDs: [AssetID] { ids(details?.changedAfter, in: after) }

  private func ids(_ ranges: [IndexRange]?, in result: FetchResult) -> [AssetID] {
    // The lists of a change are complete.
    guard let ranges, let list = result.snapshot.complete else { return [] }
    return ranges.flatMap { list[$0.start..<$0.start + $0.count] }
  }

  // MARK: - Assets

  /// The assets that came, parallel to ``insertedIDs``; `nil` for each that was deleted since.
  ///
  /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
  /// - Complexity: O(k) for k assets. Few assets come with the change, and many take a call for each 100.
  public func insertedObjects() async throws -> [Asset?] { try await objects(insertedIDs) }

  /// The assets that changed, parallel to ``changedIDs``; `nil` for each that was deleted since.
  ///
  /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
  /// - Complexity: the same as for ``insertedObjects()``.
  public func changedObjects() async throws -> [Asset?] { try await objects(changedIDs) }

  /// The assets that left the list, parallel to ``removedIDs``, as they are now; `nil` for each that left the library.
  ///
  /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
  /// - Complexity: O(k) for k assets, with a call for each 100.
  public func removedObjects() async throws -> [Asset?] { try await objects(removedIDs) }

  private func objects(_ ids: [AssetID]) async throws -> [Asset?] { try await after.lineage.pages.assets(ids) }
}

extension RangeSet<Int> {
  init(_ ranges: [IndexRange]) { self.init(ranges.map { $0.start..<$0.start + $0.count }) }
}
