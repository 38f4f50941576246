import PhotoModel
import PhotoTestSupport
import TestFetches
import Testing

@testable import PhotoCatalog

/// Random commits of every kind to a random library, with the history that the library would write.
struct RandomCommits {
  let library: PredicateLibrary
  private var random: SeededGenerator
  /// The ids of all present assets.
  private var live: [AssetID]
  /// A counter for file names that were not used before.
  private var names = 0
  private var hasAlbum = true
  private var buried: [AssetID] = []
  /// The effects of the commits by sequence.
  private(set) var effects: [Int64: CommitEffects] = [:]

  init(seed: UInt64) throws {
    library = try PredicateLibrary(seed: seed)
    random = SeededGenerator(seed: seed &* 7_919)
    live = library.assets.map(\.id)
    // The history begins with the library's first commit.
    try catalog.write { writer in
      var record = CommitRecord()
      record.insert(asset: 1)
      _ = try writer.append(record, origin: "watcher", date: .init(microseconds: 1))
    }
  }

  var catalog: Catalog { library.fixture.catalog }
  private var albumID: CollectionID { library.random.albumID }

  /// Makes one commit with one to five changes.
  mutating func commit() throws {
    let count = Int.random(in: 1...5, using: &random)
    var changing = self
    try commit { writer, record in
      for _ in 0..<count { try changing.change(writer, &record) }
      // This makes no difference to a search.
      if Int.random(in: 0..<4, using: &changing.random) == 0 {
        _ = try writer.indexText(limit: .random(in: 1...60, using: &changing.random))
      }
    }
    changing.effects = effects
    self = changing
  }

  /// Makes one commit with the changes of a test.
  mutating func commit(_ body: (CatalogWriter, inout CommitRecord) throws -> Void) throws {
    var record = CommitRecord()
    try catalog.write { writer in
      try body(writer, &record)
      guard !record.isEmpty else { return }
      let sequence = try writer.append(record, origin: "watcher", date: .init(microseconds: 1))
      effects[sequence] = try writer.effects(of: record, origin: "watcher")
    }
  }

  func effects(after sequence: Int64, through last: Int64) throws -> CommitEffects {
    var merged = CommitEffects()
    for sequence in sequence..<last { merged.merge(try #require(effects[sequence + 1])) }
    return merged
  }

  private mutating func change(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<6: try setAvailability(writer, &record)
    case 6..<12: try moveDirectory(writer, &record)
    case 12..<24: try editAlbum(writer, &record)
    case 24..<34: try insert(writer, &record)
    case 34..<38: try restore(writer, &record)
    default: try edit(writer, &record)
    }
  }

  // MARK: Assets

  private mutating func edit(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    guard let id = live.randomElement(using: &random), let row = try writer.file(ofAsset: id) else { return }
    switch Int.random(in: 0..<7, using: &random) {
    case 0: if try writer.setFavorite(id, .random(using: &random)) { record.update(asset: id, .favorite) }
    case 1: if try writer.setHidden(id, .random(using: &random)) { record.update(asset: id, .hidden) }
    case 2:
      try run(writer, "UPDATE asset SET is_trashed = NOT is_trashed WHERE id = ?", [.id(id)])
      record.update(asset: id, .trashed)
    case 3:
      try writer.moveFile(row, to: directory(), name: name())
      record.update(asset: id, .path)
    case 4:
      // With a tombstone the asset may come back; without one it never does.
      if Bool.random(using: &random) {
        _ = try writer.bury(id, directoryPath: Array("/d/".utf8), date: .init(microseconds: 1))
        buried.append(id)
      } else {
        try writer.deleteAsset(id)
      }
      live.removeAll { $0 == id }
      record.delete(asset: id)
    default:
      let content = content()
      let fields = try writer.changedFields(by: content, file: row)
      try writer.updateContent(content, file: row)
      record.update(asset: id, fields.union(.content))
    }
  }

  private mutating func insert(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    let row = FileRow(
      assetID: 0, directoryID: directory(), name: name(), byteCount: .random(in: 0...5, using: &random),
      modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
    let new = try writer.insertAsset(
      content(), file: row, addedDate: WallTime(seconds: .random(in: -2...6, using: &random) * 3_600))
    live.append(new)
    record.insert(asset: new)
  }

  /// Restores an asset with its flags and its places in albums, which the commit then names.
  private mutating func restore(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    guard let id = buried.randomElement(using: &random), let tombstone = try writer.tombstone(of: id) else { return }
    buried.removeAll { $0 == id }
    let row = FileRow(
      assetID: 0, directoryID: directory(), name: name(), byteCount: 1, modificationTime: 1, changeTime: 1, inode: 1,
      birthTime: 1, readTime: 1)
    try writer.restore(tombstone, content: content(), file: row)
    live.append(id)
    record.insert(asset: id)
    for collection in try writer.collections(holding: id) { record.update(collection: collection) }
  }

  /// The fields have few values, so that any key gives most assets the same rank as others.
  private mutating func content() -> AssetContent {
    AssetContent(
      mediaType: [.image, .video, .audio].randomElement(using: &random) ?? .image,
      mediaSubtypes: Bool.random(using: &random) ? [.screenshot] : [], contentType: "image/jpeg",
      creationDate: Bool.random(using: &random)
        ? PhotoDate(microseconds: .random(in: -2...6, using: &random) * 3_600_000_000) : nil,
      pixelWidth: Bool.random(using: &random) ? .random(in: -1...4, using: &random) : nil,
      durationSeconds: Bool.random(using: &random) ? [-0.5, 0, 2.5].randomElement(using: &random) : nil,
      camera: Bool.random(using: &random)
        ? Camera(make: "Canon", model: ["EOS R6", "X-T5"].randomElement(using: &random)) : nil,
      title: Bool.random(using: &random) ? RandomLibrary.texts.randomElement(using: &random) : nil,
      caption: Bool.random(using: &random) ? RandomTexts.text(using: &random) : nil,
      keywords: Bool.random(using: &random)
        ? Array(PredicateLibrary.keywords.shuffled(using: &random).prefix(2)) : [],
      rating: Bool.random(using: &random) ? .random(in: 0...5, using: &random) : nil)
  }

  private mutating func directory() -> DirectoryID { DirectoryID(rawValue: .random(in: 1...6, using: &random)) }

  private mutating func name() -> [UInt8] {
    names += 1
    return Array("\(["a", "m", "Z", "é"].randomElement(using: &random) ?? "")-\(names).jpg".utf8)
  }

  // MARK: Albums

  /// Adds, removes or moves members, or deletes the album. It may also only touch the album, as a new favorite in it
  /// does.
  private mutating func editAlbum(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    guard hasAlbum, let id = live.randomElement(using: &random) else { return }
    let rank = SQLValue.real(.random(in: 0...90, using: &random))
    switch Int.random(in: 0..<40, using: &random) {
    case 0:
      try run(writer, "DELETE FROM collection WHERE id = ?", [.id(albumID)])
      hasAlbum = false
      record.delete(collection: albumID)
      return
    case 1..<15:
      try run(
        writer, "INSERT OR REPLACE INTO album_asset (collection_id, asset_id, rank) VALUES (?, ?, ?)",
        [.id(albumID), .id(id), rank])
    case 15..<25:
      try run(
        writer, "DELETE FROM album_asset WHERE collection_id = ? AND asset_id = ?", [.id(albumID), .id(id)])
    case 25..<35:
      try run(
        writer, "UPDATE album_asset SET rank = ? WHERE collection_id = ? AND asset_id = ?",
        [rank, .id(albumID), .id(id)])
    default: return record.update(collection: albumID)
    }
    record.edit(album: albumID, placing: [id])
  }

  // MARK: Directories and volumes

  private mutating func setAvailability(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    let isAvailable = Bool.random(using: &random)
    if Bool.random(using: &random) {
      let root = Int64.random(in: 1...3, using: &random)
      guard try value(writer, "SELECT is_available FROM root WHERE id = ?", root) != (isAvailable ? 1 : 0) else {
        return
      }
      try writer.setRootAvailable(RootID(rawValue: root), isAvailable)
      record.update(.init(rootID: RootID(rawValue: root), path: Array("/r".utf8), isAvailable: isAvailable))
    } else {
      let directory = DirectoryID(rawValue: .random(in: 4...6, using: &random))
      guard
        try value(writer, "SELECT is_available FROM directory WHERE id = ?", directory.rawValue)
          != (isAvailable ? 1 : 0)
      else { return }
      try writer.setDirectoryAvailable(directory, isAvailable)
      let root = directory == 6 ? 2 : 1 as RootID
      record.update(.init(rootID: root, path: Array("/r/m".utf8), isAvailable: isAvailable, directoryID: directory))
    }
  }

  /// Gives a directory another name or another parent. The directories 4, 5 and 6 are below others.
  private mutating func moveDirectory(_ writer: CatalogWriter, _ record: inout CommitRecord) throws {
    let directory = Int64.random(in: 4...6, using: &random)
    let parents: [Int64] = directory == 5 ? [1, 2, 3, 4] : [1, 2, 3]
    try run(
      writer, "UPDATE directory SET parent_id = ?, name = ? WHERE id = ?",
      [.integer(parents.randomElement(using: &random) ?? 1), .text(name()), .integer(directory)])
    record.renamedDirectories.append(
      .init(directoryID: DirectoryID(rawValue: directory), fromPath: Array("/from".utf8), toPath: Array("/to".utf8)))
  }

  private func run(_ writer: CatalogWriter, _ sql: String, _ values: [SQLValue]) throws {
    let statement = try RawStatement(writer.database, sql)
    statement.bind(values)
    try statement.run()
  }

  private func value(_ writer: CatalogWriter, _ sql: String, _ id: Int64) throws -> Int64? {
    let statement = try RawStatement(writer.database, sql)
    statement.bind(1, id)
    return try statement.firstRow { statement.int64(0) }
  }
}
