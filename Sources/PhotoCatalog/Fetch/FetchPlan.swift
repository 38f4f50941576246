import GRDB
import PhotoModel
import PredicateLanguage

/// A fetch resolved against a catalog: the statements to run, and the key by which equal fetches are shared.
///
/// It holds no data, so it may be kept and run again in any later snapshot of the same catalog. The plan for a deleted
/// collection gives an empty list.
package struct FetchPlan: Sendable {
  /// The canonical key. Fetches of the same list have the same key. Defaults are set, and the collection is given by
  /// its id.
  package let key: String

  /// Changes of other fields can't make an asset enter, leave or move in this list. Inserted and deleted assets can
  /// always affect it.
  package let dependsOn: ChangedFields

  /// The user's album whose members and order the list has. The list also changes when that album does.
  package let albumID: CollectionID?

  /// The collection whose assets the list has; nil if the list has those of the library.
  package let collectionID: CollectionID?

  /// Whether the collection was deleted, so that the list is empty. It may come back if the deletion is undone.
  package let isOfDeletedCollection: Bool

  package let fetchLimit: Int?

  /// The beginning of the predicate's canonical text, for a person.
  package let predicate: String?

  /// The part from `WITH` to `WHERE`, without selected columns and order.
  let source: FetchSource
  let order: FetchOrder

  /// The smart album of a person whose query the fetch has, or a deleted collection of any kind.
  let followed: Followed?

  struct Followed: Sendable {
    let id: CollectionID
    let options: FetchOptions
  }

  /// Whether a commit can change the conditions of the list. This is so if they are the query of a person's smart
  /// album, or if the collection was deleted and may come back. The plan is then made anew
  /// (``CatalogReader/current(_:)``).
  package var followsQuery: Bool { followed != nil }

  /// About how much memory it takes, in bytes: the canonical text of the predicate, its SQL and its values. A predicate of
  /// 64 KiB takes some hundred kilobytes. The key counts twice, because a cache may have a copy of it.
  package var byteCount: Int {
    let conditions = source.conditions + (source.text.map { [$0.ofAll, $0.ofOne] } ?? [])
    let options = (followed?.options.predicate?.utf8.count ?? 0) + (followed?.options.text?.utf8.count ?? 0)
    return conditions.reduce(512 + options + 2 * key.utf8.count) { $0 + $1.byteCount }
  }

  var idStatement: String {
    source.with + "SELECT \(source.idColumn)" + source.from + source.whereClause + order.sql
      + (fetchLimit == nil ? "" : " LIMIT ?")
  }

  /// Selects the rows of an ``OrderedList``, each with its first sort key. With a limit, its argument is the number of
  /// rows.
  var entryStatement: String {
    source.with + "SELECT \(source.idColumn), \(order.firstKey)" + source.from + source.whereClause + order.sql
      + (fetchLimit == nil ? "" : " LIMIT ?")
  }

  /// Like ``entryStatement``, but only for rows whose ids are in the JSON array in the first argument, and without a
  /// limit.
  var touchedStatement: String {
    source.with + "SELECT \(source.idColumn), \(order.firstKey)" + source.from(touched: true)
      + source.whereClause(touched: true) + order.sql
  }

  var touchedArguments: [SQLValue] { source.arguments(touched: true) }

  /// Selects the rows after a first key and an id, if the order is that of an index. These two arguments precede the
  /// last one, the count. nil if the rows would have to be sorted again for every page.
  var nextStatement: String? {
    guard let column = order.indexedKey, source.text == nil, !source.isWindow, !source.readsRows || fetchLimit != nil
    else { return nil }
    let sign = order.isFirstAscending ? ">" : "<"
    let conditions = source.whereClause.isEmpty ? " WHERE " : source.whereClause + " AND "
    return source.with + "SELECT \(source.idColumn), \(column)" + source.from + conditions
      + "(\(column), \(source.idColumn)) \(sign) (?, ?)" + order.sql + " LIMIT ?"
  }

  var countStatement: String {
    guard fetchLimit != nil else { return source.countStatement }
    return source.with + "SELECT count(*) FROM (SELECT 1" + source.from + source.whereClause + " LIMIT ?)"
  }

  /// Whether the list has conditions on the assets of an album with a limit. An asset then enters or leaves such a list
  /// also because of a change of another asset.
  package var isWindow: Bool { source.isWindow }

  var arguments: [SQLValue] { source.arguments + (fetchLimit.map { [.integer(Int64($0))] } ?? []) }
}

extension FetchPlan: Hashable {
  package static func == (lhs: FetchPlan, rhs: FetchPlan) -> Bool { lhs.key == rhs.key }

  package func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The rows of a list: tables and conditions. It is built while a fetch is planned.
struct FetchSource: Sendable {
  /// The user's album whose members the list has, and whose order may be wanted.
  var albumID: CollectionID?
  var conditions: [SQLCondition] = []
  /// Whether conditions use `place.path`, the path of the first resource's directory without a slash at the end.
  var usesPath = false
  /// Whether conditions read columns that no index of this list has. A pass in the order of an index must look up each
  /// row then. A pass over the rows in their own order, followed by a sort, is several times faster.
  var readsRows = false
  /// The words by which assets are searched for.
  var text: TextCondition?
  /// Whether there are conditions that few rows may satisfy.
  var hasPredicate = false
  /// The conditions that can be checked without SQLite.
  var requirements = AssetRequirements()
  /// Whether the source is restricted to the first assets of an album with a limit. A change of one asset can then make
  /// another one enter or leave the list.
  var isWindow = false
  /// Whether conditions use `offline`, the directories below roots, or below mounts in them, that are offline.
  var usesOffline = false

  /// Whether the list has all assets, or all visible or untrashed ones.
  var isWholeLibrary: Bool {
    var others = requirements
    (others.hidden, others.untrashed) = (nil, false)
    return albumID == nil && text == nil && !hasPredicate && !usesOffline && !isWindow && others == AssetRequirements()
  }

  var with: String {
    var tables: [String] = []
    if usesOffline { tables.append(Self.offlineTable) }
    if usesPath { tables.append(Self.placeTable) }
    return tables.isEmpty ? "" : "WITH RECURSIVE " + tables.joined(separator: ", ") + " "
  }

  /// Adds the condition of a predicate.
  mutating func add(_ predicate: CompiledPredicate) {
    conditions.append(predicate.condition)
    readsRows = true
    hasPredicate = true
    usesPath = usesPath || predicate.usesPath
    usesOffline = usesOffline || predicate.usesOffline
  }

  /// Adds words that the assets must have, too.
  mutating func add(_ words: TextQuery) {
    text = TextCondition(text.map { TextQuery(parts: [$0.query, words]) } ?? words)
    readsRows = true
  }

  /// Counts all rows. A pass over a million rows of an index takes 60 ms, so the length of the whole library is that of
  /// all assets without those that are left out. SQLite has the first number without reading rows, and an index has the
  /// few assets of the second one.
  var countStatement: String {
    guard leavesOutOnlyInvisible else { return with + "SELECT count(*)" + from + whereClause }
    let included = conditions.map(\.sql).joined(separator: " AND ")
    return "SELECT (SELECT count(*) FROM asset) - (SELECT count(*) FROM asset "
      + "WHERE (is_hidden <> 0 OR is_trashed <> 0) AND NOT (\(included)))"
  }

  /// Whether the list has all assets, except for hidden ones, trashed ones, or both.
  private var leavesOutOnlyInvisible: Bool {
    albumID == nil && text == nil && !conditions.isEmpty
      && conditions.allSatisfy { $0.sql == Self.unhidden.sql || $0.sql == Self.untrashed.sql }
  }

  /// A statement for these columns of all rows.
  func select(_ columns: String) -> String { with + "SELECT \(columns)" + from + whereClause }

  var idColumn: String { albumID == nil ? "asset.id" : "member.asset_id" }

  // CROSS JOIN keeps this order of loops (https://www.sqlite.org/optoverview.html#crossjoin). The list's own table
  // comes first, so that its index gives the order. Tables for mere lookups come last.
  var from: String { from(touched: false) }

  /// - Parameter touched: reads only the rows in a JSON array, which is a `?`. That takes one lookup for each.
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
    conditions(touched: touched).flatMap(\.arguments) + (albumID.map { [.id($0)] } ?? [])
  }

  /// The sign keeps SQLite from passing through an index only to check these conditions
  /// (https://www.sqlite.org/optoverview.html#uplus).
  static let visible = SQLCondition(sql: "\(unhidden.sql) AND \(untrashed.sql)")
  static let unhidden = SQLCondition(sql: "+asset.is_hidden = 0")
  static let untrashed = SQLCondition(sql: "+asset.is_trashed = 0")

  static let offlineTable =
    "offline(id) AS (SELECT directory.id FROM root JOIN directory ON directory.root_id = root.id "
    + "WHERE root.is_available = 0 UNION SELECT id FROM directory WHERE is_available = 0 "
    + "UNION SELECT directory.id FROM offline JOIN directory ON directory.parent_id = offline.id)"

  private static let placeTable =
    "place(id, path) AS MATERIALIZED (SELECT directory.id, CASE root.path WHEN '/' THEN '' ELSE root.path END "
    + "FROM root JOIN directory ON directory.root_id = root.id "
    + "UNION ALL SELECT directory.id, place.path || '/' || directory.path_name "
    + "FROM place JOIN directory ON directory.parent_id = place.id)"
}
