import PhotoModel

/// A table of the position of each id in a list.
///
/// It exists because a `Dictionary` of 100,000 ids costs more than all the rest of a difference. It has two forms:
/// 1. If the ids lie close together, as those of a whole library do, each id has a slot of its own.
/// 2. Otherwise, it is a hash table with open addressing and linear probing.
///
/// A client chooses the ids of `sinceIDs`. The hash therefore has a secret of this process: without it, ids that share one
/// slot are easy to find, and a list of them would take quadratic time.
struct PositionTable {
  private let ids: [AssetID]
  /// Positions in `ids`, or −1 for a free slot.
  private var slots: [Int32]
  private let form: Form

  private enum Form {
    /// The number of the id of the first slot.
    case ownSlots(from: Int64)
    /// The number of slots is a power of two, and at most half of them are taken. A slot's number is the upper bits of the
    /// hash, from `shift` on.
    case hashed(shift: UInt64, Secret)
  }

  typealias Secret = (mask: UInt64, factor: UInt64)

  /// - Parameter secret: the secret of this process. Tests pass others.
  /// - Precondition: no id is there twice.
  /// - Complexity: O(n); 8 to 16 bytes an id beside the ids themselves, or less if the ids lie close together.
  init(of ids: [AssetID], secret: Secret = Self.processSecret) {
    precondition(ids.count < Int(Int32.max) / 4, "a list of \(ids.count) ids is too long")
    self.ids = ids
    var bits: UInt64 = 2
    while 1 << bits < ids.count * 2 { bits += 1 }
    if let (first, count) = Self.span(of: ids), count <= 1 << bits {
      form = .ownSlots(from: first)
      slots = [Int32](repeating: -1, count: count)
      slots.withUnsafeMutableBufferPointer { slots in
        for position in ids.indices {
          let slot = Int(ids[position].rawValue - first)
          precondition(slots[slot] < 0, "id \(ids[position]) is in a list twice")
          slots[slot] = Int32(position)
        }
      }
      return
    }
    let shift = 64 - bits
    form = .hashed(shift: shift, secret)
    slots = [Int32](repeating: -1, count: 1 << bits)
    let mask = slots.count - 1
    slots.withUnsafeMutableBufferPointer { slots in
      for position in ids.indices {
        var slot = Self.slot(of: ids[position], shift: shift, secret: secret)
        while slots[slot] >= 0 {
          precondition(ids[Int(slots[slot])] != ids[position], "id \(ids[position]) is in a list twice")
          slot = (slot + 1) & mask
        }
        slots[slot] = Int32(position)
      }
    }
  }

  /// The smallest id, and how many numbers there are from it to the largest. The result is nil if there is no id, or if
  /// the numbers are too many to count.
  private static func span(of ids: [AssetID]) -> (first: Int64, count: Int)? {
    guard var first = ids.first, var last = ids.first else { return nil }
    for id in ids {
      first = min(first, id)
      last = max(last, id)
    }
    let (distance, overflows) = last.rawValue.subtractingReportingOverflow(first.rawValue)
    return overflows || distance > Int32.max ? nil : (first.rawValue, Int(distance) + 1)
  }

  /// The position of an id, `nil` if it is not in the list.
  @inline(__always)
  func position(of id: AssetID) -> Int? {
    switch form {
    case .ownSlots(let first):
      let (slot, overflows) = id.rawValue.subtractingReportingOverflow(first)
      guard !overflows, slot >= 0, slot < slots.count else { return nil }
      let position = Int(slots[Int(slot)])
      return position < 0 ? nil : position
    case .hashed(let shift, let secret):
      let mask = slots.count - 1
      var slot = Self.slot(of: id, shift: shift, secret: secret)
      while slots[slot] >= 0 {
        let position = Int(slots[slot])
        if ids[position] == id { return position }
        slot = (slot + 1) & mask
      }
      return nil
    }
  }

  /// How many slots a search for every id visits, in all. At half load it is about 1.5 for each id.
  var probeCount: Int {
    guard case .hashed(let shift, let secret) = form else { return ids.count }
    let mask = slots.count - 1
    return slots.indices.reduce(0) { count, slot in
      guard slots[slot] >= 0 else { return count }
      let first = Self.slot(of: ids[Int(slots[slot])], shift: shift, secret: secret)
      return count + ((slot - first) & mask) + 1
    }
  }

  /// Random for each process.
  private static let processSecret = randomSecret()

  /// The factor is odd, so that no bit of an id is lost.
  static func randomSecret() -> Secret {
    (mask: UInt64.random(in: 0 ... .max), factor: UInt64.random(in: 0 ... .max) | 1)
  }

  /// Multiplies the id by the secret, as wyhash does (https://github.com/wangyi-fudan/wyhash). Each half of the 128 bits
  /// depends on all bits of both. With some secrets, the upper bits do not spread consecutive ids. So both halves are
  /// mixed once more.
  @inline(__always)
  private static func slot(of id: AssetID, shift: UInt64, secret: Secret) -> Int {
    let product = (UInt64(bitPattern: id.rawValue) ^ secret.mask).multipliedFullWidth(by: secret.factor)
    let folded = product.high ^ product.low
    return Int(truncatingIfNeeded: ((folded ^ (folded >> 32)) &* 0xD6E8_FEB8_6659_FD93) >> shift)
  }
}
