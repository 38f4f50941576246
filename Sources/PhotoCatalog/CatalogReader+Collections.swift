import GRDB
import PhotoModel

extension CatalogReader {
  /// Smart albums, then albums by title, then folder albums by path.
  ///
  /// - Parameters:
  ///   - kinds: all when `nil`.
  ///   - assetID: only those whose list has this asset: none for one that is hidden or trashed.
  /// - Complexity: O(n) over the assets of each collection, for the exact count.
  package func collections(
    kinds: Set<AssetCollection.Kind>? = nil, containing assetID: Int64? = nil
  ) throws -> [AssetCollection] {
    let asset = try assetID.map(membership)
    return try AssetCollection.Kind.allCases.filter { kinds?.contains($0) ?? true }.flatMap { kind in
      try sortedRows(kind).filter { asset?.isIn($0) ?? true }.map(summary)
    }
  }

  package func collection(id: Int64) throws -> AssetCollection? { try collectionRow(id: id).map(summary) }

  private func sortedRows(_ kind: AssetCollection.Kind) throws -> [CollectionRow] {
    let rows = try collectionRows(kind: kind)
    switch kind {
    case .smartAlbum: return rows
    case .album:
      return rows.map { (key: Array(CaseFolding.fold($0.title).utf8), row: $0) }
        .sorted { $0.key == $1.key ? $0.row.id < $1.row.id : $0.key.lexicographicallyPrecedes($1.key) }
        .map(\.row)
    case .folderAlbum:
      return rows.sorted { ($0.path ?? []).lexicographicallyPrecedes($1.path ?? []) }
    }
  }

  /// What decides which collections show an asset; read once, so that thousands of folders cost nothing each.
  private struct Membership {
    var smartAlbums: Set<Int64>
    var albums: Set<Int64>
    var directoryID: Int64?

    func isIn(_ collection: CollectionRow) -> Bool {
      switch collection.kind {
      case .smartAlbum: smartAlbums.contains(collection.id)
      case .album: albums.contains(collection.id)
      case .folderAlbum: directoryID != nil && collection.directoryID == directoryID
      }
    }
  }

  private func membership(_ assetID: Int64) throws -> Membership {
    var membership = Membership(smartAlbums: [], albums: [])
    let place = try RawStatement(
      database, "SELECT directory_id FROM asset WHERE id = ? AND " + FetchSource.visible.sql)
    place.bind(1, assetID)
    guard let directoryID = try place.firstRow({ place.int64(0) }) else { return membership }
    membership.directoryID = directoryID
    for album in try collectionRows(kind: .smartAlbum) {
      var source = CollectionList(album).source
      source.conditions.append(SQLCondition(sql: "asset.id = ?", arguments: [.integer(assetID)]))
      let statement = try RawStatement(database, "SELECT 1" + source.from + source.whereClause)
      statement.bind(source.arguments)
      if try statement.firstRow({ true }) ?? false { membership.smartAlbums.insert(album.id) }
    }
    let albums = try RawStatement(database, "SELECT collection_id FROM album_asset WHERE asset_id = ?")
    albums.bind(1, assetID)
    try albums.forEachRow { membership.albums.insert(albums.int64(0)) }
    return membership
  }

  /// Counts it, and looks up its newest and oldest assets. The statements differ only by the kind of the collection, so
  /// that they stay in the cache.
  private func summary(_ row: CollectionRow) throws -> AssetCollection {
    var source = CollectionList(row).source
    source.conditions.append(FetchSource.visible)
    var dated = source
    dated.conditions.append(SQLCondition(sql: "asset.creation_date IS NOT NULL"))

    func first<Value>(
      _ columns: String, _ source: FetchSource, _ order: String, _ body: (RawStatement) -> Value
    ) throws -> Value? {
      let statement = try RawStatement(database, "SELECT \(columns)" + source.from + source.whereClause + order)
      statement.bind(source.arguments)
      return try statement.firstRow { body(statement) }
    }
    let newest = " ORDER BY asset.sort_date DESC, asset.id DESC LIMIT 1"
    let oldest = " ORDER BY asset.sort_date, asset.id LIMIT 1"
    let date = { (row: RawStatement) in PhotoDate(microseconds: row.int64(0), offsetMinutes: row.optionalInt(1)) }

    let count = try first("count(*)", source, "") { Int($0.int64(0)) } ?? 0
    var collection = AssetCollection(
      id: row.id, kind: row.kind, subtype: row.subtype, title: row.title, path: row.path.map { FilePath.text($0) },
      count: count)
    guard count > 0 else { return collection }
    // What the user chose as the cover may have left the album since, or be hidden now.
    if let chosen = row.keyAssetID {
      var cover = source
      cover.conditions.append(SQLCondition(sql: "asset.id = ?", arguments: [.integer(chosen)]))
      collection.keyAssetID = try first("asset.id", cover, "") { $0.int64(0) }
    }
    if collection.keyAssetID == nil {
      collection.keyAssetID = try first("asset.id", source, newest) { $0.int64(0) }
    }
    // Where there is a creation date it is also the sort date: the order by the index is that by creation date.
    collection.startDate = try first("asset.creation_date, asset.creation_offset", dated, oldest, date)
    collection.endDate = try first("asset.creation_date, asset.creation_offset", dated, newest, date)
    return collection
  }
}
