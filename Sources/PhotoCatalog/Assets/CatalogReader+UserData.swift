import PhotoModel

extension CatalogReader {
  /// The user data of assets, in ascending order of their ids.
  ///
  /// - Parameters:
  ///   - ids: these assets, also those without user data; nil for all that have some. Ids without an asset are left out.
  ///   - after: assets with this id or a smaller one are left out.
  ///   - limit: the most assets that are read.
  ///   - byteCount: once the texts that were read have this many bytes, no further asset is read.
  /// - Returns: the data, and whether assets with larger ids are left.
  /// - Complexity: if `ids` is nil, each call walks the index entries of all favorites, hidden and edited assets.
  package func userData(
    of ids: [AssetID]?, after: AssetID?, limit: Int, byteCount: Int
  ) throws -> (assets: [UserData], hasMore: Bool) {
    let chosen: [AssetID]
    if let ids {
      chosen = Array(Set(ids).filter { $0 > after ?? 0 }.sorted().prefix(limit + 1))
    } else {
      chosen = try idsWithUserData(after: after ?? 0, limit: limit + 1)
    }
    var assets: [UserData] = []
    var room = byteCount
    for id in chosen.prefix(limit) {
      guard room > 0 else { return (assets, true) }
      guard let data = try userData(of: id) else { continue }
      assets.append(UserData(id, data, contentHash: try file(ofAsset: id)?.marks.hash?.text))
      room -= data.edits.byteCount
    }
    return (assets, chosen.count > limit)
  }

  private func idsWithUserData(after: AssetID, limit: Int) throws -> [AssetID] {
    let select = try RawStatement(
      database,
      """
      SELECT id FROM asset WHERE is_favorite = 1 AND id > ?1 UNION SELECT id FROM asset WHERE is_hidden = 1 AND id > ?1
      UNION SELECT asset_id FROM asset_edit WHERE file IS NOT NULL AND asset_id > ?1 ORDER BY 1 LIMIT ?2
      """)
    select.bind(1, after)
    select.bind(2, limit)
    var ids: [AssetID] = []
    try select.forEachRow { ids.append(select.assetID(0)) }
    return ids
  }
}

extension UserData {
  fileprivate init(_ id: AssetID, _ data: AssetUserData, contentHash: String?) {
    let edits = data.edits
    self.init(
      assetID: id, isFavorite: data.isFavorite, isHidden: data.isHidden, rating: edits.rating, title: edits.title,
      caption: edits.caption, addedKeywords: edits.addedKeywords, removedKeywords: edits.removedKeywords,
      creationDate: edits.creationDate, contentHash: contentHash)
    switch edits.location {
    case .set(let location): self.location = location
    case .remove: hasNoLocation = true
    case nil: break
    }
  }
}

extension AssetEdits {
  /// About how many bytes the values take as text.
  fileprivate var byteCount: Int {
    (addedKeywords + removedKeywords + [title, caption].compactMap { $0 }).reduce(512) { $0 + $1.utf8.count }
  }
}
