import PhotoClient
import PhotoModel

/// Finds the paths of the photos that a commit of the history names only by their ids.
struct CommitPaths {
  private var seen = SeenPaths()
  private var isLoaded = false

  /// The paths of the photos of one commit, in the form of the contract.
  struct Paths {
    /// The present paths. A photo that has left the library in the meantime has the last path that is known.
    var now: [AssetID: String] = [:]
    /// The former paths of photos that moved or were deleted, if they are known.
    var before: [AssetID: String] = [:]
  }

  /// Reads the paths of the present photos, so that a deleted one can be named. Only the first call does so.
  mutating func load(from library: PhotoLibrary) async throws {
    guard !isLoaded else { return }
    seen = try await SeenPaths(readingFrom: library)
    await library.disconnect()
    isLoaded = true
  }

  /// Reads the paths of some photos that a commit inserted or updated. Commits must be passed in their order.
  mutating func advance(
    over change: PersistentChange, touching ids: [AssetID], in library: PhotoLibrary
  ) async throws -> Paths {
    var paths = Paths()
    let isNew = seen.isNew(change)
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
