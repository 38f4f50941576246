/// Reads JSON (RFC 8259) of an expected form, value by value, and builds no tree of it.
///
/// It is strict and short. Anything that it does not expect throws ``Unexpected``, such as a member of another type, an
/// integer with an exponent, or a name with an escape in it. Then the caller has the general decoder read the same
/// bytes, which accepts them or explains the mistake. So this reader needs no error messages, and never has to guess.
/// It never reads beyond the bytes, whatever they are.
package struct JSONReader {
  /// The general decoder must read the bytes.
  package struct Unexpected: Error {}

  private let bytes: UnsafeBufferPointer<UInt8>
  private var position = 0

  /// - Parameter bytes: UTF-8, valid as long as the reader is used.
  package init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  /// Reads one value, after which there may be only space.
  package static func read<Value: JSONReadable>(_ type: Value.Type, from bytes: UnsafeBufferPointer<UInt8>)
    throws(Unexpected) -> Value
  {
    var reader = JSONReader(bytes)
    let value = try Value(from: &reader)
    reader.skipSpace()
    guard reader.position == bytes.count else { throw Unexpected() }
    return value
  }

  // MARK: Objects and arrays

  /// The name of a member, to compare with literals.
  package struct Name {
    fileprivate let bytes: UnsafeBufferPointer<UInt8>

    package static func ~= (name: StaticString, read: Name) -> Bool {
      guard name.utf8CodeUnitCount == read.bytes.count else { return false }
      for index in read.bytes.indices where name.utf8Start[index] != read.bytes[index] { return false }
      return true
    }
  }

  /// - Parameter member: reads or skips the value of each member.
  package mutating func object(_ member: (inout JSONReader, Name) throws(Unexpected) -> Void) throws(Unexpected) {
    try expect(UInt8(ascii: "{"))
    if take(UInt8(ascii: "}")) { return }
    repeat {
      let name = Name(bytes: try plainString())
      try expect(UInt8(ascii: ":"))
      try member(&self, name)
    } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "}"))
  }

  package mutating func array(_ element: (inout JSONReader) throws(Unexpected) -> Void) throws(Unexpected) {
    try expect(UInt8(ascii: "["))
    if take(UInt8(ascii: "]")) { return }
    repeat { try element(&self) } while take(UInt8(ascii: ","))
    try expect(UInt8(ascii: "]"))
  }

  /// Skips a value of any kind.
  package mutating func skip() throws(Unexpected) { try skip(depth: 0) }

  private mutating func skip(depth: Int) throws(Unexpected) {
    // This is the depth that a message may have. It bounds the recursion.
    guard depth < 128 else { throw Unexpected() }
    skipSpace()
    switch peek {
    case UInt8(ascii: "{"):
      try object { reader, _ throws(Unexpected) in try reader.skip(depth: depth + 1) }
    case UInt8(ascii: "["):
      try array { reader throws(Unexpected) in try reader.skip(depth: depth + 1) }
    case UInt8(ascii: "\""): _ = try string()
    case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
    case UInt8(ascii: "n"): guard takeNull() else { throw Unexpected() }
    default: _ = try double()
    }
  }

  // MARK: Values

  /// Takes a `null`, if one is next.
  package mutating func takeNull() -> Bool {
    skipSpace()
    return take(word: "null")
  }

  package mutating func bool() throws(Unexpected) -> Bool {
    skipSpace()
    if take(word: "true") { return true }
    guard take(word: "false") else { throw Unexpected() }
    return false
  }

  package mutating func int64() throws(Unexpected) -> Int64 {
    skipSpace()
    let isNegative = peek == UInt8(ascii: "-")
    if isNegative { position += 1 }
    let start = position
    var value: Int64 = 0
    while let digit = digit {
      // The value is built as a negative number, because the smallest integer has no positive counterpart.
      let (tenfold, isTooMuch) = value.multipliedReportingOverflow(by: 10)
      let (next, isBeyond) = tenfold.subtractingReportingOverflow(Int64(digit))
      guard !isTooMuch, !isBeyond else { throw Unexpected() }
      value = next
      position += 1
    }
    guard position > start, isAtEndOfValue, isNegative || value != .min else { throw Unexpected() }
    return isNegative ? value : -value
  }

  package mutating func double() throws(Unexpected) -> Double {
    skipSpace()
    let start = position
    while !isAtEndOfValue { position += 1 }
    // Swift reads texts that are not JSON, such as "nan". It reads every number of JSON correctly.
    let text = UnsafeBufferPointer(rebasing: bytes[start..<position])
    guard let first = text.first, first == UInt8(ascii: "-") || Self.isDigit(first),
      text.allSatisfy({ Self.isDigit($0) || ".eE+-".utf8.contains($0) }),
      let value = Self.decimal(text) ?? Double(String(decoding: text, as: UTF8.self)), value.isFinite
    else { throw Unexpected() }
    return value
  }

  /// Reads a number with at most 15 digits and no exponent. Both parts of the quotient are exact, so that it is rounded
  /// once, and is the nearest number. (W. D. Clinger, How to read floating point numbers accurately, 1990)
  private static func decimal(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
    guard text.count <= 17 else { return nil }
    var (digits, value, scale) = (0, 0.0, 1.0)
    var hasPoint = false
    for byte in text.dropFirst(text.first == UInt8(ascii: "-") ? 1 : 0) {
      if byte == UInt8(ascii: "."), !hasPoint, digits > 0 {
        hasPoint = true
      } else {
        guard isDigit(byte), digits < 15 else { return nil }
        digits += 1
        value = value * 10 + Double(byte - UInt8(ascii: "0"))
        if hasPoint { scale *= 10 }
      }
    }
    guard digits > 0, !hasPoint || scale > 1 else { return nil }
    return text.first == UInt8(ascii: "-") ? -(value / scale) : value / scale
  }

  package mutating func string() throws(Unexpected) -> String {
    try expect(UInt8(ascii: "\""))
    let start = position
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: "\""):
        defer { position += 1 }
        return String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<position]), as: UTF8.self)
      case UInt8(ascii: "\\"): return try escapedString(from: start)
      default: position += 1
      }
    }
    throw Unexpected()
  }

  /// Reads a string from its first escape on, which is next.
  private mutating func escapedString(from start: Int) throws(Unexpected) -> String {
    var text = Array(bytes[start..<position])
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text.append(contentsOf: String(try escape()).utf8)
      default: text.append(byte)
      }
    }
    throw Unexpected()
  }

  /// Reads an escape after its backslash.
  private mutating func escape() throws(Unexpected) -> Unicode.Scalar {
    let byte = peek
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"):
      // A surrogate is rare, so the general decoder reads it.
      guard let scalar = Unicode.Scalar(try hexNumber()) else { throw Unexpected() }
      return scalar
    default: throw Unexpected()
    }
  }

  private mutating func hexNumber() throws(Unexpected) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      let byte = peek
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): value = value << 4 | UInt32(byte - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): value = value << 4 | UInt32(byte - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): value = value << 4 | UInt32(byte - UInt8(ascii: "A") + 10)
      default: throw Unexpected()
      }
      position += 1
    }
    return value
  }

  /// The bytes of a string without escapes.
  private mutating func plainString() throws(Unexpected) -> UnsafeBufferPointer<UInt8> {
    try expect(UInt8(ascii: "\""))
    let start = position
    while position < bytes.count, bytes[position] != UInt8(ascii: "\""), bytes[position] != UInt8(ascii: "\\") {
      position += 1
    }
    let end = position
    try expect(UInt8(ascii: "\""))
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
  }

  // MARK: Bytes

  /// The next byte, or 0 at the end. No value contains a byte 0.
  private var peek: UInt8 { position < bytes.count ? bytes[position] : 0 }

  private var digit: UInt8? { Self.isDigit(peek) ? peek - UInt8(ascii: "0") : nil }

  private var isAtEndOfValue: Bool {
    switch peek {
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x0A, 0x0D, 0x09, 0: true
    default: false
    }
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  private mutating func skipSpace() {
    while case let byte = peek, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    skipSpace()
    guard peek == byte else { return false }
    position += 1
    return true
  }

  private mutating func take(word: StaticString) -> Bool {
    guard bytes.count - position >= word.utf8CodeUnitCount else { return false }
    for index in 0..<word.utf8CodeUnitCount where bytes[position + index] != word.utf8Start[index] { return false }
    position += word.utf8CodeUnitCount
    return true
  }

  private mutating func expect(_ byte: UInt8) throws(Unexpected) { guard take(byte) else { throw Unexpected() } }
}
