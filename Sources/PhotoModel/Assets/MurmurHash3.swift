/// MurmurHash3_x64_128 with seed 0 (https://github.com/aappleby/smhasher, public domain), for content in pieces.
///
/// This published algorithm of 60 lines gives 128 bits at the speed of memory, so reading is the whole cost. It
/// withstands chance but no attacker: a person who can put a colliding file into a folder could put a copy there as
/// well. Numbers are read as little-endian on every machine. Catalogs store the result, so it never changes.
package struct MurmurHash3 {
  private var h1: UInt64 = 0
  private var h2: UInt64 = 0
  private var count: UInt64 = 0
  private var tail: (k1: UInt64, k2: UInt64)?

  private static let c1: UInt64 = 0x87c3_7b91_1142_53d5
  private static let c2: UInt64 = 0x4cf5_ad43_2745_937f

  package init() {}

  /// - Parameter bytes: the next piece; only the last one may have a length that 16 does not divide.
  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    precondition(tail == nil, "only the last piece may have another length than a multiple of 16")
    var (a, b) = (h1, h2)
    let whole = bytes.count & ~15
    var place = 0
    while place < whole {
      a ^= Self.mixed1(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
      a = (Self.rotated(a, 27) &+ b) &* 5 &+ 0x52dc_e729
      b ^= Self.mixed2(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place + 8, as: UInt64.self)))
      b = (Self.rotated(b, 31) &+ a) &* 5 &+ 0x3849_5ab5
      place += 16
    }
    (h1, h2) = (a, b)
    count &+= UInt64(bytes.count)
    guard whole < bytes.count else { return }
    var (k1, k2): (UInt64, UInt64) = (0, 0)
    for (index, byte) in bytes[whole...].enumerated() {
      if index < 8 { k1 |= UInt64(byte) << UInt64(8 * index) } else { k2 |= UInt64(byte) << UInt64(8 * (index - 8)) }
    }
    tail = (k1, k2)
  }

  package func finish() -> ContentDigest {
    var (a, b) = (h1, h2)
    if let tail {
      b ^= Self.mixed2(tail.k2)
      a ^= Self.mixed1(tail.k1)
    }
    a ^= count
    b ^= count
    a &+= b
    b &+= a
    a = Self.finalized(a)
    b = Self.finalized(b)
    a &+= b
    b &+= a
    return ContentDigest(high: a, low: b)
  }

  @inline(__always) private static func mixed1(_ word: UInt64) -> UInt64 { rotated(word &* c1, 31) &* c2 }

  @inline(__always) private static func mixed2(_ word: UInt64) -> UInt64 { rotated(word &* c2, 33) &* c1 }

  @inline(__always) private static func rotated(_ word: UInt64, _ bits: UInt64) -> UInt64 {
    word << bits | word >> (64 - bits)
  }

  @inline(__always) private static func finalized(_ word: UInt64) -> UInt64 {
    var word = word
    word ^= word >> 33
    word = word &* 0xff51_afd7_ed55_8ccd
    word ^= word >> 33
    word = word &* 0xc4ce_b9fe_1a85_ec53
    return word ^ word >> 33
  }
}
