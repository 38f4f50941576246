import GRDB
import PhotoModel

extension CatalogReader {
  /// The counts of all collections in this snapshot.
  ///
  /// - Complexity: O(n), only over indexes except for the user's albums. Each collection that isn't empty needs some
  ///   statements.
  package func collectionCounts() throws -> CollectionCounts {
    var counts = CollectionCounts(sequence: try sequence())
    for kind in AssetCollection.Kind.allCases {
      for row in try collectionRows(kind: kind) { counts.add(row, at: counts.sequence) }
    }
    try counts.readAssets(self)
    for (id, entry) in counts.entries where !entry.row.isOfPerson { try counts.fill(id, self) }
    let costly = try forEachSmartAlbum(counts.albumsOfPersons) { try counts.fill($0, self) }
    for id in costly {
      counts.giveUp(id)
      try counts.refresh(id, self)
    }
    counts.statementCount = 0
    return counts
  }
}

extension CollectionCounts {
  init(sequence: Int64) {
    self.sequence = sequence
    log = CollectionLog(after: sequence)
  }

  /// Reads the collections of each asset.
  fileprivate mutating func readAssets(_ reader: CatalogReader) throws {
    var counts = [Int](repeating: 0, count: folders.count)
    let places = try RawStatement(
      reader.database, "SELECT id, directory_id FROM asset WHERE is_hidden = 0 AND is_trashed = 0")
    try places.forEachRow {
      guard let folder = folderOfDirectory[places.directoryID(1)] else { return }
      memberships[places.assetID(0)] = CollectionMemberships.Membership(folder: folder)
      counts[folder] += 1
    }
    for (folder, count) in counts.enumerated() { entries[folders[folder]]?.count = count }
    for (index, album) in smartAlbums.enumerated() {
      guard let row = entries[album.id]?.row else { continue }
      let source = try CatalogReader.visibleSource(row)
      let ids = try RawStatement(reader.database, source.select("asset.id"))
      ids.bind(source.arguments)
      var count = 0
      try memberships.insert(index) { insert in
        try ids.forEachRow {
          insert(ids.assetID(0))
          count += 1
        }
      }
      entries[album.id]?.count = count
    }
  }

  /// Completes a collection whose assets are all known.
  fileprivate mutating func fill(_ id: CollectionID, _ reader: CatalogReader) throws {
    guard let entry = entries[id] else { return }
    if entry.row.isListed {
      try readList(of: id, reader)
    } else if entry.members != nil {
      try readMembers(of: id, reader)
    } else if entry.count > 0 {
      for key in CollectionEnds.keys { entries[id]?.ends[keyPath: key] = try reader.end(key, of: entry.row) }
    }
    try refresh(id, reader)
  }
}
