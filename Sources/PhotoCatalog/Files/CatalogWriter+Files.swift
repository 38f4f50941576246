import GRDB
import PhotoModel
import PredicateLanguage

extension CatalogWriter {
  /// Writes the current content of an asset's file. The user data stays. If neither a field that clients see nor the
  /// revision differs, this writes only the stat, and the file's values that a person's edits replace.
  ///
  /// - Parameter hasNewBytes: Whether the bytes of the file may differ, which the fields need not show. If so, the
  ///   asset gets a revision that it never had.
  /// - Returns: The fields that differ.
  @discardableResult
  package func updateContent(
    _ content: AssetContent, file row: FileRow, hasNewBytes: Bool
  ) throws -> ChangedFields {
    var fields: ChangedFields = hasNewBytes ? .content : []
    fields.formUnion(try changedFields(by: content, file: row))
    if fields.isEmpty, try givesRevision(row) { fields = .content }
    guard !fields.isEmpty else {
      let (file, _, edits) = try shownFields(by: content, file: row)
      if !edits.isEmpty { try writeEdits(edits, of: row.assetID, file: file) }
      try updateStat(row)
      return []
    }
    try recordCollections(holding: row.assetID)
    try keepingWords(of: row.assetID) { try writeContent(content, file: row) }
    try updateStat(row)
    if hasNewBytes { try giveContentVersion(to: row) }
    try recordCollections(holding: row.assetID)
    record.update(asset: row.assetID, fields)
    return fields
  }

  /// Whether the fingerprint of a file gives its asset another revision. Clients learn a revision only by a change.
  ///
  /// The first fingerprint of a file that an old photod read counts as no change (see ``AssetRevision``).
  private func givesRevision(_ row: FileRow) throws -> Bool {
    let select = try RawStatement(
      database, "SELECT fingerprint, reader_version FROM resource WHERE directory_id = ? AND name = ?")
    select.bind(1, row.directoryID)
    select.bind(2, text: row.name)
    return try select.firstRow {
      let held = select.optionalInt64(0).map(UInt64.init(bitPattern:))
      return held != row.marks.fingerprint && (held != nil || select.int64(1) != 0)
    } ?? false
  }

  /// Gives the asset of a file a revision that it never had, whatever size, time and fingerprint of the file are.
  private func giveContentVersion(to row: FileRow) throws {
    let update = try RawStatement(
      database, "UPDATE resource SET content_version = ? WHERE directory_id = ? AND name = ?")
    update.bind(1, ContentVersion.new())
    update.bind(2, row.directoryID)
    update.bind(3, text: row.name)
    try update.run()
  }

  /// Returns the fields of an asset that a write of this content will change for clients, without its bytes.
  private func changedFields(by content: AssetContent, file row: FileRow) throws -> ChangedFields {
    let shown = try shownFields(by: content, file: row).shown
    let fields = content.with(shown).changedFields(since: try shownContent(of: row.assetID))
    return shown.created == (try shownCreationDate(of: row.assetID)) ? fields : fields.union(.metadata)
  }

  /// The editable fields of an asset whose file has this content now, and as clients see them.
  private func shownFields(
    by content: AssetContent, file row: FileRow
  ) throws -> (file: EditableFields, shown: EditableFields, edits: AssetEdits) {
    let edited = try edited(row.assetID)
    let held = try edited?.file.created ?? shownCreationDate(of: row.assetID)
    let created = CreationDate(content, row, held: held, seenDate: date, now: date)
    let file = content.editableFields(created)
    let edits = edited?.edits ?? AssetEdits()
    return (file, file.edited(by: edits), edits)
  }

  private func writeContent(_ content: AssetContent, file row: FileRow) throws {
    let (file, shown, edits) = try shownFields(by: content, file: row)
    if !edits.isEmpty { try writeEdits(edits, of: row.assetID, file: file) }
    let asset = try RawStatement(
      database,
      """
      UPDATE asset SET media_type = ?1, media_subtypes = ?2, pixel_width = ?3, pixel_height = ?4, orientation = ?5,
        duration = ?6, latitude = ?7, longitude = ?8, altitude = ?9, camera_make = ?10, camera_model = ?11,
        camera_lens = ?12, exposure = ?13, f_number = ?14, iso = ?15, focal_length = ?16, flash_fired = ?17,
        title = ?18, caption = ?19, rating = ?20, failure = ?21, content_type = ?22, creation_date = ?23,
        creation_offset = ?24, creation_source = ?25, byte_count = ?26, modification_date = ?27,
        burst_identifier = ?28
      WHERE id = ?29
      """)
    content.with(shown).bind(to: asset, from: 1)
    shown.created.bind(to: asset, from: 23)
    asset.bind(26, row.byteCount)
    asset.bind(27, date: row.modificationTime)
    asset.bind(28, content.burstIdentifier)
    asset.bind(29, row.assetID)
    try asset.run()
    let resource = try RawStatement(
      database, "UPDATE resource SET kind = ?, content_type = ? WHERE directory_id = ? AND name = ?")
    resource.bind(1, content.mediaType.resourceKind)
    resource.bind(2, content.contentType)
    resource.bind(3, row.directoryID)
    resource.bind(4, text: row.name)
    try resource.run()
    try updateKeywords(shown.keywords, of: row.assetID)
  }

  /// Writes the size, times and identity of a file. The fields of its asset stay.
  package func updateStat(_ row: FileRow) throws {
    try noteFormerContent(of: row.assetID)
    let update = try RawStatement(
      database,
      """
      UPDATE resource SET byte_count = ?, modification_time = ?, change_time = ?, inode = ?, birth_time = ?, read_time = ?,
        fingerprint = ?, sample = ?, hash = ?, reader_version = ?, is_in_doubt = ?, proof_state = abs(proof_state)
      WHERE directory_id = ? AND name = ?
      """)
    update.bind(1, row.byteCount)
    update.bind(2, time: row.modificationTime)
    update.bind(3, time: row.changeTime)
    update.bind(4, Int64(bitPattern: row.inode))
    update.bind(5, time: row.birthTime)
    update.bind(6, time: row.readTime)
    update.bind(7, row.marks.fingerprint.map(Int64.init(bitPattern:)))
    update.bind(8, proofOf: row.marks)
    update.bind(10, row.readerVersion)
    update.bind(11, row.isInDoubt)
    update.bind(12, row.directoryID)
    update.bind(13, text: row.name)
    try update.run()
    if row.marks.hash != nil { comparison.note(row.assetID) }
    // A file that could not be read has its stat written again once it is read.
    if row.readTime != .unknown && (row.marks.sample == nil || row.marks.hash == nil) { mayNeedProofs = true }
  }

  /// Moves a file to another place, which must be free.
  ///
  /// - Parameter changesAvailability: Whether one of the two places is in a root, or on a drive, that is unavailable.
  package func moveFile(
    _ row: FileRow, to directoryID: DirectoryID, name: [UInt8], changesAvailability: Bool
  ) throws {
    try recordCollections(holding: row.assetID)
    // A name may contain a date.
    let hasNewDate = try writePlace(of: row, directoryID, name)
    try recordCollections(holding: row.assetID)
    var fields = Self.fieldsOfMove(changesAvailability: changesAvailability)
    if hasNewDate { fields.insert(.metadata) }
    record.update(asset: row.assetID, fields)
  }

  /// Moves an asset to the place of its copy, and writes the content of the copy. The asset of the copy must be gone.
  ///
  /// - Parameters:
  ///   - copy: The file of the copy.
  ///   - hasNewBytes: As in ``updateContent(_:file:hasNewBytes:)``.
  ///   - changesAvailability: As in ``moveFile(_:to:name:changesAvailability:)``.
  package func moveFile(
    _ row: FileRow, toCopy copy: FileRow, _ content: AssetContent, hasNewBytes: Bool, changesAvailability: Bool
  ) throws {
    let new = copy.of(asset: row.assetID)
    try recordCollections(holding: row.assetID)
    // These are the differences to the asset before both writes. A date of the new name may not last.
    var fields = try changedFields(by: content, file: new)
    fields.formUnion(Self.fieldsOfMove(changesAvailability: changesAvailability))
    if hasNewBytes { fields.insert(.content) }
    _ = try writePlace(of: row, copy.directoryID, copy.name)
    try keepingWords(of: row.assetID) { try writeContent(content, file: new) }
    try updateStat(new)
    if hasNewBytes { try giveContentVersion(to: new) }
    try recordCollections(holding: row.assetID)
    record.update(asset: row.assetID, fields)
  }

  private static func fieldsOfMove(changesAvailability: Bool) -> ChangedFields {
    changesAvailability ? [.path, .availability] : .path
  }

  /// - Returns: Whether the asset's creation date changed.
  private func writePlace(of row: FileRow, _ directoryID: DirectoryID, _ name: [UInt8]) throws -> Bool {
    let resource = try RawStatement(
      database, "UPDATE resource SET directory_id = ?, name = ? WHERE directory_id = ? AND name = ?")
    resource.bind(1, directoryID)
    resource.bind(2, text: name)
    resource.bind(3, row.directoryID)
    resource.bind(4, text: row.name)
    try resource.run()
    let asset = try RawStatement(
      database, "UPDATE asset SET directory_id = ?, name = ?, name_key = ? WHERE id = ?")
    asset.bind(1, directoryID)
    asset.bind(2, text: name)
    asset.bind(3, CaseFolding.fold(FilePath.nameText(name)))
    asset.bind(4, row.assetID)
    if name == row.name {
      try asset.run()
      return false
    }
    try keepingWords(of: row.assetID) { try asset.run() }
    return try updateCreationDate(of: row, name: name)
  }

  /// Removes an asset and its files from the catalog without a tombstone (see
  /// ``removeWithTombstone(_:directoryPath:date:)``).
  package func deleteAsset(_ id: AssetID) throws {
    let place = try RawStatement(
      database, "SELECT directory_id, name, is_trashed, is_duplicate FROM asset WHERE id = ?")
    place.bind(1, id)
    let found = try place.firstRow {
      (place.directoryID(0), place.bytes(1), place.bool(2), place.bool(3))
    }
    guard let (directory, name, isTrashed, isDuplicate) = found else { return }
    try recordCollections(holding: id)
    // If it is restored within this transaction, it is not in the trash, and not compared yet.
    if isTrashed { record.update(asset: id, .trashed) }
    if isDuplicate {
      record.update(asset: id, .duplicates)
      try noteFormerContent(of: id)
    }
    record.delete(asset: id)
    let first = try RawStatement(database, "DELETE FROM resource WHERE directory_id = ? AND name = ?")
    first.bind(1, directory)
    first.bind(2, text: name)
    try first.run()
    try keepingWords(of: id) {
      try deleteKeywords(of: id)
      // The edits of a tombstone have no values of a file.
      for sql in [
        "DELETE FROM resource WHERE asset_id = ? AND position > 0",
        "DELETE FROM asset_edit WHERE asset_id = ? AND file IS NOT NULL", "DELETE FROM asset WHERE id = ?",
      ] {
        let delete = try RawStatement(database, sql)
        delete.bind(1, id)
        try delete.run()
      }
    }
  }
}
