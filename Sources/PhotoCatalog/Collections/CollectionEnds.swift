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

/// The order of collections: smart albums of the system by id, then the collections that the user made, then folder albums
/// by path.
///
/// The user's collections of one folder are ordered by rank, by title without regard to case, and by id. The collections of a
/// folder follow it.
struct CollectionPlace: Hashable, Comparable, Sendable {
  private enum Group: Int { case system, user, folderAlbums }

  let group: Int
  let key: [UInt8]
  let id: CollectionID

  init(_ row: CollectionRow) {
    let group: Group =
      switch row.kind {
      case .smartAlbum: row.subtype == nil ? .user : .system
      case .album, .folder: .user
      case .folderAlbum, .unknown: .folderAlbums
      }
    self.group = group.rawValue
    key =
      switch group {
      case .system: []
      case .user: row.folderKey + Self.key(rank: row.rank, title: row.title, id: row.id)
      case .folderAlbums: row.path ?? []
      }
    id = row.id
  }

  /// The part of a key for one level of folders. Its bytes have the order of the collections in one folder.
  static func key(rank: Double, title: String, id: CollectionID) -> [UInt8] {
    func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    return bytes(SortNumber.of(rank)) + CaseFolding.fold(title).utf8 + [0] + bytes(UInt64(bitPattern: id.rawValue))
  }

  static func < (lhs: Self, rhs: Self) -> Bool {
    if lhs.group != rhs.group { return lhs.group < rhs.group }
    if lhs.key != rhs.key { return lhs.key.lexicographicallyPrecedes(rhs.key) }
    return lhs.id < rhs.id
  }
}

extension AssetCollection {
  /// - Parameter cover: the user's choice, if the collection shows it. By default, the newest asset is the cover.
  init(_ row: CollectionRow, count: Int, ends: CollectionEnds = CollectionEnds(), cover: AssetID? = nil) {
    self.init(row, count: count, ends: ends, cover: cover, problem: row.problem)
  }

  /// A smart album whose assets were not counted, because that takes too long.
  init(tooCostly row: CollectionRow) {
    self.init(row, count: 0, ends: CollectionEnds(), cover: nil, problem: CollectionRow.tooCostly)
  }

  private init(_ row: CollectionRow, count: Int, ends: CollectionEnds, cover: AssetID?, problem: String?) {
    self.init(
      id: row.id, kind: row.kind, subtype: row.subtype, title: row.title, parentID: row.parentID,
      path: row.path.map { FilePath.text($0) },
      count: count, keyAssetID: cover ?? ends.newest?.id, chosenKeyAssetID: row.keyAssetID,
      startDate: ends.oldest?.takenDate, endDate: ends.newest?.takenDate, query: row.query, problem: problem)
  }
}

extension CatalogReader {
  /// The source of a fetch of the collection without options. Statements made from it differ only by the kind of the
  /// collection, so they stay in the cache.
  static func visibleSource(_ row: CollectionRow) throws -> FetchSource {
    var list = CollectionList(row)
    try list.restrictToWindow()
    list.source.conditions.append(
      list.showsHidden ? FetchSource.untrashed : FetchSource.visible)
    return list.source
  }

  /// - Complexity: one step in the collection's index, and one for each hidden asset beyond the end. For an album,
  ///   O(n).
  func end(_ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow) throws -> CollectionEnd? {
    let (sql, arguments) = try Self.endStatement(end, of: row)
    let statement = try RawStatement(database, sql)
    statement.bind(arguments)
    return try statement.firstRow {
      CollectionEnd(date: statement.int64(1), id: statement.assetID(0), offset: statement.optionalInt(2))
    }
  }

  static func endStatement(
    _ end: KeyPath<CollectionEnds, CollectionEnd?>, of row: CollectionRow
  ) throws -> (sql: String, arguments: [SQLValue]) {
    let source = try visibleSource(row)
    let order = end == \.oldest ? "asset.creation_date, asset.id" : "asset.creation_date DESC, asset.id DESC"
    return (
      source.select("asset.id, asset.creation_date, asset.creation_offset")
        + " ORDER BY \(order) LIMIT 1", source.arguments
    )
  }
}
