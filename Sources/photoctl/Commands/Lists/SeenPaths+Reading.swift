import PhotoClient
import PhotoModel

extension SeenPaths {
  /// Reads the paths of the present photos, so that a deleted one can be named.
  init(readingFrom library: PhotoLibrary) async throws {
    self.init(readAfter: try await library.status().token)
    let newest = FetchOptions(fetchLimit: Self.standardCapacity, includeHidden: true)
    var found: [(id: AssetID, path: String)] = []
    try await QueriedAssets(library: library, options: newest).forEachPage { assets in
      for asset in assets { if let path = asset.listedPath { found.append((asset.id, path)) } }
    }
    // The paths that are noted first are forgotten first. These must be those of the oldest photos.
    for (id, path) in found.reversed() { note(id, path) }
  }
}
