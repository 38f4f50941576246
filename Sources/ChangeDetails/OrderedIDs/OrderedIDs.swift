import PhotoModel

/// The list of one fetch, kept in order while photos come, go and change: a counted B+ tree with cheap copies.
///
/// Each entry is an id, which is in a list once only, and a key. The key approximates the fetch's sort order: key(x) <
/// key(y) only if x precedes y. The caller that inserts an entry settles ties by the position that it passes. A lookup
/// from a position to the id, from an id to its position, and of the ``ListDigest`` of any prefix is O(log n).
///
/// A copy is O(1). A change to a copy costs a path from the root, at most some 10 kB, not the list. A list that was
/// sent to a client can therefore be kept, and it costs only the changes since.
///
/// The ids are in leaves of up to 256. The nodes above hold the counts and digests of everything below. Nodes have
/// numbers that survive copying. Two ``PagedNumbers`` beside the tree lead from an id to the number of its leaf, and
/// from a node to its parent. They give a path from the root in the snapshot to which they belong.
package struct OrderedIDs: Sendable {
  let shape: Shape
  var root: Subtree
  var numbering: Numbering

  /// The empty list.
  package init() { self.init(shape: .usual) }

  init(shape: Shape) {
    precondition(shape.leaf >= 4 && shape.inner >= 8, "nodes too small to be rebalanced")
    self.shape = shape
    numbering = Numbering()
    root = Subtree(Node(number: numbering.take()))
  }

  /// - Parameters:
  ///   - ids: in the order of the list.
  ///   - keys: of the same entries, never descending.
  /// - Precondition: no id is in the list twice, and none is negative.
  /// - Complexity: O(n); about 21 bytes for each entry.
  package init(ids: [AssetID], keys: [UInt64]) { self.init(ids: ids, keys: keys, shape: .usual) }

  /// A list in an order that only the caller knows, such as the user's own order of an album. All keys are 0.
  package init(ids: [AssetID]) { self.init(ids: ids, keys: [UInt64](repeating: 0, count: ids.count), shape: .usual) }

  init(ids: [AssetID], keys: [UInt64], shape: Shape) {
    precondition(ids.count == keys.count, "\(ids.count) ids and \(keys.count) keys")
    self.init(shape: shape)
    guard !ids.isEmpty else { return }
    numbering.release(root.number)
    root = Self.root(above: Self.leaves(ids, keys, shape, &numbering), shape, &numbering)
  }

  package var count: Int { root.count }
  package var isEmpty: Bool { count == 0 }

  /// - Complexity: O(log n), with the steps of a radix tree.
  package func contains(_ id: AssetID) -> Bool { numbering.leafOf[id.rawValue] != 0 }

  /// The position of an id, or `nil` if it is not in the list.
  /// - Complexity: O(log n)
  package func position(of id: AssetID) -> Int? {
    let leaf = numbering.leafOf[id.rawValue]
    guard leaf != 0 else { return nil }
    let (node, start) = node(leaf)
    guard let index = node.ids.firstIndex(of: id) else { preconditionFailure("id \(id) is not in its leaf") }
    return start + index
  }

  /// The node with a number, and the position of its first entry.
  private func node(_ number: UInt32) -> (node: Node, start: Int) {
    if number == root.number { return (root.node, 0) }
    let (parent, start) = node(numbering.parentOf[Int64(number)])
    return parent.children.withUnsafeBufferPointer { children in
      var start = start
      for child in children {
        if child.number == number { return (child.node, start) }
        start += child.count
      }
      preconditionFailure("node \(number) is not below its parent")
    }
  }

  /// Whether both are the same tree, and so the same list. Equal lists may be different trees.
  /// - Complexity: O(1)
  package func isIdentical(to other: OrderedIDs) -> Bool { root.node === other.root.node }

  /// The same for identical lists. It is valid while one of them exists.
  package var identity: ObjectIdentifier { ObjectIdentifier(root.node) }

  // MARK: - From a sorted list

  private static func leaves(
    _ ids: [AssetID], _ keys: [UInt64], _ shape: Shape, _ numbering: inout Numbering
  ) -> [Subtree] {
    // Leaves are filled to about 85 %, so that the next insertions need no split.
    let usual = (shape.leaf * 7 + 7) / 8
    var leaves: [Subtree] = []
    leaves.reserveCapacity(ids.count / usual + 1)
    for start in stride(from: 0, to: ids.count, by: usual) {
      let end = Swift.min(start + usual, ids.count)
      leaves.append(
        Subtree(Node(number: numbering.take(), ids: Array(ids[start..<end]), keys: Array(keys[start..<end]))))
    }
    numbering.leafOf = leafOf(leaves, count: ids.count)
    if leaves.count > 1 { rebalance(&leaves, leaves.count - 1, shape, &numbering) }
    return leaves
  }

  private static func leafOf(_ leaves: [Subtree], count: Int) -> PagedNumbers {
    let largest = leaves.reduce(0) { Swift.max($0, $1.node.ids.max()?.rawValue ?? 0) }
    // Ids are usually dense. Then one array, which takes ids in any order, is filled first, and the pages are made from
    // it.
    let isDense = largest < Int64(count) * 4 + 1_000
    var dense = [UInt32](repeating: 0, count: isDense ? Int(largest) + 1 : 0)
    var sparse = PagedNumbers()
    for leaf in leaves {
      for id in leaf.node.ids {
        precondition(id >= 0, "id \(id) is negative")
        let other = isDense ? dense[Int(id.rawValue)] : sparse[id.rawValue]
        precondition(other == 0, "id \(id) is in a list twice")
        if isDense { dense[Int(id.rawValue)] = leaf.number } else { sparse[id.rawValue] = leaf.number }
      }
    }
    return isDense ? PagedNumbers(dense) : sparse
  }

  private static func root(above nodes: [Subtree], _ shape: Shape, _ numbering: inout Numbering) -> Subtree {
    var nodes = nodes
    let usual = (shape.inner * 7 + 7) / 8
    while nodes.count > 1 {
      var above: [Subtree] = []
      var start = 0
      while start < nodes.count {
        let end = Swift.min(start + usual, nodes.count)
        let node = Node(number: numbering.take(), children: Array(nodes[start..<end]))
        for child in node.children { numbering.parentOf[Int64(child.number)] = node.number }
        above.append(Subtree(node))
        start = end
      }
      nodes = []
      if above.count > 1 { rebalance(&above, above.count - 1, shape, &numbering) }
      nodes = above
    }
    return nodes[0]
  }
}
