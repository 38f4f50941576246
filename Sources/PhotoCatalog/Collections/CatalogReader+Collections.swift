import GRDB
import PhotoModel

extension CatalogReader {
  /// The collections in their order (``CollectionPlace``).
  ///
  /// - Parameters:
  ///   - kinds: the kinds of collections in the result, or nil for all kinds.
  ///   - assetID: restricts the result to collections whose list has this asset. A hidden or trashed asset is in none.
  ///     Neither is it in a smart album whose query takes too long.
  /// - Complexity: O(n) over the assets of each collection, for the exact count. A person's smart album that takes too long
  ///   has a ``AssetCollection/problem`` instead.
  package func collections(
    kinds: Set<AssetCollection.Kind>? = nil, containing assetID: AssetID? = nil
  ) throws -> [AssetCollection] {
    let asset = try assetID.map(membership)
    return try summaries(of: sortedRows(kinds ?? Set(AssetCollection.Kind.allCases)).filter { asset?.isIn($0) ?? true })
  }

  package func collection(id: CollectionID) throws -> AssetCollection? {
    try summaries(of: collectionRow(id: id).map { [$0] } ?? []).first
  }

  private func summaries(of rows: [CollectionRow]) throws -> [AssetCollection] {
    var summaries: [AssetCollection?] = Array(repeating: nil, count: rows.count)
    for index in rows.indices where !rows[index].isOfPerson { summaries[index] = try summary(rows[index]) }
    let costly = try forEachSmartAlbum(rows.indices.filter { rows[$0].isOfPerson }) {
      summaries[$0] = try summary(rows[$0])
    }
    for index in costly { summaries[index] = AssetCollection(tooCostly: rows[index]) }
    return summaries.compactMap { $0 }
  }

  private func sortedRows(_ kinds: Set<AssetCollection.Kind>) throws -> [CollectionRow] {
    try kinds.flatMap { try collectionRows(kind: $0) }.map { (place: CollectionPlace($0), row: $0) }.sorted {
      $0.place < $1.place
    }.map(
      \.row)
  }

  /// The facts that decide which collections contain an asset. They are read once for all collections, because a
  /// statement for each of thousands of folders would be slow.
  private struct Membership {
    var smartAlbums: Set<CollectionID>
    var albums: Set<CollectionID>
    var directoryID: DirectoryID?

    func isIn(_ collection: CollectionRow) -> Bool {
      switch collection.kind {
      case .smartAlbum: smartAlbums.contains(collection.id)
      case .album: albums.contains(collection.id)
      case .folderAlbum: directoryID != nil && collection.directoryID == directoryID
      case .folder, .unknown: false
      }
    }
  }

  private func membership(_ assetID: AssetID) throws -> Membership {
    var membership = Membership(smartAlbums: [], albums: [])
    let place = try RawStatement(
      database, "SELECT directory_id FROM asset WHERE id = ? AND " + FetchSource.visible.sql)
    place.bind(1, assetID)
    let directoryID = try place.firstRow({ place.directoryID(0) })
    func look(in album: CollectionRow) throws {
      var source = try Self.visibleSource(album)
      source.conditions.append(SQLCondition(sql: "asset.id = ?", arguments: [.id(assetID)]))
      let statement = try RawStatement(database, source.select("1"))
      statement.bind(source.arguments)
      if try statement.firstRow({ true }) ?? false { membership.smartAlbums.insert(album.id) }
    }
    let albums = try collectionRows(kind: .smartAlbum)
    for album in albums where !album.isOfPerson { try look(in: album) }
    for album in try forEachSmartAlbum(albums.filter(\.isOfPerson), look) { membership.smartAlbums.remove(album.id) }
    // Only visible assets are in other albums and in folders.
    guard let directoryID else { return membership }
    membership.directoryID = directoryID
    let members = try RawStatement(database, "SELECT collection_id FROM album_asset WHERE asset_id = ?")
    members.bind(1, assetID)
    try members.forEachRow { membership.albums.insert(members.collectionID(0)) }
    return membership
  }

  /// Counts the assets of a collection, and looks up the newest and the oldest.
  private func summary(_ row: CollectionRow) throws -> AssetCollection {
    let source = try Self.visibleSource(row)
    let statement = try RawStatement(database, source.select("count(*)"))
    statement.bind(source.arguments)
    let count = try statement.firstRow { Int(statement.int64(0)) } ?? 0
    guard count > 0 else { return AssetCollection(row, count: 0) }
    var ends = CollectionEnds()
    for end in CollectionEnds.keys { ends[keyPath: end] = try self.end(end, of: row) }
    return AssetCollection(row, count: count, ends: ends, cover: try chosenCover(of: row) ?? firstAsset(of: row))
  }

  /// The cover of an album with an order of its own. Any other album has its newest asset as the cover.
  private func firstAsset(of row: CollectionRow) throws -> AssetID? {
    guard row.hasOwnOrder else { return nil }
    return try ids(plan(FetchOptions(collection: "id:\(row.id)", fetchLimit: 1))).first
  }

  /// The cover that the user chose, unless it has left the album or is hidden now.
  private func chosenCover(of row: CollectionRow) throws -> AssetID? {
    guard let chosen = row.keyAssetID else { return nil }
    var source = try Self.visibleSource(row)
    source.conditions.append(SQLCondition(sql: "asset.id = ?", arguments: [.id(chosen)]))
    let statement = try RawStatement(database, source.select("asset.id"))
    statement.bind(source.arguments)
    return try statement.firstRow { statement.assetID(0) }
  }
}
