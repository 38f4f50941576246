import PhotoCatalog
import PhotoModel
import Synchronization
import WatchRecords

@testable import PhotoIndexer

/// File systems in memory with what a person does to them, and the kernel's queue of what it tells a watcher.
///
/// Only one task uses it at a time; the library's reader threads read while that task waits for them, hence unchecked.
final class SimulatedDisk: PhotoFiles, @unchecked Sendable {
  enum Kind: String, CaseIterable {
    /// Inodes are used again, files have a birth time, the clock's grain is a tick.
    case ext4
    /// Inodes are given anew with every mount, no birth time, two seconds of grain.
    case fat
    /// Inodes stay and are used again, no birth time.
    case old

    var grain: Int64 { self == .fat ? 2 * seconds : 4 * milliseconds }
    var hasBirthTimes: Bool { self == .ext4 }
    var hasLinks: Bool { self != .fat }
  }

  struct NodeKey: Hashable {
    let volume: Int
    let inode: UInt64
  }

  /// One name in a directory. What a person calls a photo is a name's, not an inode's: a hard link is another photo.
  struct Entry {
    var inode: UInt64
    /// 0: a directory.
    var photo: Int
  }

  struct Node {
    var isDirectory: Bool
    var birthTime: Int64
    var byteCount: Int64 = 0
    var modificationTime: Int64
    var changeTime: Int64
    /// Of a file: which picture it is. 0: nothing was written.
    var content = 0
    /// Half written: it can't be parsed.
    var isPartial = false
    var linkCount = 1
    /// Of a directory.
    var entries: [String: Entry] = [:]
    var isReadable = true
  }

  struct Volume {
    var kind: Kind
    var identity: String
    var device: UInt64
    var nodes: [UInt64: Node] = [:]
    var lastInode: UInt64 = 1
    var freeInodes: [UInt64] = []
  }

  struct KernelEvent {
    enum Kind {
      case create, closeWrite, movedFrom, movedTo, delete, attributes, deleteSelf, ignored, moveSelf, unmount
      case overflow, cookie
    }
    var kind: Kind
    var watch: Int
    var name: String
    var isDirectory: Bool
    var cookie: UInt64
  }

  let clock: SimulatedClock
  private(set) var volumes: [Volume] = []
  /// Volume by the path where it is mounted; "" is the root file system.
  private(set) var mounts: [String: Int] = [:]
  private var lastDevice: UInt64 = 100
  /// By device number, also of what is not mounted any more.
  private var identities: [UInt64: String] = [:]
  private var lastContent = 0
  private var lastPhoto = 0
  private var lastCookie: UInt64 = 0
  private let reads = Atomic<Int>(0)

  // The kernel's side of inotify.
  private(set) var watches: [NodeKey: Int] = [:]
  private var lastWatch = 0
  var queue: [KernelEvent] = []
  var watchLimit = Int.max
  /// Something was mounted or unmounted since it was last asked.
  var mountsChanged = false

  var readCount: Int { reads.load(ordering: .relaxed) }

  init(clock: SimulatedClock) { self.clock = clock }

  // MARK: Volumes

  func addVolume(_ kind: Kind) -> Int {
    // A FAT volume's serial number has eight digits, and photod knows by that what its inodes are worth.
    let number = volumes.count
    let identity = kind == .fat ? "uuid:5A1D-000\(number)" : "uuid:6f1c1f9e-0000-4000-8000-00000000000\(number)"
    var volume = Volume(kind: kind, identity: identity, device: 0)
    let time = clock.wallTime
    volume.nodes[1] = Node(
      isDirectory: true, birthTime: kind.hasBirthTimes ? time : 0, modificationTime: time, changeTime: time)
    volumes.append(volume)
    return volumes.count - 1
  }

  func mount(_ volume: Int, at path: String) -> Bool {
    guard !mounts.values.contains(volume), mounts[path] == nil,
      path == "" || resolve(path).map({ node($0).isDirectory }) == true
    else { return false }
    mounts[path] = volume
    lastDevice += 1
    volumes[volume].device = lastDevice
    identities[lastDevice] = volumes[volume].identity
    if volumes[volume].kind == .fat { renumber(volume) }
    mountsChanged = true
    return true
  }

  func unmount(_ path: String) -> Bool {
    guard let volume = mounts[path], path != "" else { return false }
    mounts[path] = nil
    for (key, watch) in watches.sorted(by: { $0.value < $1.value }) where key.volume == volume {
      emit(watch, .unmount)
      emit(watch, .ignored)
      watches[key] = nil
    }
    mountsChanged = true
    return true
  }

  /// FAT keeps no inodes: they are made up while it is mounted.
  private func renumber(_ index: Int) {
    let old = volumes[index]
    var nodes: [UInt64: Node] = [:]
    var last = old.lastInode
    func copy(_ inode: UInt64, as number: UInt64) {
      guard var node = old.nodes[inode] else { return }
      for (name, entry) in node.entries.sorted(by: { $0.key < $1.key }) {
        last += 1
        let child = last
        node.entries[name] = Entry(inode: child, photo: entry.photo)
        copy(entry.inode, as: child)
      }
      nodes[number] = node
    }
    copy(1, as: 1)
    volumes[index].nodes = nodes
    volumes[index].lastInode = last
    volumes[index].freeInodes = []
  }

  // MARK: Looking

  func node(_ key: NodeKey) -> Node { volumes[key.volume].nodes[key.inode]! }

  func isThere(_ key: NodeKey) -> Bool { volumes[key.volume].nodes[key.inode] != nil }

  func identity(_ key: NodeKey) -> FileIdentity {
    FileIdentity(device: volumes[key.volume].device, inode: key.inode, birthTime: node(key).birthTime)
  }

  static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
  }

  /// What stands at a path, whatever may be read on the way. Links there are none.
  func resolve(_ path: String) -> NodeKey? {
    guard let rootVolume = mounts[""] else { return nil }
    var key = NodeKey(volume: rootVolume, inode: 1)
    var walked = ""
    for name in path.split(separator: "/") {
      guard let entry = node(key).entries[String(name)] else { return nil }
      walked += "/" + name
      key = mounts[walked].map { NodeKey(volume: $0, inode: 1) } ?? NodeKey(volume: key.volume, inode: entry.inode)
    }
    return key
  }

  /// As openat(2) finds it: a directory that can't be read lets nobody through.
  func open(_ path: String) -> Result<NodeKey, SimulatedError> {
    guard let rootVolume = mounts[""] else { return .failure(.absent) }
    var key = NodeKey(volume: rootVolume, inode: 1)
    var walked = ""
    for name in path.split(separator: "/") {
      guard node(key).isDirectory else { return .failure(.absent) }
      guard node(key).isReadable else { return .failure(.denied) }
      guard let entry = node(key).entries[String(name)] else { return .failure(.absent) }
      walked += "/" + name
      key = mounts[walked].map { NodeKey(volume: $0, inode: 1) } ?? NodeKey(volume: key.volume, inode: entry.inode)
    }
    guard node(key).isDirectory else { return .failure(.absent) }
    return node(key).isReadable ? .success(key) : .failure(.denied)
  }

  func entry(_ path: String) -> Entry? {
    let (folder, name) = Self.split(path)
    return resolve(folder).flatMap { node($0).entries[name] }
  }

  func fileStat(_ key: NodeKey) -> FileStat {
    let node = node(key)
    return FileStat(
      identity: identity(key), byteCount: node.byteCount, modificationTime: node.modificationTime,
      changeTime: node.changeTime)
  }

  // MARK: What is written

  private func stamp(_ volume: Int) -> Int64 {
    let time = clock.wallTime
    return time - time % volumes[volume].kind.grain
  }

  private func makeNode(_ volume: Int, isDirectory: Bool) -> UInt64 {
    let time = stamp(volume)
    let inode: UInt64
    if volumes[volume].kind != .fat, let free = volumes[volume].freeInodes.popLast() {
      inode = free
    } else {
      volumes[volume].lastInode += 1
      inode = volumes[volume].lastInode
    }
    let birth = volumes[volume].kind.hasBirthTimes ? clock.wallTime - clock.wallTime % (4 * milliseconds) : 0
    volumes[volume].nodes[inode] = Node(
      isDirectory: isDirectory, birthTime: birth, modificationTime: time, changeTime: time)
    return inode
  }

  private func edit(_ key: NodeKey, _ body: (inout Node) -> Void) { body(&volumes[key.volume].nodes[key.inode]!) }

  private func setEntry(_ folder: NodeKey, _ name: String, _ entry: Entry?) {
    let time = stamp(folder.volume)
    edit(folder) { node in
      node.entries[name] = entry
      node.modificationTime = time
      node.changeTime = time
    }
  }

  func makeDirectory(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory, node(parent).entries[name] == nil else {
      return false
    }
    let inode = makeNode(parent.volume, isDirectory: true)
    setEntry(parent, name, Entry(inode: inode, photo: 0))
    emit(parent, .create, name, isDirectory: true)
    return true
  }

  /// Writes a file, new or in place: a new picture.
  ///
  /// - Parameter isDone: it is closed after it; else it is half written and open.
  func write(_ path: String, isDone: Bool, content: Int? = nil) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory else { return false }
    if node(parent).entries[name] == nil {
      lastPhoto += 1
      let inode = makeNode(parent.volume, isDirectory: false)
      setEntry(parent, name, Entry(inode: inode, photo: lastPhoto))
      emit(parent, .create, name)
    }
    guard let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    let key = NodeKey(volume: parent.volume, inode: entry.inode)
    if let content { fill(key, content) } else { fill(key, isDone: isDone) }
    if isDone { emit(parent, .closeWrite, name) }
    return true
  }

  private func fill(_ key: NodeKey, isDone: Bool) {
    lastContent += 1
    fill(key, lastContent, isPartial: !isDone)
  }

  private func fill(_ key: NodeKey, _ content: Int, isPartial: Bool = false) {
    let time = stamp(key.volume)
    edit(key) { node in
      node.content = content
      node.isPartial = isPartial
      node.byteCount = isPartial ? 10 + Int64(content % 7) : 1000 + Int64(content % 97)
      node.modificationTime = time
      node.changeTime = time
    }
  }

  /// The rest of what is half written; it stays open, and no event tells.
  func finish(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    fill(NodeKey(volume: parent.volume, inode: entry.inode), isDone: true)
    return true
  }

  /// An empty file without its bytes yet.
  func create(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), node(parent).isDirectory, node(parent).entries[name] == nil else {
      return false
    }
    lastPhoto += 1
    let inode = makeNode(parent.volume, isDirectory: false)
    setEntry(parent, name, Entry(inode: inode, photo: lastPhoto))
    emit(parent, .create, name)
    return true
  }

  /// The bytes are the same; who has the file open for writing closes it.
  func touch(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name], entry.photo != 0 else { return false }
    emit(parent, .closeWrite, name)
    return true
  }

  /// A program writes beside it and renames over it: for a person it is the same photo.
  func save(_ path: String, beside temporary: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let entry = entry(path), entry.photo != 0, self.entry(folder + "/" + temporary) == nil,
      write(folder + "/" + temporary, isDone: true)
    else { return false }
    let parent = resolve(folder)!
    let before = lastPhoto
    guard rename(folder + "/" + temporary, path) else { return false }
    lastPhoto = max(before, lastPhoto)
    let inode = node(parent).entries[name]!.inode
    edit(parent) { $0.entries[name] = Entry(inode: inode, photo: entry.photo) }
    return true
  }

  func rename(_ from: String, _ to: String) -> Bool {
    guard from != to, !to.hasPrefix(from + "/"),
      !mounts.keys.contains(where: { $0 == from || $0.hasPrefix(from + "/") }),
      mounts[to] == nil
    else { return false }
    let (fromFolder, fromName) = Self.split(from)
    let (toFolder, toName) = Self.split(to)
    guard let source = resolve(fromFolder), let target = resolve(toFolder), source.volume == target.volume,
      node(target).isDirectory, let entry = node(source).entries[fromName]
    else { return false }
    if let occupant = node(target).entries[toName] {
      guard (occupant.photo == 0) == (entry.photo == 0), occupant.inode != entry.inode else { return false }
      if occupant.photo == 0, !node(NodeKey(volume: target.volume, inode: occupant.inode)).entries.isEmpty {
        return false
      }
    }
    lastCookie += 1
    setEntry(source, fromName, nil)
    let occupant = node(target).entries[toName]
    setEntry(target, toName, entry)
    let moved = NodeKey(volume: source.volume, inode: entry.inode)
    let time = stamp(source.volume)
    edit(moved) { $0.changeTime = time }
    let isDirectory = entry.photo == 0
    emit(source, .movedFrom, fromName, isDirectory: isDirectory, cookie: lastCookie)
    emit(target, .movedTo, toName, isDirectory: isDirectory, cookie: lastCookie)
    if isDirectory, let watch = watches[moved] { emit(watch, .moveSelf) }
    if let occupant { release(NodeKey(volume: target.volume, inode: occupant.inode)) }
    return true
  }

  func exchange(_ first: String, _ second: String) -> Bool {
    guard first != second, !second.hasPrefix(first + "/"), !first.hasPrefix(second + "/"),
      !mounts.keys.contains(where: { $0.hasPrefix(first) || $0.hasPrefix(second) })
    else { return false }
    let (firstFolder, firstName) = Self.split(first)
    let (secondFolder, secondName) = Self.split(second)
    guard let one = resolve(firstFolder), let two = resolve(secondFolder), one.volume == two.volume,
      let a = node(one).entries[firstName], let b = node(two).entries[secondName], a.inode != b.inode
    else { return false }
    setEntry(one, firstName, b)
    setEntry(two, secondName, a)
    let time = stamp(one.volume)
    for entry in [a, b] { edit(NodeKey(volume: one.volume, inode: entry.inode)) { $0.changeTime = time } }
    for (from, fromName, to, toName, entry) in [
      (one, firstName, two, secondName, a), (two, secondName, one, firstName, b),
    ] {
      lastCookie += 1
      emit(from, .movedFrom, fromName, isDirectory: entry.photo == 0, cookie: lastCookie)
      emit(to, .movedTo, toName, isDirectory: entry.photo == 0, cookie: lastCookie)
      if entry.photo == 0, let watch = watches[NodeKey(volume: one.volume, inode: entry.inode)] {
        emit(watch, .moveSelf)
      }
    }
    return true
  }

  func link(_ from: String, _ to: String) -> Bool {
    let (fromFolder, fromName) = Self.split(from)
    let (toFolder, toName) = Self.split(to)
    guard let source = resolve(fromFolder), let target = resolve(toFolder), source.volume == target.volume,
      volumes[source.volume].kind.hasLinks, node(target).isDirectory, node(target).entries[toName] == nil,
      let entry = node(source).entries[fromName], entry.photo != 0
    else { return false }
    lastPhoto += 1
    let time = stamp(source.volume)
    edit(NodeKey(volume: source.volume, inode: entry.inode)) { node in
      node.linkCount += 1
      node.changeTime = time
    }
    setEntry(target, toName, Entry(inode: entry.inode, photo: lastPhoto))
    emit(target, .create, toName)
    return true
  }

  func copy(_ from: String, _ to: String) -> Bool {
    guard from != to, let source = resolve(from), !to.hasPrefix(from + "/") else { return false }
    let node = node(source)
    if node.isDirectory {
      guard makeDirectory(to) else { return false }
      for name in node.entries.keys.sorted() { _ = copy(from + "/" + name, to + "/" + name) }
      return true
    }
    guard node.content != 0, !node.isPartial, entry(to) == nil else { return false }
    return write(to, isDone: true, content: node.content)
  }

  /// Removes a file, or a directory with all below it.
  func remove(_ path: String) -> Bool {
    let (folder, name) = Self.split(path)
    guard let parent = resolve(folder), let entry = node(parent).entries[name],
      !mounts.keys.contains(where: { $0 == path || $0.hasPrefix(path + "/") })
    else { return false }
    let key = NodeKey(volume: parent.volume, inode: entry.inode)
    if entry.photo == 0 {
      for child in node(key).entries.keys.sorted() { _ = remove(path + "/" + child) }
    }
    setEntry(parent, name, nil)
    release(key)
    emit(parent, .delete, name, isDirectory: entry.photo == 0)
    return true
  }

  private func release(_ key: NodeKey) {
    let time = stamp(key.volume)
    edit(key) { node in
      node.linkCount -= 1
      node.changeTime = time
    }
    guard node(key).linkCount == 0 else { return }
    if let watch = watches.removeValue(forKey: key) {
      emit(watch, .deleteSelf)
      emit(watch, .ignored)
    }
    volumes[key.volume].nodes[key.inode] = nil
    volumes[key.volume].freeInodes.append(key.inode)
  }

  func setReadable(_ path: String, _ isReadable: Bool) -> Bool {
    let (folder, name) = Self.split(path)
    guard let key = resolve(path), node(key).isDirectory, node(key).isReadable != isReadable else { return false }
    let time = stamp(key.volume)
    edit(key) { node in
      node.isReadable = isReadable
      node.changeTime = time
    }
    if let watch = watches[key] { emit(watch, .attributes) }
    if let parent = resolve(folder) { emit(parent, .attributes, name, isDirectory: true) }
    return true
  }

  // MARK: inotify

  /// - Returns: nil where there is no watch left.
  func addWatch(_ key: NodeKey) -> Int? {
    if let known = watches[key] { return known }
    guard watches.count < watchLimit else { return nil }
    lastWatch += 1
    watches[key] = lastWatch
    return lastWatch
  }

  func removeWatch(_ watch: Int) {
    guard let key = watches.first(where: { $0.value == watch })?.key else { return }
    watches[key] = nil
    emit(watch, .ignored)
  }

  /// The watcher's end: its instance goes with all that is queued.
  func dropInstance() {
    watches = [:]
    queue = []
  }

  /// All that is queued is lost.
  func overflow() {
    queue = [KernelEvent(kind: .overflow, watch: -1, name: "", isDirectory: false, cookie: 0)]
  }

  func emitCookie(_ number: UInt64) {
    queue.append(KernelEvent(kind: .cookie, watch: -2, name: "", isDirectory: false, cookie: number))
  }

  private func emit(
    _ folder: NodeKey, _ kind: KernelEvent.Kind, _ name: String, isDirectory: Bool = false, cookie: UInt64 = 0
  ) {
    guard let watch = watches[folder] else { return }
    queue.append(KernelEvent(kind: kind, watch: watch, name: name, isDirectory: isDirectory, cookie: cookie))
  }

  private func emit(_ watch: Int, _ kind: KernelEvent.Kind) {
    queue.append(KernelEvent(kind: kind, watch: watch, name: "", isDirectory: false, cookie: 0))
  }

  // MARK: PhotoFiles

  private func file(_ path: [UInt8]) -> NodeKey? {
    let text = String(decoding: path, as: UTF8.self)
    let (folder, name) = Self.split(text)
    guard case .success(let parent) = open(folder), let entry = node(parent).entries[name], entry.photo != 0 else {
      return nil
    }
    return NodeKey(volume: parent.volume, inode: entry.inode)
  }

  func stat(_ path: [UInt8]) -> FileStat? {
    guard let key = file(path) else { return nil }
    var stat = fileStat(key)
    stat.identity.birthTime = 0
    return stat
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    identities[device] ?? "unknown"
  }

  func exists(_ path: [UInt8]) -> Bool { resolve(String(decoding: path, as: UTF8.self)) != nil }

  func read(_ path: [UInt8], expecting expected: FileStat) -> ContentReading {
    guard let key = file(path), key.inode == expected.identity.inode else { return .raced }
    reads.add(1, ordering: .relaxed)
    var stat = fileStat(key)
    stat.identity = expected.identity
    let node = node(key)
    return .content(
      Self.facts(node), stat, readTime: clock.wallTime,
      fingerprint: node.isPartial ? nil : UInt64(node.content) &* 0x9E37_79B9_7F4A_7C15)
  }

  static func facts(_ node: Node) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg",
      camera: Camera(model: "camera \(node.content)"), keywords: ["k\(node.content % 3)"],
      failure: node.isPartial || node.content == 0 ? "it ends too early" : nil)
  }
}

enum SimulatedError: Error {
  case absent, denied, stale

  var number: Int32 {
    switch self {
    case .absent: 2
    case .denied: 13
    case .stale: 116
    }
  }
}
