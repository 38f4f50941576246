import GRDB
import Glibc
import PhotoCatalog
import PhotoModel

/// Measures edits of photos, and how long the library is busy while it undoes the largest changes that can be undone.
///
/// - Parameters:
///   - count: the photos that get titles, by calls of 1,000. Twice as many change their places in an album. Both changes
///     are undone.
///   - members: the photos of the album. It is deleted, and its deletion is undone.
func editFigures(count: Int, members: Int, path: String) throws -> Figures {
  var figures = Figures()
  let catalog = try Catalog(path: path)
  defer { _ = Result { try catalog.close() } }
  let all = Array(try catalog.read { try $0.ids(try $0.plan(FetchOptions())) }.prefix(members))
  let ids = Array(all.prefix(count))

  let titled = try figures.time("edit", CLOCK_MONOTONIC) {
    try catalog.change(ids) { .editAssets($0, edit(title: "Trevi Fountain")) }
  }
  try figures.time("undo of edits", CLOCK_MONOTONIC) { try catalog.undo(titled) }

  let album = try catalog.change(.createAlbum(title: "photod-measure", assets: [], parent: nil)).created[0]
  _ = try catalog.change(all) { .editAlbum(album, placement($0)) }
  // Most of these photos are not beside each other, so each of them has a place of its own.
  let step = max(1, all.count / (2 * count))
  let scattered = Array(stride(from: 0, to: all.count, by: step).lazy.map { all[$0] }.prefix(2 * count))
  let moved = try catalog.change(scattered) { .editAlbum(album, placement($0)) }
  try figures.time("undo of places", CLOCK_MONOTONIC) { try catalog.undo(moved) }

  let deleted = try catalog.change(.deleteCollection(album)).recording
  try figures.time("undo of a deletion", CLOCK_MONOTONIC) { try catalog.undo(deleted) }
  _ = try catalog.change(.deleteCollection(album))

  try withRows(beside: path) { try measureRows(ids, scattered, all, $0, &figures) }
  return figures
}

private func edit(title: String) -> AssetEdit {
  var edit = AssetEdit()
  edit.title = title
  return edit
}

/// A placement at the end of an album.
private func placement(_ ids: [AssetID]) -> AlbumEdit {
  var edit = AlbumEdit()
  edit.placed = ids
  return edit
}

extension Catalog {
  /// Makes a change of many assets by calls of 1,000, each a durable commit. They are undone as one.
  fileprivate func change(_ ids: [AssetID], _ change: ([AssetID]) -> LibraryChange) throws -> ChangeRecording {
    var recording = ChangeRecording()
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      recording.append(try self.change(change(Array(ids[start..<min(start + 1_000, ids.count)]))).recording)
    }
    return recording
  }
}

/// The baselines: the rows alone, in as many transactions.
private func measureRows(
  _ ids: [AssetID], _ scattered: [AssetID], _ all: [AssetID], _ queue: DatabaseQueue, _ figures: inout Figures
) throws {
  try queue.write { database in
    try database.execute(
      sql: """
        CREATE TABLE asset (id INTEGER PRIMARY KEY, title TEXT, edits TEXT);
        CREATE TABLE album_asset (asset_id INTEGER PRIMARY KEY, rank REAL) WITHOUT ROWID;
        CREATE INDEX album_order ON album_asset (rank, asset_id)
        """)
    for (index, id) in all.enumerated() {
      try database.execute(sql: "INSERT INTO asset (id) VALUES (?)", arguments: [id.rawValue])
      try database.execute(sql: "INSERT INTO album_asset VALUES (?, ?)", arguments: [id.rawValue, index])
    }
  }
  try figures.time("rows of edits", CLOCK_MONOTONIC) {
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      try queue.write { database in
        let update = try database.makeStatement(sql: "UPDATE asset SET title = ?1, edits = ?1 WHERE id = ?2")
        for id in ids[start..<min(start + 1_000, ids.count)] {
          try update.execute(arguments: ["Trevi Fountain", id.rawValue])
        }
      }
    }
  }
  try figures.time("rows of undone edits", CLOCK_MONOTONIC) {
    try queue.write { database in
      let update = try database.makeStatement(sql: "UPDATE asset SET title = NULL, edits = NULL WHERE id = ?")
      for id in ids { try update.execute(arguments: [id.rawValue]) }
    }
  }
  try figures.time("rows of undone places", CLOCK_MONOTONIC) {
    try queue.write { database in
      let update = try database.makeStatement(sql: "UPDATE album_asset SET rank = ? WHERE asset_id = ?")
      for (index, id) in scattered.enumerated() {
        try update.execute(arguments: [Double(index * 4) + 0.5, id.rawValue])
      }
    }
  }
  try queue.write { try $0.execute(sql: "DELETE FROM album_asset") }
  try figures.time("rows of an undone deletion", CLOCK_MONOTONIC) {
    try queue.write { database in
      let insert = try database.makeStatement(sql: "INSERT INTO album_asset VALUES (?, ?)")
      for (index, id) in all.enumerated() { try insert.execute(arguments: [id.rawValue, index]) }
    }
  }
}
