import GRDB
import PhotoModel

/// A collection that a person made: an album, a smart album, or a folder of them. Its assets are not part of it.
package struct UserCollection: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case album
    case folder
    case smartAlbum(SmartAlbumQuery)
  }

  package var id: CollectionID
  package var kind: Kind
  package var title: String
  /// nil at the top level.
  package var parentID: CollectionID?
  /// The position among the collections of one folder. All of them have 0 until a person gives one a position.
  package var rank: Double = 0
  /// The cover that the user chose.
  package var keyAssetID: AssetID?
  /// The fields from a later version, unchanged.
  package var others: [UserDataField] = []
}

extension UserCollection {
  init?(_ fields: inout RecordFields) {
    guard let id: CollectionID = fields.id("id"), id > 0, let title = fields.text("title") else { return nil }
    let kind: Kind
    switch fields.text("kind") {
    case "album": kind = .album
    case "folder": kind = .folder
    case "smart":
      var query = SmartAlbumQuery(
        predicate: fields.text("predicate"), text: fields.text("text"),
        fetchLimit: fields.integer("limit").map { Int(clamping: $0) })
      while let sort = fields.text("sort") { query.sortDescriptors.append(SortDescriptor(signed: sort)) }
      kind = .smartAlbum(query)
    default: return nil
    }
    self.init(
      id: id, kind: kind, title: title, parentID: fields.id("parent"),
      rank: fields.text("rank").flatMap { Double($0) } ?? 0, keyAssetID: fields.id("key"))
    others = fields.rest
  }

  func write(to line: inout RecordLine) {
    line.begin("collection")
    line.add("id", id.rawValue)
    switch kind {
    case .album: line.add("kind", "album")
    case .folder: line.add("kind", "folder")
    case .smartAlbum(let query):
      line.add("kind", "smart")
      if let predicate = query.predicate { line.add("predicate", predicate) }
      if let text = query.text { line.add("text", text) }
      for sort in query.sortDescriptors { line.add("sort", sort.signed) }
      if let limit = query.fetchLimit { line.add("limit", Int64(limit)) }
    }
    line.add("title", title)
    if let parentID { line.add("parent", parentID.rawValue) }
    if rank != 0 { line.add("rank", "\(rank)") }
    if let keyAssetID { line.add("key", keyAssetID.rawValue) }
    for field in others { line.add(field) }
  }
}

extension SortDescriptor {
  /// The key, with `-` in front if it descends.
  fileprivate var signed: String { (ascending ? "" : "-") + key }

  fileprivate init(signed text: some StringProtocol) {
    let descends = text.hasPrefix("-")
    self.init(key: String(descends ? text.dropFirst() : text[...]), ascending: !descends)
  }
}

extension SmartAlbumQuery {
  /// The columns of the table `collection` that have the query.
  static let columns = "predicate, search_text, sort_keys, fetch_limit"

  /// - Parameter column: the first of ``columns``.
  init(_ row: RawStatement, from column: Int32) {
    self.init(
      predicate: row.optionalText(column), text: row.optionalText(column + 1),
      sortDescriptors: (row.optionalText(column + 2) ?? "").split(separator: ",").map { SortDescriptor(signed: $0) },
      fetchLimit: row.optionalInt(column + 3))
  }

  /// - Parameter index: the parameter for the first of ``columns``.
  func bind(to statement: RawStatement, from index: Int32) {
    statement.bind(index, predicate)
    statement.bind(index + 1, text)
    statement.bind(index + 2, sortDescriptors.isEmpty ? nil : sortDescriptors.map(\.signed).joined(separator: ","))
    statement.bind(index + 3, fetchLimit.map { Int64($0) })
  }
}
