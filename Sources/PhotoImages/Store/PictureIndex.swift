/// The pictures that the store has.
///
/// An entry takes 32 bytes in an array of blocks, and 4 to 11 bytes in a hash table over the ids of assets, so at most
/// 43 bytes for each picture. Blocks do not move when the index grows.
struct PictureIndex: Sendable {
  struct Entry: Hashable, Sendable {
    var key: PictureKey
    /// The last use, by the clock of the store.
    var lastUse: UInt32
    /// Bits 0 to 29: the size in bytes. Bit 30: whether it is PNG. Bit 31: whether the last use was a sending.
    private var packed: UInt32

    static let maximumBytes = (1 << 30) - 1

    init(key: PictureKey, lastUse: UInt32, byteCount: Int, isPNG: Bool) {
      self.key = key
      self.lastUse = lastUse
      packed = UInt32(min(byteCount, Self.maximumBytes)) | (isPNG ? 1 << 30 : 0)
    }

    var byteCount: Int { Int(packed & UInt32(Self.maximumBytes)) }
    var isPNG: Bool { packed & (1 << 30) != 0 }
    var wasSent: Bool {
      get { packed & (1 << 31) != 0 }
      set { packed = newValue ? packed | (1 << 31) : packed & ~(1 << 31) }
    }
  }

  private static let blockSize = 1024

  private var blocks: [[Entry]] = []
  private(set) var count = 0
  /// Places in `blocks` plus one, or 0. All entries of an asset are found by linear probing from the hash of its id.
  private var table: [UInt32] = Array(repeating: 0, count: 1024)
  /// The sizes of all entries together.
  private(set) var byteCount: Int64 = 0

  subscript(key: PictureKey) -> Entry? { slot(of: key).map { entry(Int(table[$0]) - 1) } }

  /// - Complexity: O(the entries of the asset).
  func entries(of assetID: Int64) -> [Entry] {
    var found: [Entry] = []
    var slot = home(assetID)
    while table[slot] != 0 {
      let entry = entry(Int(table[slot]) - 1)
      if entry.key.assetID == assetID { found.append(entry) }
      slot = (slot + 1) & (table.count - 1)
    }
    return found
  }

  /// Inserts an entry, or replaces the one with its key.
  mutating func set(_ entry: Entry) {
    byteCount += Int64(entry.byteCount)
    if let slot = slot(of: entry.key) {
      let place = Int(table[slot]) - 1
      byteCount -= Int64(self.entry(place).byteCount)
      blocks[place / Self.blockSize][place % Self.blockSize] = entry
      return
    }
    if (count + 1) * 3 > table.count * 2 { grow() }
    if count == blocks.count * Self.blockSize {
      var block: [Entry] = []
      block.reserveCapacity(Self.blockSize)
      blocks.append(block)
    }
    if blocks[count / Self.blockSize].count == count % Self.blockSize {
      blocks[count / Self.blockSize].append(entry)
    } else {
      blocks[count / Self.blockSize][count % Self.blockSize] = entry
    }
    table[freeSlot(for: entry.key.assetID)] = UInt32(count + 1)
    count += 1
  }

  @discardableResult
  mutating func remove(_ key: PictureKey) -> Entry? {
    guard let slot = slot(of: key) else { return nil }
    let place = Int(table[slot]) - 1
    let removed = entry(place)
    close(slot)
    let last = count - 1
    if place != last {
      let moved = entry(last)
      if let slot = self.slot(of: moved.key) { table[slot] = UInt32(place + 1) }
      blocks[place / Self.blockSize][place % Self.blockSize] = moved
    }
    blocks[last / Self.blockSize].removeLast()
    if blocks[blocks.count - 1].isEmpty { blocks.removeLast() }
    count -= 1
    byteCount -= Int64(removed.byteCount)
    return removed
  }

  /// The entries that were used least recently and meet a condition.
  /// - Complexity: O(*n* log *m*) for *m* entries of *n*.
  func oldest(_ most: Int, where isCandidate: (Entry) -> Bool) -> [Entry] {
    // The newest of the oldest ones is at the end, and is replaced first.
    var found: [Entry] = []
    for block in blocks {
      for entry in block {
        if found.count == most, let last = found.last, entry.lastUse >= last.lastUse { continue }
        guard isCandidate(entry) else { continue }
        var (low, high) = (0, found.count)
        while low < high {
          let middle = (low + high) / 2
          if found[middle].lastUse <= entry.lastUse { low = middle + 1 } else { high = middle }
        }
        found.insert(entry, at: low)
        if found.count > most { found.removeLast() }
      }
    }
    return found
  }

  var all: some Sequence<Entry> { blocks.joined() }

  // MARK: - Private

  private func entry(_ place: Int) -> Entry { blocks[place / Self.blockSize][place % Self.blockSize] }

  private func home(_ assetID: Int64) -> Int {
    let mixed = UInt64(bitPattern: assetID) &* 0x9E37_79B9_7F4A_7C15
    return Int(truncatingIfNeeded: (mixed ^ mixed >> 32) & UInt64(table.count - 1))
  }

  private func slot(of key: PictureKey) -> Int? {
    var slot = home(key.assetID)
    while table[slot] != 0 {
      if entry(Int(table[slot]) - 1).key == key { return slot }
      slot = (slot + 1) & (table.count - 1)
    }
    return nil
  }

  private func freeSlot(for assetID: Int64) -> Int {
    var slot = home(assetID)
    while table[slot] != 0 { slot = (slot + 1) & (table.count - 1) }
    return slot
  }

  /// Empties a slot, and moves those after it so that all are still found.
  private mutating func close(_ removed: Int) {
    let mask = table.count - 1
    var (hole, slot) = (removed, (removed + 1) & mask)
    table[hole] = 0
    while table[slot] != 0 {
      let wanted = home(entry(Int(table[slot]) - 1).key.assetID)
      if (slot - wanted) & mask >= (slot - hole) & mask {
        table[hole] = table[slot]
        table[slot] = 0
        hole = slot
      }
      slot = (slot + 1) & mask
    }
  }

  private mutating func grow() {
    table = Array(repeating: 0, count: table.count * 2)
    for place in 0..<count { table[freeSlot(for: entry(place).key.assetID)] = UInt32(place + 1) }
  }
}
