import PhotoClient
import PhotoModel

extension PhotoLibrary {
  /// The albums, smart albums and folders of albums that a person made, in the library's order.
  func userCollections() async throws -> [AssetCollection] {
    // photod's own smart albums have a subtype.
    try await collections(kinds: [.album, .smartAlbum, .folder]).filter { $0.subtype == nil }
  }

  /// The ids of a whole list.
  func allIDs(_ options: FetchOptions) async throws -> [AssetID] {
    var ids: [AssetID] = []
    for try await page in fetchIDs(options) { ids += page.ids }
    return ids
  }
}
