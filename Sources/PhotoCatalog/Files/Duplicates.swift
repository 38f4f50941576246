import GRDB
import PhotoModel

// The column `asset.is_duplicate` says whether the first file of another asset has the same content. Only hashes that were
// requested are compared (`resource.proof_state` 2). Files with the same content share size and fingerprint, so a hash is
// requested of each of them.

/// The contents and assets of one transaction that must be compared again.
struct ContentComparison {
  /// The content of a file. Equal contents have equal hashes.
  struct Content: Hashable {
    let fingerprint: Int64
    let byteCount: Int64
    let hash: [UInt8]
  }

  /// The assets whose first file may have another content, or a hash that was not compared before.
  fileprivate(set) var assets: Set<AssetID> = []
  /// The contents that such files had before.
  fileprivate(set) var contents: Set<Content> = []

  var isEmpty: Bool { assets.isEmpty && contents.isEmpty }

  mutating func note(_ id: AssetID) { assets.insert(id) }
}

extension CatalogWriter {
  /// Compares the contents of the first files that this transaction changed with those of other files, and updates the flags
  /// of duplicates.
  ///
  /// - Complexity: O(k log n) for k changed files. The number of files with the same content makes no difference.
  package func compareContents() throws {
    guard !comparison.isEmpty else { return }
    let (touched, former) = (comparison.assets, comparison.contents)
    comparison = ContentComparison()
    var owners: [ContentComparison.Content: Set<AssetID>] = [:]
    for content in former { owners[content] = [] }
    var flags: [AssetID: Bool] = [:]
    for id in touched {
      flags[id] = false
      if let content = try comparedContent(of: id) { owners[content, default: []].insert(id) }
    }
    for (content, ids) in owners {
      // If two or more other files have this content, they are flagged already. So the rows suffice to find the file
      // that was the only one until now. They also suffice for one whose hash a trigger of the schema requested.
      let found = try assets(with: content, limit: ids.count + 3)
      for id in found.union(ids) { flags[id] = found.count > 1 }
    }
    var hasChanged = false
    let update = try RawStatement(
      database, "UPDATE asset SET is_duplicate = ?1 WHERE id = ?2 AND is_duplicate <> ?1")
    for (id, isDuplicate) in flags.sorted(by: { $0.key < $1.key }) {
      update.bind(1, isDuplicate)
      update.bind(2, id)
      try update.run()
      guard try database.changesCount > 0 else { continue }
      hasChanged = true
      record.update(asset: id, .duplicates)
    }
    guard hasChanged else { return }
    let requirements = SmartAlbum.duplicates.definition.requirements
    for album in try smartAlbums() where album.requirements == requirements { record.update(collection: album.id) }
  }

  /// Notes that the first file of an asset is about to change or to go. If it is a duplicate, another one may lose its equal.
  func noteFormerContent(of id: AssetID) throws {
    let select = try RawStatement(database, "SELECT is_duplicate FROM asset WHERE id = ?")
    select.bind(1, id)
    guard try select.firstRow({ select.bool(0) }) ?? false else { return }
    comparison.note(id)
    if let content = try comparedContent(of: id) { comparison.contents.insert(content) }
  }

  /// The content of an asset's first file. nil if its hash is unknown, or was not requested.
  private func comparedContent(of id: AssetID) throws -> ContentComparison.Content? {
    let select = try RawStatement(
      database,
      """
      SELECT file.fingerprint, file.byte_count, iif(file.hash = x'', file.sample, file.hash)
      FROM asset JOIN resource AS file ON file.directory_id = asset.directory_id AND file.name = asset.name
      WHERE asset.id = ? AND file.hash IS NOT NULL AND file.proof_state IN (2, -2)
      """)
    select.bind(1, id)
    return try select.firstRow {
      ContentComparison.Content(fingerprint: select.int64(0), byteCount: select.int64(1), hash: select.bytes(2))
    }
  }

  /// Some assets whose first file has this content.
  ///
  /// - Complexity: O(limit) steps in an index.
  private func assets(with content: ContentComparison.Content, limit: Int) throws -> Set<AssetID> {
    // An empty hash means that the sample is the hash.
    func half(_ condition: String) -> String {
      """
      SELECT asset.id AS id FROM resource AS file INDEXED BY resource_hashed
      CROSS JOIN asset ON asset.id = file.asset_id AND asset.directory_id = file.directory_id AND asset.name = file.name
      WHERE file.hash IS NOT NULL AND file.proof_state IN (2, -2) AND file.fingerprint = ?1 AND file.byte_count = ?2
        AND \(condition)
      """
    }
    let select = try RawStatement(
      database, "\(half("file.hash = ?3")) UNION ALL \(half("file.hash = x'' AND file.sample = ?3")) LIMIT ?4")
    select.bind(1, content.fingerprint)
    select.bind(2, content.byteCount)
    select.bind(3, blob: content.hash)
    select.bind(4, limit)
    var ids: Set<AssetID> = []
    try select.forEachRow { ids.insert(select.assetID(0)) }
    return ids
  }
}
