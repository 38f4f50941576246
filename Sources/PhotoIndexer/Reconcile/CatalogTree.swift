import PhotoCatalog
import PhotoModel
import WatchRecords

/// The catalog's directories in memory. It builds their paths, and knows the number of each in photod-watch.
///
/// It mirrors the `directory` table. Code that changes one changes both in one transaction. If the transaction fails,
/// the tree is loaded anew.
struct CatalogTree {
  /// The identity of a directory on its volume, whatever its path.
  struct Identity: Hashable {
    let volumeID: VolumeID
    let inode: UInt64
  }

  private struct Node {
    var row: DirectoryRow
    var children: [[UInt8]: DirectoryID] = [:]
    var number: DirectoryNumber?
  }

  private var nodes: [DirectoryID: Node] = [:]
  private var tops: [RootID: DirectoryID] = [:]
  private var byIdentity: [Identity: DirectoryID] = [:]
  private var byNumber: [DirectoryNumber: DirectoryID] = [:]
  private var awayIDs: Set<DirectoryID> = []
  /// The parked directories, by the directory that they were in. Another directory has their name there.
  private var parked: [DirectoryID: Set<DirectoryID>] = [:]
  private(set) var rootPaths: [RootID: [UInt8]] = [:]

  /// The paths of the roots, in the order in which the catalog got the roots.
  var sortedRootPaths: [(key: RootID, value: [UInt8])] { rootPaths.sorted { $0.key < $1.key } }

  /// The same with the longest paths first: an inner root comes before the outer one.
  private var rootsFromWithin: [(id: RootID, path: [UInt8])] = []

  init(roots: [RootRow], directories: [DirectoryRow]) {
    for root in roots { rootPaths[root.id] = root.path }
    sortRoots()
    nodes.reserveCapacity(directories.count)
    for row in directories { nodes[row.id] = Node(row: row) }
    for row in directories { link(row) }
  }

  var count: Int { nodes.count }

  // MARK: Looking up

  func row(_ id: DirectoryID) -> DirectoryRow { nodes[id]!.row }

  /// The volume of a directory. Each new file asks for it several times, and a copy of the row would take longer.
  func volumeID(of id: DirectoryID) -> VolumeID { nodes[id]!.row.volumeID }

  func contains(_ id: DirectoryID) -> Bool { nodes[id] != nil }

  func top(ofRoot rootID: RootID) -> DirectoryID? { tops[rootID] }

  /// The directory in this place.
  func child(of parentID: DirectoryID, _ name: [UInt8]) -> DirectoryID? { nodes[parentID]?.children[name] }

  /// The directories in a directory, in the order in which the catalog got them. Parked ones are among them.
  func children(of id: DirectoryID) -> [DirectoryID] {
    guard let node = nodes[id] else { return [] }
    guard !parked.isEmpty, let parked = parked[id] else { return node.children.values.sorted() }
    return (Array(node.children.values) + parked).sorted()
  }

  func directory(identity: Identity) -> DirectoryID? { byIdentity[identity] }

  func directory(number: DirectoryNumber) -> DirectoryID? { byNumber[number] }

  func number(of id: DirectoryID) -> DirectoryNumber? { nodes[id]?.number }

  /// The root that a directory belongs to.
  func rootID(of id: DirectoryID) -> RootID {
    var node = nodes[id]!
    while let parent = node.row.parentID { node = nodes[parent]! }
    return node.row.rootID!
  }

  /// The absolute path. Complexity: O(depth).
  func path(of id: DirectoryID) -> [UInt8] {
    var names: [[UInt8]] = []
    var node = nodes[id]!
    while let parent = node.row.parentID {
      names.append(node.row.pathName)
      node = nodes[parent]!
    }
    var path = rootPaths[node.row.rootID!]!
    for name in names.reversed() {
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
      path += name
    }
    return path
  }

  /// The places of the directory with this number and of all above it, or nothing if photod-watch does not have all of
  /// them. Complexity: O(depth).
  func places(above number: DirectoryNumber) -> [DirectoryPlace] {
    guard var id = byNumber[number] else { return [] }
    var places: [DirectoryPlace] = []
    while let node = nodes[id], let number = node.number {
      guard let parent = node.row.parentID else {
        let root = node.row.rootID.flatMap { rootPaths[$0] } ?? []
        return places + [DirectoryPlace(number: number, parent: 0, name: root)]
      }
      guard let parentNumber = nodes[parent]?.number else { return [] }
      places.append(DirectoryPlace(number: number, parent: parentNumber, name: node.row.pathName))
      id = parent
    }
    return []
  }

  /// The directory at an absolute path. Complexity: O(length of the path) for each root.
  func directory(path: [UInt8]) -> DirectoryID? {
    // An inner root comes first: the outer one may have the folder that its share is mounted on.
    for (rootID, rootPath) in rootsFromWithin {
      guard let top = tops[rootID], path.starts(with: rootPath) else { continue }
      var rest = path.dropFirst(rootPath.count)
      if !rest.isEmpty && rest.first != UInt8(ascii: "/") && rootPath.last != UInt8(ascii: "/") { continue }
      rest = rest.drop { $0 == UInt8(ascii: "/") }
      var current = top
      var isFound = true
      for name in rest.split(separator: UInt8(ascii: "/")) {
        guard let next = child(of: current, Array(name)) else {
          isFound = false
          break
        }
        current = next
      }
      if isFound { return current }
    }
    return nil
  }

  /// The folders of a root on the way down a path, from the root's own folder to the last one that the tree has.
  ///
  /// - Complexity: O(length of the path).
  func folders(on path: [UInt8], ofRoot rootID: RootID) -> [DirectoryID] {
    guard let top = tops[rootID], let root = rootPaths[rootID] else { return [] }
    var (current, folders) = (top, [top])
    for name in path.dropFirst(root.count).split(separator: UInt8(ascii: "/")) {
      guard let next = child(of: current, Array(name)) else { break }
      folders.append(next)
      current = next
    }
    return folders
  }

  /// Whether a path is a folder, or leads to something in it.
  static func contains(_ folder: [UInt8], _ path: [UInt8]) -> Bool {
    path.starts(with: folder)
      && (path.count == folder.count || folder.last == UInt8(ascii: "/") || path[folder.count] == UInt8(ascii: "/"))
  }

  func isInside(_ id: DirectoryID, _ ancestor: DirectoryID) -> Bool {
    var current: DirectoryID? = id
    while let directory = current {
      if directory == ancestor { return true }
      current = nodes[directory]?.row.parentID
    }
    return false
  }

  /// A directory and those above it, up to the top of its root.
  func ancestors(of id: DirectoryID) -> some Sequence<DirectoryID> { sequence(first: id) { nodes[$0]?.row.parentID } }

  /// A directory and all below it, children before their parents.
  func subtree(of id: DirectoryID) -> [DirectoryID] {
    var order = [id]
    var index = 0
    while index < order.count {
      order += children(of: order[index])
      index += 1
    }
    return order.reversed()
  }

  /// The highest directories at or below `id` that photod-watch has no number for: it did not find them.
  func unbound(below id: DirectoryID) -> [DirectoryID] {
    var missing: [DirectoryID] = []
    var stack = [id]
    while let current = stack.popLast() {
      if nodes[current]?.number == nil { missing.append(current) } else { stack += children(of: current) }
    }
    return missing
  }

  // MARK: Changing

  mutating func addRoot(_ id: RootID, path: [UInt8]) {
    rootPaths[id] = path
    sortRoots()
  }

  mutating func removeRoot(_ id: RootID) {
    rootPaths[id] = nil
    sortRoots()
  }

  private mutating func sortRoots() {
    rootsFromWithin = rootPaths.map { (id: $0.key, path: $0.value) }
      .sorted { ($1.path.count, $0.id) < ($0.path.count, $1.id) }
  }

  mutating func insert(_ row: DirectoryRow) {
    nodes[row.id] = Node(row: row)
    link(row)
  }

  /// Gives a directory another place, name or identity.
  mutating func update(_ row: DirectoryRow) {
    let old = nodes[row.id]!.row
    unlink(old)
    nodes[row.id]!.row = row
    link(row)
  }

  /// Removes a directory, whose children must be gone.
  mutating func remove(_ id: DirectoryID) {
    guard let node = nodes[id] else { return }
    unlink(node.row)
    if let number = node.number { byNumber[number] = nil }
    nodes[id] = nil
  }

  mutating func bind(_ id: DirectoryID, to number: DirectoryNumber) {
    if let old = nodes[id]!.number { byNumber[old] = nil }
    nodes[id]!.number = number
    byNumber[number] = id
  }

  /// Forgets the numbers of a directory and all below it.
  mutating func unbind(subtree id: DirectoryID) {
    for directory in subtree(of: id) {
      if let number = nodes[directory]?.number { byNumber[number] = nil }
      nodes[directory]?.number = nil
    }
  }

  /// Forgets the number of one directory.
  mutating func unbind(_ id: DirectoryID) {
    if let number = nodes[id]?.number { byNumber[number] = nil }
    nodes[id]?.number = nil
  }

  mutating func unbindAll() {
    byNumber = [:]
    for id in nodes.keys { nodes[id]!.number = nil }
  }

  mutating func setAvailable(_ id: DirectoryID, _ isAvailable: Bool) {
    guard nodes[id] != nil else { return }
    nodes[id]!.row.isAvailable = isAvailable
    if isAvailable { awayIDs.remove(id) } else { awayIDs.insert(id) }
  }

  /// Whether a directory is there, as far as the mounts between it and its root decide that. Complexity: O(depth).
  func isMounted(_ id: DirectoryID) -> Bool {
    var current: DirectoryID? = id
    while let directory = current, let node = nodes[directory] {
      if !node.row.isAvailable { return false }
      current = node.row.parentID
    }
    return true
  }

  /// The tops of file systems that were mounted in folders and are not mounted now.
  var away: [DirectoryID] { awayIDs.sorted() }

  private mutating func link(_ row: DirectoryRow) {
    if let parent = row.parentID {
      if row.isParked { parked[parent, default: []].insert(row.id) } else { nodes[parent]?.children[row.name] = row.id }
    }
    if let root = row.rootID { tops[root] = row.id }
    if !row.isAvailable { awayIDs.insert(row.id) }
    byIdentity[Identity(volumeID: row.volumeID, inode: row.inode)] = row.id
  }

  private mutating func unlink(_ row: DirectoryRow) {
    if !row.isAvailable { awayIDs.remove(row.id) }
    if let parent = row.parentID {
      if row.isParked {
        parked[parent]?.remove(row.id)
        if parked[parent]?.isEmpty == true { parked[parent] = nil }
      } else if nodes[parent]?.children[row.name] == row.id {
        nodes[parent]!.children[row.name] = nil
      }
    }
    if let root = row.rootID, tops[root] == row.id { tops[root] = nil }
    let identity = Identity(volumeID: row.volumeID, inode: row.inode)
    if byIdentity[identity] == row.id { byIdentity[identity] = nil }
  }
}
