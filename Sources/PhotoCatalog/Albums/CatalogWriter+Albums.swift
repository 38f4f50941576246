import GRDB
import PhotoModel

// The assets of the user's albums.
//
// The order of an album is that of its ranks, which are whole numbers. New assets get ranks between those of their
// neighbours. If there is no room, the neighbours get new ranks, too (see `makeRoom`). Deleted assets keep their ranks,
// because they may return.

extension CatalogWriter {
  /// Adds the assets that are missing in an album, and moves the others. They are placed in this order, before another
  /// asset or at the end.
  ///
  /// - Parameter before: an asset of the album; nil is the end. If it is one of `assets`, they are placed before the next
  ///   asset that is not one of them.
  /// - Complexity: O(k log n) for k assets, if the ranks have room.
  /// - Throws: ``CollectionChangeError``.
  package func place(_ assets: [AssetID], inAlbum id: CollectionID, before: AssetID?) throws {
    let album = try self.album(id)
    try checkAssets(assets)
    var next = try before.flatMap { try rank(of: $0, inAlbum: id) }
    if let before, next == nil {
      try checkAssets([before])
      throw CollectionChangeError.rejected(
        "The photo \(before) is not in the album '\(album.title)', so nothing can be placed before it. Choose a photo of the album, or leave it out for the end."
      )
    }
    var known: Set<AssetID> = []
    let placed = assets.filter { known.insert($0).inserted }
    var before = before
    if let asset = before, let rank = next, known.contains(asset) {
      let other = try other(than: known, behind: rank, inAlbum: id)
      (before, next) = (other?.asset, other?.rank)
    }
    guard try !isInPlace(placed, inAlbum: id, before: before) else { return }
    let ranked = try ranks(of: placed, inAlbum: id)
    let commit = try nextSequence()
    try recordPlaces(of: ranked, inAlbum: id, placed: commit)
    try writeRows(of: placed, inAlbum: id, before: next, placed: { _ in commit }, table: { _ in .assets })
    albumRecords.append(.placed(album: id, before: before, placed))
    try wantHashes(of: placed)
    noteMembers(placed)
  }

  /// Gives assets of the library the places that they had in an album.
  ///
  /// - Parameters:
  ///   - before: another asset of the library that is in the album; nil is the end.
  ///   - placed: the sequences of the commits that had placed them.
  func restorePlaces(
    of assets: [AssetID], inAlbum id: CollectionID, before: AssetID?, placed: [AssetID: Int64]
  ) throws {
    let next = try before.flatMap { try rank(of: $0, inAlbum: id) }
    try writeRows(of: assets, inAlbum: id, before: next, placed: { placed[$0] ?? 0 }, table: { _ in .assets })
    albumRecords.append(.placed(album: id, before: next == nil ? nil : before, assets))
    try wantHashes(of: assets)
    noteMembers(assets)
  }

  /// Marks the assets that have no line in the journal as edited. So their lines are written before the operation on the
  /// album, which names them.
  private func noteMembers(_ assets: [AssetID]) {
    for asset in assets where journal?.holds(asset) != true { editedAssets.insert(asset) }
  }

  /// Removes assets from an album. An asset that the album lacks makes no difference.
  package func remove(_ assets: [AssetID], fromAlbum id: CollectionID) throws {
    _ = try album(id)
    try checkAssets(assets)
    let ranked = try ranks(of: assets, inAlbum: id).filter { $0.rank != nil }
    let removed = ranked.map(\.asset)
    guard !removed.isEmpty else { return }
    try recordPlaces(of: ranked, inAlbum: id, placed: nil)
    try delete(removed, fromAlbum: id)
    albumRecords.append(.removed(album: id, removed))
    releasedAssets.formUnion(removed)
  }

  /// Carries out an operation of the journal. The assets may be in the library or have tombstones. Others are left out.
  ///
  /// - Parameter placed: the sequences of the commits that placed them; 0 if that is unknown.
  func applyPlacement(
    of assets: [AssetID], inAlbum id: CollectionID, before: AssetID?, placed: [AssetID: Int64] = [:]
  ) throws {
    guard try userCollection(id)?.kind == .album else { return }
    let missing = Set(try missingAssets(assets))
    let tombstones = Set(try missing.filter { try tombstone(of: $0) != nil })
    let known = assets.filter { !missing.contains($0) || tombstones.contains($0) }
    if try hasMembers(album: id) { try removeRows(known, ofAlbum: id) }
    try writeRows(
      of: known, inAlbum: id, before: try before.flatMap { try anyRank(of: $0, inAlbum: id) },
      placed: { placed[$0] ?? 0 },
      table: { missing.contains($0) ? .tombstones : .assets })
    try wantHashes(of: known.filter { !missing.contains($0) })
    noteMembers(known)
  }

  /// Carries out a removal of the journal.
  func applyRemoval(of assets: [AssetID], fromAlbum id: CollectionID) throws {
    guard try userCollection(id)?.kind == .album else { return }
    try delete(assets, fromAlbum: id)
    releasedAssets.formUnion(assets)
  }

  /// Gives an album exactly these assets, in this order.
  func applyMembers(_ assets: [AssetID], ofAlbum id: CollectionID) throws {
    guard try members(ofAlbum: id) != assets else { return }
    try applyRemoval(of: try members(ofAlbum: id), fromAlbum: id)
    try applyPlacement(of: assets, inAlbum: id, before: nil)
  }

  /// The assets of an album in its order, including deleted ones that may return.
  func members(ofAlbum id: CollectionID) throws -> [AssetID] {
    let select = try RawStatement(database, "SELECT asset_id FROM (\(Self.ranks)) ORDER BY rank, asset_id")
    select.bind(1, id)
    var ids: [AssetID] = []
    try select.forEachRow { ids.append(select.assetID(0)) }
    return ids
  }

  /// The assets of all albums (see ``members(ofAlbum:)``).
  func albums() throws -> [(id: CollectionID, assets: [AssetID])] {
    try userCollections().filter { $0.kind == .album }.map { ($0.id, try members(ofAlbum: $0.id)) }
  }

  /// The rank of an asset of the library in an album; nil if the album does not have it.
  func rank(of asset: AssetID, inAlbum id: CollectionID) throws -> Double? {
    try ranks(of: [asset], inAlbum: id)[0].rank
  }

  private func ranks(of assets: [AssetID], inAlbum id: CollectionID) throws -> [(asset: AssetID, rank: Double?)] {
    let select = try RawStatement(database, "SELECT rank FROM album_asset WHERE collection_id = ? AND asset_id = ?")
    select.bind(1, id)
    return try assets.map { asset in
      select.bind(2, asset)
      return (asset, try select.firstRow { select.double(0) })
    }
  }

  /// The first asset after this rank that is not in `assets`. The rank is that of one of them, so fewer than
  /// `assets.count` of them can come before it, and `assets.count` rows suffice.
  private func other(
    than assets: Set<AssetID>, behind rank: Double, inAlbum id: CollectionID
  ) throws -> (asset: AssetID, rank: Double)? {
    let select = try RawStatement(
      database, "SELECT asset_id, rank FROM album_asset WHERE collection_id = ? AND rank > ? ORDER BY rank LIMIT ?")
    select.bind(1, id)
    select.bind(2, rank)
    select.bind(3, Int64(assets.count))
    var found: (asset: AssetID, rank: Double)?
    try select.forEachRow {
      let asset = AssetID(rawValue: select.int64(0))
      if found == nil, !assets.contains(asset) { found = (asset, select.double(1)) }
    }
    return found
  }

  /// The sequence of the commit that placed an asset in an album; nil if the album does not have it.
  func placed(_ asset: AssetID, inAlbum id: CollectionID) throws -> Int64? {
    let select = try RawStatement(database, "SELECT placed FROM album_asset WHERE collection_id = ? AND asset_id = ?")
    select.bind(1, id)
    select.bind(2, asset)
    return try select.firstRow { select.int64(0) }
  }

  private func album(_ id: CollectionID) throws -> UserCollection {
    guard let collection = try userCollection(id) else { throw CollectionChangeError.noSuchCollection(id) }
    guard collection.kind == .album else {
      throw CollectionChangeError.rejected(
        collection.kind == .folder
          ? "'\(collection.title)' (id:\(id)) is a folder. Only albums have photos. Choose an album."
          : "'\(collection.title)' (id:\(id)) is a smart album. Its query decides which photos it has. Choose an album."
      )
    }
    return collection
  }

  // MARK: - Rows

  private enum MemberTable: String {
    case assets = "album_asset"
    case tombstones = "tombstone_album"
  }

  /// All ranks of an album.
  private static let ranks =
    "SELECT asset_id, rank FROM album_asset WHERE collection_id = ?1 "
    + "UNION ALL SELECT asset_id, rank FROM tombstone_album WHERE collection_id = ?1"

  /// Whether the album has these assets in this order, directly before the other one or at the end.
  private func isInPlace(_ assets: [AssetID], inAlbum id: CollectionID, before: AssetID?) throws -> Bool {
    guard let first = assets.first, let rank = try rank(of: first, inAlbum: id) else { return assets.isEmpty }
    let ids = try neighbours(of: rank, inAlbum: id, limit: assets.count + 1, below: false).map(\.id)
    return ids == assets + (before.map { [$0] } ?? [])
  }

  /// Writes the rows of assets that are placed before a rank or at the end. They are new in the album, or they are assets of
  /// the library that are moved in it.
  private func writeRows(
    of assets: [AssetID], inAlbum id: CollectionID, before next: Double?, placed: (AssetID) -> Int64,
    table: (AssetID) -> MemberTable
  ) throws {
    guard !assets.isEmpty else { return }
    let first = try room(for: assets.count, inAlbum: id, before: next)
    func statement(_ table: MemberTable) throws -> RawStatement {
      let insert = try RawStatement(
        database,
        """
        INSERT INTO \(table.rawValue) (collection_id, asset_id, rank, placed) VALUES (?, ?, ?, ?)
        ON CONFLICT (collection_id, asset_id) DO UPDATE SET rank = excluded.rank, placed = excluded.placed
        """)
      insert.bind(1, id)
      return insert
    }
    let (ofAssets, ofTombstones) = (try statement(.assets), try statement(.tombstones))
    for (index, asset) in assets.enumerated() {
      let insert = table(asset) == .assets ? ofAssets : ofTombstones
      insert.bind(2, asset)
      insert.bind(3, first.rank + Double(index) * first.step)
      insert.bind(4, placed(asset))
      try insert.run()
    }
    record.edit(album: id, placing: assets)
  }

  private func delete(_ assets: [AssetID], fromAlbum id: CollectionID) throws {
    try removeRows(assets, ofAlbum: id)
    record.edit(album: id, placing: assets)
  }

  private func removeRows(_ assets: [AssetID], ofAlbum id: CollectionID) throws {
    for table in [MemberTable.assets, .tombstones] {
      let delete = try RawStatement(
        database, "DELETE FROM \(table.rawValue) WHERE collection_id = ? AND asset_id = ?")
      delete.bind(1, id)
      for asset in assets {
        delete.bind(2, asset)
        try delete.run()
      }
    }
  }

  private func hasMembers(album id: CollectionID) throws -> Bool {
    let select = try RawStatement(database, "SELECT 1 FROM (\(Self.ranks)) LIMIT 1")
    select.bind(1, id)
    return try select.firstRow { true } ?? false
  }

  private func anyRank(of asset: AssetID, inAlbum id: CollectionID) throws -> Double? {
    let select = try RawStatement(database, "SELECT rank FROM (\(Self.ranks)) WHERE asset_id = ?2")
    select.bind(1, id)
    select.bind(2, asset)
    return try select.firstRow { select.double(0) }
  }

  // MARK: - Ranks

  /// The distance of ranks at the end of an album. It is 2^20, so 20 assets can be placed one by one at the same place
  /// before other assets need new ranks.
  private static let gap = 1_048_576.0

  /// The ranks for new assets before a rank, or at the end: the first of them, and the distance between them.
  private func room(for count: Int, inAlbum id: CollectionID, before next: Double?) throws -> (
    rank: Double, step: Double
  ) {
    let last = try lastRank(below: next, inAlbum: id)
    guard let next else { return ((last ?? 0) + Self.gap, Self.gap) }
    guard let last else { return (next - Double(count) * Self.gap, Self.gap) }
    let step = ((next - last) / Double(count + 1)).rounded(.down)
    if step >= 1 { return (last + step, step) }
    return try makeRoom(for: count, inAlbum: id, before: next)
  }

  /// Gives the neighbours of a place new ranks with equal distances, so that the new assets fit between them. It takes
  /// as many neighbours on both sides as are needed for distances of at least 4,096. If assets are placed one by one at
  /// the same place, this happens only for few of them.
  private func makeRoom(for count: Int, inAlbum id: CollectionID, before next: Double) throws -> (
    rank: Double, step: Double
  ) {
    var width = 64
    while true {
      let below = try neighbours(of: next, inAlbum: id, limit: width + 1, below: true)
      let above = try neighbours(of: next, inAlbum: id, limit: width + 1, below: false)
      // The outermost ones keep their ranks, unless the album ends there.
      let lower = Array(below.prefix(width).reversed())
      let upper = Array(above.prefix(width))
      let places = Double(lower.count + count + upper.count + 1)
      let start = below.count > width ? below[width].rank : nil
      let end = above.count > width ? above[width].rank : nil
      let from = start ?? (end.map { $0 - places * Self.gap } ?? 0)
      let to = end ?? from + places * Self.gap
      let step = ((to - from) / places).rounded(.down)
      guard step >= 4_096 || (start == nil && end == nil) else {
        width *= 2
        continue
      }
      for (index, member) in lower.enumerated() {
        try setRank(from + Double(index + 1) * step, of: member.id, inAlbum: id)
      }
      let first = from + Double(lower.count + 1) * step
      for (index, member) in upper.enumerated() {
        try setRank(first + Double(count + index) * step, of: member.id, inAlbum: id)
      }
      // Observed lists contain the ranks, so they must read the new ones.
      record.edit(album: id, placing: (lower + upper).map(\.id))
      return (first, step)
    }
  }

  /// The largest rank below a rank, or below the end.
  private func lastRank(below rank: Double?, inAlbum id: CollectionID) throws -> Double? {
    func half(_ table: MemberTable) -> String {
      "SELECT max(rank) AS rank FROM \(table.rawValue) WHERE collection_id = ?1 AND rank < ?2"
    }
    let select = try RawStatement(
      database, "SELECT max(rank) FROM (\(half(.assets)) UNION ALL \(half(.tombstones)))")
    select.bind(1, id)
    select.bind(2, rank ?? .greatestFiniteMagnitude)
    return try select.firstRow { select.optionalDouble(0) } ?? nil
  }

  /// The assets whose ranks are next to a rank: below it with the largest first, or from it on. nil is the end.
  private func neighbours(
    of rank: Double?, inAlbum id: CollectionID, limit: Int, below: Bool
  ) throws -> [(id: AssetID, rank: Double)] {
    let (comparison, order) = below ? ("<", "DESC") : (">=", "ASC")
    // Each half of the union reads no more rows than needed from its index.
    func half(_ table: MemberTable) -> String {
      "SELECT * FROM (SELECT asset_id, rank FROM \(table.rawValue) WHERE collection_id = ?1 AND rank \(comparison) ?2 "
        + "ORDER BY rank \(order), asset_id \(order) LIMIT ?3)"
    }
    let select = try RawStatement(
      database,
      "\(half(.assets)) UNION ALL \(half(.tombstones)) ORDER BY rank \(order), asset_id \(order) LIMIT ?3")
    select.bind(1, id)
    select.bind(2, rank ?? .greatestFiniteMagnitude)
    select.bind(3, limit)
    var members: [(id: AssetID, rank: Double)] = []
    try select.forEachRow { members.append((select.assetID(0), select.double(1))) }
    return members
  }

  private func setRank(_ rank: Double, of asset: AssetID, inAlbum id: CollectionID) throws {
    for table in [MemberTable.assets, .tombstones] {
      let update = try RawStatement(
        database, "UPDATE \(table.rawValue) SET rank = ? WHERE collection_id = ? AND asset_id = ?")
      update.bind(1, rank)
      update.bind(2, id)
      update.bind(3, asset)
      try update.run()
    }
  }
}
