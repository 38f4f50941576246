import PhotoModel

/// The smart albums of this version; the case is the `subtype` in the catalog and on the wire.
package enum SmartAlbum: String, CaseIterable, Sendable {
  case recents, favorites, videos, screenshots
}

/// A collection of the catalog, without what must be counted.
struct CollectionRow: Hashable, Sendable {
  var id: Int64
  var kind: AssetCollection.Kind
  var subtype: String?
  /// Of a folder album: the folder's name as the wire writes it.
  var title: String
  var directoryID: Int64?
  /// Of a folder album: the bytes of its path.
  var path: [UInt8]?
  /// Chosen by the user.
  var keyAssetID: Int64?

  var smartAlbum: SmartAlbum? { kind == .smartAlbum ? subtype.flatMap(SmartAlbum.init) : nil }

  /// As `FetchOptions.collection` takes it, and so that it means only this one where names allow.
  var reference: String {
    switch kind {
    case .smartAlbum: "smart:" + (subtype ?? title)
    case .album: "album:" + title
    case .folderAlbum: "folder:" + FilePath.text(path ?? [])
    }
  }
}

/// Which assets a collection has, hidden and trashed ones too.
struct CollectionList: Sendable {
  var source = FetchSource()
  var dependsOn: ChangedFields = []

  // Written without `?`, so that SQLite sees that the partial indexes of these albums fit.
  init(_ collection: CollectionRow) {
    switch collection.kind {
    case .smartAlbum:
      switch collection.smartAlbum {
      case .recents: break
      case .favorites:
        source.conditions = [SQLCondition(sql: "asset.is_favorite = 1")]
        source.requirements.favorite = true
        dependsOn = .favorite
      case .videos:
        source.conditions = [SQLCondition(sql: "asset.media_type = 2")]
        source.requirements.mediaTypes = [MediaType.video.code]
        dependsOn = [.content, .metadata, .resources]
      case .screenshots:
        source.conditions = [SQLCondition(sql: "asset.media_subtypes & 8 <> 0")]
        source.requirements.screenshot = true
        dependsOn = [.content, .metadata, .resources, .path]
      case nil: source.conditions = [SQLCondition(sql: "FALSE")]
      }
    case .album: source.albumID = collection.id
    case .folderAlbum:
      // A directory's id is never used again: of one that has gone the list is empty.
      source.conditions = [
        SQLCondition(sql: "asset.directory_id = ?", arguments: [.integer(collection.directoryID ?? 0)])
      ]
      source.requirements.directoryID = collection.directoryID ?? 0
      dependsOn = [.path, .resources]
    }
  }
}
