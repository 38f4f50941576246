import PhotoModel

extension OrderedIDs {
  /// How many entries a leaf and how many children an inner node may have. Tests use small numbers, so that every kind
  /// of split happens.
  struct Shape: Hashable, Sendable {
    var leaf: Int
    var inner: Int

    static let usual = Shape(leaf: 256, inner: 64)

    func capacity(isLeaf: Bool) -> Int { isLeaf ? leaf : inner }
    /// A node with fewer entries or children is merged with its neighbour, or takes some from it. Only the root may
    /// have fewer.
    func least(isLeaf: Bool) -> Int { Swift.max(1, capacity(isLeaf: isLeaf) / 4) }
  }

  /// A leaf, or an inner node. A node is changed in place if only one tree refers to it.
  final class Node {
    /// The number that ``Numbering`` gave the node. A copy of the node has the same number, so the maps of
    /// ``Numbering`` stay valid when a node is copied.
    let number: UInt32
    /// The ids of a leaf in the order of the list. Empty in an inner node.
    var ids: [AssetID]
    /// The sort key of each id. Empty in an inner node.
    var keys: [UInt64]
    /// The children of an inner node in order. Empty in a leaf.
    var children: [Subtree]

    init(number: UInt32, ids: [AssetID] = [], keys: [UInt64] = [], children: [Subtree] = []) {
      self.number = number
      self.ids = ids
      self.keys = keys
      self.children = children
    }

    var isLeaf: Bool { children.isEmpty }
    /// The number of entries of a leaf, or of children of an inner node.
    var size: Int { isLeaf ? ids.count : children.count }

    /// Copies the node with room for one more entry or child. If Swift copied a shared array instead, that array would
    /// have no free capacity, and the next insertion would double its memory.
    func copy(_ shape: Shape) -> Node {
      let copy = Node(number: number)
      copy.reserve(isLeaf: isLeaf, shape)
      copy.ids.append(contentsOf: ids)
      copy.keys.append(contentsOf: keys)
      copy.children.append(contentsOf: children)
      return copy
    }

    /// Reserves capacity for one entry or child above the limit, because a node is split after the insertion.
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

  /// A node together with a summary of all entries below it, as its parent stores it.
  struct Subtree: Sendable {
    var node: Node
    /// The number of ids in all leaves below.
    private var entries: Int32
    /// The node's own number. A search among siblings can compare it without a memory access for each node.
    let number: UInt32
    /// The digest of all ids below.
    private(set) var part: DigestPart
    /// The key of the first entry, or 0 if there is none.
    private(set) var firstKey: UInt64
    private(set) var firstID: AssetID

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

    /// Computes the summary again. It must be called after every change of the node.
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

  /// The numbers of the nodes, and the maps that lead from an id to its leaf and from a node to its parent.
  struct Numbering: Sendable {
    /// The number of the leaf by id; 0 for ids that are not in the list.
    var leafOf = PagedNumbers()
    /// The number of the parent by the node's number; 0 for the root.
    var parentOf = PagedNumbers()
    /// The numbers of removed nodes. They are used again, so that the maps stay as small as the tree.
    private var free: [UInt32] = []
    /// The largest number that was given so far.
    private var last: UInt32 = 0

    /// Returns the number for a new node.
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

// A node is changed only while exactly one tree refers to it. A node that two threads share therefore never changes.
extension OrderedIDs.Node: @unchecked Sendable {}
