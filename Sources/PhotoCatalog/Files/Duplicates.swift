import GRDB
import PhotoModel

// The column `asset.is_duplicate` says whether the first file of another asset has the same content. Only hashes that were
// requested are compared (`resource.proof_state` 2). Files with the same content share size and fingerprint, so a hash is
// requested of each of them.

extension CatalogWriter {
  /// Compares the contents of first files again if this transaction may have changed which of them are equal.
  ///
  /// - Complexity: O(h) for h files whose hash was requested and is known. They are read from an index.
  package func compareContents() throws {
    guard mayChangeDuplicates else { return }
    mayChangeDuplicates = false
    let held = try flaggedDuplicates()
    let found = try assetsWithEqualContent()
    let update = try RawStatement(database, "UPDATE asset SET is_duplicate = ?1 WHERE id = ?2")
    for id in held.symmetricDifference(found).sorted() {
      update.bind(1, found.contains(id))
      update.bind(2, id)
      try update.run()
      record.update(asset: id, .duplicates)
    }
    guard held != found else { return }
    for album in try smartAlbums(of: SmartAlbum.duplicates.definition.requirements) { record.update(collection: album) }
  }

  /// Notes that an asset whose file changes, or goes, may leave another one without an equal.
  func noteDuplicates(of id: AssetID) throws {
    guard !mayChangeDuplicates else { return }
    let select = try RawStatement(database, "SELECT is_duplicate FROM asset WHERE id = ?")
    select.bind(1, id)
    if try select.firstRow({ select.bool(0) }) ?? false { mayChangeDuplicates = true }
  }

  private func flaggedDuplicates() throws -> Set<AssetID> {
    let select = try RawStatement(database, "SELECT id FROM asset WHERE is_duplicate = 1")
    var ids: Set<AssetID> = []
    try select.forEachRow { ids.insert(select.assetID(0)) }
    return ids
  }

  private func assetsWithEqualContent() throws -> Set<AssetID> {
    // In the order of the index, files with the same content are neighbours. An empty hash means that the sample is it.
    let select = try RawStatement(
      database,
      """
      SELECT asset.id, file.fingerprint, file.byte_count, iif(file.hash = x'', file.sample, file.hash)
      FROM resource AS file INDEXED BY resource_hashed
      CROSS JOIN asset ON asset.id = file.asset_id AND asset.directory_id = file.directory_id AND asset.name = file.name
      WHERE file.hash IS NOT NULL AND file.proof_state IN (2, -2)
      ORDER BY file.fingerprint, file.byte_count, file.hash, file.sample
      """)
    var found: Set<AssetID> = []
    var last: (id: AssetID, content: Content)?
    try select.forEachRow {
      let id = select.assetID(0)
      let content = Content(fingerprint: select.int64(1), byteCount: select.int64(2), hash: select.bytes(3))
      if let last, last.content == content, last.id != id { found.formUnion([last.id, id]) }
      last = (id, content)
    }
    return found
  }
}

private struct Content: Equatable {
  let fingerprint: Int64
  let byteCount: Int64
  let hash: [UInt8]
}
