import ChangeDetails
import PhotoContract
import PhotoModel
import TestTools
import Testing

@testable import PhotoClient

struct FetchResultReplicaTests {
  private func page(
    _ ids: [AssetID], of list: [AssetID], at offset: Int, token: String, reload: Observation.Reload? = nil
  ) -> Observation {
    Observation(
      token: token, count: list.count, digest: ListDigest(of: list).description, offset: offset, ids: ids,
      complete: offset + ids.count == list.count, reload: reload)
  }

  private func replica(of list: [AssetID], token: String = "l.1.0") throws -> FetchResultReplica {
    var replica = FetchResultReplica()
    #expect(try replica.apply(page(list, of: list, at: 0, token: token)) == .list(nil))
    return replica
  }

  @Test(arguments: 1...200)
  func aReplicaEqualsTheListAfterAnyChanges(seed: Int) throws {
    var random = SeededGenerator(seed: UInt64(seed))
    var list = (0..<Int.random(in: 0...40, using: &random)).map { AssetID($0) }
    var replica = try replica(of: list)
    var nextID: AssetID = 1_000
    for step in 1...20 {
      var after = list.filter { _ in Int.random(in: 0..<8, using: &random) > 0 }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        after.insert(nextID, at: Int.random(in: 0...after.count, using: &random))
        nextID += 1
      }
      if Bool.random(using: &random), after.count > 1 {
        let moved = after.remove(at: Int.random(in: after.indices, using: &random))
        after.insert(moved, at: Int.random(in: 0...after.count, using: &random))
      }
      let changed = list.filter { _ in Int.random(in: 0..<10, using: &random) == 0 }
      let touched = TouchedAssets(
        fields: Dictionary(uniqueKeysWithValues: Set(changed + after + list).map { ($0, ChangedFields.metadata) }),
        deleted: Set(list).subtracting(after))
      guard let details = FetchResultChangeDetails.full(from: list, to: after, touched: touched) else {
        #expect(list == after)
        continue
      }
      let observation = Observation(
        token: "l.1.\(step)", previousToken: replica.token, count: after.count,
        digest: ListDigest(of: after).description, details: details)
      #expect(try replica.apply(observation) == .details(details))
      #expect(replica.ids == after)
      #expect(replica.digest == ListDigest(of: after))
      list = after
    }
  }

  @Test func aListOfSeveralPagesTakesEffectWithTheLast() throws {
    var replica = try replica(of: [9, 8])
    let list: [AssetID] = [1, 2, 3]
    #expect(try replica.apply(page([1, 2], of: list, at: 0, token: "l.1.5", reload: .tooManyChanges)) == .partOfList)
    #expect(replica.ids == [9, 8])
    #expect(try replica.apply(page([3], of: list, at: 2, token: "l.1.5")) == .list(.tooManyChanges))
    #expect(replica.ids == list)
    #expect(replica.token == "l.1.5")
  }

  @Test func anEmptyListIsOnePage() throws {
    let replica = try replica(of: [])
    #expect(replica.ids.isEmpty)
    #expect(replica.digest.description == "0000000000000000")
  }

  @Test func anObservationThatDoesNotFitIsOutOfStepAndChangesNothing() throws {
    let before = try replica(of: [1, 2, 3])
    let good = ListDigest(of: [1, 3]).description
    let removal = FetchResultChangeDetails(
      countBefore: 3, countAfter: 2, removedBefore: [IndexRange(start: 1, count: 1)])
    let other = FetchResultChangeDetails(
      countBefore: 4, countAfter: 3, removedBefore: [IndexRange(start: 1, count: 1)])
    let wrong: [Observation] = [
      // A wrong previous token, a wrong digest, a wrong count, and details of another list.
      .init(token: "l.1.2", previousToken: "l.1.1", count: 2, digest: good, details: removal),
      .init(token: "l.1.2", previousToken: nil, count: 2, digest: good, details: removal),
      .init(token: "l.1.2", previousToken: "l.1.0", count: 2, digest: "00", details: removal),
      .init(token: "l.1.2", previousToken: "l.1.0", count: 3, digest: good, details: removal),
      .init(token: "l.1.2", previousToken: "l.1.0", count: 3, digest: good, details: other),
      // It claims that nothing differs, but something does.
      .init(token: "l.1.2", previousToken: "l.1.0", count: 3, digest: good),
      // A page from the middle, and a page that is too long.
      .init(token: "l.1.2", count: 3, digest: good, offset: 1, ids: [4], complete: false),
      .init(token: "l.1.2", count: 1, digest: good, offset: 0, ids: [4, 5], complete: true),
    ]
    for observation in wrong {
      var replica = before
      #expect(throws: FetchResultReplica.OutOfStep.self) { try replica.apply(observation) }
      #expect(replica == before)
    }
    var replica = before
    let right = Observation(token: "l.1.2", previousToken: "l.1.0", count: 2, digest: good, details: removal)
    #expect(try replica.apply(right) == .details(removal))
  }

  @Test func aDifferenceNeedsAList() {
    var replica = FetchResultReplica()
    let observation = Observation(token: "l.1.2", previousToken: "l.1.1", count: 0, digest: "0000000000000000")
    #expect(throws: FetchResultReplica.OutOfStep.self) { try replica.apply(observation) }
  }

  @Test func aListThatBreaksOffIsOutOfStep() throws {
    var replica = try replica(of: [1])
    #expect(try replica.apply(page([1, 2], of: [1, 2, 3], at: 0, token: "l.1.1")) == .partOfList)
    let details = Observation(token: "l.1.2", previousToken: "l.1.1", count: 3, digest: "0")
    #expect(throws: FetchResultReplica.OutOfStep.self) { try replica.apply(details) }
  }

  @Test func aRefusedReloadKeepsTheListAndMarksItStale() throws {
    var replica = try replica(of: [1, 2])
    let observation = Observation(
      token: "l.1.7", previousToken: "l.1.0", count: 5, digest: "0", offset: 0, ids: [], complete: true,
      reload: .notWanted)
    #expect(try replica.apply(observation) == .stale)
    #expect(replica.token == "l.1.7")
    #expect(replica.ids == [1, 2])
  }
}
