import PhotoModel

/// The last known paths of the assets in a watch, so that it can name a removed asset, and the former path of a moved
/// one.
struct SeenPaths: Sendable {
  private var paths: [AssetID: String] = [:]
  /// The ids in the order in which they were first seen. Some may be forgotten already.
  private var order: [AssetID] = []
  private let capacity: Int

  static let standardCapacity = 10_000

  /// - Parameter capacity: beyond it, the oldest paths are forgotten, because a watch may run for months.
  init(capacity: Int = standardCapacity) { self.capacity = capacity }

  subscript(id: AssetID) -> String? { paths[id] }

  mutating func note(_ asset: Asset) {
    guard let path = asset.listedPath else { return }
    if paths.updateValue(path, forKey: asset.id) == nil { order.append(asset.id) }
    // Ids of deleted assets are not reused, so each id is in the order once.
    if order.count > capacity { paths[order.removeFirst()] = nil }
  }

  mutating func forget(_ ids: [AssetID]) {
    for id in ids { paths[id] = nil }
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
