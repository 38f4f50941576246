/// Members with a key each, of which the one with the least key is known. A change costs O(log n).
struct OrderedQueue<Member: Hashable, Key: Comparable> {
  /// A binary heap: no key is less than that of its parent.
  private var heap: [(member: Member, key: Key)] = []
  private var positions: [Member: Int] = [:]

  var isEmpty: Bool { heap.isEmpty }

  var count: Int { heap.count }

  var first: (member: Member, key: Key)? { heap.first }

  /// All members, in no order.
  var members: [Member] { heap.map(\.member) }

  func contains(_ member: Member) -> Bool { positions[member] != nil }

  /// Adds a member, or gives it another key.
  mutating func set(_ member: Member, _ key: Key) {
    if let position = positions[member] {
      heap[position].key = key
      settle(position)
    } else {
      heap.append((member, key))
      positions[member] = heap.count - 1
      rise(heap.count - 1)
    }
  }

  mutating func remove(_ member: Member) {
    guard let position = positions.removeValue(forKey: member) else { return }
    let last = heap.removeLast()
    guard position < heap.count else { return }
    heap[position] = last
    positions[last.member] = position
    settle(position)
  }

  private mutating func settle(_ position: Int) {
    rise(position)
    sink(position)
  }

  private mutating func rise(_ position: Int) {
    var position = position
    while position > 0, heap[position].key < heap[(position - 1) / 2].key {
      exchange(position, (position - 1) / 2)
      position = (position - 1) / 2
    }
  }

  private mutating func sink(_ position: Int) {
    var position = position
    while true {
      var least = position
      for child in [2 * position + 1, 2 * position + 2]
      where child < heap.count && heap[child].key < heap[least].key { least = child }
      guard least != position else { return }
      exchange(position, least)
      position = least
    }
  }

  private mutating func exchange(_ one: Int, _ other: Int) {
    heap.swapAt(one, other)
    positions[heap[one].member] = one
    positions[heap[other].member] = other
  }
}

/// A path as a key. The order is that of its bytes.
struct PathKey: Comparable {
  let path: [UInt8]

  static func < (one: PathKey, other: PathKey) -> Bool { one.path.lexicographicallyPrecedes(other.path) }
}
