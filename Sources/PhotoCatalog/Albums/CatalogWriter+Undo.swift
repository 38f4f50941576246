import PhotoModel

// Undoing the changes of a call.
//
// An undo is rejected if something was changed again after the call: if its values differ from those after the call, or
// if a later commit placed it. Ranks are not compared, because a placement may give its neighbours new ranks.

extension CatalogWriter {
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
    try restorePlaces(recording.placements)
    for (id, difference) in recording.assets.sorted(by: { $0.key < $1.key }) {
      try setUserData(difference.before, of: id)
    }
    for (id, difference) in recording.collections where difference.before == nil && difference.after != nil {
      if try userCollection(id) != nil { try delete(collection: id) }
    }
    try checkFolders(recording)
    try recordMovedFolders()
  }

  // MARK: - Later changes

  private func checkIsUnchanged(_ recording: ChangeRecording) throws {
    for (id, difference) in recording.assets.sorted(by: { $0.key < $1.key }) {
      guard let now = try userData(of: id), now != difference.after else { continue }
      throw CollectionChangeError.rejected(
        "The photo \(id) was edited again since. Edit it, or undo the later change first.")
    }
    for (id, difference) in recording.collections.sorted(by: { $0.key < $1.key }) {
      guard let after = difference.after, !recording.onlyRanks(id) else { continue }
      try checkIsUnchanged(after, recording)
      if difference.before == nil, try isEdited(id, recording) {
        throw CollectionChangeError.rejected(
          "'\(after.title)' (id:\(id)) has got other contents since. Delete it if you don't want it.")
      }
    }
    let members = recording.places.sorted { ($0.key.album, $0.key.asset) < ($1.key.album, $1.key.asset) }
    var album: UserCollection?
    for (member, placed) in members {
      // If the call itself deleted the album, the undo restores the album before its photos.
      if let difference = recording.collections[member.album], difference.after == nil { continue }
      if album?.id != member.album { album = try userCollection(member.album) }
      guard let album else {
        throw CollectionChangeError.rejected(
          "The album \(member.album) was deleted since. Undo its deletion first.")
      }
      try checkIsUnchanged(member.asset, placed, in: album)
    }
  }

  private func checkIsUnchanged(_ after: UserCollection, _ recording: ChangeRecording) throws {
    var (expected, now) = (after, try userCollection(after.id))
    // A collection that was placed beside it may have given it another rank.
    expected.rank = 0
    now?.rank = 0
    let isThere = try recording.moves[after.id].map { try placed(after.id) == $0.after } ?? true
    guard now == expected, isThere else {
      throw CollectionChangeError.rejected(
        "'\(after.title)' (id:\(after.id)) was changed again, moved, or deleted. Undo the later change first.")
    }
  }

  private func checkIsUnchanged(_ asset: AssetID, _ placed: Int64?, in album: UserCollection) throws {
    guard try self.placed(asset, inAlbum: album.id) != placed, try missingAssets([asset]).isEmpty else { return }
    throw CollectionChangeError.rejected(
      "The photo \(asset) was placed in '\(album.title)' (id:\(album.id)) again since, or removed from it. Undo the later change first."
    )
  }

  /// Whether a new collection has something that the call did not put there.
  private func isEdited(_ id: CollectionID, _ recording: ChangeRecording) throws -> Bool {
    if try !userCollections(in: id).allSatisfy({ recording.collections[$0.id] != nil }) { return true }
    return try members(ofAlbum: id).contains { recording.places[.init(album: id, asset: $0)] == nil }
  }

  // MARK: - Places in albums

  /// Gives assets the places that they had in albums. The last change is undone first.
  ///
  /// Assets that were next to each other are placed together, because one placement of many assets takes a fraction of
  /// the time of many placements.
  private func restorePlaces(_ placements: [ChangeRecording.Placement]) throws {
    let albums = try Set(placements.map(\.key.album)).filter { try userCollection($0) != nil }
    var run: PlacementRun?
    for placement in placements.reversed() where albums.contains(placement.key.album) {
      guard !(run?.add(placement) ?? false) else { continue }
      if let run { try restore(run) }
      run = PlacementRun(placement)
    }
    if let run { try restore(run) }
  }

  private func restore(_ run: PlacementRun) throws {
    let missing = Set(try missingAssets(run.assets))
    let assets = Array(run.assets.lazy.filter { !missing.contains($0) }.reversed())
    guard !assets.isEmpty else { return }
    switch run.place {
    case .absent: try remove(assets, fromAlbum: run.album)
    case .before(let next):
      try restorePlaces(of: assets, inAlbum: run.album, before: next, placed: run.placed)
    }
  }

  // MARK: - Collections

  private func restoreCollections(_ recording: ChangeRecording) throws {
    let restoresRanks = try hasRanksOf(recording)
    var changed: [UserCollection] = []
    for (id, difference) in recording.collections where difference.after != difference.before {
      guard var former = difference.before else { continue }
      if let now = try userCollection(id) {
        if recording.onlyRanks(id) {
          guard restoresRanks else { continue }
          let rank = former.rank
          former = now
          former.rank = rank
        } else if !restoresRanks {
          // Its place is restored below.
          (former.parentID, former.rank) = (now.parentID, now.rank)
        }
      }
      changed.append(former)
    }
    changed.sort { $0.id < $1.id }
    try apply(changed)
    for former in changed {
      if let deleted = recording.deleted[former.id], recording.collections[former.id]?.after == nil {
        try restore(deleted, of: former)
      }
      noteMovedFolder(former)
    }
    for id in recording.moveOrder.reversed() {
      guard let former = recording.collections[id]?.before, let move = recording.moves[id] else { continue }
      if !restoresRanks, let now = try userCollection(id) {
        let parentID = try former.parentID.flatMap { try userCollection($0)?.kind == .folder ? $0 : nil }
        try setPlace(of: now, in: parentID, before: try place(of: former, recording, in: parentID))
      }
      try setPlaced(move.before, id)
    }
  }

  /// Rejects an undo if a folder would return into itself, or too deep. The folder itself was not moved since, but the folder
  /// to which it returns may have been.
  private func checkFolders(_ recording: ChangeRecording) throws {
    for (id, difference) in recording.collections.sorted(by: { $0.key < $1.key }) {
      guard let before = difference.before, before.kind == .folder,
        difference.after.map({ $0.parentID != before.parentID }) ?? true,
        let folder = try userCollection(id), let parentID = folder.parentID, let parent = try userCollection(parentID)
      else { continue }
      guard try !folders(above: parentID).contains(id) else {
        throw CollectionChangeError.rejected(
          "'\(folder.title)' (id:\(id)) can't return to the folder '\(parent.title)' (id:\(parentID)), which is in '\(folder.title)' now. Undo the later change first."
        )
      }
      guard try levels(above: parentID) + height(of: id) <= Self.mostLevels else {
        throw CollectionChangeError.rejected(
          "'\(folder.title)' (id:\(id)) can't return to the folder '\(parent.title)' (id:\(parentID)), because folders can be nested \(Self.mostLevels) deep. Undo the later change first."
        )
      }
    }
  }

  /// Whether all collections to which the call gave ranks still have them, and no other collection in their folders has
  /// a rank. Then all of them can get their former ranks.
  private func hasRanksOf(_ recording: ChangeRecording) throws -> Bool {
    var folders: Set<CollectionID?> = []
    for (id, difference) in recording.collections {
      guard let before = difference.before, let after = difference.after,
        (before.rank, before.parentID) != (after.rank, after.parentID)
      else { continue }
      guard let now = try userCollection(id), (now.rank, now.parentID) == (after.rank, after.parentID) else {
        return false
      }
      if recording.onlyRanks(id) { folders.insert(after.parentID) }
    }
    for folder in folders {
      let others = try userCollections(in: folder).filter { recording.collections[$0.id] == nil }
      guard others.allSatisfy({ $0.rank == 0 }) else { return false }
    }
    return true
  }

  /// The collection that came after another one before the call. It is nil if there was none, or if it is not in the
  /// folder any more.
  private func place(
    of former: UserCollection, _ recording: ChangeRecording, in parentID: CollectionID?
  ) throws -> UserCollection? {
    var candidates = [recording.moves[former.id]?.next].compactMap { $0 }
    if former.rank == 0 {
      // Without ranks, the titles gave the order. The call has the former state of all collections to which it gave ranks.
      func key(_ collection: UserCollection) -> [UInt8] {
        CollectionPlace.key(rank: 0, title: collection.title, id: collection.id)
      }
      let own = key(former)
      candidates += recording.collections.values.compactMap(\.before)
        .filter { $0.parentID == former.parentID && $0.rank == 0 }.map { (key: key($0), id: $0.id) }
        .filter { own.lexicographicallyPrecedes($0.key) }.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.id)
    }
    for id in candidates {
      if let next = try userCollection(id), next.parentID == parentID, id != former.id { return next }
    }
    return nil
  }

  /// Restores the assets and the place of a deleted collection, after its row was restored.
  private func restore(_ deleted: ChangeRecording.Deleted, of collection: UserCollection) throws {
    let members = deleted.members.map(\.asset)
    try applyPlacement(
      of: members, inAlbum: collection.id, before: nil,
      placed: Dictionary(deleted.members.map { ($0.asset, $0.placed) }, uniquingKeysWith: { $1 }))
    if !members.isEmpty { albumRecords.append(.placed(album: collection.id, before: nil, members)) }
    if var now = try userCollection(collection.id) {
      if now.parentID != collection.parentID, now.rank != 0 {
        // Its folder is gone, so it is at the top level. Its rank was one of that folder.
        now.rank = 0
        try write(now)
      }
      if now.rank == 0, try hasPositions(now.parentID, besides: now.id) {
        try setPlace(of: now, in: now.parentID, before: nil)
      }
    }
    try setPlaced(deleted.placed, collection.id)
  }
}

/// Placements in one album that are undone together. Either none of the assets was in the album, or they were next to
/// each other.
private struct PlacementRun {
  let album: CollectionID
  /// The place of the last asset before the change.
  let place: ChangeRecording.Place
  /// The assets, the last one first.
  private(set) var assets: [AssetID]
  /// The commits that had placed them.
  private(set) var placed: [AssetID: Int64]

  init(_ placement: ChangeRecording.Placement) {
    (album, place) = (placement.key.album, placement.place)
    (assets, placed) = ([placement.key.asset], [placement.key.asset: placement.placed])
  }

  /// - Returns: false if the placement must be undone after those of the run.
  mutating func add(_ placement: ChangeRecording.Placement) -> Bool {
    let asset = placement.key.asset
    guard placement.key.album == album, placed[asset] == nil else { return false }
    switch (place, placement.place) {
    case (.absent, .absent): break
    // The asset before which the run is placed can't be in it.
    case (.before(let end), .before(let next)): guard next == assets.last, end != asset else { return false }
    default: return false
    }
    assets.append(asset)
    placed[asset] = placement.placed
    return true
  }
}

extension ChangeRecording {
  /// Whether the call only gave a collection another rank, because it placed another one beside it.
  fileprivate func onlyRanks(_ id: CollectionID) -> Bool {
    guard moves[id] == nil, let difference = collections[id], var after = difference.after,
      let before = difference.before
    else { return false }
    after.rank = before.rank
    return after == before
  }
}
