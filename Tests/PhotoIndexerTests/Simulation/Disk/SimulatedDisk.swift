import PhotoCatalog
import Synchronization
import WatchRecords

@testable import PhotoIndexer

/// File systems in memory, the changes that a person makes to them, and the kernel's queue of events for a watcher.
///
/// Only one task uses it at a time. The library's reader threads read while that task waits for them, hence unchecked.
final class SimulatedDisk: PhotoFiles, @unchecked Sendable {
  enum Kind: String, CaseIterable {
    /// Inodes are used again, files have a birth time, and the clock's resolution is a tick.
    case ext4
    /// Inodes are new at each mount, there is no birth time, and the clock's resolution is two seconds.
    case fat
    /// Inodes last and are used again. There is no birth time.
    case old

    var grain: Int64 { self == .fat ? 2 * seconds : 4 * milliseconds }
    var hasBirthTimes: Bool { self == .ext4 }
    var hasLinks: Bool { self != .fat }
  }

  struct NodeKey: Hashable {
    let volume: Int
    let inode: UInt64
  }

  /// One name in a directory. A photo belongs to a name, not to an inode, because a person regards a hard link as
  /// another photo.
  struct Entry {
    var inode: UInt64
    /// The number of the photo; 0 for a directory.
    var photo: Int
  }

  struct Node {
    var isDirectory: Bool
    var birthTime: Int64
    var byteCount: Int64 = 0
    var modificationTime: Int64
    var changeTime: Int64
    /// The number of a file's content; 0 if nothing was written.
    var content = 0
    /// The file is half written and can't be parsed.
    var isPartial = false
    /// Whether the content is a page of a scanner. All pages have the same size and beginning. They are so large that
    /// sample and hash are made separately.
    var isPage: Bool { SimulatedDisk.isPage(content) }
    var linkCount = 1
    /// The entries of a directory.
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
  var volumes: [Volume] = []
  /// The volume at each mount point. The path "" is the root file system.
  var mounts: [String: Int] = [:]
  var lastDevice: UInt64 = 100
  /// The identities by device number, including those of volumes that are no longer mounted.
  var identities: [UInt64: String] = [:]
  var lastContent = 0
  var lastPhoto = 0
  var lastCookie: UInt64 = 0
  let reads = Atomic<Int>(0)

  // The kernel's side of inotify.
  var watches: [NodeKey: Int] = [:]
  var lastWatch = 0
  var queue: [KernelEvent] = []
  var watchLimit = Int.max
  /// A volume was mounted or unmounted since the last query.
  var mountsChanged = false

  var readCount: Int { reads.load(ordering: .relaxed) }

  /// Each read of a file fails with an I/O error.
  var failsReading = false

  /// The backups that a person made, by the path of their folder.
  var backups: [String: SimulatedBackup] = [:]

  /// The bytes of the files that were removed last, by path.
  var removedContents: [String: (content: Int, byteCount: Int64)] = [:]

  init(clock: SimulatedClock) { self.clock = clock }

  static func isPage(_ content: Int) -> Bool { content > 0 && content.isMultiple(of: 3) }

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

  /// The node at a path. Permissions are ignored, and there are no symbolic links.
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

  /// Resolves a path as openat(2) does. An unreadable directory can't be passed.
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
