/// The cyclic redundancy check of iSCSI (RFC 3720, 12.1; polynomial 0x1EDC6F41, reflected): it finds every burst of up to
/// 32 bits, and every three single bits, in a line of the journal.
enum CRC32C {
  /// The number of bytes that are processed at a time. With one table for each of them, no look-up waits for another.
  private static let width = 8

  /// The table at index k has the checksum of each byte, followed by k zero bytes.
  private static let tables: [UInt32] = {
    var tables: [UInt32] = []
    for byte in 0..<UInt32(256) {
      var value = byte
      for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : (value >> 1) ^ 0x82F6_3B78 }
      tables.append(value)
    }
    for index in 0..<256 * (width - 1) {
      let value = tables[index]
      tables.append((value >> 8) ^ tables[Int(value & 0xFF)])
    }
    return tables
  }()

  static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    let found = bytes.withContiguousStorageIfAvailable { Self.checksum(of: UnsafeRawBufferPointer($0)) }
    return found ?? Array(bytes).withUnsafeBytes { Self.checksum(of: $0) }
  }

  private static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt32 {
    tables.withUnsafeBufferPointer { tables in
      var value: UInt32 = 0xFFFF_FFFF
      var index = 0
      while index + width <= bytes.count {
        var word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ UInt64(value)
        value = 0
        for table in stride(from: (width - 1) * 256, through: 0, by: -256) {
          value ^= tables[table + Int(word & 0xFF)]
          word >>= 8
        }
        index += width
      }
      for byte in bytes[index...] { value = (value >> 8) ^ tables[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
      return ~value
    }
  }
}
