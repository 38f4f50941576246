import PhotoModel
import TestTools
import Testing

@testable import ChangeDetails

@Suite struct ListDigestTests {
  @Test func theContractsExampleHolds() {
    #expect(ListDigest(of: [1, 2, 3]).description == "00036800000ae692")
    #expect(ListDigest().description == "0000000000000000")
    #expect(ListDigest(of: [1]).description == "0000000000000001")
  }

  @Test func arithmeticAgreesWithPlainRemainders() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<300 {
      let ids = (0..<Int.random(in: 0...30, using: &generator)).map { _ in
        AssetID.random(in: 0 ... .max, using: &generator)
      }
      var h: UInt128 = 0
      for id in ids { h = (h * 1_099_511_628_211 + UInt128(id.rawValue)) % ((1 << 61) - 1) }
      #expect(ListDigest(of: ids).value == UInt64(h))
    }
    // Residues at the limits: an id equal to the modulus counts as 0, and a negative id as its positive remainder.
    #expect(ListDigest(of: [AssetID((1 << 61) - 1)]).value == 0)
    #expect(ListDigest(of: [-1]).value == (1 << 61) - 2)
    #expect(ListDigest(of: [.min, .max]).count == 2)
  }

  @Test func partsJoinWhereverTheyAreCut() {
    var generator = SeededGenerator(seed: 2)
    for _ in 0..<200 {
      let ids = (0..<Int.random(in: 0...200, using: &generator)).map { _ in
        AssetID.random(in: 1...1_000_000, using: &generator)
      }
      let cut = Int.random(in: 0...ids.count, using: &generator)
      #expect(ListDigest(of: ids[..<cut]).joined(with: ListDigest(of: ids[cut...])) == ListDigest(of: ids))
    }
  }

  @Test func orderAndContentMatter() {
    #expect(ListDigest(of: [1, 2, 3]) != ListDigest(of: [1, 3, 2]))
    #expect(ListDigest(of: [1, 2]) != ListDigest(of: [1, 2, 3]))
    // The count is a part of the proof, because a leading zero would not change the value.
    #expect(ListDigest(of: [0, 1]) != ListDigest(of: [1]))
  }
}
