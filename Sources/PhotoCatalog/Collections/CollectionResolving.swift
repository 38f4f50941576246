import GRDB
import PhotoModel
import PredicateLanguage

extension CatalogReader {
  /// The collection for a value of `FetchOptions.collection`: `smart:favorites`, `album:Title`, `folder:/path`,
  /// `id:42`, or a bare title. A bare title is looked up among smart albums, albums, folders of albums and folders, in
  /// this order. The first kind that has it is taken.
  ///
  /// - Throws: ``FetchError`` `noSuchCollection` or `ambiguousCollection`.
  func resolveCollection(_ text: String) throws -> CollectionRow {
    let (kind, name) = Self.split(text)
    let found: [CollectionRow]
    switch kind {
    case "id": found = try CollectionID(name).flatMap { try collectionRow(id: $0) }.map { [$0] } ?? []
    case "folder": found = try folderAlbum(path: FilePath.bytes(name)).map { [$0] } ?? []
    case "smart": found = try smartAlbums(titled: name)
    case "album":
      // There is no prefix for folders of albums, so this one also finds them.
      found = try collectionRows(kind: .album, titled: name) + collectionRows(kind: .folder, titled: name)
    default:
      var rows = try smartAlbums(titled: name)
      if rows.isEmpty { rows = try collectionRows(kind: .album, titled: name) }
      if rows.isEmpty { rows = try collectionRows(kind: .folder, titled: name) }
      if rows.isEmpty { rows = try collectionRows(kind: .folderAlbum, titled: name) }
      found = rows
    }
    guard let first = found.first else {
      throw FetchError.noSuchCollection(
        collection: Self.shortened(text), similar: Self.fitting(try similarCollections(to: name, kind: kind)))
    }
    guard found.count == 1 else {
      let candidates = found.prefix(Self.maximumCandidates).map {
        $0.kind == .folderAlbum ? $0.reference : "id:\($0.id)"
      }
      throw FetchError.ambiguousCollection(
        collection: Self.shortened(text), candidates: Self.fitting(candidates), count: found.count)
    }
    return first
  }

  /// The id in a value of `FetchOptions.collection`; nil if it has a title or a path.
  static func collectionID(in text: String) -> CollectionID? {
    let (kind, name) = split(text)
    return kind == "id" ? CollectionID(name) : nil
  }

  /// The most collections that an error names.
  static let maximumCandidates = 20

  /// The references from the first on that fit into a reply. JSON escapes a control character with six bytes, so they
  /// may have a sixth of its bytes.
  private static func fitting(_ references: [String]) -> [String] {
    var room = 150_000
    return Array(
      references.prefix {
        room -= $0.utf8.count
        return room >= 0
      })
  }

  /// The part of a client's text that an error repeats. It has room for the longest path. A whole text of 200,000
  /// control characters would not fit into a reply.
  private static func shortened(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(4_096)))
  }

  /// Separates the prefix of a name, such as `album:`, from the rest. Any other text before a colon belongs to the title,
  /// because an album may be called "Rome: the rest".
  private static func split(_ text: String) -> (kind: String?, name: String) {
    for kind in ["smart", "album", "folder", "id"] where text.utf8.starts(with: (kind + ":").utf8) {
      return (kind, String(text.utf8.dropFirst(kind.utf8.count + 1)) ?? "")
    }
    return (nil, text)
  }

  func collectionRow(id: CollectionID) throws -> CollectionRow? {
    try collectionRows(ids: [id]).first
  }

  /// The collections of a kind, ordered by id. Smart albums and albums have the order of their creation.
  func collectionRows(kind: AssetCollection.Kind) throws -> [CollectionRow] {
    var tree = try CollectionTree(database)
    var rows: [CollectionRow] = []
    let statement = try RawStatement(database, Self.rowColumns + " WHERE kind = ? ORDER BY id")
    statement.bind(1, kind.code)
    try statement.forEachRow { rows.append(try Self.collectionRow(statement, &tree)) }
    return rows
  }

  /// The collections with these ids, in the order of the ids. Ids without a collection are left out.
  func collectionRows(ids: some Sequence<CollectionID>) throws -> [CollectionRow] {
    var tree = try CollectionTree(database)
    let statement = try RawStatement(database, Self.rowColumns + " WHERE id = ?")
    return try ids.compactMap { id in
      statement.bind(1, id)
      return try statement.firstRow { try Self.collectionRow(statement, &tree) }
    }
  }

  private static let rowColumns =
    "SELECT id, kind, subtype, title, directory_id, key_asset_id, parent_id, rank, "
    + "\(SmartAlbumQuery.columns) FROM collection"

  private static func collectionRow(_ row: RawStatement, _ tree: inout CollectionTree) throws -> CollectionRow {
    var collection = CollectionRow(
      id: row.collectionID(0), kind: AssetCollection.Kind(code: row.int64(1)), subtype: row.optionalText(2),
      title: row.text(3), directoryID: row.optionalDirectoryID(4), keyAssetID: row.optionalAssetID(5),
      parentID: row.optionalCollectionID(6), rank: row.double(7))
    if collection.kind == .smartAlbum, collection.subtype == nil { collection.query = SmartAlbumQuery(row, from: 8) }
    if let directoryID = collection.directoryID {
      let place = try tree.directories.place(directoryID)
      collection.path = place.path
      collection.title = FilePath.nameText(place.name)
    }
    if let parentID = collection.parentID { collection.folderKey = try tree.key(ofFolder: parentID) }
    return collection
  }

  private func folderAlbum(path: [UInt8]) throws -> CollectionRow? {
    guard let directory = try directoryID(path: path) else { return nil }
    let statement = try RawStatement(database, "SELECT id FROM collection WHERE directory_id = ?")
    statement.bind(1, directory)
    return try statement.firstRow { statement.collectionID(0) }.flatMap { try collectionRow(id: $0) }
  }

  /// Finds smart albums by subtype or by title.
  private func smartAlbums(titled title: String) throws -> [CollectionRow] {
    let folded = CaseFolding.fold(title)
    return try collectionRows(kind: .smartAlbum).filter {
      CaseFolding.fold($0.title).utf8.elementsEqual(folded.utf8)
        || $0.subtype.map { CaseFolding.fold($0).utf8.elementsEqual(folded.utf8) } ?? false
    }
  }

  private func collectionRows(kind: AssetCollection.Kind, titled title: String) throws -> [CollectionRow] {
    let folded = CaseFolding.fold(title)
    // SQLite narrows the folders down by their own name. The top of a root has no name there.
    let sql =
      kind == .folderAlbum
      ? "SELECT collection.id FROM collection JOIN directory ON directory.id = collection.directory_id "
        + "WHERE kind = ? AND (directory.parent_id IS NULL OR photod_fold(photod_name(directory.path_name)) = ?) ORDER BY collection.id"
      : "SELECT id FROM collection WHERE kind = ? AND photod_fold(title) = ? ORDER BY id"
    var ids: [CollectionID] = []
    let statement = try RawStatement(database, sql)
    statement.bind(1, kind.code)
    statement.bind(2, folded)
    try statement.forEachRow { ids.append(statement.collectionID(0)) }
    return try ids.compactMap { try collectionRow(id: $0) }
      .filter { CaseFolding.fold($0.title).utf8.elementsEqual(folded.utf8) }
  }

  /// Up to three collections that a person may have meant: with the same title, or one that differs by few letters.
  private func similarCollections(to name: String, kind: String?) throws -> [String] {
    guard kind != "id" else { return [] }
    let wanted = kind == "folder" ? name.split(separator: "/").last.map(String.init) ?? name : name
    let target = Array(CaseFolding.fold(wanted).unicodeScalars)
    guard !target.isEmpty, target.count <= 255 else { return [] }
    let limit = max(1, target.count / 3)
    var found: [(distance: Int, reference: String)] = []
    for kind in AssetCollection.Kind.allCases {
      for row in try collectionRows(kind: kind) {
        let titles = [row.title, row.subtype].compactMap { $0 }.map { Array(CaseFolding.fold($0).unicodeScalars) }
        if let distance = titles.compactMap({ EditDistance.between(target, $0, atMost: limit) }).min() {
          found.append((distance, row.reference))
        }
      }
    }
    // Sorting keeps collections of equal distance in the order of their kinds.
    return found.enumerated().sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }
      .prefix(3).map(\.element.reference)
  }
}

/// Looks up the places of collections: the paths of folders on disk, and the keys of folders of albums. It is valid in
/// one snapshot only, because it caches what it has read.
private struct CollectionTree {
  var directories: DirectoryPaths
  private let folder: RawStatement
  private var keys: [CollectionID: (key: [UInt8], level: Int)] = [:]

  /// Folders below this level, which only the journal of an older photod can have, have the key of the last one above it.
  private static let mostLevels = 2 * CatalogWriter.mostLevels

  init(_ database: Database) throws {
    directories = try DirectoryPaths(database)
    folder = try RawStatement(database, "SELECT parent_id, rank, title FROM collection WHERE id = ?")
  }

  /// A journal may have folders that are nested more deeply than clients can nest them, so this is a loop.
  mutating func key(ofFolder id: CollectionID) throws -> [UInt8] {
    var below: [(id: CollectionID, own: [UInt8])] = []
    var last: (key: [UInt8], level: Int) = ([], 0)
    var next: CollectionID? = id
    while let id = next {
      if let known = keys[id] {
        last = known
        break
      }
      // A cycle can only come from another program. It must not end in an endless loop.
      keys[id] = ([], 0)
      folder.bind(1, id)
      let found = try folder.firstRow {
        (folder.optionalCollectionID(0), CollectionPlace.key(rank: folder.double(1), title: folder.text(2), id: id))
      }
      guard let (parentID, own) = found else { break }
      below.append((id, own))
      next = parentID
    }
    for (id, own) in below.reversed() {
      if last.level < Self.mostLevels { last.key += own }
      last.level += 1
      keys[id] = last
    }
    return last.key
  }
}

/// The Levenshtein distance: how many letters must be inserted, removed or replaced to turn one word into another.
enum EditDistance {
  /// - Returns: `nil` if it is more than `limit`.
  /// - Complexity: O(n · m), less if the lengths alone exceed the limit.
  static func between<Letter: Equatable>(_ first: [Letter], _ second: [Letter], atMost limit: Int) -> Int? {
    guard abs(first.count - second.count) <= limit else { return nil }
    var row = Array(0...second.count)
    for (i, letter) in first.enumerated() {
      var diagonal = row[0]
      row[0] = i + 1
      var smallest = row[0]
      for (j, other) in second.enumerated() {
        let replaced = diagonal + (letter == other ? 0 : 1)
        diagonal = row[j + 1]
        row[j + 1] = min(replaced, row[j] + 1, row[j + 1] + 1)
        smallest = min(smallest, row[j + 1])
      }
      if smallest > limit { return nil }
    }
    return row[second.count] <= limit ? row[second.count] : nil
  }
}
