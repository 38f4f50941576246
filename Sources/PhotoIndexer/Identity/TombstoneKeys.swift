import PhotoCatalog

/// The keys by which the catalog's tombstones can be found. They show in some nanoseconds that a new file has none, and
/// in one nanosecond if there is no tombstone at all.
struct TombstoneKeys {
  /// The filter, or nil if there are no tombstones.
  private var filter: BloomFilter?
  /// Whether some tombstones never expire. These are found by their paths too.
  private(set) var hasLasting = false

  /// The three kinds of keys share a filter. Bits of its own distinguish each kind from the others.
  private enum Kind: UInt64 {
    case inode = 0
    case fingerprint = 0x5851_F42D_4C95_7F2D
    case path = 0xDA94_2042_E4DD_58B5
  }

  init() {}

  init(catalog: Catalog) throws {
    self = try catalog.read { reader in
      var keys = TombstoneKeys()
      let count = try reader.tombstoneCount()
      guard count > 0 else { return keys }
      keys.filter = BloomFilter(capacity: 4 * count)
      try reader.forEachTombstone { keys.insert(inode: $0, fingerprint: $1, lastingPath: $2) }
      return keys
    }
  }

  var isEmpty: Bool { filter == nil }

  mutating func insert(inode: UInt64?, fingerprint: UInt64?, lastingPath: [UInt8]? = nil) {
    var filter = self.filter.take() ?? BloomFilter(capacity: 0)
    if let inode { filter.insert(inode ^ Kind.inode.rawValue) }
    if let fingerprint { filter.insert(fingerprint ^ Kind.fingerprint.rawValue) }
    if let lastingPath {
      filter.insert(Self.key(lastingPath))
      hasLasting = true
    }
    self.filter = filter
  }

  func mayContain(inode: UInt64) -> Bool { filter?.mayContain(inode ^ Kind.inode.rawValue) ?? false }

  func mayContain(fingerprint: UInt64) -> Bool {
    filter?.mayContain(fingerprint ^ Kind.fingerprint.rawValue) ?? false
  }

  func mayContain(lastingPath: [UInt8]) -> Bool { filter?.mayContain(Self.key(lastingPath)) ?? false }

  private static func key(_ path: [UInt8]) -> UInt64 {
    UInt64(bitPattern: Int64(path.hashValue)) ^ Kind.path.rawValue
  }
}
