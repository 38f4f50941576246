import PhotoClient

// The listings of the articles are here so that they are compiled. ExampleTests compares both.

private protocol Table {
  func reload(_ ids: [AssetID])
  func update(_ ids: [AssetID], by details: FetchResultChangeDetails)
}

private protocol Sidebar {
  func reload(_ albums: [AssetCollection])
  func update(_ albums: [AssetCollection], by details: FetchResultChangeDetails)
}

private func followFavorites(_ table: some Table, _ sidebar: some Sidebar) async throws {
  let library = PhotoLibrary(clientName: "slideshow")
  let options = FetchOptions(collection: "smart:favorites", predicate: "camera.model CONTAINS 'X-T'")
  for try await page in library.fetch(options) {
    for asset in page.assets where asset.available {
      print(asset.id, asset.resources[0].path)
    }
  }

  var replica = FetchResultReplica()
  for try await observation in library.observe(options) {
    switch try replica.apply(observation) {
    case .list: table.reload(replica.ids)
    case .details(let details): table.update(replica.ids, by: details)
    case .partOfList, .unchanged, .stale: break
    }
  }

  var albums = CollectionListReplica()
  for try await observation in library.observeCollections() {
    switch try albums.apply(observation) {
    case .list: sidebar.reload(albums.collections)
    case .details(let details): sidebar.update(albums.collections, by: details)
    case .partOfList: break
    }
  }

  let edit = ChangeRequest(editAsset: .init(ids: replica.ids, isFavorite: true))
  let result = try await library.performChanges([edit])
  print("committed at", result.token)

  do {
    let status = try await library.status()
    for warning in status.warnings { print(warning) }
  } catch let error as PhotoLibraryError {
    print("\(error.message)\n\(error.remedy)")
  }
}
