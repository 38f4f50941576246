import GRDB
import PhotoModel

// The edits of assets in the catalog. Beside them are the values of the file that they replace in the table of assets.
// So a reading of the file is compared with the earlier one.

extension FileLookups {
  /// nil if there is no such asset.
  package func userData(of id: AssetID) throws -> AssetUserData? {
    let select = try RawStatement(
      database,
      "SELECT is_favorite, is_hidden, (SELECT edits FROM asset_edit WHERE asset_id = asset.id) FROM asset WHERE id = ?")
    select.bind(1, id)
    return try select.firstRow {
      AssetUserData(
        isFavorite: select.bool(0), isHidden: select.bool(1),
        edits: select.isNull(2) ? AssetEdits() : AssetEdits(recordText: select.bytes(2)))
    }
  }

  /// The edits of an asset in the library, with the values of its file. nil if nothing was typed for it.
  func edited(_ id: AssetID) throws -> (edits: AssetEdits, file: EditableFields)? {
    let select = try RawStatement(
      database, "SELECT edits, file FROM asset_edit WHERE asset_id = ? AND file IS NOT NULL")
    select.bind(1, id)
    return try select.firstRow {
      (AssetEdits(recordText: select.bytes(0)), EditableFields(recordText: select.bytes(1)))
    }
  }

  /// The editable fields of an asset, as its file has them.
  func fileFields(of id: AssetID) throws -> EditableFields {
    if let edited = try edited(id) { return edited.file }
    guard let content = try shownContent(of: id), let created = try shownCreationDate(of: id) else {
      return EditableFields(keywords: [], created: .firstSeen(.unknown))
    }
    return content.editableFields(created)
  }
}

extension CatalogWriter {
  /// - Parameter file: the values of the file; nil for a deleted asset.
  func writeEdits(_ edits: AssetEdits, of id: AssetID, file: EditableFields?) throws {
    guard !edits.isEmpty else {
      let delete = try RawStatement(database, "DELETE FROM asset_edit WHERE asset_id = ?")
      delete.bind(1, id)
      return try delete.run()
    }
    let insert = try RawStatement(
      database, "INSERT OR REPLACE INTO asset_edit (asset_id, edits, file) VALUES (?, ?, ?)")
    insert.bind(1, id)
    insert.bind(2, text: edits.recordText)
    if let file { insert.bind(3, text: file.recordText) }
    try insert.run()
  }

  /// Keeps the edits of an asset that becomes a tombstone. The tombstone gets the creation date without them.
  func keepEditsInTombstone(of id: AssetID) throws {
    guard let created = try edited(id)?.file.created else { return }
    let tombstone = try RawStatement(
      database,
      "UPDATE tombstone SET creation_date = ?, creation_offset = ?, creation_source = ? WHERE asset_id = ?")
    created.bind(to: tombstone, from: 1)
    tombstone.bind(4, id)
    try tombstone.run()
    let update = try RawStatement(database, "UPDATE asset_edit SET file = NULL WHERE asset_id = ?")
    update.bind(1, id)
    try update.run()
  }
}
