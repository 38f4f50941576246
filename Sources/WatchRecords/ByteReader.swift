// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// Reads a frame's payload from its beginning. Every read is checked against the payload's end.
package struct ByteReader {
  private let bytes: ArraySlice<UInt8>
  private var position: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The number of bytes read so far.
  package var offset: Int { position - bytes.startIndex }
  package var isAtEnd: Bool { position == bytes.endIndex }

  /// Reads a little-endian integer of at most 64 bits.
  package mutating func integer<Value: FixedWidthInteger>(_ field: String) throws(WatchFormatError) -> Value {
    let width = Value.bitWidth / 8
    guard bytes.endIndex - position >= width else {
      throw WatchFormatError(what: "the frame ends inside \(field)", offset: offset)
    }
    // `Value` takes part once only. Its operators are called through its witness table, which is slow for each byte.
    var pattern: UInt64 = 0
    for index in 0..<width { pattern |= UInt64(bytes[position + index]) << UInt64(8 * index) }
    position += width
    return Value(truncatingIfNeeded: pattern)
  }

  /// Reads a u16 length and that many bytes.
  package mutating func name(_ field: String) throws(WatchFormatError) -> [UInt8] {
    let start = offset
    let length: UInt16 = try integer(field)
    guard bytes.endIndex - position >= Int(length) else {
      throw WatchFormatError(
        what: "\(field) says \(length) bytes, \(bytes.endIndex - position) are left", offset: start)
    }
    defer { position += Int(length) }
    return Array(bytes[position..<position + Int(length)])
  }

  /// Reads this many bytes.
  package mutating func bytes(_ count: Int, _ field: String) throws(WatchFormatError) -> [UInt8] {
    guard bytes.endIndex - position >= count else {
      throw WatchFormatError(
        what: "\(field): \(count) are promised, \(bytes.endIndex - position) are left", offset: offset)
    }
    defer { position += count }
    return Array(bytes[position..<position + count])
  }

  package mutating func boolean(_ field: String) throws(WatchFormatError) -> Bool {
    let start = offset
    let value: UInt8 = try integer(field)
    guard value <= 1 else { throw WatchFormatError(what: "\(field) is \(value), not 0 or 1", offset: start) }
    return value == 1
  }

  /// Reads one byte that is the raw value of `Value`.
  package mutating func choice<Value: RawRepresentable>(_ field: String) throws(WatchFormatError) -> Value
  where Value.RawValue == UInt8 {
    let start = offset
    let raw: UInt8 = try integer(field)
    guard let value = Value(rawValue: raw) else {
      throw WatchFormatError(what: "\(field) can't be \(raw)", offset: start)
    }
    return value
  }
}

extension [UInt8] {
  /// Appends a little-endian integer of at most 64 bits.
  package mutating func append<Value: FixedWidthInteger>(integer value: Value) {
    var pattern = UInt64(truncatingIfNeeded: value)
    for _ in 0..<Value.bitWidth / 8 {
      append(UInt8(truncatingIfNeeded: pattern))
      pattern >>= 8
    }
  }

  /// A name must not exceed 65,535 bytes: NAME_MAX is 255 and PATH_MAX 4,096.
  package mutating func append(name: [UInt8]) {
    precondition(name.count <= Int(UInt16.max), "a name of \(name.count) bytes")
    append(integer: UInt16(name.count))
    append(contentsOf: name)
  }

  package mutating func append(boolean value: Bool) { append(value ? 1 : 0) }
}
