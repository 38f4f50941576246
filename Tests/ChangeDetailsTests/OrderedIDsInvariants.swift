import PhotoModel

@testable import ChangeDetails

extension OrderedIDs {
  /// Checks what must hold in every tree at every moment. Returns `nil`, or the invariant that does not hold.
  func brokenInvariant() -> String? {
    var check = InvariantCheck(list: self)
    check.visit(root, isRoot: true)
    return check.broken
  }
}

/// Visits a whole tree, and compares everything that is recorded about a node with the node itself.
private struct InvariantCheck {
  let list: OrderedIDs
  var broken: String?
  private var seen: Set<UInt32> = []
  private var ids: Set<AssetID> = []
  private var lastKey: UInt64 = 0

  init(list: OrderedIDs) { self.list = list }

  /// - Returns: how many levels are below.
  @discardableResult
  mutating func visit(_ subtree: OrderedIDs.Subtree, isRoot: Bool) -> Int {
    let node = subtree.node
    let shape = list.shape
    require(subtree.number == node.number && node.number > 0, "number of \(subtree.number)")
    require(seen.insert(node.number).inserted, "node \(node.number) is there twice")
    require(node.size <= shape.capacity(isLeaf: node.isLeaf), "node \(node.number) holds \(node.size)")
    require(isRoot || node.size >= shape.least(isLeaf: node.isLeaf), "node \(node.number) holds only \(node.size)")
    if isRoot {
      require(node.isLeaf || node.size > 1, "the root has one child")
      require(list.numbering.parentOf[Int64(node.number)] == 0, "the root has a parent")
    }

    var again = subtree
    again.refresh()
    require(
      again.count == subtree.count && again.part == subtree.part && again.firstKey == subtree.firstKey
        && again.firstID == subtree.firstID, "what is kept about node \(node.number)")
    guard !node.isLeaf else {
      require(node.keys.count == node.ids.count, "keys of node \(node.number)")
      for (id, key) in zip(node.ids, node.keys) {
        require(ids.insert(id).inserted, "id \(id) is there twice")
        require(list.numbering.leafOf[id.rawValue] == node.number, "leaf of id \(id)")
        require(key >= lastKey, "key of id \(id)")
        lastKey = key
      }
      return 0
    }
    require(node.ids.isEmpty && node.keys.isEmpty, "entries in the inner node \(node.number)")
    var depth: Int?
    for child in node.children {
      require(list.numbering.parentOf[Int64(child.number)] == node.number, "parent of node \(child.number)")
      let below = visit(child, isRoot: false)
      require(depth ?? below == below, "depth below node \(node.number)")
      depth = below
    }
    return (depth ?? 0) + 1
  }

  private mutating func require(_ holds: Bool, _ what: @autoclosure () -> String) {
    if !holds, broken == nil { broken = what() }
  }
}
