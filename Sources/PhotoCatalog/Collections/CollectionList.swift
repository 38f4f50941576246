import PhotoModel

/// A collection of the catalog, without its counts.
struct CollectionRow: Hashable, Sendable {
  var id: CollectionID
  var kind: AssetCollection.Kind
  var subtype: String?
  /// For a folder album, the folder's name in the form of the contract.
  var title: String
  var directoryID: DirectoryID?
  /// For a folder album, the bytes of its path.
  var path: [UInt8]?
  /// The cover that the user chose.
  var keyAssetID: AssetID?
  /// The folder of a collection that the user made.
  var parentID: CollectionID?
  /// The position of a collection that the user made (see ``UserCollection/rank``).
  var rank = 0.0
  /// The beginning of its ``CollectionPlace/key``, which is the key of its folder.
  var folderKey: [UInt8] = []

  var smartAlbum: SmartAlbum? { kind == .smartAlbum ? subtype.flatMap(SmartAlbum.init) : nil }

  /// The collection as a value of `FetchOptions.collection`. If names allow it, the value means only this collection.
  var reference: String {
    switch kind {
    case .smartAlbum: "smart:" + (subtype ?? title)
    case .album: "album:" + title
    case .folder: "id:\(id)"
    case .folderAlbum: "folder:" + FilePath.text(path ?? [])
    case .unknown: "id:\(id)"
    }
  }
}

/// The assets of a collection, including hidden and trashed ones.
struct CollectionList: Sendable {
  var source = FetchSource()
  var dependsOn: ChangedFields = []

  init(_ collection: CollectionRow) {
    switch collection.kind {
    case .smartAlbum:
      // A later version of photod may have added others.
      guard let definition = collection.smartAlbum?.definition else {
        source.conditions = [SQLCondition(sql: "FALSE")]
        return
      }
      if let sql = definition.sql { source.conditions = [SQLCondition(sql: sql)] }
      source.requirements = definition.requirements
      dependsOn = definition.dependsOn
    case .album: source.albumID = collection.id
    case .folderAlbum:
      // A directory's id is never reused, so the list of a deleted directory is empty.
      source.conditions = [
        SQLCondition(sql: "asset.directory_id = ?", arguments: [.id(collection.directoryID ?? 0)])
      ]
      source.requirements.directoryID = collection.directoryID ?? 0
      dependsOn = [.path, .resources]
    case .folder, .unknown: source.conditions = [SQLCondition(sql: "FALSE")]
    }
  }
}
