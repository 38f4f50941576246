import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct PositionTableTests {
  @Test func everyIDIsFoundAtItsPosition() {
    let ids = (0..<10_000).map { AssetID($0 * 7 - 30_000) } + [.min, .max]
    let table = PositionTable(of: ids)
    for (position, id) in ids.enumerated() { #expect(table.position(of: id) == position) }
    #expect(table.position(of: 1_000_000) == nil)
    #expect(PositionTable(of: []).position(of: 0) == nil)
  }

  @Test func idsThatLieCloseTogetherAreFoundAtTheirPositions() {
    for (first, step) in [(Int64(1), Int64(1)), (-1_000, 2), (.min, 1), (.max - 3_999, 2)] {
      let ids = (0..<2_000).map { AssetID(rawValue: first + $0 * step) }.shuffled()
      let table = PositionTable(of: ids)
      #expect(table.probeCount == ids.count)
      for (position, id) in ids.enumerated() { #expect(table.position(of: id) == position) }
      let absent: [Int64] = [first &- 1, first &+ 1, first &+ 2_000 * step, 0, .min, .max]
      for id in absent.map(AssetID.init(rawValue:)) where !ids.contains(id) { #expect(table.position(of: id) == nil) }
    }
  }

  /// A multiplication by the golden ratio maps each of these ids to the first slots. A client that sends them in `sinceIDs`
  /// must not take longer than any other: 20,000 would take 200 million steps.
  @Test func idsThatAClientChoosesDoNotShareTheirSlots() {
    let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
    // Newton's method: each step doubles the number of right bits.
    var inverse = golden
    for _ in 0..<5 { inverse &*= 2 &- golden &* inverse }
    #expect(golden &* inverse == 1)
    let ids = (1...20_000).map { AssetID(rawValue: Int64(bitPattern: UInt64($0) &* inverse)) }
    let shifted = (1...20_000).map { AssetID($0 << 44) }
    for ids in [ids, shifted, Array(1...20_000)] {
      #expect(PositionTable(of: ids).probeCount < 2 * ids.count)
    }
  }

  /// One secret in fifty once made a table of ids that follow each other slow.
  @Test func idsThatFollowEachOtherAreSpreadByEverySecret() {
    // The distant id prevents the form in which each id has its own slot.
    let near = Array(AssetID(1)...2_000) + [AssetID(1 << 40)]
    let far = (1...2_000).map { AssetID($0 << 44) }
    for _ in 0..<500 {
      let secret = PositionTable.randomSecret()
      for ids in [near, far] { #expect(PositionTable(of: ids, secret: secret).probeCount < 2 * ids.count) }
    }
  }
}
