import PhotoModel

/// Writes JSON (RFC 8259) into bytes. It builds no tree of the values, so that it can write a million rows.
///
/// Members are in the order in which they are written. Each type writes its members sorted by name. So the bytes are
/// those of Foundation's encoder with `sortedKeys` and `withoutEscapingSlashes`. The writer does not check that the
/// result is one value.
package struct JSONWriter {
  package private(set) var bytes: [UInt8] = []
  /// The next member or element needs a comma before it.
  private var needsComma = false

  package init(capacity: Int = 0) { bytes.reserveCapacity(capacity) }

  // MARK: Objects and arrays

  package mutating func object(_ members: (inout JSONWriter) throws -> Void) rethrows {
    begin(UInt8(ascii: "{"))
    try members(&self)
    end(UInt8(ascii: "}"))
  }

  package mutating func array(_ elements: (inout JSONWriter) throws -> Void) rethrows {
    begin(UInt8(ascii: "["))
    try elements(&self)
    end(UInt8(ascii: "]"))
  }

  /// Writes a member's name. Its value must follow.
  ///
  /// - Parameter name: a name that needs no escapes.
  package mutating func name(_ name: StaticString) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  private mutating func begin(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
  }

  /// Writes a member, or nothing if the value is nil.
  package mutating func member<Value: JSONWritable>(_ name: StaticString, _ value: Value?) {
    guard let value else { return }
    self.name(name)
    value.write(to: &self)
  }

  // MARK: Values

  package mutating func value(_ integer: Int64) {
    separate()
    appendDecimal(integer)
  }

  package mutating func value(_ flag: Bool) {
    separate()
    append(flag ? "true" : "false")
  }

  /// Writes the shortest text that is read back as the same number; `null` for a number that JSON does not have.
  package mutating func value(_ number: Double) {
    separate()
    guard number.isFinite else { return append("null") }
    var text = number.description
    if text.hasSuffix(".0") { text.removeLast(2) }
    text.withUTF8 { bytes.append(contentsOf: $0) }
  }

  package mutating func value(_ date: PhotoDate) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    date.appendText(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  package mutating func value(_ text: String) {
    var text = text
    text.withUTF8 { value(utf8: $0) }
  }

  /// - Parameter text: valid UTF-8.
  private mutating func value(utf8 text: UnsafeBufferPointer<UInt8>) {
    separate()
    bytes.append(UInt8(ascii: "\""))
    var start = 0
    for index in text.indices {
      let byte = text[index]
      guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<index]))
      appendEscaped(byte)
      start = index + 1
    }
    bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start...]))
    bytes.append(UInt8(ascii: "\""))
  }

  // MARK: Going back

  /// A position in an array, before its next element.
  package struct Mark {
    fileprivate let byteCount: Int
    fileprivate let needsComma: Bool
  }

  package var mark: Mark { Mark(byteCount: bytes.count, needsComma: needsComma) }

  /// Removes the bytes that were written since the mark.
  package mutating func goBack(to mark: Mark) {
    bytes.removeLast(bytes.count - mark.byteCount)
    needsComma = mark.needsComma
  }

  // MARK: Bytes

  private mutating func append(_ text: StaticString) {
    bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private mutating func appendEscaped(_ byte: UInt8) {
    switch byte {
    case 0x08: append("\\b")
    case 0x09: append("\\t")
    case 0x0A: append("\\n")
    case 0x0C: append("\\f")
    case 0x0D: append("\\r")
    case 0..<0x20:
      append("\\u00")
      bytes.append(UInt8(ascii: "0") + byte >> 4)
      bytes.append(byte & 15 < 10 ? UInt8(ascii: "0") + byte & 15 : UInt8(ascii: "a") + byte & 15 - 10)
    default:
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    }
  }

  private mutating func appendDecimal(_ integer: Int64) {
    // 19 digits and the sign.
    withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var start = digits.count
      var rest = integer.magnitude
      repeat {
        start -= 1
        digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if integer < 0 {
        start -= 1
        digits[start] = UInt8(ascii: "-")
      }
      bytes.append(contentsOf: UnsafeBufferPointer(rebasing: digits[start...]))
    }
  }
}
