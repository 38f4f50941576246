import PhotoClient

// The listings of the articles are here so that they are compiled. ExampleTests compares both.

private protocol Table {
  func reload()
  func reload(at positions: RangeSet<Int>)
  func update(removing removed: RangeSet<Int>, inserting inserted: RangeSet<Int>, moving moves: [Move])
}

private func followFavorites(_ table: some Table, _ photo: Asset) async throws {
  let library = PhotoLibrary(clientName: "slideshow")
  let options = FetchOptions(collection: "smart:favorites", predicate: "camera.model CONTAINS 'X-T'")
  var favorites = try await library.fetchAssets(with: options)
  print(favorites.count, "photos")
  for photo in try await favorites.objects(at: favorites.indices.prefix(100)) {
    if let photo, photo.available { print(photo.id, photo.resources[0].path) }
  }

  for await change in library.changes(for: [favorites]) {
    guard let details = change.details(for: favorites) else { continue }
    favorites = details.after
    if details.hasIncrementalChanges {
      table.update(removing: details.removedIndexes, inserting: details.insertedIndexes, moving: details.moves)
      table.reload(at: details.changedIndexes)
    } else {
      table.reload()
    }
  }

  var albums = try await library.fetchAssetCollections()
  for await change in library.changes(for: [albums]) {
    guard let details = change.details(for: albums) else { continue }
    albums = details.after
    for album in details.changedObjects { print(album.title, album.count) }
  }

  var trip: CollectionPlaceholder?
  let performed = try await library.performChanges { changes in
    changes.edit(photo) { $0.isFavorite = true }
    trip = changes.createAlbum(title: "Trip", assets: [photo.id])
  }
  if let trip {
    let photos = try await library.fetchAssets(with: FetchOptions(collection: "id:\(performed[trip])"))
    print("committed at", performed.token, "with an album of", photos.count)
  }

  var replica = FetchResultReplica()
  for try await observation in library.observe(options) {
    switch try replica.apply(observation) {
    case .list: print(replica.ids)
    case .details(let details): print(details)
    case .partOfList, .unchanged, .stale: break
    }
  }

  do {
    let status = try await library.status()
    for warning in status.warnings { print(warning) }
  } catch let error as PhotoLibraryError {
    print("\(error.message)\n\(error.remedy)")
  }
}
