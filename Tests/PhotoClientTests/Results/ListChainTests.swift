import ChangeDetails
import PhotoModel
import Testing

@testable import PhotoClient

/// The changes of an app that skips some.
struct ListChainTests {
  private let held: FetchResult
  private var chain: ListChain

  init() {
    let lineage = FetchLineage(of: PhotoLibrary(socketPath: "/nonexistent"), FetchOptions())
    held = FetchResult(lineage, SnapshotIDs([5, 6], token: "l.1.1"))
    chain = ListChain(held)
  }

  /// Advances the list by one commit, and returns the change from the first list.
  private mutating func advance(
    to ids: [AssetID], sequence: Int, deleted: Set<AssetID> = []
  ) throws -> FetchResultChange? {
    let before = try #require(chain.current.snapshot.complete)
    let touched = TouchedAssets(
      fields: Dictionary(uniqueKeysWithValues: deleted.map { ($0, ChangedFields()) }), deleted: deleted)
    let details = try #require(FetchResultChangeDetails.full(from: Array(before), to: ids, touched: touched))
    return chain.advance(to: ids, token: "l.1.\(sequence)", .details(details), origin: nil).change(from: held)
  }

  @Test mutating func anAssetThatReturnedBeforeItLeftTheListIsNotDeleted() throws {
    var change = try advance(to: [6], sequence: 2, deleted: [5])
    #expect(change?.deletedIDs == [5])
    change = try advance(to: [5, 6], sequence: 3)
    #expect(change?.deletedIDs == [] && change?.removedIDs == [])
    change = try advance(to: [6], sequence: 4)
    #expect(change?.removedIDs == [5] && change?.deletedIDs == [])
    change = try advance(to: [5, 6], sequence: 5)
    change = try advance(to: [6], sequence: 6, deleted: [5])
    #expect(change?.removedIDs == [5] && change?.deletedIDs == [5])
  }

  @Test mutating func eachFieldOfAnAssetThatWasAwayCountsAsChanged() throws {
    _ = try advance(to: [6], sequence: 2)
    let change = try #require(try advance(to: [5, 6], sequence: 3))
    #expect(change.changedIDs == [5] && change.insertedIDs == [] && change.removedIDs == [])
    #expect(change.details?.changedFields == ChangedFields.all.names)
  }
}
