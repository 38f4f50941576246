import PhotoClient
import PhotoModel

extension ChangeModel {
  /// The differences of the library from this model.
  func differences(from library: PhotoLibrary) async throws -> [String] {
    var differences: [String] = []
    func expect(_ isEqual: Bool, _ difference: @autoclosure () -> String) {
      if !isEqual { differences.append(difference()) }
    }
    let found = try await library.assets(assets.keys.sorted())
    expect(found.count == assets.count, "\(found.count) assets, not \(assets.count)")
    for asset in found {
      expect(Values(asset) == assets[asset.id], "asset \(asset), not \(String(describing: assets[asset.id]))")
    }
    let collections = try await library.collections(kinds: [.album, .folder, .smartAlbum]).filter { $0.subtype == nil }
    expect(collections.map(\.id) == list(), "the collections \(collections.map(\.id)), not \(list())")
    for collection in collections {
      guard let expected = albums[collection.id] else { continue }
      expect(
        collection.title == expected.title && collection.parentID == expected.parentID,
        "\(collection), not \(expected)")
      var ids: [AssetID] = []
      let options = FetchOptions(collection: "id:\(collection.id)", includeHidden: true)
      for try await page in library.fetchIDs(options) { ids += page.ids }
      switch expected.kind {
      case .folder: expect(collection.kind == .folder, "\(collection), which is no folder")
      case .smart(let query):
        let members = members(of: query)
        let isEqual = query.sortDescriptors.isEmpty ? Set(ids) == Set(members) : ids == members
        expect(collection.query == query && isEqual, "\(collection) with \(ids), not \(query)")
      case .album:
        expect(collection.kind == .album && ids == expected.members, "\(collection) with \(ids), not \(expected)")
        guard let key = expected.keyAsset, ids.contains(key), assets[key]?.isHidden == false else { continue }
        expect(collection.keyAssetID == key, "\(collection), whose cover is not \(key)")
      }
    }
    return differences
  }
}
