import PhotoModel

extension OrderedIDs: RandomAccessCollection {
  package var startIndex: Int { 0 }
  package var endIndex: Int { count }

  /// - Complexity: O(log n). For a run of positions, an iterator or ``ids(in:)`` is faster.
  package subscript(position: Int) -> AssetID {
    let (leaf, offset) = leaf(holding: position)
    return leaf.ids[offset]
  }

  /// The key that an entry was inserted with.
  /// - Complexity: O(log n)
  package func key(at position: Int) -> UInt64 {
    let (leaf, offset) = leaf(holding: position)
    return leaf.keys[offset]
  }

  fileprivate func leaf(holding position: Int) -> (leaf: Node, offset: Int) {
    precondition(position >= 0 && position < count, "a position of \(position) in a list of \(count)")
    var node = root.node
    var offset = position
    while !node.isLeaf {
      let child = node.child(holding: offset)
      offset = child.offset
      node = node.children[child.index].node
    }
    return (node, offset)
  }

  /// - Complexity: O(log n + m) for m ids, copied leaf by leaf.
  package func ids(in range: Range<Int>) -> [AssetID] {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "positions \(range) in a list of \(count)")
    var ids: [AssetID] = []
    ids.reserveCapacity(range.count)
    var position = range.lowerBound
    while position < range.upperBound {
      let (leaf, offset) = leaf(holding: position)
      let end = Swift.min(leaf.ids.count, offset + range.upperBound - position)
      ids.append(contentsOf: leaf.ids[offset..<end])
      position += end - offset
    }
    return ids
  }

  package struct Iterator: IteratorProtocol {
    private let list: OrderedIDs
    private var leaf: [AssetID] = []
    private var offset = 0
    /// The position after the current leaf.
    private var position: Int

    fileprivate init(_ list: OrderedIDs) {
      self.list = list
      position = 0
    }

    package mutating func next() -> AssetID? {
      if offset == leaf.count {
        guard position < list.count else { return nil }
        leaf = list.leaf(holding: position).leaf.ids
        position += leaf.count
        offset = 0
      }
      defer { offset += 1 }
      return leaf[offset]
    }
  }

  package func makeIterator() -> Iterator { Iterator(self) }
}

// MARK: - By key

extension OrderedIDs {
  /// The positions of all entries with a key. If there are none, the empty range where such an entry belongs.
  /// - Complexity: O(log n)
  package func positions(forKey key: UInt64) -> Range<Int> {
    partition(Cut(key: key, side: .start))..<partition(Cut(key: key, side: .end))
  }

  /// The position where an entry is, or would be inserted, in a list that orders the entries of one key by id.
  /// - Parameter ascending: whether the smaller of two ids comes first.
  /// - Complexity: O(log n)
  package func position(forKey key: UInt64, id: AssetID, ascending: Bool) -> Int {
    partition(Cut(key: key, side: ascending ? .ascending(id) : .descending(id)))
  }

  /// A place between two entries. All entries before it are at the start of the list.
  private struct Cut {
    enum Side {
      case start, end
      case ascending(AssetID)
      case descending(AssetID)
    }
    let key: UInt64
    let side: Side

    @inline(__always)
    func isAfter(key other: UInt64, id: AssetID) -> Bool {
      if other != key { return other < key }
      return switch side {
      case .start: false
      case .end: true
      case .ascending(let own): id < own
      case .descending(let own): id > own
      }
    }
  }

  /// How many entries precede a cut.
  private func partition(_ cut: Cut) -> Int {
    var node = root.node
    var start = 0
    while !node.isLeaf {
      // Finds the last child whose first entry precedes the cut. The cut is in it, or at its end.
      var (low, high) = (1, node.children.count)
      while low < high {
        let middle = (low + high) / 2
        if cut.isAfter(key: node.children[middle].firstKey, id: node.children[middle].firstID) {
          low = middle + 1
        } else {
          high = middle
        }
      }
      for index in 0..<low - 1 { start += node.children[index].count }
      node = node.children[low - 1].node
    }
    var (low, high) = (0, node.ids.count)
    while low < high {
      let middle = (low + high) / 2
      if cut.isAfter(key: node.keys[middle], id: node.ids[middle]) { low = middle + 1 } else { high = middle }
    }
    return start + low
  }
}

// MARK: - Digest and memory

extension OrderedIDs {
  /// The digest of the whole list.
  /// - Complexity: O(1)
  package var digest: ListDigest { root.part.digest(count: count) }

  /// The digest of the first entries, as a fetch with a limit publishes them.
  /// - Parameter length: at least 0. If it exceeds the count, the digest is that of the whole list.
  /// - Complexity: O(log n)
  package func digest(ofFirst length: Int) -> ListDigest {
    guard length < count else { return digest }
    precondition(length >= 0, "a length of \(length)")
    var part = DigestPart()
    var node = root.node
    var rest = length
    while !node.isLeaf, rest > 0 {
      let child = node.child(holding: rest)
      for index in 0..<child.index { part.append(node.children[index].part) }
      rest = child.offset
      node = node.children[child.index].node
    }
    if rest > 0 { part.append(DigestPart(of: node.ids[..<rest])) }
    return part.digest(count: length)
  }

  /// About how much memory the list needs, in bytes, including the parts that it shares with other lists.
  /// - Complexity: O(n), 5 nodes a thousand entries.
  package var byteCount: Int { byteCount(besides: []) }

  /// The same, without the parts that it shares with any of these lists.
  package func byteCount(besides others: [OrderedIDs]) -> Int {
    var shared: Set<ObjectIdentifier> = []
    for other in others { other.visit { shared.insert($0.0).inserted } }
    var bytes = 0
    visit { object, size in
      guard shared.insert(object).inserted else { return false }
      bytes += size
      return true
    }
    return bytes
  }

  private func visit(_ body: ((ObjectIdentifier, Int)) -> Bool) {
    Self.visit(root.node, body)
    numbering.leafOf.visitPages { body(($0, $1)) }
    numbering.parentOf.visitPages { body(($0, $1)) }
  }

  private static func visit(_ node: Node, _ body: ((ObjectIdentifier, Int)) -> Bool) {
    // The size of the object and of its arrays' headers, beside the elements.
    let bytes =
      48 + (node.isLeaf ? 80 : 40) + (node.ids.capacity + node.keys.capacity) * 8
      + node.children.capacity * MemoryLayout<Subtree>.stride
    guard body((ObjectIdentifier(node), bytes)) else { return }
    for child in node.children { visit(child.node, body) }
  }
}
