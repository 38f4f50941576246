import PhotoModel

extension OrderedIDs {
  /// - Parameter position: the position of the new entry, from 0 to `count`. See ``position(forKey:id:ascending:)``.
  /// - Precondition: the id is not in the list and not negative. The key is not below that of the entry before, nor
  ///   above that of the entry after.
  /// - Complexity: O(log n). A full leaf is split, and then the map of ids is updated for one half.
  package mutating func insert(_ id: AssetID, key: UInt64, at position: Int) {
    precondition(position >= 0 && position <= count, "a position of \(position) in a list of \(count)")
    precondition(!contains(id), "id \(id) is in the list already")
    guard let sibling = root.insert(id, key: key, at: position, shape, &numbering) else { return }
    let node = Node(number: numbering.take(), children: [root, sibling])
    for child in node.children { numbering.parentOf[Int64(child.number)] = node.number }
    root = Subtree(node)
  }

  /// - Returns: the former position, or `nil` if the id was not in the list.
  /// - Complexity: O(log n). A leaf that becomes small is filled up from its neighbour, or joined with it.
  @discardableResult
  package mutating func remove(_ id: AssetID) -> Int? {
    guard let position = position(of: id) else { return nil }
    root.remove(at: position, shape, &numbering)
    numbering.leafOf[id.rawValue] = 0
    while root.node.children.count == 1 {
      numbering.release(root.number)
      root = root.node.children[0]
      numbering.parentOf[Int64(root.number)] = 0
    }
    return position
  }

  /// Repairs a child that has become too small. If the child and its neighbour hold little together, they become one
  /// node. Otherwise entries move between them until both hold about as many.
  static func rebalance(_ children: inout [Subtree], _ small: Int, _ shape: Shape, _ numbering: inout Numbering) {
    let isLeaf = children[small].node.isLeaf
    guard children.count > 1, children[small].node.size < shape.least(isLeaf: isLeaf) else { return }
    let left = small > 0 ? small - 1 : small
    let right = left + 1
    let sum = children[left].node.size + children[right].node.size
    children[left].makeUnique(shape)
    // A joined node is not filled to its capacity, because the next insertion would split it again.
    if sum <= shape.capacity(isLeaf: isLeaf) * 3 / 4 {
      children[left].append(contentsOf: children[right].node, shape, &numbering)
      numbering.release(children[right].number)
      children.remove(at: right)
    } else {
      children[right].makeUnique(shape)
      let node = children[left].node
      if node.size > sum / 2 {
        children[right].prepend(children[left].takeEnd(from: sum / 2), shape, &numbering)
      } else {
        let rest = children[right].takeEnd(from: sum / 2 - node.size)
        let start = children[right].node
        children[left].append(contentsOf: start, shape, &numbering)
        children[right].replaceContent(with: rest, shape)
      }
      children[right].refresh()
    }
    children[left].refresh()
  }
}

extension OrderedIDs.Subtree {
  typealias Node = OrderedIDs.Node
  typealias Shape = OrderedIDs.Shape
  typealias Numbering = OrderedIDs.Numbering

  /// - Returns: the subtree that follows this one, if it had to be split.
  mutating func insert(
    _ id: AssetID, key: UInt64, at position: Int, _ shape: Shape, _ numbering: inout Numbering
  ) -> OrderedIDs.Subtree? {
    makeUnique(shape)
    var sibling: OrderedIDs.Subtree?
    if node.isLeaf {
      assert(position == 0 || node.keys[position - 1] <= key, "a key below that of the entry before")
      assert(position == node.keys.count || node.keys[position] >= key, "a key above that of the entry after")
      if node.ids.count == node.ids.capacity { node.reserve(isLeaf: true, shape) }
      node.ids.insert(id, at: position)
      node.keys.insert(key, at: position)
      numbering.leafOf[id.rawValue] = number
      if node.ids.count > shape.leaf { sibling = split(insertedAt: position, shape, &numbering) }
    } else {
      let (index, offset) = node.child(taking: position)
      if let new = node.children[index].insert(id, key: key, at: offset, shape, &numbering) {
        if node.children.count == node.children.capacity { node.reserve(isLeaf: false, shape) }
        node.children.insert(new, at: index + 1)
        numbering.parentOf[Int64(new.number)] = number
        if node.children.count > shape.inner { sibling = split(insertedAt: index + 1, shape, &numbering) }
      }
    }
    refresh()
    return sibling
  }

  mutating func remove(at position: Int, _ shape: Shape, _ numbering: inout Numbering) {
    makeUnique(shape)
    if node.isLeaf {
      node.ids.remove(at: position)
      node.keys.remove(at: position)
    } else {
      let (index, offset) = node.child(holding: position)
      node.children[index].remove(at: offset, shape, &numbering)
      OrderedIDs.rebalance(&node.children, index, shape, &numbering)
    }
    refresh()
  }

  /// Splits the node into halves. If the insertion was at an end of the node, the next ones probably are there too, as
  /// in a list by date. Then the half at that end gets fewer entries, so that it has room for them.
  private mutating func split(insertedAt index: Int, _ shape: Shape, _ numbering: inout Numbering) -> OrderedIDs.Subtree
  {
    let size = node.size
    let cut = index == size - 1 ? size - size / 4 : index == 0 ? size / 4 + 1 : size / 2
    let end = takeEnd(from: cut)
    let sibling = Node(number: numbering.take())
    var subtree = OrderedIDs.Subtree(sibling)
    subtree.append(contentsOf: end, shape, &numbering)
    subtree.refresh()
    return subtree
  }

  /// Cuts off the end of a node that belongs to this tree alone. The result has no number, because its content goes
  /// into other nodes.
  fileprivate mutating func takeEnd(from cut: Int) -> Node {
    if node.isLeaf {
      let end = Node(number: 0, ids: Array(node.ids[cut...]), keys: Array(node.keys[cut...]))
      node.ids.removeSubrange(cut...)
      node.keys.removeSubrange(cut...)
      return end
    }
    let end = Node(number: 0, children: Array(node.children[cut...]))
    node.children.removeSubrange(cut...)
    return end
  }

  /// Appends the content of another node, and updates the maps.
  fileprivate mutating func append(contentsOf other: Node, _ shape: Shape, _ numbering: inout Numbering) {
    node.reserve(isLeaf: other.isLeaf, shape)
    node.ids.append(contentsOf: other.ids)
    node.keys.append(contentsOf: other.keys)
    node.children.append(contentsOf: other.children)
    for id in other.ids { numbering.leafOf[id.rawValue] = number }
    for child in other.children { numbering.parentOf[Int64(child.number)] = number }
  }

  fileprivate mutating func prepend(_ other: Node, _ shape: Shape, _ numbering: inout Numbering) {
    node.reserve(isLeaf: other.isLeaf, shape)
    node.ids.insert(contentsOf: other.ids, at: 0)
    node.keys.insert(contentsOf: other.keys, at: 0)
    node.children.insert(contentsOf: other.children, at: 0)
    for id in other.ids { numbering.leafOf[id.rawValue] = number }
    for child in other.children { numbering.parentOf[Int64(child.number)] = number }
  }

  /// Replaces the content by a part of it that ``takeEnd(from:)`` cut off. The maps of ids need no update, because they
  /// name this node for that part already.
  fileprivate mutating func replaceContent(with rest: Node, _ shape: Shape) {
    node = Node(number: number, ids: rest.ids, keys: rest.keys, children: rest.children)
    node.reserve(isLeaf: rest.isLeaf, shape)
  }
}
