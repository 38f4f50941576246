import GRDB
import PhotoModel

/// A fetch resolved against a catalog: what to run, and under which name equal fetches are shared.
///
/// It holds no data: it may be kept, and run again in any later snapshot of the same catalog. A plan for a collection
/// that has gone since gives an empty list.
package struct FetchPlan: Sendable {
  /// Canonical: fetches that mean the same list have the same key. Defaults are filled in, the collection is its id.
  package let key: String

  /// Changes of other fields can neither let an asset into this list, nor out, nor move it. Assets that come or go can
  /// always affect it.
  package let dependsOn: ChangedFields

  /// The user's album whose members and order the list has; it changes also when that album does.
  package let albumID: Int64?

  package let fetchLimit: Int?

  /// From `WITH` to `WHERE`, without what is selected and without order.
  let source: FetchSource
  let order: FetchOrder

  var idStatement: String {
    source.with + "SELECT \(source.idColumn)" + source.from + source.whereClause + order.sql
      + (fetchLimit == nil ? "" : " LIMIT ?")
  }

  /// Of an ``OrderedList``: with the first sort key of each, and as many as are asked for.
  var entryStatement: String {
    source.with + "SELECT \(source.idColumn), \(order.firstKey)" + source.from + source.whereClause + order.sql
      + (fetchLimit == nil ? "" : " LIMIT ?")
  }

  /// As ``entryStatement``, of those rows alone whose ids are in a JSON array, which is the first argument; without limit.
  var touchedStatement: String {
    source.with + "SELECT \(source.idColumn), \(order.firstKey)" + source.from(touched: true)
      + source.whereClause(touched: true) + order.sql
  }

  var touchedArguments: [SQLValue] { source.arguments(touched: true) }

  /// Where the order is that of an index, the rows that come behind a first key and an id, which are the last two arguments
  /// before the count; nil where they would have to be sorted anew for every page.
  var nextStatement: String? {
    guard let column = order.indexedKey, source.text == nil, !source.readsRows || fetchLimit != nil else { return nil }
    let sign = order.isFirstAscending ? ">" : "<"
    let conditions = source.whereClause.isEmpty ? " WHERE " : source.whereClause + " AND "
    return source.with + "SELECT \(source.idColumn), \(column)" + source.from + conditions
      + "(\(column), \(source.idColumn)) \(sign) (?, ?)" + order.sql + " LIMIT ?"
  }

  var countStatement: String {
    guard fetchLimit != nil else { return source.with + "SELECT count(*)" + source.from + source.whereClause }
    return source.with + "SELECT count(*) FROM (SELECT 1" + source.from + source.whereClause + " LIMIT ?)"
  }

  var arguments: [SQLValue] { source.arguments + (fetchLimit.map { [.integer(Int64($0))] } ?? []) }
}

extension FetchPlan: Hashable {
  package static func == (lhs: FetchPlan, rhs: FetchPlan) -> Bool { lhs.key == rhs.key }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// A value for a `?`: whatever a caller gave reaches SQL only so.
enum SQLValue: Hashable, Sendable {
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  /// The second argument of `photod_test`.
  case test(PredicateTest)
  /// The second argument of `photod_finds`.
  case textTest(TextTest)

  static func text(_ text: String) -> SQLValue { .text(Array(text.utf8)) }
}

/// A condition with the values of its `?`, in their order.
struct SQLCondition: Sendable {
  var sql: String
  var arguments: [SQLValue] = []
}

/// The rows of a list: which tables, and which conditions on them. Built up while a fetch is planned.
struct FetchSource: Sendable {
  /// The members of one user's album, whose own order may be wanted.
  var albumID: Int64?
  var conditions: [SQLCondition] = []
  /// Conditions speak of `place.path`, the path of the first resource's directory without a slash at its end.
  var usesPath = false
  /// Conditions read columns that no index of this list has. Then a pass over the rows as they lie, sorted afterwards, is
  /// several times faster than one in the order of an index, which finds each row somewhere else.
  var readsRows = false
  /// Words that assets are found by.
  var text: TextCondition?
  /// Conditions that hardly a row may meet.
  var hasPredicate = false
  /// What of the conditions is told without asking SQLite.
  var requirements = AssetRequirements()
  /// Conditions speak of `offline`, the directories of roots, and of what was mounted in them, that are not there.
  var usesOffline = false

  var with: String {
    var tables: [String] = []
    if usesOffline { tables.append(Self.offlineTable) }
    if usesPath { tables.append(Self.placeTable) }
    return tables.isEmpty ? "" : "WITH RECURSIVE " + tables.joined(separator: ", ") + " "
  }

  var idColumn: String { albumID == nil ? "asset.id" : "member.asset_id" }

  // CROSS JOIN keeps this order of loops (https://www.sqlite.org/optoverview.html#crossjoin): the list's own first, so
  // that its index gives the order, and what is only looked up last.
  var from: String { from(touched: false) }

  /// - Parameter touched: of all rows only those in a JSON array, which is a `?`: that many lookups, whatever the order.
  func from(touched: Bool) -> String {
    let place = usesPath ? " CROSS JOIN place ON place.id = asset.directory_id" : ""
    let ids = touched ? "json_each(?) AS touched CROSS JOIN " : ""
    guard albumID != nil else {
      return " FROM " + ids + "asset" + (touched ? " ON asset.id = touched.value" : "") + place
    }
    return " FROM " + ids + "album_asset AS member" + (touched ? " ON member.asset_id = touched.value" : "")
      + " CROSS JOIN asset ON asset.id = member.asset_id" + place
  }

  var whereClause: String { whereClause(touched: false) }

  func whereClause(touched: Bool) -> String {
    let all = conditions(touched: touched).map(\.sql) + (albumID == nil ? [] : ["member.collection_id = ?"])
    return all.isEmpty ? "" : " WHERE " + all.joined(separator: " AND ")
  }

  private func conditions(touched: Bool) -> [SQLCondition] {
    conditions + (text.map { [touched ? $0.ofOne : $0.ofAll] } ?? [])
  }

  var arguments: [SQLValue] { arguments(touched: false) }

  func arguments(touched: Bool) -> [SQLValue] {
    conditions(touched: touched).flatMap(\.arguments) + (albumID.map { [.integer($0)] } ?? [])
  }

  /// The sign keeps SQLite from going through an index only to check these
  /// (https://www.sqlite.org/optoverview.html#uplus).
  static let visible = SQLCondition(sql: "+asset.is_hidden = 0 AND +asset.is_trashed = 0")

  private static let offlineTable =
    "offline(id) AS (SELECT directory.id FROM root JOIN directory ON directory.root_id = root.id "
    + "WHERE root.is_available = 0 UNION SELECT id FROM directory WHERE is_available = 0 "
    + "UNION SELECT directory.id FROM offline JOIN directory ON directory.parent_id = offline.id)"

  private static let placeTable =
    "place(id, path) AS MATERIALIZED (SELECT directory.id, CASE root.path WHEN '/' THEN '' ELSE root.path END "
    + "FROM root JOIN directory ON directory.root_id = root.id "
    + "UNION ALL SELECT directory.id, place.path || '/' || directory.name "
    + "FROM place JOIN directory ON directory.parent_id = place.id)"
}

extension RawStatement {
  func bind(_ values: [SQLValue]) {
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let integer): bind(Int32(index + 1), integer)
      case .real(let real): bind(Int32(index + 1), real)
      case .text(let bytes): bind(Int32(index + 1), text: bytes)
      case .test(let test): bind(Int32(index + 1), test: test)
      case .textTest(let test): bind(Int32(index + 1), text: test)
      }
    }
  }
}
