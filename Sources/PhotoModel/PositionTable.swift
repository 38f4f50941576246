/// Where each id of a list is: a hash table of positions, open addressing, linear probing.
///
/// It exists because a `Dictionary` of 100,000 ids costs more than all the rest of a difference. Ids are the daemon's
/// own numbers, so nobody can choose them to collide.
struct PositionTable {
  private let ids: [Int64]
  /// Positions in `ids`, −1 where free; a power of two, at most half full.
  private var slots: [Int32]
  private let shift: UInt64

  /// - Precondition: no id is there twice.
  /// - Complexity: O(n); 4 to 8 bytes an id beside the ids themselves.
  init(of ids: [Int64]) {
    precondition(ids.count < Int(Int32.max) / 4, "a list of \(ids.count) ids is too long")
    self.ids = ids
    var bits: UInt64 = 2
    while 1 << bits < ids.count * 2 { bits += 1 }
    shift = 64 - bits
    slots = [Int32](repeating: -1, count: 1 << bits)
    let mask = slots.count - 1
    let shift = shift
    slots.withUnsafeMutableBufferPointer { slots in
      for position in ids.indices {
        var slot = Self.slot(of: ids[position], shift: shift)
        while slots[slot] >= 0 {
          precondition(ids[Int(slots[slot])] != ids[position], "id \(ids[position]) is in a list twice")
          slot = (slot + 1) & mask
        }
        slots[slot] = Int32(position)
      }
    }
  }

  /// The position of an id, `nil` if it is not in the list.
  @inline(__always)
  func position(of id: Int64) -> Int? {
    let mask = slots.count - 1
    var slot = Self.slot(of: id, shift: shift)
    while slots[slot] >= 0 {
      let position = Int(slots[slot])
      if ids[position] == id { return position }
      slot = (slot + 1) & mask
    }
    return nil
  }

  /// Fibonacci hashing: consecutive ids, the usual case, spread evenly.
  @inline(__always)
  private static func slot(of id: Int64, shift: UInt64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: id) &* 0x9E37_79B9_7F4A_7C15) >> shift)
  }
}
