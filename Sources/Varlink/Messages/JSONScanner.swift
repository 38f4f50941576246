/// The reason why bytes are not a message.
struct JSONSyntaxError: Error, Equatable {
  let reason: StaticString
  /// The offset from the start of the message.
  let offset: Int

  static func == (a: JSONSyntaxError, b: JSONSyntaxError) -> Bool {
    a.offset == b.offset && a.reason.description == b.reason.description
  }
}

/// Scans a JSON text once (RFC 8259) and requires valid UTF-8. It bounds the depth and finds the members of the
/// outermost object, so that a message's own fields are known before the parameters are decoded.
///
/// It runs before Foundation's decoder, which therefore gets only well-formed parts of a message. A hundred thousand
/// `[` end here, at the 129th.
struct JSONScanner {
  /// The maximum nesting of objects and arrays. Deeper texts are rejected, because no interface has such parameters.
  static let maximumDepth = 128

  enum Kind: Equatable {
    case object, array, string, number
    case bool(Bool)
    case null
  }

  struct Member: Equatable {
    let kind: Kind
    /// The range of the value from the start of the text, including the quotes of a string.
    let range: Range<Int>
    /// Whether a string contains a backslash.
    let hasEscapes: Bool
  }

  private var position = 0

  /// The members of the outermost object that have one of these names; of two with the same name, the later.
  ///
  /// - Complexity: O(bytes); memory only for the wanted members.
  static func members(
    _ wanted: [StaticString], of bytes: borrowing Span<UInt8>
  ) throws(JSONSyntaxError) -> [String: Member] {
    var scanner = JSONScanner()
    scanner.skipWhitespace(bytes)
    guard scanner.peek(bytes) == UInt8(ascii: "{") else { throw scanner.error("not a JSON object") }
    var found: [String: Member] = [:]
    try scanner.object(bytes, depth: 1, wanted: wanted, into: &found)
    scanner.skipWhitespace(bytes)
    guard scanner.position == bytes.count else { throw scanner.error("more after the end of the object") }
    return found
  }

  // MARK: - Values

  private mutating func value(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONSyntaxError) -> Member {
    let start = position
    var hasEscapes = false
    let kind: Kind
    switch peek(bytes) {
    case UInt8(ascii: "{"):
      var none: [String: Member] = [:]
      try object(bytes, depth: depth + 1, wanted: [], into: &none)
      kind = .object
    case UInt8(ascii: "["):
      try array(bytes, depth: depth + 1)
      kind = .array
    case UInt8(ascii: "\""):
      hasEscapes = try string(bytes)
      kind = .string
    case UInt8(ascii: "t"):
      try literal("true", bytes)
      kind = .bool(true)
    case UInt8(ascii: "f"):
      try literal("false", bytes)
      kind = .bool(false)
    case UInt8(ascii: "n"):
      try literal("null", bytes)
      kind = .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try number(bytes)
      kind = .number
    default:
      throw error("a value was expected")
    }
    return Member(kind: kind, range: start..<position, hasEscapes: hasEscapes)
  }

  private mutating func object(
    _ bytes: borrowing Span<UInt8>, depth: Int, wanted: [StaticString], into found: inout [String: Member]
  ) throws(JSONSyntaxError) {
    guard depth <= Self.maximumDepth else { throw error("nested too deep") }
    position += 1
    skipWhitespace(bytes)
    if peek(bytes) == UInt8(ascii: "}") {
      position += 1
      return
    }
    while true {
      guard peek(bytes) == UInt8(ascii: "\"") else { throw error("a member's name was expected") }
      let nameStart = position + 1
      _ = try string(bytes)
      let name = nameStart..<(position - 1)
      skipWhitespace(bytes)
      guard peek(bytes) == UInt8(ascii: ":") else { throw error("a colon was expected") }
      position += 1
      skipWhitespace(bytes)
      let member = try value(bytes, depth: depth)
      for key in wanted where Self.equal(key, bytes, name) { found[key.description] = member }
      skipWhitespace(bytes)
      guard try another(bytes, end: UInt8(ascii: "}")) else { return }
    }
  }

  private mutating func array(_ bytes: borrowing Span<UInt8>, depth: Int) throws(JSONSyntaxError) {
    guard depth <= Self.maximumDepth else { throw error("nested too deep") }
    position += 1
    skipWhitespace(bytes)
    if peek(bytes) == UInt8(ascii: "]") {
      position += 1
      return
    }
    while true {
      _ = try value(bytes, depth: depth)
      skipWhitespace(bytes)
      guard try another(bytes, end: UInt8(ascii: "]")) else { return }
    }
  }

  /// Reads the byte after a member or element. Returns true after a comma and false after the closing bracket.
  private mutating func another(_ bytes: borrowing Span<UInt8>, end: UInt8) throws(JSONSyntaxError) -> Bool {
    let byte = peek(bytes)
    guard byte == UInt8(ascii: ",") || byte == end else { throw error("a comma or a closing bracket was expected") }
    position += 1
    guard byte != end else { return false }
    skipWhitespace(bytes)
    return true
  }

  /// Returns whether the string contains an escape.
  private mutating func string(_ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) -> Bool {
    position += 1
    var hasEscapes = false
    while position < bytes.count {
      let byte = bytes[position]
      switch byte {
      case UInt8(ascii: "\""):
        position += 1
        return hasEscapes
      case UInt8(ascii: "\\"):
        hasEscapes = true
        try escape(bytes)
      case 0..<0x20:
        throw error("a control character in a string")
      case 0x80...:
        try multibyteScalar(bytes)
      default:
        position += 1
      }
    }
    throw error("a string without end")
  }

  private mutating func escape(_ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) {
    position += 1
    switch peek(bytes) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 1
    case UInt8(ascii: "u"):
      for _ in 0..<4 {
        position += 1
        switch peek(bytes) {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
          UInt8(ascii: "A")...UInt8(ascii: "F"):
          break
        default: throw error("four hexadecimal digits were expected")
        }
      }
      position += 1
    default:
      throw error("an unknown escape")
    }
  }

  /// Reads one scalar of 2 to 4 bytes by the table of well-formed sequences (Unicode, table 3-7).
  private mutating func multibyteScalar(_ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) {
    let length: Int
    var second: ClosedRange<UInt8> = 0x80...0xBF
    switch bytes[position] {
    case 0xC2...0xDF: length = 2
    case 0xE0:
      length = 3
      second = 0xA0...0xBF
    case 0xED:
      length = 3
      second = 0x80...0x9F
    case 0xE1...0xEF: length = 3
    case 0xF0:
      length = 4
      second = 0x90...0xBF
    case 0xF1...0xF3: length = 4
    case 0xF4:
      length = 4
      second = 0x80...0x8F
    default: throw error("not UTF-8")
    }
    guard position + length <= bytes.count, second.contains(bytes[position + 1]) else { throw error("not UTF-8") }
    for index in position + 2..<max(position + length, position + 2) where bytes[index] & 0xC0 != 0x80 {
      throw error("not UTF-8")
    }
    position += length
  }

  private mutating func number(_ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) {
    if peek(bytes) == UInt8(ascii: "-") { position += 1 }
    if peek(bytes) == UInt8(ascii: "0") { position += 1 } else { try digits(bytes) }
    if peek(bytes) == UInt8(ascii: ".") {
      position += 1
      try digits(bytes)
    }
    if peek(bytes) | 0x20 == UInt8(ascii: "e") {
      position += 1
      if peek(bytes) == UInt8(ascii: "+") || peek(bytes) == UInt8(ascii: "-") { position += 1 }
      try digits(bytes)
    }
  }

  private mutating func digits(_ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) {
    let start = position
    while UInt8(ascii: "0")...UInt8(ascii: "9") ~= peek(bytes) { position += 1 }
    guard position > start else { throw error("a digit was expected") }
  }

  private mutating func literal(_ word: StaticString, _ bytes: borrowing Span<UInt8>) throws(JSONSyntaxError) {
    let end = position + word.utf8CodeUnitCount
    guard end <= bytes.count, Self.equal(word, bytes, position..<end) else { throw error("a value was expected") }
    position = end
  }

  // MARK: - Bytes

  /// The byte at the position, or 0 at the end. No value contains 0 outside of a string.
  private func peek(_ bytes: borrowing Span<UInt8>) -> UInt8 {
    position < bytes.count ? bytes[position] : 0
  }

  private mutating func skipWhitespace(_ bytes: borrowing Span<UInt8>) {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  private static func equal(_ word: StaticString, _ bytes: borrowing Span<UInt8>, _ range: Range<Int>) -> Bool {
    guard word.utf8CodeUnitCount == range.count else { return false }
    for index in 0..<range.count where word.utf8Start[index] != bytes[range.lowerBound + index] { return false }
    return true
  }

  private func error(_ reason: StaticString) -> JSONSyntaxError {
    JSONSyntaxError(reason: reason, offset: position)
  }
}
