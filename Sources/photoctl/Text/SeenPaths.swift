import PhotoModel

/// The last known paths of the assets in a watch. With them, it can name a removed asset, and the former path of a
/// moved one.
struct SeenPaths: Sendable {
  private var paths: [AssetID: String] = [:]
  /// The ids in the order in which they were first seen, as a ring that begins at `oldest`. Forgotten ids stay until
  /// their turn comes.
  private var order: [AssetID] = []
  private var oldest = 0
  /// The ids in `order` that were forgotten. A deleted photo that returns has its former id, and its
  /// place in the order is the former one.
  private var forgotten: Set<AssetID> = []
  /// The largest id that was seen. New assets have larger ones.
  private(set) var largestID: AssetID?
  private let capacity: Int
  /// The number of the commit after which the paths of the present photos were read.
  private let readAfter: Int64

  static let standardCapacity = 50_000

  /// - Parameters:
  ///   - capacity: beyond it, the oldest paths are forgotten, because a watch may run for months.
  ///   - token: the token of the library before the paths of the present photos are read. Without it, none are read.
  init(capacity: Int = standardCapacity, readAfter token: String? = nil) {
    self.capacity = capacity
    readAfter = token.flatMap(ChangeToken.init)?.sequence ?? 0
  }

  /// Whether a commit may be missing in the paths that were read. A rename by an earlier one must not be made again.
  func isNew(_ change: PersistentChange) -> Bool { (ChangeToken(change.token)?.sequence ?? .max) > readAfter }

  subscript(id: AssetID) -> String? { paths[id] }

  mutating func note(_ asset: Asset) {
    if let path = asset.listedPath { note(asset.id, path) }
  }

  mutating func note(_ id: AssetID, _ path: String) {
    largestID = max(largestID ?? id, id)
    guard paths.updateValue(path, forKey: id) == nil, forgotten.remove(id) == nil else { return }
    guard order.count == capacity else { return order.append(id) }
    let evicted = order[oldest]
    paths[evicted] = nil
    forgotten.remove(evicted)
    order[oldest] = id
    oldest = (oldest + 1) % capacity
  }

  mutating func forget(_ ids: [AssetID]) {
    for id in ids where paths.removeValue(forKey: id) != nil { forgotten.insert(id) }
  }

  /// - Complexity: O(n) for n known paths.
  mutating func rename(_ rename: RenamedDirectory) {
    let renaming = FolderRenaming(rename)
    for (id, path) in paths {
      if let renamed = renaming.path(of: path) { paths[id] = renamed }
    }
  }
}

/// Gives the new paths of a renamed folder and of the files in it. Bytes are compared, because the path of a file whose
/// name is not UTF-8 is a URI, also in a folder whose path is none.
struct FolderRenaming {
  private let from: [UInt8]
  private let to: [UInt8]

  init(_ rename: RenamedDirectory) { (from, to) = (FilePath.bytes(rename.fromPath), FilePath.bytes(rename.toPath)) }

  /// The new path of the folder or of something in it; nil for any other path.
  func path(of path: String) -> String? {
    let bytes = FilePath.bytes(path)
    guard LibraryFolders.contains(from, bytes) else { return nil }
    return FilePath.text(to + bytes.dropFirst(from.count))
  }
}
