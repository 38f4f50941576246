import WatchRecords

/// The paths of photod-watch's directories, taken from its records alone.
///
/// It holds only the directories that photod-watch has in its tree. If a directory or a root goes, everything below it
/// goes too.
struct WatchedPaths {
  private struct Node {
    var parent: DirectoryNumber
    var name: [UInt8]
    var children: Set<DirectoryNumber> = []
  }

  private var nodes: [DirectoryNumber: Node] = [:]
  /// The directory at the top of each root.
  private var tops: [UInt16: DirectoryNumber] = [:]

  var count: Int { nodes.count }

  /// - Returns: whether a path may have changed.
  mutating func note(_ record: WatchRecord) -> Bool {
    switch record {
    case .directoryFound(let number, 0, let root, let name, _):
      remove(root: root)
      tops[root] = number
      place(number, under: 0, name)
    case .directoryFound(let number, let parent, _, let name, _), .directoryMoved(let number, let parent, let name):
      place(number, under: parent, name)
    case .directoryGone(let number, _): remove(number)
    case .rootOffline(let root, _): remove(root: root)
    default: return false
    }
    return true
  }

  /// The path of a directory with a slash at its end.
  func path(of number: DirectoryNumber) -> [UInt8]? {
    var names: [[UInt8]] = []
    var current = number
    while current != 0 {
      guard let node = nodes[current], names.count < 100_000 else { return nil }
      names.append(node.name)
      current = node.parent
    }
    var path: [UInt8] = []
    for name in names.reversed() {
      path += name
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    }
    return path
  }

  private mutating func place(_ number: DirectoryNumber, under parent: DirectoryNumber, _ name: [UInt8]) {
    if let former = nodes[number]?.parent { nodes[former]?.children.remove(number) }
    nodes[number, default: Node(parent: parent, name: name)].parent = parent
    nodes[number]?.name = name
    nodes[parent]?.children.insert(number)
  }

  private mutating func remove(root: UInt16) {
    if let top = tops.removeValue(forKey: root) { remove(top) }
  }

  /// Complexity: O(directories below it).
  private mutating func remove(_ number: DirectoryNumber) {
    if let parent = nodes[number]?.parent { nodes[parent]?.children.remove(number) }
    var waiting = [number]
    while let current = waiting.popLast() {
      if let node = nodes.removeValue(forKey: current) { waiting += node.children }
    }
  }
}
