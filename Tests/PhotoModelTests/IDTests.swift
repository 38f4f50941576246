import Foundation
import PhotoModel
import Testing

@Suite struct IDTests {
  @Test func idsAreIntegersInJSON() throws {
    let assets: [AssetID] = [AssetID(rawValue: .max), 7]
    #expect(String(decoding: try JSONEncoder().encode(assets), as: UTF8.self) == "[9223372036854775807,7]")
    #expect(try JSONDecoder().decode([AssetID].self, from: Data("[9223372036854775807,7]".utf8)) == assets)
    #expect(String(decoding: try JSONEncoder().encode([3] as [CollectionID]), as: UTF8.self) == "[3]")
    #expect(try JSONDecoder().decode([CollectionID].self, from: Data("[-1,3]".utf8)) == [-1, 3])
    #expect(throws: DecodingError.self) { try JSONDecoder().decode([AssetID].self, from: Data("[1.5]".utf8)) }
  }

  @Test func textOfAnIDIsItsNumber() {
    #expect("\(AssetID(rawValue: 12)) \(CollectionID(rawValue: -3))" == "12 -3")
    #expect(AssetID("12") == 12 && CollectionID("12") == 12)
    #expect(AssetID("9223372036854775808") == nil && AssetID("") == nil && CollectionID("1x") == nil)
  }

  @Test func rangeOfIDsContainsEachOfThem() {
    #expect(Array(AssetID(3)...6) == [3, 4, 5, 6])
    #expect(Set(AssetID(1)...1_000).count == 1_000)
  }

  @Test func arrayOfIDsHasTheLayoutOfItsNumbers() {
    #expect(MemoryLayout<AssetID>.size == 8 && MemoryLayout<AssetID>.stride == MemoryLayout<Int64>.stride)
    #expect(([1, 2] as [AssetID]).withUnsafeBytes { Array($0) } == ([1, 2] as [Int64]).withUnsafeBytes { Array($0) })
  }
}
