// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// Reads a frame's payload from its beginning. Every read is checked against the payload's end.
///
/// Records consist of many small fields, so the generic functions are inlined into the modules that decode them.
@usableFromInline
package struct ByteReader {
  @usableFromInline let bytes: ArraySlice<UInt8>
  @usableFromInline var position: Int

  package init(_ bytes: ArraySlice<UInt8>) {
    self.bytes = bytes
    position = bytes.startIndex
  }

  /// The number of bytes read so far.
  @inlinable package var offset: Int { position - bytes.startIndex }
  package var isAtEnd: Bool { position == bytes.endIndex }

  /// Reads a little-endian integer of at most 64 bits.
  @inlinable
  package mutating func integer<Value: FixedWidthInteger & BitwiseCopyable>(
    _ field: String
  ) throws(WatchFormatError) -> Value {
    let width = Value.bitWidth / 8
    guard bytes.endIndex - position >= width else { throw end(inside: field) }
    let start = offset
    position += width
    return Value(littleEndian: bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Value.self) })
  }

  @usableFromInline
  func end(inside field: String) -> WatchFormatError {
    WatchFormatError(what: "the frame ends inside \(field)", offset: offset)
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

  /// Reads this many bytes as UTF-8.
  ///
  /// - Returns: nil if they are no UTF-8.
  package mutating func utf8(_ count: Int, _ field: String) throws(WatchFormatError) -> String? {
    guard bytes.endIndex - position >= count else {
      throw WatchFormatError(
        what: "\(field): \(count) are promised, \(bytes.endIndex - position) are left", offset: offset)
    }
    let start = offset
    position += count
    return bytes.withUnsafeBufferPointer { bytes in
      let text = UnsafeBufferPointer(rebasing: bytes[start..<start + count])
      // Nearly every text is ASCII. The general check looks up types at each call.
      if text.allSatisfy({ $0 < 0x80 }) { return String(decoding: text, as: UTF8.self) }
      return String(validating: text, as: UTF8.self)
    }
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
  @inlinable
  package mutating func append<Value: FixedWidthInteger>(integer value: Value) {
    Swift.withUnsafeBytes(of: UInt64(truncatingIfNeeded: value).littleEndian) {
      append(contentsOf: UnsafeRawBufferPointer(rebasing: $0[..<(Value.bitWidth / 8)]))
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
