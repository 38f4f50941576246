import ChangeDetails
import GRDB
import PhotoModel

/// The possible effects of commits on collections.
package struct CollectionTouches: Sendable {
  /// The touched fields of each asset. For one that was inserted or deleted, they include ``ChangedFields/path``.
  var assets: [AssetID: ChangedFields]
  /// The collections that were created, updated or deleted.
  var collections: Set<CollectionID>
  /// Whether directories were renamed, which changes their folder albums and the paths of all assets below.
  var hasRenames: Bool
  /// The effects of commits on edited albums: assets that were added, removed or moved. nil if they are unknown.
  let effects: CommitEffects?

  package init(_ effects: CommitEffects) {
    assets = effects.touched.fields
    for id in assets.keys where effects.wasInserted(id) || effects.touched.deleted.contains(id) {
      assets[id]?.insert(.path)
    }
    collections = effects.collections
    hasRenames = effects.hasRenames
    self.effects = effects
  }

  init(assets: [AssetID: ChangedFields], collections: Set<CollectionID>) {
    self.assets = assets
    self.collections = collections
    hasRenames = true
    effects = nil
  }

  /// The assets whose place in the album may have changed; nil if unknown.
  func placed(inAlbum id: CollectionID) -> Set<AssetID>? { effects?.placed(inAlbum: id) }
}

extension CatalogReader {
  /// The effects of these commits, read from the history. The history does not have the placed assets of edited albums,
  /// so these albums must be read again.
  func collectionTouches(after sequence: Int64, through last: Int64) throws -> CollectionTouches {
    var assets: [AssetID: ChangedFields] = [:]
    let history = try RawStatement(
      database,
      "SELECT inserted_assets, updated_assets, deleted_assets FROM history WHERE sequence > ? AND sequence <= ?")
    history.bind(1, sequence)
    history.bind(2, last)
    try history.forEachRow {
      for (id, fields) in try PackedIDs.unpackFields(history.bytes(1)) { assets[id, default: fields].formUnion(fields) }
      for column in [0, 2] as [Int32] {
        for id: AssetID in try PackedIDs.unpack(history.bytes(column)) { assets[id, default: []].formUnion(.path) }
      }
    }
    return CollectionTouches(assets: assets, collections: try touchedCollections(after: sequence, through: last))
  }

  /// The folder albums of the directories that these commits renamed, and of all directories below them.
  func foldersRenamed(after sequence: Int64, through last: Int64) throws -> [CollectionID] {
    let statement = try RawStatement(
      database,
      "WITH RECURSIVE below(id) AS (\(MovedSubtree.renamed.rawValue) "
        + "UNION SELECT directory.id FROM below JOIN directory ON directory.parent_id = below.id) "
        + "SELECT collection.id FROM below CROSS JOIN collection ON collection.directory_id = below.id")
    statement.bind(1, sequence)
    statement.bind(2, last)
    var ids: [CollectionID] = []
    try statement.forEachRow { ids.append(statement.collectionID(0)) }
    return ids
  }
}

extension CollectionCounts {
  /// If only these fields of an asset changed, no count, cover or date of a collection can change.
  private static let irrelevant: ChangedFields = [.keywords, .availability]

  /// The intermediate state of one update.
  private struct Update {
    let reader: CatalogReader
    /// The collections that may have changed.
    var dirty: Set<CollectionID> = []
    /// The assets whose picture changed.
    var redrawn: Set<AssetID> = []
    var changes: CollectionLog.Changes = ([:], [])
    /// The edited albums whose placed and removed assets are unknown.
    var albumsToRead: [CollectionID] = []
  }

  /// The present state of an asset.
  private struct AssetState {
    var membership: CollectionMemberships.Membership
    /// Whether it is neither hidden nor in the trash, so that albums and folders show it.
    var isVisible: Bool
    var end: CollectionEnd
  }

  /// Updates the counts to the commit of the reader's snapshot.
  ///
  /// - Parameter known: the effects of the commits since the last update; nil to read them from the history.
  /// - Complexity: O((k + m) log n), with some small statements for each of k touched assets and m touched collections.
  ///   A user's album is read as a whole if it is new, or if only the history says that it was edited.
  package mutating func update(_ reader: CatalogReader, _ known: CollectionTouches? = nil) throws {
    let last = try reader.sequence()
    guard last > sequence else { return }
    let touches = try known ?? reader.collectionTouches(after: sequence, through: last)
    var update = Update(reader: reader)
    statementCount += known == nil ? 2 : 0

    var rows = touches.collections
    if touches.hasRenames {
      rows.formUnion(try reader.foldersRenamed(after: sequence, through: last))
      statementCount += 1
    }
    try take(rows: rows, at: last, &update)

    var assets = touches.assets
    for id in touches.collections where entries[id]?.row.kind == .album {
      if let placed = touches.placed(inAlbum: id) {
        for asset in placed { assets[asset, default: .path].formUnion(.path) }
      } else {
        update.albumsToRead.append(id)
      }
    }
    try take(assets: assets, &update)
    for id in listedAlbums where entries[id]?.row.isOfPerson == false { try updateList(of: id, touches, &update) }
    let costly = try reader.forEachSmartAlbum(albumsOfPersons) { id in
      // An update that runs out of time is tried again, and must then find the entry as it was before.
      let before = entries[id]
      do { try updateList(of: id, touches, &update) } catch {
        entries[id] = before
        throw error
      }
    }
    for id in costly {
      giveUp(id)
      update.dirty.insert(id)
    }
    for id in update.albumsToRead { try readMembers(of: id, &update) }
    for id in update.dirty { try publish(id, at: last, &update) }
    log.append(update.changes, at: last)
    sequence = last
  }

  // MARK: Collections

  private mutating func take(rows ids: Set<CollectionID>, at last: Int64, _ update: inout Update) throws {
    var missing = ids
    statementCount += ids.count
    var moved: [(id: CollectionID, place: CollectionPlace)] = []
    for row in try update.reader.collectionRows(ids: ids) {
      missing.remove(row.id)
      update.dirty.insert(row.id)
      if entries[row.id] == nil {
        add(row, at: last)
        update.changes.fields[row.id] = []
        moved.append((row.id, CollectionPlace(row)))
        continue
      }
      let hasNewQuery = row.query != entries[row.id]?.row.query
      entries[row.id]?.row = row
      if hasNewQuery { entries[row.id]?.forgetList() }
      let place = CollectionPlace(row)
      guard place != entries[row.id]?.place else { continue }
      moved.append((row.id, place))
      // A collection may move without a change of its own, because the folder that has it was renamed or moved.
      update.changes.fields[row.id, default: []].formUnion([])
      entries[row.id]?.changedAt = last
    }
    for id in missing where entries[id] != nil {
      remove(id)
      update.changes.deleted.insert(id)
    }
    // Collections that move are removed first, because they would disturb the search for the new places.
    for (id, _) in moved { for kinds in orders.keys { orders[kinds]?.remove(id.element) } }
    for (id, place) in moved {
      entries[id]?.place = place
      for kinds in orders.keys where entries[id].map({ kinds.contains($0.row.kind) }) ?? false {
        guard let position = orders[kinds].map({ position(of: place, in: $0) }) else { continue }
        orders[kinds]?.insert(id.element, key: 0, at: position)
      }
    }
  }

  mutating func add(_ row: CollectionRow, at sequence: Int64) {
    entries[row.id] = Entry(row, changedAt: sequence)
    if row.kind == .album { albumCount += 1 }
    if row.kind == .folderAlbum, let directory = row.directoryID {
      folderOfDirectory[directory] = folders.count
      folders.append(row.id)
    } else if row.isListed {
      listedAlbums.append(row.id)
    } else if let definition = row.smartAlbum?.definition {
      var requirements = definition.requirements
      requirements.hidden = definition.showsHidden
      requirements.untrashed = true
      smartAlbums.append((row.id, requirements))
    }
  }

  private mutating func remove(_ id: CollectionID) {
    guard let entry = entries.removeValue(forKey: id) else { return }
    for kinds in orders.keys { orders[kinds]?.remove(id.element) }
    if entry.row.kind == .album { albumCount -= 1 }
    if let directory = entry.row.directoryID { folderOfDirectory[directory] = nil }
    listedAlbums.removeAll { $0 == id }
    guard entry.row.kind == .album else { return }
    for asset in entry.members ?? OrderedIDs() { setAlbums(of: asset) { $0.removeAll { $0 == id } } }
  }

  private mutating func setAlbums(of asset: AssetID, _ body: (inout [CollectionID]) -> Void) {
    body(&albumsOfAsset[asset, default: []])
    if albumsOfAsset[asset]?.isEmpty ?? false { albumsOfAsset[asset] = nil }
  }

  // MARK: Assets

  private mutating func take(assets: [AssetID: ChangedFields], _ update: inout Update) throws {
    for (id, fields) in assets where !fields.isSubset(of: Self.irrelevant) {
      let before = memberships[id]
      let now = try state(of: id, update.reader)
      memberships[id] = now?.membership ?? CollectionMemberships.Membership()
      if fields.contains(.content) { update.redrawn.insert(id) }

      for (index, album) in smartAlbums.enumerated() {
        note(
          id, now, in: album.id, was: before.smart.contains(index),
          isThere: now?.membership.smart.contains(index) ?? false, &update)
      }
      if let folder = before.folder {
        note(id, now, in: folders[folder], was: true, isThere: now?.membership.folder == folder, &update)
      }
      if let folder = now?.membership.folder, folder != before.folder {
        note(id, now, in: folders[folder], was: false, isThere: true, &update)
      }
      if albumCount > 0 { try noteAlbums(of: id, now?.isVisible ?? false ? now : nil, &update) }
    }
  }

  private mutating func state(of id: AssetID, _ reader: CatalogReader) throws -> AssetState? {
    statementCount += 1
    let select = try RawStatement(
      reader.database,
      "SELECT \(AssetFacts.columns), creation_date, creation_offset FROM asset WHERE id = ?")
    select.bind(1, id)
    return try select.firstRow {
      let facts = AssetFacts(select)
      var membership = CollectionMemberships.Membership()
      for (index, album) in smartAlbums.enumerated() where album.requirements.admit(facts) {
        membership.smart.insert(index)
      }
      let isVisible = !facts.isHidden && !facts.isTrashed
      if isVisible { membership.folder = folderOfDirectory[facts.directoryID] }
      return AssetState(
        membership: membership, isVisible: isVisible,
        end: CollectionEnd(
          date: select.int64(AssetFacts.columnCount), id: id, offset: select.optionalInt(AssetFacts.columnCount + 1)))
    }
  }

  /// Updates a smart album or folder that had the asset before, or has it now.
  private mutating func note(
    _ id: AssetID, _ now: AssetState?, in collection: CollectionID, was: Bool, isThere: Bool, _ update: inout Update
  ) {
    guard was || isThere, entries[collection] != nil else { return }
    update.dirty.insert(collection)
    entries[collection]?.count += (isThere ? 1 : 0) - (was ? 1 : 0)
    let end = isThere ? now?.end : nil
    note(id, end, \.newest, in: collection) { $0 < $1 }
    note(id, end, \.oldest, in: collection) { $0 > $1 }
  }

  /// Updates the newest or the oldest asset of a collection, or notes that it must be looked up.
  ///
  /// - Parameter isInside: whether the second of two ends lies beyond the first.
  private mutating func note(
    _ id: AssetID, _ end: CollectionEnd?, _ key: WritableKeyPath<CollectionEnds, CollectionEnd?> & Sendable,
    in collection: CollectionID, isInside: (CollectionEnd, CollectionEnd) -> Bool
  ) {
    guard let known = entries[collection]?.ends[keyPath: key] else {
      // An end that is absent and not stale means that there was no such asset.
      if let end { entries[collection]?.ends[keyPath: key] = end }
      return
    }
    if known.id == id {
      guard let end, !isInside(end, known) else {
        entries[collection]?.staleEnds.insert(key)
        return
      }
      entries[collection]?.ends[keyPath: key] = end
    } else if let end, isInside(known, end) {
      entries[collection]?.ends[keyPath: key] = end
    }
  }

  private mutating func noteAlbums(of id: AssetID, _ now: AssetState?, _ update: inout Update) throws {
    var albums: [CollectionID] = []
    if now != nil {
      statementCount += 1
      let select = try RawStatement(
        update.reader.database, "SELECT collection_id FROM album_asset WHERE asset_id = ?")
      select.bind(1, id)
      try select.forEachRow { if entries[select.collectionID(0)] != nil { albums.append(select.collectionID(0)) } }
    }
    for album in Set(albums).union(albumsOfAsset[id] ?? []) {
      update.dirty.insert(album)
      entries[album]?.members?.remove(id)
      if let now, albums.contains(album) { insert(now.end, inAlbum: album) }
    }
    albumsOfAsset[id] = albums.isEmpty ? nil : albums
  }

  private mutating func insert(_ end: CollectionEnd, inAlbum album: CollectionID) {
    let key = SortNumber.of(end.date)
    guard let position = entries[album]?.members?.position(forKey: key, id: end.id, ascending: true) else { return }
    entries[album]?.members?.insert(end.id, key: key, at: position)
  }

  /// Reads all assets of a user's album, or of a smart album with an order of its own.
  mutating func readMembers(of album: CollectionID, _ reader: CatalogReader) throws {
    guard let row = entries[album]?.row else { return }
    if row.kind == .album {
      for asset in entries[album]?.members ?? OrderedIDs() {
        setAlbums(of: asset) { $0.removeAll { $0 == album } }
      }
    }
    statementCount += 1
    let source = try CatalogReader.visibleSource(row)
    let select = try RawStatement(
      reader.database,
      source.select("asset.id, asset.creation_date")
        + " ORDER BY asset.creation_date, asset.id")
    select.bind(source.arguments)
    var (ids, keys): ([AssetID], [UInt64]) = ([], [])
    try select.forEachRow {
      ids.append(select.assetID(0))
      keys.append(SortNumber.of(select.int64(1)))
    }
    entries[album]?.members = OrderedIDs(ids: ids, keys: keys)
    if row.kind == .album { for id in ids { setAlbums(of: id) { $0.append(album) } } }
  }

  private mutating func readMembers(of album: CollectionID, _ update: inout Update) throws {
    try readMembers(of: album, update.reader)
    update.dirty.insert(album)
  }

  // MARK: Lists of smart albums

  mutating func readList(of album: CollectionID, _ reader: CatalogReader) throws {
    statementCount += 1
    let plan = try reader.plan(FetchOptions(collection: "id:\(album)"))
    entries[album]?.list = AlbumList(plan: plan, list: try reader.list(plan))
    entries[album]?.staleEnds = Set(CollectionEnds.keys)
    if entries[album]?.members != nil { try readMembers(of: album, reader) }
  }

  /// Stops counting a smart album, because that takes too long.
  mutating func giveUp(_ id: CollectionID) {
    entries[id]?.forgetList()
    entries[id]?.isTooCostly = true
    entries[id]?.ends = CollectionEnds()
  }

  /// Up to this many new assets of a list are looked up one by one.
  private static let mostLookups = 64

  private mutating func updateList(
    of album: CollectionID, _ touches: CollectionTouches, _ update: inout Update
  ) throws {
    guard let held = entries[album]?.list else {
      update.dirty.insert(album)
      return try readList(of: album, update.reader)
    }
    let list = try update.reader.list(held.plan, updating: held.list, of: sequence, effects: touches.effects)
    entries[album]?.list?.list = list
    // The date of an asset comes from these.
    let dated: ChangedFields = [.content, .metadata, .path, .resources]
    var placed = Set(touches.assets.lazy.filter { !$0.value.isDisjoint(with: dated) }.map(\.key))
    placed = placed.filter { list.shows($0) || held.list.shows($0) }
    let isSame = list.hasSameIDs(as: held.list)
    guard !placed.isEmpty || !isSame else { return }
    update.dirty.insert(album)
    entries[album]?.staleEnds = Set(CollectionEnds.keys)
    guard entries[album]?.members != nil else { return }
    if !isSame {
      placed.formUnion(
        held.placed(by: touches.effects) ?? Set(list.ids).symmetricDifference(held.list.ids))
    }
    guard placed.count <= Self.mostLookups else { return try readMembers(of: album, update.reader) }
    for id in placed {
      entries[album]?.members?.remove(id)
      if list.shows(id), let end = try end(id, update.reader) { insert(end, inAlbum: album) }
    }
  }

  // MARK: Published collections

  private mutating func publish(_ id: CollectionID, at last: Int64, _ update: inout Update) throws {
    guard let before = entries[id]?.collection else { return }
    try refresh(id, update.reader)
    guard let after = entries[id]?.collection else { return }
    var fields = CollectionFields(from: before, to: after)
    if let cover = after.keyAssetID, update.redrawn.contains(cover) { fields.insert(.keyAsset) }
    guard !fields.isEmpty else { return }
    update.changes.fields[id, default: []].formUnion(fields)
    entries[id]?.changedAt = last
  }

  /// Rebuilds the published form of a collection, after all of its changes are recorded.
  mutating func refresh(_ id: CollectionID, _ reader: CatalogReader) throws {
    guard var entry = entries[id] else { return }
    guard !entry.isTooCostly else {
      entries[id]?.collection = AssetCollection(tooCostly: entry.row)
      return
    }
    let list = entry.list?.list
    if let members = entry.members {
      entry.count = members.count
      if list == nil || !entry.staleEnds.isEmpty {
        entry.ends.newest = try end(members.last, reader)
        entry.ends.oldest = try end(members.first, reader)
        entry.staleEnds = []
      }
    } else if let list {
      // Without an order of its own, it is ordered by date.
      entry.count = list.count
      if !entry.staleEnds.isEmpty {
        entry.ends.newest = try end(list.first, reader)
        entry.ends.oldest = try end(list.last, reader)
        entry.staleEnds = []
      }
    }
    for key in entry.staleEnds {
      guard entry.count > 0 else {
        entry.ends[keyPath: key] = nil
        continue
      }
      statementCount += 1
      entry.ends[keyPath: key] = try reader.end(key, of: entry.row)
    }
    entry.staleEnds = []
    entry.collection = AssetCollection(
      entry.row, count: entry.count, ends: entry.ends,
      cover: entry.row.keyAssetID.flatMap { shows($0, entry) } ?? list?.first)
    entries[id] = entry
  }

  private mutating func end(_ id: AssetID?, _ reader: CatalogReader) throws -> CollectionEnd? {
    guard let id else { return nil }
    statementCount += 1
    let select = try RawStatement(reader.database, "SELECT creation_date, creation_offset FROM asset WHERE id = ?")
    select.bind(1, id)
    return try select.firstRow {
      CollectionEnd(date: select.int64(0), id: id, offset: select.optionalInt(1))
    }
  }

  /// The asset, if the collection shows it.
  private func shows(_ asset: AssetID, _ entry: Entry) -> AssetID? {
    if let members = entry.members { return members.contains(asset) ? asset : nil }
    if let list = entry.list?.list { return list.shows(asset) ? asset : nil }
    let membership = memberships[asset]
    let isInFolder = membership.folder.map { folders[$0] == entry.row.id } ?? false
    let index = smartAlbums.firstIndex { $0.id == entry.row.id }
    return isInFolder || index.map(membership.smart.contains) ?? false ? asset : nil
  }
}
