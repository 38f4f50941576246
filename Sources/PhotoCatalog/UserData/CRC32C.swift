/// The cyclic redundancy check of iSCSI (RFC 3720, 12.1; polynomial 0x1EDC6F41, reflected): it finds every burst of up to
/// 32 bits, and every three single bits, in a line of the journal.
enum CRC32C {
  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : (value >> 1) ^ 0x82F6_3B78 }
  }

  static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
    var value: UInt32 = 0xFFFF_FFFF
    table.withUnsafeBufferPointer { table in
      for byte in bytes { value = (value >> 8) ^ table[Int(UInt8(truncatingIfNeeded: value) ^ byte)] }
    }
    return ~value
  }
}
