import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog
@testable import PhotoLive

/// The cost of a fetch's versions is updated with each change. It must always equal their sum.
@Suite struct ListCacheTests {
  @Test func costOfAFetchIsTheSumOfItsVersions() {
    var random = SeededGenerator(seed: 1)
    let key = "the predicate is in the key"
    var fetch = ListCache.Fetch(key, usedAt: .now)
    for sequence in Int64(1)...2_000 {
      switch Int.random(in: 0..<6, using: &random) {
      case 0: fetch.observerCount = Int.random(in: 0...1, using: &random)
      case 1:
        if let index = fetch.versions.indices.randomElement(using: &random) { fetch.remove(at: index) }
      case 2:
        if let index = fetch.versions.indices.randomElement(using: &random) {
          fetch.edit(index) { $0.extend(to: sequence, limit: 8) }
        }
      case 3:
        if let index = fetch.versions.indices.randomElement(using: &random) {
          fetch.edit(index) { $0.noteDifference(Int.random(in: 0...900, using: &random)) }
        }
      default:
        let list = OrderedList(ids: Array(1...AssetID.random(in: 1...50, using: &random)))
        fetch.append(ListVersion(list, at: sequence, .now))
      }
      let keyBytes = fetch.observerCount == 0 ? key.utf8.count : 0
      #expect(fetch.keptBytes == fetch.versions.prefix(fetch.keptCount).reduce(keyBytes) { $0 + $1.cost })
    }
  }
}
