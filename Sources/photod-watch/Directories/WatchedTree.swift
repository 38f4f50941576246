// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// The index of a node in `WatchedTree.nodes`. An index is reused after its node is dropped. Code that keeps an index
/// for longer adds the directory's number to it (`NodeReference`).
typealias NodeIndex = Int32

/// A node's index and its directory number. The pair is never reused.
struct NodeReference: Hashable {
  var index: NodeIndex
  var number: DirectoryNumber
}

/// A known directory.
struct Node {
  struct Flags: OptionSet {
    var rawValue: UInt8
    static let alive = Flags(rawValue: 1 << 0)
    /// An event or a listing found it missing from its place. `UnsettledDirectories.missing` has
    /// the details.
    static let missing = Flags(rawValue: 1 << 1)
    /// Another directory has its name now. No lookup by name finds this one until it is found elsewhere.
    static let displaced = Flags(rawValue: 1 << 2)
    /// It contains a marker file (.nomedia, ...), so none of its contents are reported.
    static let contentsIgnored = Flags(rawValue: 1 << 3)
    /// The last listing could not read all of it.
    static let incomplete = Flags(rawValue: 1 << 4)
    /// It could not be read at all, so that nothing below it could be reached either.
    static let unreachable = Flags(rawValue: 1 << 5)
  }

  var identity: FileIdentity
  var number: DirectoryNumber
  /// -1 for the top of a root.
  var parent: NodeIndex = -1
  var firstChild: NodeIndex = -1
  var next: NodeIndex = -1
  var previous: NodeIndex = -1
  /// inotify's watch descriptor. It is -1 if there is none, and then the directory is polled.
  var watch: Int32 = -1
  /// When something in it last changed, as far as known, in seconds since 1970. The directories that changed last get
  /// the watches.
  var lastChange: UInt32 = 0
  var nameOffset: UInt32 = 0
  /// The hash of parent and name, kept so that the name index can move entries without reading names.
  var nameHash: UInt32 = 0
  var nameLength: UInt16 = 0
  /// The number of the root, valid only at its top. Other nodes do not store it, so a subtree can move to another root
  /// without an edit of its nodes.
  var root: UInt16 = 0
  var flags: Flags = [.alive]
}

/// All known directories: parent links, one arena of names, and an index by (parent, name). The rename of a directory
/// is one edit, whatever it holds. A directory with its name takes about 80 bytes.
struct WatchedTree {
  private(set) var nodes: [Node] = []
  private var free: [NodeIndex] = []
  private var names: [UInt8] = []
  /// The bytes of `names` that no node uses any more. The arena is compacted when they are the larger part.
  private var wastedNameBytes = 0
  /// The hash table of the name index: open addressing, a power of two in size, at most half full. -1 marks an empty
  /// slot.
  private var slots: [NodeIndex] = Array(repeating: -1, count: 64)
  private var indexedCount = 0
  private var lastNumber: DirectoryNumber = 0

  /// Sets the number of the first directory. The tree must still be empty.
  mutating func number(from first: DirectoryNumber) { lastNumber = max(first, 1) - 1 }

  private(set) var count = 0

  subscript(index: NodeIndex) -> Node {
    get { nodes[Int(index)] }
    _modify { yield &nodes[Int(index)] }
  }

  func reference(_ index: NodeIndex) -> NodeReference { NodeReference(index: index, number: self[index].number) }

  /// The node, unless it was dropped since.
  func isAlive(_ reference: NodeReference) -> Bool {
    self[reference.index].number == reference.number && self[reference.index].flags.contains(.alive)
  }

  func name(_ index: NodeIndex) -> ArraySlice<UInt8> {
    let node = self[index]
    return names[Int(node.nameOffset)..<Int(node.nameOffset) + Int(node.nameLength)]
  }

  /// The top of the root to which the node belongs.
  /// - Complexity: O(depth).
  func top(_ index: NodeIndex) -> NodeIndex {
    var index = index
    while self[index].parent >= 0 { index = self[index].parent }
    return index
  }

  func root(_ index: NodeIndex) -> UInt16 { self[top(index)].root }

  /// Whether the node is `ancestor`, or below it.
  func isWithin(_ index: NodeIndex, _ ancestor: NodeIndex) -> Bool {
    var index = index
    while index >= 0 {
      if index == ancestor { return true }
      index = self[index].parent
    }
    return false
  }

  /// The names from below the root's top down to the node.
  func components(_ index: NodeIndex) -> [ArraySlice<UInt8>] {
    var components: [ArraySlice<UInt8>] = []
    var index = index
    while self[index].parent >= 0 {
      components.append(name(index))
      index = self[index].parent
    }
    components.reverse()
    return components
  }

  func children(_ index: NodeIndex) -> [NodeIndex] {
    var children: [NodeIndex] = []
    var child = self[index].firstChild
    while child >= 0 {
      children.append(child)
      child = self[child].next
    }
    return children
  }

  /// The directory with this name in `parent`. Displaced directories are not found.
  func child(of parent: NodeIndex, named name: some Collection<UInt8>) -> NodeIndex? {
    let hash = Self.hash(parent, name)
    var slot = Int(hash) & (slots.count - 1)
    while slots[slot] >= 0 {
      let index = slots[slot]
      let node = self[index]
      if node.nameHash == hash, node.parent == parent, Int(node.nameLength) == name.count,
        self.name(index).elementsEqual(name)
      {
        return index
      }
      slot = (slot + 1) & (slots.count - 1)
    }
    return nil
  }

  // MARK: - Edits

  /// Adds the top of a root.
  mutating func insertTop(root: UInt16, identity: FileIdentity) -> NodeIndex {
    let index = allocate(identity)
    self[index].root = root
    return index
  }

  /// Adds a node. Its place must be free (`displace`).
  mutating func insert(under parent: NodeIndex, name: [UInt8], identity: FileIdentity) -> NodeIndex {
    let index = allocate(identity)
    place(index, under: parent, name: name)
    return index
  }

  /// Moves the node with its subtree. The place must be free, and `parent` must not be the node or below it.
  mutating func move(_ index: NodeIndex, under parent: NodeIndex, name: [UInt8]) {
    precondition(!isWithin(parent, index), "a directory would be within itself")
    unplace(index)
    place(index, under: parent, name: name)
    self[index].flags.remove(.displaced)
  }

  /// Frees a node's name, because another directory is at its place. The node remains among its parent's children until
  /// it is dropped or moved.
  mutating func displace(_ index: NodeIndex) {
    guard !self[index].flags.contains(.displaced) else { return }
    removeFromIndex(index)
    self[index].flags.insert(.displaced)
  }

  /// The node and all below it, top first.
  func subtree(_ top: NodeIndex) -> [NodeIndex] {
    var found = [top]
    var position = 0
    while position < found.count {
      found.append(contentsOf: children(found[position]))
      position += 1
    }
    return found
  }

  /// Removes a whole subtree, as returned by `subtree(_:)`.
  mutating func remove(_ subtree: [NodeIndex]) {
    for index in subtree.reversed() {
      unplace(index)
      self[index].flags = []
      free.append(index)
      count -= 1
    }
  }

  private mutating func allocate(_ identity: FileIdentity) -> NodeIndex {
    lastNumber += 1
    count += 1
    let node = Node(identity: identity, number: lastNumber)
    if let index = free.popLast() {
      self[index] = node
      return index
    }
    nodes.append(node)
    return NodeIndex(nodes.count - 1)
  }

  private mutating func place(_ index: NodeIndex, under parent: NodeIndex, name: [UInt8]) {
    compactNamesIfWasteful()
    let sibling = self[parent].firstChild
    self[index].parent = parent
    self[index].next = sibling
    self[index].previous = -1
    if sibling >= 0 { self[sibling].previous = index }
    self[parent].firstChild = index
    self[index].nameOffset = UInt32(names.count)
    self[index].nameLength = UInt16(name.count)
    self[index].nameHash = Self.hash(parent, name)
    names.append(contentsOf: name)
    addToIndex(index)
  }

  private mutating func unplace(_ index: NodeIndex) {
    let node = self[index]
    guard node.parent >= 0 else { return }
    if !node.flags.contains(.displaced) { removeFromIndex(index) }
    if node.previous >= 0 { self[node.previous].next = node.next } else { self[node.parent].firstChild = node.next }
    if node.next >= 0 { self[node.next].previous = node.previous }
    wastedNameBytes += Int(node.nameLength)
    self[index].parent = -1
    self[index].next = -1
    self[index].previous = -1
    self[index].nameLength = 0
  }

  private mutating func compactNamesIfWasteful() {
    guard wastedNameBytes > 4096, wastedNameBytes > names.count / 2 else { return }
    var kept: [UInt8] = []
    kept.reserveCapacity(names.count - wastedNameBytes)
    for index in nodes.indices where nodes[index].flags.contains(.alive) && nodes[index].parent >= 0 {
      let name = name(NodeIndex(index))
      nodes[index].nameOffset = UInt32(kept.count)
      kept.append(contentsOf: name)
    }
    names = kept
    wastedNameBytes = 0
  }

  /// Traps if the tree contradicts itself. For tests.
  /// - Complexity: O(directories).
  func checkInvariants() {
    var alive = 0
    var indexed = 0
    for position in nodes.indices where nodes[position].flags.contains(.alive) {
      let index = NodeIndex(position)
      let node = nodes[position]
      alive += 1
      guard node.parent >= 0 else { continue }
      precondition(self[node.parent].flags.contains(.alive), "an orphan")
      precondition(node.previous >= 0 || self[node.parent].firstChild == index, "no child of its parent")
      precondition(node.previous < 0 || self[node.previous].next == index, "a broken list")
      precondition(node.next < 0 || self[node.next].previous == index, "a broken list")
      if !node.flags.contains(.displaced) {
        indexed += 1
        precondition(child(of: node.parent, named: name(index)) == index, "not found by its name")
      }
    }
    precondition(alive == count, "a wrong count")
    precondition(indexed == indexedCount, "a wrong count of names")
    precondition(alive + free.count == nodes.count, "a lost node")
  }

  // MARK: - The index by name

  private static func hash(_ parent: NodeIndex, _ name: some Collection<UInt8>) -> UInt32 {
    var hasher = Hasher()
    hasher.combine(parent)
    for byte in name { hasher.combine(byte) }
    return UInt32(truncatingIfNeeded: hasher.finalize())
  }

  private mutating func addToIndex(_ index: NodeIndex) {
    if (indexedCount + 1) * 2 > slots.count {
      let old = slots
      slots = Array(repeating: -1, count: old.count * 2)
      for index in old where index >= 0 { slots[freeSlot(self[index].nameHash)] = index }
    }
    slots[freeSlot(self[index].nameHash)] = index
    indexedCount += 1
  }

  private func freeSlot(_ hash: UInt32) -> Int {
    var slot = Int(hash) & (slots.count - 1)
    while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
    return slot
  }

  /// Moves later entries into the gap, so that no lookup stops before an entry that was pushed past it.
  private mutating func removeFromIndex(_ index: NodeIndex) {
    let mask = slots.count - 1
    var gap = Int(self[index].nameHash) & mask
    while slots[gap] != index {
      guard slots[gap] >= 0 else { return }
      gap = (gap + 1) & mask
    }
    slots[gap] = -1
    indexedCount -= 1
    var slot = (gap + 1) & mask
    while slots[slot] >= 0 {
      let home = Int(self[slots[slot]].nameHash) & mask
      if (slot - home) & mask >= (slot - gap) & mask {
        slots[gap] = slots[slot]
        slots[slot] = -1
        gap = slot
      }
      slot = (slot + 1) & mask
    }
  }
}
