import TestTools
import Testing

@testable import ChangeDetails
@testable import PhotoModel

@Suite struct TouchedAssetsTests {
  @Test(arguments: UInt64(1)...20)
  func setOfBitsIsASet(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let base = [0, 63, 64, 1_000_000].randomElement(using: &generator) ?? 0
    var reference: Set<AssetID> = []
    var bits = IDSet()
    #expect(bits.isEmpty && !bits.contains(0))
    for _ in 0..<300 {
      let id = AssetID(max(0, base + Int.random(in: -2_000...2_000, using: &generator)))
      reference.insert(id)
      bits.insert(id)
      #expect(bits.contains(id) && !bits.isEmpty)
    }
    for id in AssetID(max(0, base - 2_200))...AssetID(base + 2_200) {
      #expect(bits.contains(id) == reference.contains(id), "id \(id)")
    }
    #expect(!bits.contains(-1) && !bits.contains(.min) && !bits.contains(.max))
  }

  /// The difference is the same whether assets are listed one by one or as a group.
  @Test(arguments: UInt64(1)...50)
  func differenceOfAGroupEqualsThatOfItsAssets(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let before = Array((1...60 as ClosedRange<AssetID>).shuffled(using: &generator).prefix(40))
    var after = before.filter { _ in Int.random(in: 0..<8, using: &generator) > 0 }
    for id in 61...64 as ClosedRange<AssetID> { after.insert(id, at: .random(in: 0...after.count, using: &generator)) }
    if Bool.random(using: &generator) { after.swapAt(0, after.count - 1) }
    let (below, others) = (before.prefix(.random(in: 1...40, using: &generator)), before.suffix(10))
    var named = TouchedAssets()
    for id in others { named.fields[id] = .favorite }
    for id in others where Bool.random(using: &generator) { named.deleted.insert(id) }
    var grouped = named
    for id in below { named.fields[id, default: []].insert(.path) }
    grouped.insert(IDSet(below), .path)
    for id in before { #expect(grouped.fields(of: id) == named.fields[id]) }

    let details = FetchResultChangeDetails.full(from: before, to: after, touched: named)
    #expect(FetchResultChangeDetails.full(from: before, to: after, touched: grouped) == details)
    let lists = (OrderedIDs(ids: before), OrderedIDs(ids: after))
    #expect(FetchResultChangeDetails.incremental(from: lists.0, to: lists.1, touched: grouped) == details)
    var merged = TouchedAssets()
    merged.merge(grouped)
    #expect(merged == grouped && !merged.isEmpty)
  }

  @Test func laterTouchesAddUp() {
    var touched = TouchedAssets(fields: [1: .content])
    touched.merge(TouchedAssets(fields: [1: .path, 2: .hidden], deleted: [3]))
    #expect(touched == TouchedAssets(fields: [1: [.content, .path], 2: .hidden], deleted: [3]))
  }

  @Test func aSetOfIDsDoesNotDependOnTheOrderInWhichTheyCame() {
    let ids: [AssetID] = [640, 576, 512]
    #expect(IDSet(ids) == IDSet(ids.reversed()) && IDSet(ids) != IDSet(ids.dropLast()) && IDSet() != IDSet(ids))
  }

  @Test func aDeletedAssetThatALaterChangeTouchesIsBack() {
    var touched = TouchedAssets(fields: [1: [], 2: []], deleted: [1, 2])
    touched.merge(TouchedAssets(fields: [1: .content]))
    #expect(touched == TouchedAssets(fields: [1: .content, 2: []], deleted: [2]))
  }
}
