/// A Bloom filter (https://doi.org/10.1145/362686.362692). It always recognizes a number that was inserted. It wrongly
/// recognizes at most one in a thousand of the others.
///
/// It takes at least 16 bits a number. If more numbers come than it was made for, a filter of twice its size is added.
struct BloomFilter: Sendable {
  private struct Part {
    private static let bitsEach = 16
    private static let probes = 8

    private var words: [UInt64]
    private let mask: UInt64
    let capacity: Int
    var count = 0

    init(capacity wanted: Int) {
      var bits = 1 << 16
      while bits < wanted * Self.bitsEach { bits *= 2 }
      words = Array(repeating: 0, count: bits / 64)
      mask = UInt64(bits - 1)
      capacity = bits / Self.bitsEach
    }

    /// Two independent halves of one mixed number give all places (https://doi.org/10.1002/rsa.20208).
    private func places(_ number: UInt64) -> (first: UInt64, step: UInt64) {
      // The finalizer of SplitMix64 (https://doi.org/10.1145/2714064.2660195) spreads inodes, which are often
      // consecutive.
      var mixed = number &+ 0x9E37_79B9_7F4A_7C15
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      mixed ^= mixed >> 31
      return (mixed & 0xFFFF_FFFF, mixed >> 32 | 1)
    }

    mutating func insert(_ number: UInt64) {
      var (place, step) = places(number)
      for _ in 0..<Self.probes {
        words[Int((place & mask) / 64)] |= 1 << (place & 63)
        place &+= step
      }
      count += 1
    }

    func mayContain(_ number: UInt64) -> Bool {
      var (place, step) = places(number)
      for _ in 0..<Self.probes {
        if words[Int((place & mask) / 64)] & 1 << (place & 63) == 0 { return false }
        place &+= step
      }
      return true
    }
  }

  private var parts: [Part]

  /// - Parameter capacity: the expected number of numbers.
  init(capacity: Int) { parts = [Part(capacity: capacity)] }

  /// Inserts a number. A number that is known already takes no room.
  mutating func insert(_ number: UInt64) {
    if mayContain(number) { return }
    let last = parts.count - 1
    if parts[last].count >= parts[last].capacity {
      parts.append(Part(capacity: 2 * parts[last].capacity))
      parts[last + 1].insert(number)
    } else {
      parts[last].insert(number)
    }
  }

  func mayContain(_ number: UInt64) -> Bool { parts.contains { $0.mayContain(number) } }

  /// How many different numbers were inserted. A number that the filter wrongly recognized before is not counted, because
  /// it took no room.
  var count: Int { parts.reduce(0) { $0 + $1.count } }
}
