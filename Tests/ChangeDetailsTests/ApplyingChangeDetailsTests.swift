import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct ApplyingChangeDetailsTests {
  private let details = FetchResultChangeDetails(
    countBefore: 4, countAfter: 4, removedBefore: [IndexRange(start: 1, count: 1)],
    insertedAfter: [IndexRange(start: 3, count: 1)], insertedIDs: [9], changedBefore: [IndexRange(start: 3, count: 1)],
    changedAfter: [IndexRange(start: 0, count: 1)], changedFields: ["metadata"],
    moves: [Move(fromBefore: 3, toAfter: 0)])

  @Test func everyProcedureMakesTheListAfterTheChange() throws {
    let before: [AssetID] = [1, 2, 3, 4]
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
    var list: [AssetID] = [1, 2, 3]
    #expect(throws: FetchResultChangeDetails.Mismatch.self) { try details.applySequentially(to: &list) }
    #expect(list == [1, 2, 3])
  }

  /// Details may come from any socket, so details that contradict themselves must cause an error, never a trap.
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

  /// Replaces some numbers of good details. If the result is not refused, every procedure must apply it with the same
  /// outcome.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func spoiledDetailsNeverTrap() throws {
    var generator = SeededGenerator(seed: 3)
    var accepted = 0
    for _ in 0..<20_000 {
      let before = Array(1...AssetID.random(in: 1...8, using: &generator))
      let after = (before.filter { _ in !generator.once(in: 3) } + [90, 91]).shuffled(using: &generator)
      let touched = TouchedAssets(fields: [1: .content, 5: .path])
      guard var details = FetchResultChangeDetails.full(from: before, to: after, touched: touched) else { continue }
      for _ in 0..<Int.random(in: 0...2, using: &generator) { spoil(&details, &generator) }
      guard let result = try? details.applied(to: before) else { continue }
      accepted += 1
      #expect(result.count == details.countAfter)
      var list = before
      try details.applySequentially(to: &list)
      #expect(list == result)
      #expect(before.applying(try details.collectionDifference(from: before)) == result)
      #expect(try details.listModelEdits().reduce(before.count) { $0 - $1.removed + $1.added } == result.count)
    }
    #expect((5_000..<15_000).contains(accepted))
  }

  private func spoil(_ details: inout FetchResultChangeDetails, _ generator: inout SeededGenerator) {
    let number = generator.once(in: 4) ? [.max, .min, -1][Int(generator.next() % 3)] : Int(generator.next() % 9)
    func spoil(_ ranges: inout [IndexRange]) {
      guard let index = ranges.indices.randomElement(using: &generator) else {
        return ranges.append(IndexRange(start: number, count: 1))
      }
      if generator.once(in: 2) { ranges[index].start = number } else { ranges[index].count = number }
    }
    switch generator.next() % 9 {
    case 0: details.countAfter = number
    case 1: spoil(&details.removedBefore)
    case 2: spoil(&details.deletedBefore)
    case 3: spoil(&details.insertedAfter)
    case 4: details.insertedIDs.append(77)
    case 5: spoil(&details.changedBefore)
    case 6: spoil(&details.changedAfter)
    case 7: details.moves.append(Move(fromBefore: number, toAfter: Int(generator.next() % 9)))
    default: details.moves = details.moves.map { Move(fromBefore: number, toAfter: $0.toAfter) }
    }
  }
}
