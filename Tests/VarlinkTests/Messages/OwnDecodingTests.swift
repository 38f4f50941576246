import NIOCore
import Testing

@testable import Varlink

/// Types that parse their own JSON.
struct OwnDecodingTests {
  private struct Number: VarlinkDecodable, Equatable {
    let value: Int
    var isRead = false

    private enum CodingKeys: String, CodingKey { case value }

    init(from decoder: any Decoder) throws {
      value = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .value)
    }

    /// Parses only numbers of one digit.
    init?(json: UnsafeBufferPointer<UInt8>) {
      guard json.count == 11, json.starts(with: #"{"value":"#.utf8),
        let digit = Int(String(decoding: [json[9]], as: UTF8.self))
      else { return nil }
      (value, isRead) = (digit, true)
    }
  }

  private func decode(_ reply: String) throws -> Number {
    try ReplyEnvelope(ByteBuffer(string: reply)).decode(Number.self)
  }

  @Test func theTypesOwnParserComesFirst() throws {
    let number = try decode(#"{"continues":true,"parameters":{"value":7}}"#)
    #expect(number.value == 7 && number.isRead)
  }

  @Test func repliesThatItRejectsAreDecodedAsUsual() throws {
    let number = try decode(#"{"parameters":{"value":77}}"#)
    #expect(number.value == 77 && !number.isRead)
  }

  @Test func aReplyThatNeitherCanReadIsAnError() {
    #expect(throws: VarlinkClientError.self) { try decode(#"{"parameters":{"value":"x"}}"#) }
    #expect(throws: VarlinkClientError.self) { try decode("{}") }
  }
}
