import PhotoCatalog
import PhotoModel
import WatchRecords

@testable import PhotoIndexer

// The disk as the library reads it.
extension SimulatedDisk {
  func file(_ path: [UInt8]) -> NodeKey? {
    let text = SimulatedName.text(path)
    let (folder, name) = Self.split(text)
    guard case .success(let parent) = open(folder), let entry = node(parent).entries[name], entry.photo != 0 else {
      return nil
    }
    return NodeKey(volume: parent.volume, inode: entry.inode)
  }

  func stat(_ path: [UInt8]) -> FileStat? {
    guard let key = file(path) else { return nil }
    var stat = fileStat(key)
    stat.identity.birthTime = .unknown
    return stat
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    identities[device] ?? "unknown"
  }

  func exists(_ path: [UInt8]) -> Bool { resolve(SimulatedName.text(path)) != nil }

  func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
    guard let key = file(path), key.inode == expected.identity.inode else { return .raced }
    reads.add(1, ordering: .relaxed)
    if failsReading { return .unreadable("its content can't be read: Input/output error") }
    var stat = fileStat(key)
    stat.identity = expected.identity
    let node = node(key)
    return .content(
      Self.facts(node), stat, readTime: clock.wallTime,
      marks: node.isPartial ? ContentMarks() : Self.marks(node, isSampled: isSampled, isWhole: false))
  }

  func marks(
    _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
  ) -> ContentMarks? {
    guard let key = file(path), key.inode == expected.identity.inode else { return nil }
    let (stat, node) = (fileStat(key), node(key))
    guard stat.byteCount == expected.byteCount, stat.modificationTime == expected.modificationTime,
      stat.changeTime == expected.changeTime, !node.isPartial
    else { return nil }
    return Self.marks(node, isSampled: true, isWhole: isWhole)
  }

  private static func marks(_ node: Node, isSampled: Bool, isWhole: Bool) -> ContentMarks {
    let content = UInt64(node.content)
    return ContentMarks(
      fingerprint: node.isPage ? 1 : content &* 0x9E37_79B9_7F4A_7C15,
      sample: node.isPage && !isSampled ? nil : ContentDigest(high: content, low: 1),
      hash: node.isPage && !isWhole ? nil : ContentDigest(high: content, low: 2))
  }

  static func facts(_ node: Node) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg",
      camera: Camera(model: "camera \(node.content)"), keywords: ["k\(node.content % 3)"],
      failure: node.isPartial || node.content == 0 ? "it ends too early" : nil)
  }
}
