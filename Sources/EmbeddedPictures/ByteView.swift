// SPDX-License-Identifier: GPL-2.0-or-later

/// Bytes of a file. Every read is checked against their end.
package struct ByteView {
  package let bytes: UnsafeRawBufferPointer
  /// Keeps the memory.
  private let owner: AnyObject

  package init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) {
    self.bytes = bytes
    self.owner = owner
  }

  package var count: Int { bytes.count }

  /// - Returns: nil if the part is not within the bytes.
  package func part(at offset: Int, count: Int) -> ByteView? {
    guard offset >= 0, count >= 0, offset <= bytes.count, count <= bytes.count - offset else { return nil }
    return ByteView(UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]), owner: owner)
  }

  package func byte(at offset: Int) -> Int? {
    guard offset >= 0, offset < bytes.count else { return nil }
    return Int(bytes[offset])
  }

  package func number(at offset: Int, bytes width: Int, isLittle: Bool = false) -> Int? {
    guard let part = part(at: offset, count: width) else { return nil }
    var value: UInt64 = 0
    for index in 0..<width { value = value << 8 | UInt64(part.bytes[isLittle ? width - 1 - index : index]) }
    return Int(exactly: value)
  }

  package func uint16(at offset: Int, isLittle: Bool = false) -> Int? {
    number(at: offset, bytes: 2, isLittle: isLittle)
  }
  package func uint32(at offset: Int, isLittle: Bool = false) -> Int? {
    number(at: offset, bytes: 4, isLittle: isLittle)
  }

  /// Whether this ASCII text is at the offset.
  package func holds(_ text: StaticString, at offset: Int = 0) -> Bool {
    guard let part = part(at: offset, count: text.utf8CodeUnitCount) else { return false }
    for index in 0..<part.count where part.bytes[index] != text.utf8Start[index] { return false }
    return true
  }
}
