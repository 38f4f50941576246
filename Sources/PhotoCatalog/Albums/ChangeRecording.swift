import PhotoModel

/// The changes that one call of a client made, or a group of calls, with the values before and after. It has all that
/// an undo needs.
package struct ChangeRecording: Sendable {
  struct Difference<Value: Hashable & Sendable>: Sendable {
    let before: Value
    var after: Value
  }

  /// The place of an asset in an album.
  enum Place: Hashable, Sendable {
    /// The album does not have it.
    case absent
    /// Before another asset; at the end if that is nil.
    case before(AssetID?)
  }

  /// One change of an asset's place in an album.
  struct Placement: Sendable {
    let key: Member
    /// The place before the change.
    let place: Place
    /// The commit that had placed it there; 0 if the album did not have it.
    let placed: Int64
  }

  /// An asset in an album.
  struct Member: Hashable, Sendable {
    let album: CollectionID
    let asset: AssetID
  }

  /// A change of a collection's place.
  struct Move: Sendable {
    /// The collection that came after it in its folder before the move. nil if it had no rank, or was the last one.
    let next: CollectionID?
    /// The commit that had placed it where it was before the move.
    let before: Int64
    /// The commit that placed it where it was after the move.
    var after: Int64
  }

  /// The content of a deleted collection beside its row.
  struct Deleted: Sendable {
    /// The commit that had placed the collection in its folder.
    let placed: Int64
    /// The assets in their order, with the commits that had placed them.
    let members: [(asset: AssetID, placed: Int64)]
  }

  /// The user data of assets.
  var assets: [AssetID: Difference<AssetUserData>] = [:]
  /// nil stands for a collection that does not exist.
  var collections: [CollectionID: Difference<UserCollection?>] = [:]
  /// The collections that a client placed in a folder. Others may only have new ranks.
  var moves: [CollectionID: Move] = [:]
  /// The order in which collections were moved first.
  var moveOrder: [CollectionID] = []
  var deleted: [CollectionID: Deleted] = [:]
  /// The changes of albums, in their order.
  var placements: [Placement] = []
  /// The commits that placed the assets where they are after the change. It is nil if the album does not have the
  /// asset.
  var places: [Member: Int64?] = [:]

  package init() {}

  package var isEmpty: Bool { assets.isEmpty && collections.isEmpty && placements.isEmpty }

  /// The number of assets that were edited, or placed in albums or removed from them.
  package var assetCount: Int { Set(assets.keys).union(places.keys.lazy.map(\.asset)).count }

  /// The asset, if there is only one.
  package var onlyAsset: AssetID? {
    guard assets.count <= 1, let first = assets.keys.first ?? places.keys.first?.asset else { return nil }
    return places.keys.allSatisfy { $0.asset == first } ? first : nil
  }

  /// The collections that were created, edited or deleted, or whose assets were edited.
  package var collectionIDs: Set<CollectionID> { Set(collections.keys).union(places.keys.lazy.map(\.album)) }

  /// An estimate of the time that an undo takes. The unit is the time to restore one place, which is at most 50
  /// microseconds of processor time in a release build. An edit writes the row of the asset, its words and its line in
  /// the journal, which takes two to four units. A photo of a deleted album takes a fourth of a unit, because all
  /// photos of the album are placed at once.
  package var work: Int {
    assets.values.reduce(0) { $0 + Self.work($1) } + collections.count + placements.count
      + deleted.values.reduce(0) { $0 + $1.members.count / 4 }
  }

  private static func work(_ edit: Difference<AssetUserData>) -> Int {
    let (before, after) = (edit.before.edits, edit.after.edits)
    let keywords = Set(before.addedKeywords + before.removedKeywords).symmetricDifference(
      after.addedKeywords + after.removedKeywords)
    // All words of the asset are indexed again if one of its texts changes.
    return 2 + keywords.count + max(edit.before.byteCount, edit.after.byteCount) / 1_024
  }

  /// About how much memory it takes.
  package var byteCount: Int {
    let data = assets.values.reduce(0) { $0 + $1.before.byteCount + $1.after.byteCount }
    let rows = collections.values.reduce(0) { $0 + ($1.before?.byteCount ?? 0) + ($1.after?.byteCount ?? 0) }
    return data + rows + placements.count * MemoryLayout<Placement>.stride + places.count * 64 + moves.count * 64
      + deleted.values.reduce(0) { $0 + $1.members.count * 2 * MemoryLayout<AssetID>.stride }
  }

  /// Whether a later call found everything as this one had left it. If it did not, another change came between the two,
  /// and an undo of both would also undo that change.
  package func isContinued(by later: ChangeRecording) -> Bool {
    for (id, found) in later.assets {
      if let left = assets[id], left.after != found.before { return false }
    }
    for (id, found) in later.collections {
      guard let left = collections[id] else { continue }
      // Another collection may have been placed beside it.
      var (after, before) = (left.after, found.before)
      after?.rank = 0
      before?.rank = 0
      if after != before { return false }
    }
    for (id, found) in later.moves {
      if let left = moves[id], left.after != found.before { return false }
    }
    var seen: Set<Member> = []
    for found in later.placements where seen.insert(found.key).inserted {
      if let left = places[found.key], left ?? 0 != found.placed { return false }
    }
    return true
  }

  /// A recording with only the titles of some of its collections. An undo of it would restore nothing.
  ///
  /// - Parameter limit: the most collections, by their ids.
  package func onlyTitles(limit: Int) -> ChangeRecording {
    var titles = ChangeRecording()
    for id in collectionIDs.sorted().prefix(limit) {
      titles.collections[id] = collections[id] ?? Difference(before: nil, after: nil)
    }
    return titles
  }

  /// Adds the changes of a later call.
  package mutating func append(_ later: ChangeRecording) {
    for (id, difference) in later.assets { note(id, difference.before, difference.after) }
    for (id, difference) in later.collections { note(id, difference.before, difference.after) }
    for id in later.moveOrder { if let move = later.moves[id] { noteMove(of: id, move) } }
    deleted.merge(later.deleted) { first, _ in first }
    placements += later.placements
    places.merge(later.places) { $1 }
  }

  mutating func noteMove(of id: CollectionID, _ move: Move) {
    if moves[id] == nil {
      moves[id] = move
      moveOrder.append(id)
    } else {
      moves[id]?.after = move.after
    }
  }

  mutating func note(_ id: AssetID, _ before: AssetUserData, _ after: AssetUserData) {
    assets[id, default: Difference(before: before, after: after)].after = after
  }

  mutating func note(_ id: CollectionID, _ before: UserCollection?, _ after: UserCollection?) {
    collections[id, default: Difference(before: before, after: after)].after = after
  }
}

extension AssetUserData {
  fileprivate var byteCount: Int {
    let texts = [edits.title, edits.caption].compactMap { $0 } + edits.addedKeywords + edits.removedKeywords
    return texts.reduce(MemoryLayout<AssetUserData>.size + 64) { $0 + 16 + $1.utf8.count }
  }
}

extension UserCollection {
  fileprivate var byteCount: Int {
    guard case .smartAlbum(let query) = kind else { return 256 + title.utf8.count }
    return 1_024 + title.utf8.count + (query.predicate?.utf8.count ?? 0) + (query.text?.utf8.count ?? 0)
  }
}

extension CatalogReader {
  /// The titles of the collections that were created, edited or deleted, or whose assets were edited.
  package func titles(of recording: ChangeRecording, limit: Int) throws -> [String] {
    try recording.collectionIDs.sorted().prefix(limit).compactMap { id in
      if let change = recording.collections[id], let title = (change.after ?? change.before)?.title { return title }
      return try userCollection(id)?.title
    }
  }
}

extension CatalogWriter {
  /// Makes the changes that a client requests, and records what they changed.
  ///
  /// - Throws: as ``perform(_:)``.
  package func performRecorded(_ changes: [LibraryChange]) throws -> (created: [CollectionID], ChangeRecording) {
    recording = ChangeRecording()
    defer { recording = nil }
    let created = try perform(changes)
    return (created, recording ?? ChangeRecording())
  }

  /// Notes the places of assets in an album, before they change. An asset without a rank is not in the album.
  ///
  /// - Parameter placed: the commit that places them now; nil if it removes them.
  func recordPlaces(
    of ranked: [(asset: AssetID, rank: Double?)], inAlbum id: CollectionID, placed: Int64?
  ) throws {
    guard recording != nil else { return }
    // An undo restores them from the last to the first, so that the asset behind each one is in its place already.
    for (asset, rank) in ranked.sorted(by: { ($0.rank ?? 0, $0.asset) < ($1.rank ?? 0, $1.asset) }) {
      let key = ChangeRecording.Member(album: id, asset: asset)
      let place = try rank.map { try ChangeRecording.Place.before(next(after: asset, $0, inAlbum: id)) } ?? .absent
      let former = try rank == nil ? 0 : self.placed(asset, inAlbum: id) ?? 0
      recording?.placements.append(.init(key: key, place: place, placed: former))
      recording?.places[key] = .some(placed)
    }
  }

  private func next(after asset: AssetID, _ rank: Double, inAlbum id: CollectionID) throws -> AssetID? {
    let select = try RawStatement(
      database,
      "SELECT asset_id FROM album_asset WHERE collection_id = ? AND (rank, asset_id) > (?, ?) ORDER BY rank, asset_id LIMIT 1"
    )
    select.bind(1, id)
    select.bind(2, rank)
    select.bind(3, asset)
    return try select.firstRow { select.assetID(0) }
  }

  /// The assets of an album in its order, including deleted ones that may return, with the commits that placed them.
  func placedMembers(ofAlbum id: CollectionID) throws -> [(asset: AssetID, placed: Int64)] {
    func half(_ table: String) -> String { "SELECT asset_id, rank, placed FROM \(table) WHERE collection_id = ?1" }
    let select = try RawStatement(
      database, "\(half("album_asset")) UNION ALL \(half("tombstone_album")) ORDER BY rank, asset_id")
    select.bind(1, id)
    var members: [(asset: AssetID, placed: Int64)] = []
    try select.forEachRow { members.append((select.assetID(0), select.int64(2))) }
    return members
  }
}
