import PhotoCatalog
import PhotoModel
import WatchRecords

@testable import PhotoIndexer

// As the library reads it.
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
    stat.identity.birthTime = 0
    return stat
  }

  func volumeIdentity(device: UInt64, path: [UInt8]) -> String {
    identities[device] ?? "unknown"
  }

  func exists(_ path: [UInt8]) -> Bool { resolve(SimulatedName.text(path)) != nil }

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
