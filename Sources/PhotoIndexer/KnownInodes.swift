import PhotoCatalog
import Synchronization

/// Which inodes the catalog may have a file of: a Bloom filter (https://doi.org/10.1145/362686.362692).
///
/// A new file is looked up by its inode, since it may be a known one that moved; most are new, and the filter says so in
/// some nanoseconds. It never denies an inode that the catalog has; of those that it hasn't at most one in a thousand is
/// looked up in vain. What leaves the catalog stays in the filter until photod starts again.
///
/// 16 bits an inode at least: 4 MiB for a million files, whose inodes are read from the catalog in 60 ms.
final class KnownInodes: Sendable {
  /// A filter has a fixed size: where more come than it is for, one of twice its size is put beside it.
  private struct Filter {
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
    private func places(_ inode: UInt64) -> (first: UInt64, step: UInt64) {
      // The finalizer of SplitMix64 (https://doi.org/10.1145/2714064.2660195): inodes are neighbours, places must not be.
      var mixed = inode &+ 0x9E37_79B9_7F4A_7C15
      mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
      mixed ^= mixed >> 31
      return (mixed & 0xFFFF_FFFF, mixed >> 32 | 1)
    }

    mutating func insert(_ inode: UInt64) {
      var (place, step) = places(inode)
      for _ in 0..<Self.probes {
        words[Int((place & mask) / 64)] |= 1 << (place & 63)
        place &+= step
      }
      count += 1
    }

    func mayContain(_ inode: UInt64) -> Bool {
      var (place, step) = places(inode)
      for _ in 0..<Self.probes {
        if words[Int((place & mask) / 64)] & 1 << (place & 63) == 0 { return false }
        place &+= step
      }
      return true
    }
  }

  private let filters: Mutex<[Filter]>

  /// Of every file that the catalog has now.
  init(catalog: Catalog) throws {
    let filter = try catalog.read { reader in
      var filter = Filter(capacity: 2 * (try reader.fileCount()))
      try reader.forEachInode { filter.insert($0) }
      return filter
    }
    filters = Mutex([filter])
  }

  func insert(_ inode: UInt64) {
    filters.withLock { filters in
      let last = filters.count - 1
      if filters[last].count >= filters[last].capacity {
        filters.append(Filter(capacity: 2 * filters[last].capacity))
        filters[last + 1].insert(inode)
      } else {
        filters[last].insert(inode)
      }
    }
  }

  func mayContain(_ inode: UInt64) -> Bool {
    filters.withLock { $0.contains { $0.mayContain(inode) } }
  }
}
