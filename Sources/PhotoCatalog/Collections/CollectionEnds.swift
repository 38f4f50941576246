import GRDB
import PhotoModel
import PredicateLanguage

/// An asset at an end of a collection's list by date.
struct CollectionEnd: Hashable, Comparable, Sendable {
  /// When it was taken, in microseconds since 1970.
  let date: Int64
  let id: AssetID
  /// The offset in minutes east of UTC.
  var offset: Int?

  var takenDate: PhotoDate { PhotoDate(microseconds: date, offsetMinutes: offset) }

  static func < (lhs: Self, rhs: Self) -> Bool { (lhs.date, lhs.id) < (rhs.date, rhs.id) }
}

/// The sources of a collection's cover and dates: the visible, untrashed assets at both ends of its list. nil if it is
/// empty.
struct CollectionEnds: Hashable, Sendable {
  var newest: CollectionEnd?
  var oldest: CollectionEnd?

  static var keys: [WritableKeyPath<Self, CollectionEnd?> & Sendable] { [\.newest, \.oldest] }
}

/// The order of collections: smart albums by id, albums by title without regard to case, folders by path.
struct CollectionPlace: Hashable, Comparable, Sendable {
  let kind: Int64
  let key: [UInt8]
  let id: CollectionID

  init(_ row: CollectionRow) {
    kind = row.kind.code
    key =
      switch row.kind {
      case .smartAlbum, .unknown: []
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
  /// - Parameter cover: the user's choice, if the collection shows it. By default, the newest asset is the cover.
  init(_ row: CollectionRow, count: Int, ends: CollectionEnds = CollectionEnds(), cover: AssetID? = nil) {
    self.init(
      id: row.id, kind: row.kind, subtype: row.subtype, title: row.title, path: row.path.map { FilePath.text($0) },
      count: count, keyAssetID: cover ?? ends.newest?.id, startDate: ends.oldest?.takenDate,
      endDate: ends.newest?.takenDate)
  }
}

extension CatalogReader {
  /// The source of a fetch of the collection without options. Statements made from it differ only by the kind of the
  /// collection, so they stay in the cache.
  static func visibleSource(_ row: CollectionRow) -> FetchSource {
    var source = CollectionList(row).source
    source.conditions.append(FetchSource.visible)
    return source
  }

  /// - Complexity: one step in the collection's index, and one for each hidden asset beyond the end. For an album,
  ///   O(n).
  func end(_ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow) throws -> CollectionEnd? {
    let (sql, arguments) = Self.endStatement(end, of: row)
    let statement = try RawStatement(database, sql)
    statement.bind(arguments)
    return try statement.firstRow {
      CollectionEnd(date: statement.int64(1), id: statement.assetID(0), offset: statement.optionalInt(2))
    }
  }

  static func endStatement(
    _ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow
  ) -> (sql: String, arguments: [SQLValue]) {
    let source = visibleSource(row)
    let order = end == \.oldest ? "asset.creation_date, asset.id" : "asset.creation_date DESC, asset.id DESC"
    return (
      "SELECT asset.id, asset.creation_date, asset.creation_offset" + source.from + source.whereClause
        + " ORDER BY \(order) LIMIT 1", source.arguments
    )
  }
}
