extension OrderedIDs {
  /// How many entries a leaf and how many children an inner node may have. Tests take small ones, to see every split.
  struct Shape: Hashable, Sendable {
    var leaf: Int
    var inner: Int

    static let usual = Shape(leaf: 256, inner: 64)

    func capacity(isLeaf: Bool) -> Int { isLeaf ? leaf : inner }
    /// What has less is mended with its neighbour; only the root may have less.
    func least(isLeaf: Bool) -> Int { Swift.max(1, capacity(isLeaf: isLeaf) / 4) }
  }

  /// A leaf, or an inner node. What one tree alone refers to is changed in place.
  final class Node {
    /// The same in every copy, so that what other nodes do doesn't change the maps that lead here.
    let number: UInt32
    /// Empty in an inner node, as `keys` is.
    var ids: [Int64]
    var keys: [UInt64]
    /// Empty in a leaf.
    var children: [Subtree]

    init(number: UInt32, ids: [Int64] = [], keys: [UInt64] = [], children: [Subtree] = []) {
      self.number = number
      self.ids = ids
      self.keys = keys
      self.children = children
    }

    var isLeaf: Bool { children.isEmpty }
    /// Of entries or of children.
    var size: Int { isLeaf ? ids.count : children.count }

    /// With room for another entry: an array that is copied because it is shared has none, and would double to get it.
    func copy(_ shape: Shape) -> Node {
      let copy = Node(number: number)
      copy.reserve(isLeaf: isLeaf, shape)
      copy.ids.append(contentsOf: ids)
      copy.keys.append(contentsOf: keys)
      copy.children.append(contentsOf: children)
      return copy
    }

    /// One more than may stay, for the moment before a split.
    func reserve(isLeaf: Bool, _ shape: Shape) {
      if isLeaf {
        ids.reserveCapacity(shape.leaf + 1)
        keys.reserveCapacity(shape.leaf + 1)
      } else {
        children.reserveCapacity(shape.inner + 1)
      }
    }

    /// The child that holds a position, and the position within it.
    func child(holding position: Int) -> (index: Int, offset: Int) {
      var offset = position
      var index = 0
      while offset >= children[index].count {
        offset -= children[index].count
        index += 1
      }
      return (index, offset)
    }

    /// The child where an entry may be inserted at a position: of two at whose border it is, the first.
    func child(taking position: Int) -> (index: Int, offset: Int) {
      var offset = position
      var index = 0
      while offset > children[index].count {
        offset -= children[index].count
        index += 1
      }
      return (index, offset)
    }
  }

  /// A node with what its parent must know of all that is below it.
  struct Subtree: Sendable {
    var node: Node
    private var entries: Int32
    let number: UInt32
    private(set) var part: DigestPart
    /// Of its first entry; 0 while there is none.
    private(set) var firstKey: UInt64
    private(set) var firstID: Int64

    init(_ node: Node) {
      self.node = node
      number = node.number
      entries = 0
      part = DigestPart()
      firstKey = 0
      firstID = 0
      refresh()
    }

    var count: Int { Int(entries) }

    /// To be called after every change of the node.
    mutating func refresh() {
      if node.isLeaf {
        entries = Int32(node.ids.count)
        part = DigestPart(of: node.ids)
        firstKey = node.keys.first ?? 0
        firstID = node.ids.first ?? 0
      } else {
        entries = 0
        part = DigestPart()
        node.children.withUnsafeBufferPointer { children in
          for child in children {
            entries += child.entries
            part.append(child.part)
          }
          firstKey = children[0].firstKey
          firstID = children[0].firstID
        }
      }
    }

    /// A node that is only this tree's.
    mutating func makeUnique(_ shape: Shape) {
      if !isKnownUniquelyReferenced(&node) { node = node.copy(shape) }
    }
  }

  /// What leads from an id to its leaf, and from a node to the one above.
  struct Numbering: Sendable {
    /// By id; 0 for ids that are not in the list.
    var leafOf = PagedNumbers()
    /// By number; 0 for the root.
    var parentOf = PagedNumbers()
    /// Of nodes that are no more, so that the numbers stay as small as the tree is.
    private var free: [UInt32] = []
    private var last: UInt32 = 0

    mutating func take() -> UInt32 {
      if let number = free.popLast() { return number }
      last += 1
      return last
    }

    mutating func release(_ number: UInt32) {
      parentOf[Int64(number)] = 0
      free.append(number)
    }
  }
}

// A node is changed only while one tree alone refers to it, so what two threads share never changes.
extension OrderedIDs.Node: @unchecked Sendable {}
