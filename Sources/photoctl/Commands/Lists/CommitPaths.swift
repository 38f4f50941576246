import PhotoClient
import PhotoModel

/// Finds the paths of the photos that a commit of the history names only by their ids.
struct CommitPaths {
  private var seen = SeenPaths()
  /// The commit after which the present paths were read; nil if they were not read yet.
  private var loadedAfter: Int64?

  /// The paths of the photos of one commit, in the form of the contract.
  struct Paths {
    /// The present paths. A photo that has left the library in the meantime has the last path that is known.
    var now: [AssetID: String] = [:]
    /// The former paths of photos that moved or were deleted, if they are known.
    var before: [AssetID: String] = [:]
  }

  /// Reads the paths of the present photos, so that a deleted one can be named. Only the first call does so.
  mutating func load(from library: PhotoLibrary) async throws {
    guard loadedAfter == nil else { return }
    let sequence = ChangeToken(try await library.status().token)?.sequence ?? 0
    let newest = FetchOptions(fetchLimit: SeenPaths.standardCapacity, includeHidden: true)
    var found: [(id: AssetID, path: String)] = []
    try await QueriedAssets(library: library, options: newest).forEachPage { assets in
      for asset in assets { if let path = asset.listedPath { found.append((asset.id, path)) } }
    }
    // The paths that are noted first are forgotten first. These must be those of the oldest photos.
    for (id, path) in found.reversed() { seen.note(id, path) }
    await library.disconnect()
    loadedAfter = sequence
  }

  /// Reads the paths of some photos that a commit inserted or updated. Commits must be passed in their order.
  mutating func advance(
    over change: PersistentChange, touching ids: [AssetID], in library: PhotoLibrary
  ) async throws -> Paths {
    var paths = Paths()
    // The paths that were read are those after the earlier commits. A rename of these must not be made again.
    let isNew = (ChangeToken(change.token)?.sequence ?? .max) > (loadedAfter ?? 0)
    if isNew { for rename in change.renamedDirectories { seen.rename(rename) } }
    for id in ids { paths.now[id] = seen[id] }
    for asset in ids.isEmpty ? [] : try await library.assets(ids) {
      if isNew, let former = seen[asset.id], former != asset.listedPath { paths.before[asset.id] = former }
      paths.now[asset.id] = asset.listedPath
      seen.note(asset)
    }
    for id in change.deletedAssets { paths.before[id] = seen[id] }
    seen.forget(change.deletedAssets)
    return paths
  }
}
