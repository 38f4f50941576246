import Testing

@testable import PhotoModel

@Suite struct ApplyingChangeDetailsTests {
  private let details = FetchResultChangeDetails(
    countBefore: 4, countAfter: 4, removedBefore: [IndexRange(start: 1, count: 1)],
    insertedAfter: [IndexRange(start: 3, count: 1)], insertedIDs: [9], changedBefore: [IndexRange(start: 3, count: 1)],
    changedAfter: [IndexRange(start: 0, count: 1)], changedFields: ["metadata"],
    moves: [Move(fromBefore: 3, toAfter: 0)])

  @Test func everyProcedureGivesTheListAfter() throws {
    let before: [Int64] = [1, 2, 3, 4]
    #expect(try details.applied(to: before) == [4, 1, 3, 9])
    var list = before
    try details.applySequentially(to: &list)
    #expect(list == [4, 1, 3, 9])
    #expect(before.applying(try details.collectionDifference(from: before)) == [4, 1, 3, 9])
  }

  @Test func listModelEditsRemoveFromRightToLeftThenInsertFromLeftToRight() throws {
    #expect(
      try details.listModelEdits() == [
        ListModelEdit(position: 3, removed: 1, added: 0), ListModelEdit(position: 1, removed: 1, added: 0),
        ListModelEdit(position: 0, removed: 0, added: 1), ListModelEdit(position: 3, removed: 0, added: 1),
      ])
  }

  @Test func aMoveIsAssociatedInTheCollectionDifference() throws {
    let difference = try details.collectionDifference(from: [1, 2, 3, 4])
    #expect(difference.insertions.first == .insert(offset: 0, element: 4, associatedWith: 3))
  }

  @Test func anotherListIsRefusedAndLeftAsItWas() {
    var list: [Int64] = [1, 2, 3]
    #expect(throws: FetchResultChangeDetails.Mismatch.self) { try details.applySequentially(to: &list) }
    #expect(list == [1, 2, 3])
  }

  /// Details may come from anybody's socket: what contradicts itself is an error, never a trap.
  @Test func contradictionsAreErrors() {
    func refuses(_ change: (inout FetchResultChangeDetails) -> Void, _ comment: Comment) {
      var bad = details
      change(&bad)
      #expect(throws: FetchResultChangeDetails.Mismatch.self, comment) { try bad.applied(to: [1, 2, 3, 4]) }
    }
    refuses({ $0.countAfter = 5 }, "count after")
    refuses({ $0.countAfter = -1 }, "negative count")
    refuses({ $0.removedBefore = [IndexRange(start: 4, count: 1)] }, "beyond the end")
    refuses({ $0.removedBefore = [IndexRange(start: 1, count: .max)] }, "overflow")
    refuses({ $0.removedBefore = [IndexRange(start: -1, count: 1)] }, "negative start")
    refuses({ $0.removedBefore = [IndexRange(start: 1, count: 0)] }, "empty range")
    refuses({ $0.removedBefore = [IndexRange(start: 1, count: 1), IndexRange(start: 2, count: 1)] }, "touching ranges")
    refuses({ $0.removedBefore = [IndexRange(start: 3, count: 1)] }, "moved and removed")
    refuses({ $0.insertedIDs = [] }, "ids missing")
    refuses({ $0.insertedAfter = [IndexRange(start: 0, count: 1)] }, "two into one slot")
    refuses({ $0.moves.append(Move(fromBefore: 3, toAfter: 1)) }, "moved twice")
    refuses({ $0.moves = [Move(fromBefore: 9, toAfter: 0)] }, "moved from beyond the end")
    refuses({ $0.moves = [Move(fromBefore: 0, toAfter: .max)] }, "moved beyond the end")
    refuses({ $0.changedAfter = [] }, "changed in one list only")
  }

  @Test func randomNumbersNeverTrap() {
    var generator = SeededGenerator(seed: 3)
    var accepted = 0
    for _ in 0..<20_000 {
      func number() -> Int {
        generator.once(in: 30)
          ? [.max, .min, -1].randomElement(using: &generator) ?? 0 : Int.random(in: 0...5, using: &generator)
      }
      func ranges() -> [IndexRange] {
        (0..<Int.random(in: 0...2, using: &generator)).map { _ in IndexRange(start: number(), count: number()) }
      }
      let count = Int.random(in: 0...4, using: &generator)
      let bad = FetchResultChangeDetails(
        countBefore: count, countAfter: number(), removedBefore: ranges(), deletedBefore: ranges(),
        insertedAfter: ranges(), insertedIDs: (0..<Int64.random(in: 0...3, using: &generator)).map { $0 + 50 },
        changedBefore: generator.once(in: 4) ? ranges() : [], changedAfter: generator.once(in: 4) ? ranges() : [],
        moves: generator.once(in: 2) ? [Move(fromBefore: number(), toAfter: number())] : [])
      let before = (0..<Int64(count)).map { $0 }
      if let after = try? bad.applied(to: before) {
        accepted += 1
        #expect(after.count == bad.countAfter)
        var list = before
        #expect(throws: Never.self) { try bad.applySequentially(to: &list) }
        #expect(list == after)
      }
    }
    #expect(accepted > 20)
  }
}
