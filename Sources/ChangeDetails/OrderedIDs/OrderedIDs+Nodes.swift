extension OrderedIDs {
  /// How many entries a leaf and how many children an inner node may have. Tests use small numbers, so that every kind
  /// of split happens.
  struct Shape: Hashable, Sendable {
    var leaf: Int
    var inner: Int

    static let usual = Shape(leaf: 256, inner: 64)

    func capacity(isLeaf: Bool) -> Int { isLeaf ? leaf : inner }
    /// A node with less is repaired with its neighbour. Only the root may have less.
    func least(isLeaf: Bool) -> Int { Swift.max(1, capacity(isLeaf: isLeaf) / 4) }
  }

  /// A leaf, or an inner node. A node is changed in place if only one tree refers to it.
  final class Node {
    /// The same in every copy, so that copying a node does not change the entries of other nodes in the maps.
    let number: UInt32
    /// Empty in an inner node, as is `keys`.
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
    /// The number of entries of a leaf, or of children of an inner node.
    var size: Int { isLeaf ? ids.count : children.count }

    /// Copies the node with room for another entry. An array that is copied because it is shared has no room, and its
    /// next growth would double it.
    func copy(_ shape: Shape) -> Node {
      let copy = Node(number: number)
      copy.reserve(isLeaf: isLeaf, shape)
      copy.ids.append(contentsOf: ids)
      copy.keys.append(contentsOf: keys)
      copy.children.append(contentsOf: children)
      return copy
    }

    /// Reserves one more than may stay, for the moment before a split.
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

    /// The child into which an entry can be inserted at a position. At the border of two children, it is the first.
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

  /// A node, with the facts about everything below it that its parent needs.
  struct Subtree: Sendable {
    var node: Node
    private var entries: Int32
    let number: UInt32
    private(set) var part: DigestPart
    /// The key of its first entry, 0 while there is none.
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

    /// Must be called after every change of the node.
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

    /// Ensures that only this tree refers to the node.
    mutating func makeUnique(_ shape: Shape) {
      if !isKnownUniquelyReferenced(&node) { node = node.copy(shape) }
    }
  }

  /// The maps that lead from an id to its leaf, and from a node to its parent.
  struct Numbering: Sendable {
    /// The number of the leaf by id; 0 for ids that are not in the list.
    var leafOf = PagedNumbers()
    /// The number of the parent by the node's number; 0 for the root.
    var parentOf = PagedNumbers()
    /// The numbers of removed nodes. They are used again, so that the numbers stay as small as the tree.
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
