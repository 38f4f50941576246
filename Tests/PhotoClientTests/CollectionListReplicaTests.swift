import ChangeDetails
import PhotoContract
import PhotoModel
import Testing
import Varlink

@testable import PhotoClient

struct CollectionListReplicaTests {
  private static func album(_ id: CollectionID, count: Int = 1) -> AssetCollection {
    AssetCollection(id: id, kind: .album, title: "\(id)", count: count)
  }

  private static func observation(
    _ token: String, after previous: String? = nil, _ ids: [CollectionID]
  ) -> CollectionObservation {
    CollectionObservation(
      token: token, previousToken: previous, count: ids.count, digest: ListDigest(of: ids.map(\.element)).description)
  }

  private static func page(_ ids: [CollectionID], at offset: Int, of list: [CollectionID]) -> CollectionObservation {
    var page = observation("l.1.1", list)
    (page.offset, page.collections) = (offset, ids.map { album($0) })
    page.complete = offset + ids.count == list.count
    return page
  }

  /// 2 is renamed and moves to the end, 3 leaves, and 4 becomes the first.
  private static var change: CollectionObservation {
    var change = observation("l.1.2", after: "l.1.1", [4, 1, 2])
    change.details = FetchResultChangeDetails(
      countBefore: 3, countAfter: 3, removedBefore: [IndexRange(start: 2, count: 1)],
      deletedBefore: [IndexRange(start: 2, count: 1)], insertedAfter: [IndexRange(start: 0, count: 1)],
      insertedIDs: [4], changedBefore: [IndexRange(start: 0, count: 1)],
      changedAfter: [IndexRange(start: 2, count: 1)], changedFields: ["title"],
      moves: [Move(fromBefore: 0, toAfter: 2)])
    (change.inserted, change.updated, change.deleted) = ([album(4)], [album(2, count: 7)], [3])
    return change
  }

  @Test func aReplicaEqualsTheDaemonsList() throws {
    var replica = CollectionListReplica()
    #expect(try replica.apply(Self.page([2, 1], at: 0, of: [2, 1, 3])) == .partOfList)
    #expect(replica.collections.isEmpty && replica.token == nil)
    #expect(try replica.apply(Self.page([3], at: 2, of: [2, 1, 3])) == .list(nil))
    #expect(replica.collections == [2, 1, 3].map { Self.album($0) })
    let details = try #require(Self.change.details)
    #expect(try replica.apply(Self.change) == .details(details))
    #expect(replica.collections == [Self.album(4), Self.album(1), Self.album(2, count: 7)])
    #expect(replica.token == "l.1.2")
    var again = Self.page([5], at: 0, of: [5])
    (again.token, again.reload) = ("l.1.3", .tooManyChanges)
    #expect(try replica.apply(again) == .list(.tooManyChanges))
    #expect(replica.collections == [Self.album(5)])
  }

  @Test func anObservationThatDoesNotFitIsRefusedAndChangesNothing() throws {
    var replica = CollectionListReplica()
    #expect(throws: CollectionListReplica.OutOfStep.self) { try replica.apply(Self.change) }
    _ = try replica.apply(Self.page([2, 1, 3], at: 0, of: [2, 1, 3]))
    let held = replica
    var wrong = [Self.change, Self.change, Self.change, Self.change]
    wrong[0].previousToken = "l.1.0"
    wrong[1].digest = "0000000000000000"
    wrong[2].updated = []
    wrong[3].inserted = nil
    wrong.append(Self.observation("l.1.2", after: "l.1.0", [2, 1, 3]))
    wrong.append(Self.observation("l.1.2", after: "l.1.1", [2, 1]))
    for observation in wrong {
      #expect(throws: CollectionListReplica.OutOfStep.self) { try replica.apply(observation) }
      #expect(replica == held)
    }
  }

  @Test func anObservationWithoutADifferenceHasTheToken() throws {
    var replica = CollectionListReplica()
    _ = try replica.apply(Self.page([2, 1, 3], at: 0, of: [2, 1, 3]))
    let collections = replica.collections
    #expect(try replica.apply(Self.observation("l.1.2", after: "l.1.1", [2, 1, 3])) == .unchanged)
    #expect(replica.token == "l.1.2" && replica.collections == collections)
  }

  @Test func observeCollectionsSendsItsKindsAndReturnsTheObservations() async throws {
    struct Parameters: Decodable { let kinds: [String]? }
    let list = Self.page([2, 1, 3], at: 0, of: [2, 1, 3])
    let answer: ScriptedDaemon.Answer = { call in
      #expect(try call.parameters(Parameters.self).kinds == ["album"])
      try await call.replyContinuing(list)
      try await call.reply(Self.change)
    }
    try await ScriptedDaemon.with(["ObserveCollections": answer]) { daemon in
      var replica = CollectionListReplica()
      for try await observation in daemon.library().observeCollections(kinds: [.album]) {
        _ = try replica.apply(observation)
      }
      #expect(replica.collections.map(\.id) == [4, 1, 2])
    }
  }
}
