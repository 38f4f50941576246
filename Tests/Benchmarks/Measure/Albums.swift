import GRDB
import Glibc
import PhotoCatalog
import PhotoModel

/// Measures the time and the memory to place many photos in an album, and the time until an observer has one edit of it.
///
/// - Parameter count: the photos of the album. They are placed by calls of 1,000, each a durable commit, as clients do it.
func albumFigures(count: Int, rounds: Int, path: String) throws -> Figures {
  var figures = Figures()
  let catalog = try Catalog(path: path)
  defer { _ = Result { try catalog.close() } }
  let ids = Array(try catalog.read { try $0.ids(try $0.plan(FetchOptions())) }.prefix(count))
  let album = try catalog.change(.createAlbum(title: "photod-measure", assets: [], parent: nil)).created[0]
  let bytes = try peakGrowth {
    try figures.time("place", CLOCK_MONOTONIC) {
      for start in stride(from: 0, to: ids.count, by: 1_000) {
        var edit = AlbumEdit()
        edit.placed = Array(ids[start..<min(start + 1_000, ids.count)])
        _ = try catalog.change(.editAlbum(album, edit))
      }
    }
  }
  figures.add("place memory", Double(bytes) / 1e6)
  try withRows(beside: path) { queue in
    try figures.time("rows", CLOCK_MONOTONIC) { try writeRows(ids, queue) }
    for round in 0..<rounds {
      let rank = Double(ids.count / 2) - 1 / Double(round + 2)
      try figures.time("row", CLOCK_MONOTONIC) {
        try queue.write {
          try $0.execute(
            sql: "UPDATE album_asset SET rank = ? WHERE collection_id = 1 AND asset_id = ?",
            arguments: [rank, ids[(ids.count / 3 + round) % (ids.count / 2)].rawValue])
        }
      }
    }
  }

  let observed = try Observed(catalog, [FetchOptions(collection: "id:\(album)")])
  var counts = try catalog.read { try $0.collectionCounts() }
  let middle = ids[ids.count / 2]
  for round in -3..<rounds {
    var edit = AlbumEdit()
    (edit.placed, edit.before) = ([ids[(ids.count / 3 + round + 3) % (ids.count / 2)]], middle)
    let effects = try figures.time("edit", CLOCK_MONOTONIC) { try catalog.change(.editAlbum(album, edit)).effects }
    let milliseconds = try observed.observe(effects)
    guard round >= 0 else { continue }
    figures.add("observe", milliseconds)
    try figures.time("counts") { try catalog.read { try counts.update($0, CollectionTouches(effects)) } }
  }
  _ = try catalog.change(.deleteCollection(album))
  return figures
}

extension Catalog {
  struct Change {
    let created: [CollectionID]
    let recording: ChangeRecording
    let effects: CommitEffects
  }

  /// Makes one change as the daemon does.
  func change(_ change: LibraryChange) throws -> Change {
    try write(durable: true) { writer in
      let (created, recording) = try writer.performRecorded([change])
      return Change(created: created, recording: recording, effects: try Self.append(to: writer))
    }
  }

  /// Undoes changes as the daemon does.
  func undo(_ recording: ChangeRecording) throws {
    try write(durable: true) { writer in
      try writer.undo(recording)
      _ = try Self.append(to: writer)
    }
  }

  private static func append(to writer: CatalogWriter) throws -> CommitEffects {
    try writer.append(origin: "client:photod-measure", date: .init(microseconds: 1_763_000_000_000_000))
    return try writer.effects(origin: "client:photod-measure")
  }
}

/// Runs with an empty database beside a catalog, in which a baseline writes its rows. It is removed afterwards.
func withRows<Value>(beside path: String, _ body: (DatabaseQueue) throws -> Value) throws -> Value {
  let queue = try DatabaseQueue(path: path + ".rows")
  defer { for suffix in ["", "-wal", "-shm"] { unlink(path + ".rows" + suffix) } }
  try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = WAL") }
  return try body(queue)
}

/// The baseline: the rows of an album in a database of their own, in as many transactions.
private func writeRows(_ ids: [AssetID], _ queue: DatabaseQueue) throws {
  try queue.write {
    try $0.execute(
      sql: """
        CREATE TABLE album_asset (collection_id INTEGER, asset_id INTEGER, rank REAL, PRIMARY KEY (collection_id, asset_id))
          WITHOUT ROWID;
        CREATE INDEX album_order ON album_asset (collection_id, rank, asset_id);
        CREATE INDEX album_of_asset ON album_asset (asset_id)
        """)
  }
  for start in stride(from: 0, to: ids.count, by: 1_000) {
    try queue.write { database in
      let insert = try database.makeStatement(sql: "INSERT INTO album_asset VALUES (1, ?, ?)")
      for index in start..<min(start + 1_000, ids.count) {
        try insert.execute(arguments: [ids[index].rawValue, index])
      }
    }
  }
}
