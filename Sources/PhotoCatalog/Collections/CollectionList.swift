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

  /// Whether it is a smart album that has only so many assets.
  var hasLimit: Bool { smartAlbum?.definition.limit != nil }

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
  /// The definition of a smart album that this version knows.
  private(set) var definition: SmartAlbumDefinition?

  init(_ collection: CollectionRow) {
    switch collection.kind {
    case .smartAlbum:
      // A later version of photod may have added others.
      definition = collection.smartAlbum?.definition
      guard let definition else {
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

  /// Restricts the list of an album with a limit to the assets that the album has. Further conditions and another order
  /// then apply to these assets.
  ///
  /// - Parameters:
  ///   - hidden: whether hidden assets count, as in the fetch.
  ///   - trashed: the same for trashed assets.
  mutating func restrictToWindow(hidden: Bool = false, trashed: Bool = false) throws(FetchError) {
    guard let definition, let limit = definition.limit else { return }
    var window = source
    if !hidden { window.conditions.append(FetchSource.unhidden) }
    if !trashed { window.conditions.append(FetchSource.untrashed) }
    let order = try FetchOrder(definition.order, of: window, isLimited: true)
    source.conditions = [
      SQLCondition(
        sql: "asset.id IN (SELECT asset.id" + window.from + window.whereClause + order.sql + " LIMIT \(limit))")
    ]
    source.isWindow = true
    // An asset that enters or leaves the window makes another one leave or enter it.
    dependsOn.formUnion(order.dependsOn)
  }
}
