import Foundation
import Testing

@testable import PhotoContract
@testable import PhotoModel

/// The hand-written reader returns the same values as Foundation's decoder, or leaves the text to that decoder.
struct JSONReadingTests {
  @Test func assetsAreReadFromTheirCodableForm() throws {
    var random = RandomValues(seed: 21)
    for round in 0..<2_000 {
      let asset = random.asset()
      let encoder = JSONEncoder()
      encoder.outputFormatting = round.isMultiple(of: 2) ? [.prettyPrinted] : []
      #expect(try read(Asset.self, Array(encoder.encode(asset))) == asset)
      #expect(try read(Asset.self, asset.json) == asset)
    }
  }

  @Test func observationsAreReadFromTheirCodableForm() throws {
    var random = RandomValues(seed: 25)
    for _ in 0..<500 {
      let observation = random.observation()
      #expect(try read(Observation.self, Array(JSONEncoder().encode(observation))) == observation)
    }
  }

  @Test func doublesAreReadAsFoundationDoes() throws {
    var random = RandomValues(seed: 22)
    var texts = ["0", "-0", "0.1", "-0.3", "1e5", "1E-3", "123456789012345", "0.000000000000001", "9007199254740993"]
    for _ in 0..<2_000 {
      texts.append(random.double().description)
      texts.append(String(decoding: [random.double()].json.dropFirst().dropLast(), as: UTF8.self))
    }
    for text in texts {
      let mine = try read([Double].self, Array("[\(text)]".utf8))
      let theirs = try JSONDecoder().decode([Double].self, from: Data("[\(text)]".utf8))
      #expect(mine[0].bitPattern == theirs[0].bitPattern, "\(text)")
    }
  }

  @Test func everyCharacterIsReadFromItsEscape() throws {
    for code in 0..<0x3000 {
      guard let scalar = Unicode.Scalar(code) else { continue }
      let digits = String(code, radix: 16)
      let escaped = #""a\u"# + String(repeating: "0", count: 4 - digits.count) + digits + #"b""#
      #expect(try read(String.self, Array(escaped.utf8)) == "a\(scalar)b")
    }
    #expect(try read(String.self, Array(#""\"\\\/\b\f\n\r\t""#.utf8)) == "\"\\/\u{8}\u{C}\n\r\t")
  }

  /// These texts are left to the general decoder, which reads some of them and reports errors for the others.
  @Test(arguments: [
    #"["#, #"[1"#, #"[1,"#, #"[1,]"#, #"[1 2]"#, #"[1]x"#, #"[1.5]"#, #"[1e2]"#, #"[9223372036854775808]"#, #"[-]"#,
    #"[nul]"#,
    #"["1"]"#, #"[-9223372036854775809]"#, #"{}"#, "",
  ])
  func unexpectedJSONIsLeftToTheGeneralDecoder(_ text: String) {
    #expect(throws: JSONReader.Unexpected.self) { try read([Int64].self, Array(text.utf8)) }
  }

  @Test(arguments: [#""\ud83d\ude00""#, #""\x""#, #""\u00g0""#, #""\u12"#, #""abc"#, #""abc\"#])
  func stringsThatAreNotExpectedAreLeftToTheGeneralDecoder(_ text: String) {
    #expect(throws: JSONReader.Unexpected.self) { try read(String.self, Array(text.utf8)) }
  }

  @Test func membersOfLaterVersionsArePassedOver() throws {
    var random = RandomValues(seed: 23)
    let asset = random.asset()
    let later =
      #"{"later":{"a":[1,-2.5e3,null,true,false,"x\n"],"b":{}},"#
      + String(decoding: asset.json.dropFirst(), as: UTF8.self)
    #expect(try read(Asset.self, Array(later.utf8)) == asset)
  }

  @Test func bytesThatEndAnywhereAreNotReadBeyond() throws {
    var random = RandomValues(seed: 24)
    for _ in 0..<20 {
      let json = random.asset().json
      for count in 0..<json.count {
        // The bytes are in memory of their own. If a reader continues beyond their end, it crashes or a sanitizer
        // reports it.
        #expect(throws: JSONReader.Unexpected.self) { try read(Asset.self, Array(json.prefix(count))) }
      }
    }
  }

  private func read<Value: JSONReadable>(_ type: Value.Type, _ bytes: [UInt8]) throws -> Value {
    try bytes.withUnsafeBufferPointer { try JSONReader.read(type, from: $0) }
  }
}
