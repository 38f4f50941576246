import NIOCore
import TestTools
import Testing

@testable import Varlink

struct JSONScannerTests {
  private func members(_ text: String) throws -> [String: JSONScanner.Member] {
    try JSONScanner.members(["a", "b"], of: ByteBuffer(string: text).readableBytesUInt8Span)
  }

  @Test func membersOfTheOutermostObjectAreFound() throws {
    let text = #" { "x" : {"a":1} , "a" : [1, {"b":2}] , "b" : "q\"\u00e9" } "#
    let found = try members(text)
    let utf8 = Array(text.utf8)
    let a = try #require(found["a"])
    #expect(a.kind == .array && String(decoding: utf8[a.range], as: UTF8.self) == #"[1, {"b":2}]"#)
    let b = try #require(found["b"])
    #expect(b.kind == .string && b.hasEscapes && String(decoding: utf8[b.range], as: UTF8.self) == #""q\"\u00e9""#)
    #expect(found.count == 2)
  }

  @Test func theLaterOfTwoMembersOfOneNameCounts() throws {
    #expect(try members(#"{"a":1,"a":true}"#)["a"]?.kind == .bool(true))
  }

  @Test(arguments: [
    "0", "-0", "10", "-1.5", "1e5", "1E+5", "1.25e-10", "true", "false", "null", "\"\"", "\"\u{7F}é語🙂\"", "[]", "{}",
    "[1,2 , 3]", "{\"b\":{}}", "\"\\u0000\\ud83d\\n\"",
  ])
  func valuesOfTheGrammarPass(_ value: String) throws {
    _ = try members("{\"a\":\(value)}")
    _ = try members("{\"a\":[\(value),{\"k\":\(value)}]}")
  }

  @Test(arguments: [
    "", "01", "+1", "1.", ".5", "1e", "-", "tru", "nul", "NaN", "\"", "\"\\x\"", "\"\\u12g4\"", "\"\u{1}\"", "[1,]",
    "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "]", "[}", "'a'", "\u{FEFF}1", "1 2",
  ])
  func valuesOutsideTheGrammarAreRefused(_ value: String) throws {
    #expect(throws: JSONSyntaxError.self) { try members("{\"a\":\(value)}") }
  }

  @Test func theDepthIsBoundedExactly() throws {
    func nested(_ depth: Int) -> String {
      "{\"a\":" + String(repeating: "[", count: depth - 1) + String(repeating: "]", count: depth - 1) + "}"
    }
    _ = try members(nested(JSONScanner.maximumDepth))
    #expect(throws: JSONSyntaxError.self) { try members(nested(JSONScanner.maximumDepth + 1)) }
  }

  @Test func utf8IsValidatedLikeInTheStandardLibrary() throws {
    var generator = SeededGenerator(seed: 8)
    for _ in 0..<20_000 {
      let count = Int(generator.next() % 5) + 1
      let bytes = (0..<count).map { _ -> UInt8 in
        // Most bytes have the high bit set, near the borders of the table.
        let choices: [UInt8] = [
          0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5,
        ]
        return generator.next() % 8 == 0 ? UInt8(ascii: "z") : choices[Int(generator.next() % 15)]
      }
      var message = ByteBuffer(string: "{\"a\":\"")
      message.writeBytes(bytes)
      message.writeString("\"}")
      let isValid = String(validating: bytes, as: UTF8.self) != nil
      do {
        _ = try JSONScanner.members(["a"], of: message.readableBytesUInt8Span)
        #expect(isValid, "\(bytes)")
      } catch {
        #expect(!isValid, "\(bytes)")
      }
    }
  }
}

struct MessageFramerTests {
  private func frames(_ bytes: [UInt8], chunk: Int, maximum: Int) -> [MessageFramer.Frame] {
    var framer = MessageFramer(maximumMessageBytes: maximum)
    var found: [MessageFramer.Frame] = []
    for start in stride(from: 0, to: bytes.count, by: chunk) {
      framer.push(ByteBuffer(bytes: bytes[start..<min(start + chunk, bytes.count)]))
      while let frame = framer.next() {
        found.append(frame)
        if frame == .unrecoverable { return found }
      }
    }
    return found
  }

  @Test func chunksOfAnySizeGiveTheSameMessages() {
    let bytes = Array("one\0\0three is long\0four\0rest".utf8)
    for maximum in [5, 100] {
      let long = "three is long"
      let expected: [MessageFramer.Frame] = [
        .message(ByteBuffer(string: "one")), .message(ByteBuffer()),
        maximum < long.utf8.count ? .tooLarge : .message(ByteBuffer(string: long)),
        .message(ByteBuffer(string: "four")),
      ]
      for chunk in 1...bytes.count { #expect(frames(bytes, chunk: chunk, maximum: maximum) == expected) }
    }
  }

  /// A connection may hold some messages, and the start of another one. Only their own bytes are counted.
  @Test(arguments: [0, 1, 100, 9_000, 60_000])
  func keptBufferHoldsLittleMoreThanItsOwnBytes(length: Int) {
    var framer = MessageFramer(maximumMessageBytes: 1 << 20)
    let kept = ByteBuffer(repeating: 1, count: length)
    var chunk = ByteBuffer(repeating: 2, count: 70_000)
    for _ in 0..<3 {
      chunk.writeInteger(UInt8(0))
      chunk.writeImmutableBuffer(kept)
    }
    func expectLittle(_ buffer: ByteBuffer) {
      #expect(buffer == kept)
      #expect(buffer.storageCapacity <= 2 * length + 16, "\(length)")
    }
    framer.push(chunk)
    #expect(framer.next() == .message(ByteBuffer(repeating: 2, count: 70_000)))
    for _ in 0..<2 {
      guard case .message(let message)? = framer.next() else {
        Issue.record("no message")
        return
      }
      expectLittle(message)
    }
    #expect(framer.next() == nil && framer.pendingByteCount == length)
    #expect(framer.pending.storageCapacity <= 2 * length + 16, "\(length)")
  }

  @Test func anEndlessMessageEndsTheConnection() {
    for chunk in [1, 7, 64, 1000] {
      let found = frames([UInt8](repeating: 1, count: 1000), chunk: chunk, maximum: 10)
      // A chunk that is read at once may exceed the limit.
      #expect(found == (chunk == 1000 ? [] : [.unrecoverable]))
    }
  }
}

struct InterfaceDefinitionTests {
  @Test func nameAndMembersAreFoundInTheirOrder() throws {
    let definition = try VarlinkInterfaceDefinition(parsing: ExampleInterface().definition)
    #expect(definition.name == "org.example.test")
    #expect(definition.types == ["Item"])
    #expect(definition.methods == ["Echo", "Count", "Pages", "Items", "Fail", "Wait", "Later", "Release"])
    #expect(definition.errors == ["Refused"])
    #expect(definition.text == ExampleInterface().definition)
  }

  @Test(arguments: [
    ("", 1), ("method A() -> ()", 1), ("interface nodots", 1), ("interface org.example-", 1), ("interface .a.b", 1),
    ("interface org.a\nmethod a() -> ()", 2), ("interface org.a\n\nmethod A()", 3),
    ("interface org.a\nmethod A() -> (", 2), ("interface org.a\nerror A", 2), ("interface org.a\nnothing A ()", 2),
    ("interface org.a\n# note\ntype A ()\nmethod A() -> ()", 4), ("interface org.a é", 1),
  ])
  func anErrorIsReportedWithItsLine(_ text: String, _ line: Int) {
    let error = #expect(throws: VarlinkInterfaceDefinition.SyntaxError.self) {
      try VarlinkInterfaceDefinition(parsing: text)
    }
    #expect(error?.line == line)
  }

  @Test func commentsAndBracketsInCommentsDoNotCount() throws {
    let text = """
      # (((
      interface org.a-b.c0 // (
      method A( # )
        interface: string, method: ?[]string // )
      ) -> (error: [string](x: int))
      # method B() -> ()
      """
    #expect(try VarlinkInterfaceDefinition(parsing: text).methods == ["A"])
  }
}
