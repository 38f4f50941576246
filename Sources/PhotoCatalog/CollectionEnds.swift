import GRDB
import PhotoModel

/// An asset at an end of a collection's list by date.
struct CollectionEnd: Hashable, Comparable, Sendable {
  /// By which it sorts: when it was taken, else when it was added. Microseconds.
  let date: Int64
  let id: Int64
  /// Minutes; of one whose date is when it was taken.
  var offset: Int?

  var takenDate: PhotoDate { PhotoDate(microseconds: date, offsetMinutes: offset) }

  static func < (lhs: Self, rhs: Self) -> Bool { (lhs.date, lhs.id) < (rhs.date, rhs.id) }
}

/// What a collection's cover and dates come from: the visible, untrashed assets at the ends of its list. nil: there is none.
struct CollectionEnds: Hashable, Sendable {
  var newest: CollectionEnd?
  /// Of those that say when they were taken; where there is such a date, it is also the one by which they sort.
  var newestDated: CollectionEnd?
  var oldestDated: CollectionEnd?

  static var keys: [WritableKeyPath<Self, CollectionEnd?> & Sendable] { [\.newest, \.newestDated, \.oldestDated] }
}

/// The order of collections: smart albums as they were made, albums by title without regard to case, folders by path.
struct CollectionPlace: Hashable, Comparable, Sendable {
  let kind: Int64
  let key: [UInt8]
  let id: Int64

  init(_ row: CollectionRow) {
    kind = row.kind.code
    key =
      switch row.kind {
      case .smartAlbum: []
      case .album: Array(CaseFolding.fold(row.title).utf8)
      case .folderAlbum: row.path ?? []
      }
    id = row.id
  }

  static func < (lhs: Self, rhs: Self) -> Bool {
    if lhs.kind != rhs.kind { return lhs.kind < rhs.kind }
    if lhs.key != rhs.key { return lhs.key.lexicographicallyPrecedes(rhs.key) }
    return lhs.id < rhs.id
  }
}

extension AssetCollection {
  /// - Parameter cover: what the user chose, if the collection shows it; by default the newest.
  init(_ row: CollectionRow, count: Int, ends: CollectionEnds = CollectionEnds(), cover: Int64? = nil) {
    self.init(
      id: row.id, kind: row.kind, subtype: row.subtype, title: row.title, path: row.path.map { FilePath.text($0) },
      count: count, keyAssetID: cover ?? ends.newest?.id, startDate: ends.oldestDated?.takenDate,
      endDate: ends.newestDated?.takenDate)
  }
}

extension CatalogReader {
  /// What a fetch of the collection with every option left out shows. The statements made of it differ only by the kind of
  /// the collection, so that they stay in the cache.
  static func visibleSource(_ row: CollectionRow) -> FetchSource {
    var source = CollectionList(row).source
    source.conditions.append(FetchSource.visible)
    return source
  }

  /// - Complexity: a step in the collection's index, and one for each hidden or undated asset beyond; of an album, O(n).
  func end(_ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow) throws -> CollectionEnd? {
    let (sql, arguments) = Self.endStatement(end, of: row)
    let statement = try RawStatement(database, sql)
    statement.bind(arguments)
    return try statement.firstRow {
      CollectionEnd(date: statement.int64(1), id: statement.int64(0), offset: statement.optionalInt(2))
    }
  }

  static func endStatement(
    _ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow
  ) -> (sql: String, arguments: [SQLValue]) {
    var source = visibleSource(row)
    if end != \.newest { source.conditions.append(SQLCondition(sql: "asset.creation_date IS NOT NULL")) }
    let order = end == \.oldestDated ? "asset.sort_date, asset.id" : "asset.sort_date DESC, asset.id DESC"
    return (
      "SELECT asset.id, asset.sort_date, asset.creation_offset" + source.from + source.whereClause
        + " ORDER BY \(order) LIMIT 1", source.arguments
    )
  }
}
