import PhotoModel

/// The changes that one call of a client made, with the values before and after. They can be undone.
package struct ChangeRecording: Sendable {
  struct Difference<Value: Hashable & Sendable>: Sendable {
    let before: Value
    var after: Value
  }

  /// The place of an asset in an album.
  enum Place: Hashable, Sendable {
    /// The album does not have it.
    case absent
    /// In front of another asset; at the end if that is nil.
    case before(AssetID?)
  }

  struct Placement: Sendable {
    let album: CollectionID
    let asset: AssetID
    /// The place before the change.
    let place: Place
  }

  /// The user data of assets.
  var assets: [AssetID: Difference<AssetUserData>] = [:]
  /// nil stands for a collection that is not there.
  var collections: [CollectionID: Difference<UserCollection?>] = [:]
  /// The assets of deleted albums, in their order.
  var members: [CollectionID: [AssetID]] = [:]
  /// The changes of albums, in their order.
  var placements: [Placement] = []

  package init() {}

  package var isEmpty: Bool { assets.isEmpty && collections.isEmpty && placements.isEmpty }

  /// The number of assets that were edited, or placed in albums or removed from them.
  package var assetCount: Int { Set(assets.keys).union(placements.map(\.asset)).count }

  /// The collections that were created, edited or deleted, or whose assets were edited.
  package var collectionIDs: Set<CollectionID> { Set(collections.keys).union(placements.map(\.album)) }

  /// About how much memory it takes.
  package var byteCount: Int {
    let data = assets.values.reduce(0) { $0 + $1.before.byteCount + $1.after.byteCount }
    let rows = collections.values.reduce(0) { $0 + ($1.before?.byteCount ?? 0) + ($1.after?.byteCount ?? 0) }
    return data + rows + placements.count * MemoryLayout<Placement>.stride
      + members.values.reduce(0) { $0 + $1.count * MemoryLayout<AssetID>.stride }
  }

  /// Adds the changes of a later call.
  package mutating func append(_ later: ChangeRecording) {
    for (id, difference) in later.assets { note(id, difference.before, difference.after) }
    for (id, difference) in later.collections { note(id, difference.before, difference.after) }
    members.merge(later.members) { first, _ in first }
    placements += later.placements
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
  func recordPlaces(of ranked: [(asset: AssetID, rank: Double?)], inAlbum id: CollectionID) throws {
    guard recording != nil else { return }
    // They are placed again from the last to the first, so that the asset behind each one is there.
    for (asset, rank) in ranked.sorted(by: { ($0.rank ?? 0, $0.asset) < ($1.rank ?? 0, $1.asset) }) {
      let place = try rank.map { try ChangeRecording.Place.before(next(after: asset, $0, inAlbum: id)) } ?? .absent
      recording?.placements.append(.init(album: id, asset: asset, place: place))
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

  /// Undoes the changes of a call, or none of them.
  ///
  /// Assets that are no longer in the library are left out.
  /// - Throws: ``ChangeFailure`` if something was changed again since. The transaction must then be rolled back.
  package func undo(_ recording: ChangeRecording) throws {
    do { try restore(recording) } catch let reason as CollectionChangeError {
      throw ChangeFailure(index: 0, reason: reason)
    }
  }

  private func restore(_ recording: ChangeRecording) throws {
    try checkIsUnchanged(recording)
    try restoreCollections(recording)
    for placement in recording.placements.reversed() where try isMember(placement.asset, placement.album) {
      switch placement.place {
      case .absent: try remove([placement.asset], fromAlbum: placement.album)
      case .before(let next):
        let isThere = try next.map { try rank(of: $0, inAlbum: placement.album) != nil } ?? true
        try place([placement.asset], inAlbum: placement.album, before: isThere ? next : nil)
      }
    }
    for (id, difference) in recording.assets { try setUserData(difference.before, of: id) }
    for (id, difference) in recording.collections where difference.before == nil && difference.after != nil {
      if try userCollection(id) != nil { try delete(collection: id) }
    }
  }

  /// Whether the asset and the album are both there.
  private func isMember(_ asset: AssetID, _ album: CollectionID) throws -> Bool {
    try missingAssets([asset]).isEmpty && userCollection(album) != nil
  }

  private func checkIsUnchanged(_ recording: ChangeRecording) throws {
    for (id, difference) in recording.assets.sorted(by: { $0.key < $1.key }) {
      guard let now = try userData(of: id), now != difference.after else { continue }
      throw CollectionChangeError.rejected(
        "The photo \(id) was edited again since. Edit it, or undo the later change first.")
    }
    for (id, difference) in recording.collections.sorted(by: { $0.key < $1.key }) {
      guard var expected = difference.after else { continue }
      var now = try userCollection(id)
      // Other collections of the folder may have been moved.
      expected.rank = 0
      now?.rank = 0
      guard now == expected else {
        throw CollectionChangeError.rejected(
          "'\(expected.title)' (id:\(id)) was changed again, or deleted. Undo the later change first.")
      }
      let isNew = difference.before == nil
      if isNew, try isEdited(id, recording) {
        throw CollectionChangeError.rejected(
          "'\(expected.title)' (id:\(id)) has got other contents since. Delete it if you don't want it.")
      }
    }
  }

  /// Whether a new collection has something that the call did not put there.
  private func isEdited(_ id: CollectionID, _ recording: ChangeRecording) throws -> Bool {
    let placed = Set(recording.placements.lazy.filter { $0.album == id }.map(\.asset))
    if try !userCollections(in: id).allSatisfy({ recording.collections[$0.id] != nil }) { return true }
    return try members(ofAlbum: id).contains { !placed.contains($0) }
  }

  private func restoreCollections(_ recording: ChangeRecording) throws {
    let changed = recording.collections.values.filter { $0.after != $0.before }.compactMap(\.before)
    guard !changed.isEmpty else { return }
    let deleted = changed.filter { recording.collections[$0.id]?.after == nil }
    try apply(changed.sorted { $0.id < $1.id })
    for collection in deleted {
      let members = recording.members[collection.id] ?? []
      try applyPlacement(of: members, inAlbum: collection.id, before: nil)
      if !members.isEmpty { albumRecords.append(.placed(album: collection.id, before: nil, members)) }
    }
    for collection in changed { try recordCollections(below: collection.id) }
  }
}
