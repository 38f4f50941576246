import PhotoModel
import PredicateLanguage

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

  /// The query of a smart album that a person made.
  var query: SmartAlbumQuery?

  /// A collection that was deleted. Its kind is not known.
  static func deleted(_ id: CollectionID) -> CollectionRow { CollectionRow(id: id, kind: .unknown, title: "") }

  /// Whether it is a smart album whose list no field of a single asset decides: a person's, or one with a limit.
  var isListed: Bool { query != nil || smartAlbum?.definition.limit != nil }

  /// Whether it is a smart album with another order than by date.
  var hasOwnOrder: Bool { query.map { !$0.sortDescriptors.isEmpty } ?? (smartAlbum?.definition.order != nil) }

  var smartAlbum: SmartAlbum? { kind == .smartAlbum ? subtype.flatMap(SmartAlbum.init) : nil }

  /// Why its query is invalid; nil if it is valid.
  var problem: String? {
    guard let query else { return nil }
    do throws(FetchError) { _ = try CollectionList(query) } catch { return error.explanation }
    return nil
  }

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
  /// The order if a fetch names none. If nil, the newest creation date comes first, or an album's own order applies.
  private(set) var order: [SortDescriptor]?
  /// The collection has only so many of these assets: the first ones by ``order``.
  private(set) var limit: Int?
  /// Whether it shows the hidden assets, and no others.
  private(set) var showsHidden = false
  /// The query of a person's smart album in its canonical form. Fetches of the album by another query are other fetches.
  private(set) var queryKey = ""

  init(_ collection: CollectionRow) {
    switch collection.kind {
    case .smartAlbum:
      if let query = collection.query {
        // The query may be of a later version of photod. `AssetCollection.problem` says that.
        do { self = try CollectionList(query) } catch {
          source.conditions = [SQLCondition(sql: "FALSE")]
          queryKey = "invalid"
        }
        return
      }
      // A later version of photod may have added others.
      guard let definition = collection.smartAlbum?.definition else {
        source.conditions = [SQLCondition(sql: "FALSE")]
        return
      }
      if let sql = definition.sql { source.conditions = [SQLCondition(sql: sql)] }
      source.requirements = definition.requirements
      dependsOn = definition.dependsOn
      (order, limit, showsHidden) = (definition.order, definition.limit, definition.showsHidden)
    case .album: source.albumID = collection.id
    case .folderAlbum:
      // A directory's id is never reused, so the list of a deleted directory is empty.
      source.conditions = [
        SQLCondition(sql: "asset.directory_id = ?", arguments: [.id(collection.directoryID ?? 0)])
      ]
      source.requirements.directoryID = collection.directoryID ?? 0
      dependsOn = [.path, .resources]
    case .folder: source.conditions = [SQLCondition(sql: "FALSE")]
    case .unknown:
      source.conditions = [SQLCondition(sql: "FALSE")]
      queryKey = "unknown"
    }
  }

  /// The assets that a query finds.
  ///
  /// - Throws: ``FetchError``, if the query is invalid.
  init(_ query: SmartAlbumQuery) throws(FetchError) {
    var parts = ""
    if let text = query.predicate {
      let compiled = try PredicateCompiler.compile(text)
      source.add(compiled)
      dependsOn.formUnion(compiled.dependsOn)
      parts += "\(compiled.key.utf8.count):\(compiled.key)"
    }
    if let text = query.text {
      let words = try TextQuery(fetching: text)
      source.add(words)
      dependsOn.formUnion(TextCondition.dependsOn)
      parts += "~\(words)"
    }
    if let limit = query.fetchLimit, limit < 1 { throw .invalidOption(field: "fetchLimit") }
    order = query.sortDescriptors.isEmpty ? nil : query.sortDescriptors
    limit = query.fetchLimit
    let order = try FetchOrder(order, of: source, isLimited: limit != nil)
    // Without a limit, the order is a part of the key of a fetch that it applies to.
    if let limit { parts += "<\(order.key)\(limit)" }
    queryKey = "/\(parts.utf8.count):\(parts)"
  }

  /// Restricts the list of an album with a limit to the assets that the album has. Further conditions and another order
  /// then apply to these assets.
  ///
  /// - Parameters:
  ///   - hidden: whether hidden assets count, as in the fetch.
  ///   - trashed: the same for trashed assets.
  mutating func restrictToWindow(hidden: Bool = false, trashed: Bool = false) throws(FetchError) {
    guard let limit else { return }
    var window = source
    if !hidden { window.conditions.append(FetchSource.unhidden) }
    if !trashed { window.conditions.append(FetchSource.untrashed) }
    let order = try FetchOrder(order, of: window, isLimited: true)
    let ids = "SELECT asset.id" + window.from + window.whereClause + order.sql + " LIMIT \(limit)"
    source.conditions = [SQLCondition(sql: "asset.id IN (\(ids))", arguments: window.arguments)]
    source.text = nil
    source.isWindow = true
    // An asset that enters or leaves the window makes another one leave or enter it.
    dependsOn.formUnion(order.dependsOn)
  }
}
