import Foundation
import Testing

@testable import PhotoContract
@testable import PhotoModel

/// Tests that ``JSONWriter``, which does not use Codable, writes the same bytes as Foundation's encoder.
struct JSONWritingTests {
  @Test func assetsAreWrittenAsTheirCodableForm() throws {
    var random = RandomValues(seed: 11)
    for _ in 0..<2_000 {
      let asset = random.asset()
      try expectSame(asset)
      #expect(try JSONDecoder().decode(Asset.self, from: Data(asset.json)) == asset)
    }
  }

  @Test func observationsAreWrittenAsTheirCodableForm() throws {
    var random = RandomValues(seed: 12)
    for _ in 0..<500 { try expectSame(random.observation()) }
  }

  @Test func historyIsWrittenAsItsCodableForm() throws {
    var random = RandomValues(seed: 14)
    for _ in 0..<500 { try expectSame(random.historyPage()) }
  }

  @Test func everyCharacterIsWrittenAsFoundationEscapesIt() throws {
    let scalars = (0..<0x300).compactMap(Unicode.Scalar.init) + ["\u{2028}", "\u{2029}", "\u{FFFD}", "\u{FEFF}", "😀"]
    for scalar in scalars { try expectSame(["a\(scalar)b", "\(scalar)"]) }
  }

  @Test func numbersAreWrittenAsFoundationDoes() throws {
    try expectSame([Int64.min, Int64.min + 1, -10, -1, 0, 1, 9, 10, 99, 100, 4_294_967_296, Int64.max])
    let doubles = [
      0, -0.0, 1, -1, 0.1, 1.0 / 3, 1.0 / 60, 1e15, 1e16, 1e17, 1.5e300, .leastNonzeroMagnitude, 1e-5, 1.25e-7, .pi,
      123456.789,
      .greatestFiniteMagnitude, .leastNormalMagnitude, 9_007_199_254_740_992,
    ]
    try expectSame(doubles)
    var random = RandomValues(seed: 13)
    try expectSame((0..<2_000).map { _ in random.double() })
  }

  /// JSON has neither NaN nor infinity, and Foundation throws an error for them. A reply must not fail because one file
  /// has such a value.
  @Test func nanAndInfinityAreWrittenAsNull() {
    #expect(String(decoding: [Double.nan, .infinity, -.infinity].json, as: UTF8.self) == "[null,null,null]")
  }

  @Test func goingBackRemovesEverythingAfterTheMark() {
    var writer = JSONWriter()
    writer.array {
      $0.value(true)
      let mark = $0.mark
      $0.value("two")
      $0.goBack(to: mark)
      $0.value("three")
    }
    #expect(String(decoding: writer.bytes, as: UTF8.self) == #"[true,"three"]"#)
  }

  private func expectSame<Value: JSONWritable & Encodable>(_ value: Value) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let (mine, theirs) = (value.json, Array(try encoder.encode(value)))
    #expect(mine == theirs, "\(String(decoding: mine, as: UTF8.self)) is \(String(decoding: theirs, as: UTF8.self))")
  }
}
