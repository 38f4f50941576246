import ChangeDetails
import GRDB
import PhotoModel

/// The effects of some commits, so far as they show which lists may change. The newest effects stay in memory, so that
/// most lists prove to be unchanged without a query to the catalog.
package struct CommitEffects: Sendable {
  /// The touched assets and their changed fields. Only effects from the history include the assets below moved
  /// directories.
  package private(set) var touched = TouchedAssets()
  package private(set) var origins: Set<String> = []
  /// The collections that were made, updated or deleted.
  package private(set) var collections: Set<CollectionID> = []
  /// The collections that were made or deleted.
  private(set) var newAndGoneCollections: Set<CollectionID> = []
  /// For each album whose members or order were edited, the assets that were added, removed or moved in it.
  private var editedAlbums: [CollectionID: Set<AssetID>] = [:]
  /// Whether the path of a directory, and of everything below it, changed.
  package private(set) var hasRenames = false
  /// Whether a root, or a mount below one, went online or offline with everything in it.
  package private(set) var hasAvailability = false
  private(set) var isFromHistory = false
  /// The assets that these commits inserted, even if a later one of them deleted the asset.
  private var inserted: Set<AssetID> = []
  /// The facts of touched assets after the last of these commits. An asset without an entry may have any facts.
  private var facts: [AssetID: AssetFacts] = [:]

  /// Effects of no commits.
  package init() {}

  /// - Parameter facts: The facts of the inserted and updated assets. An asset without an entry may have any facts.
  init(_ record: CommitRecord, origin: String, facts: [AssetID: AssetFacts]) {
    touched.note(
      inserted: record.insertedAssets, updated: record.updatedAssets.lazy.map { ($0.key, $0.value) },
      deleted: record.deletedAssets)
    origins = [origin]
    newAndGoneCollections = record.insertedCollections.union(record.deletedCollections)
    collections = newAndGoneCollections.union(record.updatedCollections)
    editedAlbums = record.editedAlbums
    hasRenames = !record.renamedDirectories.isEmpty
    hasAvailability = !record.rootAvailability.isEmpty
    inserted = record.insertedAssets
    self.facts = facts
  }

  /// Effects from the history. It names everything that was touched, but not the inserted assets, the edits of each
  /// album or the current state of the assets.
  init(touched: TouchedAssets, origins: Set<String>, collections: Set<CollectionID>) {
    isFromHistory = true
    self.touched = touched
    self.origins = origins
    self.collections = collections
  }

  /// The number of assets that are named, with those that were placed in albums.
  package var assetCount: Int { touched.fields.count + editedAlbums.values.reduce(0) { $0 + $1.count } }

  /// Whether `touched` names all assets that these commits affect.
  package var namesAllAssets: Bool { !hasRenames && !hasAvailability }

  /// Adds the effects of the next commits.
  package mutating func merge(_ later: CommitEffects) {
    touched.note(
      inserted: later.inserted,
      updated: later.touched.fields.lazy.map { ($0.key, $0.value) },
      deleted: later.touched.deleted)
    origins.formUnion(later.origins)
    collections.formUnion(later.collections)
    newAndGoneCollections.formUnion(later.newAndGoneCollections)
    editedAlbums.merge(later.editedAlbums) { $0.union($1) }
    isFromHistory = isFromHistory || later.isFromHistory
    hasRenames = hasRenames || later.hasRenames
    hasAvailability = hasAvailability || later.hasAvailability
    inserted.formUnion(later.inserted)
    for id in later.touched.fields.keys { facts[id] = later.facts[id] }
  }

  /// The assets that edits of an album added, removed or moved. nil if they are unknown.
  package func placed(inAlbum id: CollectionID) -> Set<AssetID>? {
    guard collections.contains(id) else { return [] }
    guard !isFromHistory, !newAndGoneCollections.contains(id) else { return nil }
    return editedAlbums[id] ?? []
  }

  func wasInserted(_ id: AssetID) -> Bool { inserted.contains(id) }
  func facts(of id: AssetID) -> AssetFacts? { facts[id] }
}

/// The properties of an asset that decide whether it can be in a list at all.
struct AssetFacts: Hashable, Sendable {
  let mediaType: Int64
  let mediaSubtypes: MediaSubtypes
  var isFavorite = false
  var isHidden = false
  var isTrashed = false
  let hasLocation: Bool
  /// Whether its file could not be read.
  let isFailed: Bool
  /// Whether the first file of another asset has the same content.
  var isDuplicate = false
  /// The directory of the first resource.
  let directoryID: DirectoryID

  /// The columns of the table `asset`, in the order in which they are read.
  static let columns =
    "media_type, media_subtypes, is_favorite, is_hidden, is_trashed, latitude IS NOT NULL, failure IS NOT NULL, "
    + "is_duplicate, directory_id"
  static let columnCount: Int32 = 9

  init(_ row: RawStatement) {
    mediaType = row.int64(0)
    mediaSubtypes = MediaSubtypes(rawValue: row.int64(1))
    (isFavorite, isHidden, isTrashed) = (row.bool(2), row.bool(3), row.bool(4))
    (hasLocation, isFailed, isDuplicate) = (row.bool(5), row.bool(6), row.bool(7))
    directoryID = row.directoryID(8)
  }

  /// The facts of a new asset, to which a person has given nothing.
  init(_ content: AssetContent, in directoryID: DirectoryID) {
    mediaType = content.mediaType.code
    mediaSubtypes = content.mediaSubtypes
    hasLocation = content.location != nil
    isFailed = content.failure != nil
    self.directoryID = directoryID
  }
}

/// Necessary conditions for an asset to be in a list. They need not be sufficient. A nil one admits any asset.
struct AssetRequirements: Hashable, Sendable {
  var mediaTypes: Set<Int64>?
  /// At least one of these subtypes.
  var anySubtype: MediaSubtypes?
  var favorite = false
  var hidden: Bool?
  var untrashed = false
  var location: Bool?
  var failed = false
  var duplicate = false
  var directoryID: DirectoryID?

  mutating func require(mediaTypes codes: [Int64]) {
    mediaTypes = mediaTypes?.intersection(codes) ?? Set(codes)
  }

  func admit(_ facts: AssetFacts) -> Bool {
    (mediaTypes?.contains(facts.mediaType) ?? true)
      && (anySubtype.map { !facts.mediaSubtypes.isDisjoint(with: $0) } ?? true) && (!favorite || facts.isFavorite)
      && (hidden ?? facts.isHidden) == facts.isHidden && (!untrashed || !facts.isTrashed)
      && (location ?? facts.hasLocation) == facts.hasLocation && (!failed || facts.isFailed)
      && (!duplicate || facts.isDuplicate)
      && (directoryID ?? facts.directoryID) == facts.directoryID
  }
}

extension FetchPlan {
  /// How commits may affect one list.
  package enum Concern: Int, Comparable, Sendable {
    /// Neither the list nor its assets changed.
    case none
    /// The list has the same ids in the same order, but some of its assets may have changed.
    case assets
    /// Assets may have been inserted, removed or moved in the list.
    case list

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// Returns how commits may affect this list, without a query to the catalog.
  ///
  /// - Parameters:
  ///   - effects: Effects from the history may affect any list, because they lack details.
  ///   - list: The list before these commits.
  /// - Complexity: O(k log n) for k touched assets and n in the list.
  package func concern(of effects: CommitEffects, in list: OrderedList) -> Concern {
    guard !effects.isFromHistory else { return .list }
    if let albumID, effects.placed(inAlbum: albumID) != [] { return .list }
    if isConcerned(byDirectoriesOf: effects) || movesWindow(effects) { return .list }
    var concern: Concern = effects.namesAllAssets || list.count == 0 ? .none : .assets
    for (id, fields) in effects.touched.fields {
      let position = list.entries.position(of: id)
      if mayPlace(id, fields, effects, isThere: position != nil) { return .list }
      if let position, position < list.count { concern = .assets }
    }
    return concern
  }

  /// Whether the plan depends on paths or availability that changed for a whole directory.
  func isConcerned(byDirectoriesOf effects: CommitEffects) -> Bool {
    (effects.hasRenames && (source.usesPath || source.usesOffline)) || (effects.hasAvailability && source.usesOffline)
  }

  /// The touched assets that may have been inserted, removed or moved in the list. nil if there may be more than
  /// `effects` names.
  func placed(by effects: CommitEffects, in list: OrderedList) -> Set<AssetID>? {
    guard !effects.isFromHistory, !movesWindow(effects) else { return nil }
    var placed: Set<AssetID> = []
    if let albumID {
      guard let edited = effects.placed(inAlbum: albumID) else { return nil }
      placed = edited
    }
    for (id, fields) in effects.touched.fields
    where mayPlace(id, fields, effects, isThere: list.entries.contains(id)) { placed.insert(id) }
    return placed
  }

  /// Whether assets that these effects do not name may have entered or left the list.
  private func movesWindow(_ effects: CommitEffects) -> Bool {
    guard isWindow else { return false }
    return effects.touched.fields.contains { id, fields in
      effects.touched.deleted.contains(id) || effects.wasInserted(id) || !fields.isDisjoint(with: dependsOn)
    }
  }

  /// - Parameter isThere: Whether the asset was in the list before these commits.
  private func mayPlace(_ id: AssetID, _ fields: ChangedFields, _ effects: CommitEffects, isThere: Bool) -> Bool {
    let isGone = effects.touched.deleted.contains(id)
    let isNew = effects.wasInserted(id)
    guard isGone || isNew || !fields.isDisjoint(with: dependsOn) else { return false }
    if isThere { return true }
    if isGone { return false }
    // A new asset is in an album only if it was restored. In that case the commit lists the album.
    if let albumID, isNew, !effects.collections.contains(albumID) { return false }
    return effects.facts(of: id).map(source.requirements.admit) ?? true
  }
}

extension TouchedAssets {
  /// Adds one commit, or several commits as one.
  mutating func note(
    inserted: some Sequence<AssetID>, updated: some Sequence<(AssetID, ChangedFields)>, deleted: some Sequence<AssetID>
  ) {
    for id in inserted {
      // The asset was deleted and has returned at another place. It is unknown what else has changed meanwhile.
      let isBack = self.deleted.remove(id) != nil
      fields[id, default: []].formUnion(isBack ? [.content, .metadata, .keywords, .path] : [])
    }
    for (id, changed) in updated { fields[id, default: []].formUnion(changed) }
    for id in deleted {
      fields[id, default: []].formUnion([])
      self.deleted.insert(id)
    }
  }
}

extension CatalogWriter {
  /// The effects of this transaction. Everything must be written already.
  ///
  /// - Complexity: One lookup for each run of consecutive ids among the inserted and updated assets. New assets have
  ///   consecutive ids.
  package func effects(origin: String) throws -> CommitEffects {
    let ids = record.insertedAssets.union(record.updatedAssets.keys).sorted()
    var facts: [AssetID: AssetFacts] = [:]
    facts.reserveCapacity(ids.count)
    var start = 0
    while start < ids.count {
      var last = start
      while last + 1 < ids.count, ids[last + 1] == ids[last].advanced(by: 1) { last += 1 }
      let select = try RawStatement(
        database, "SELECT \(AssetFacts.columns), id FROM asset WHERE id BETWEEN ? AND ?")
      select.bind(1, ids[start])
      select.bind(2, ids[last])
      try select.forEachRow { facts[select.assetID(AssetFacts.columnCount)] = AssetFacts(select) }
      start = last + 1
    }
    return CommitEffects(record, origin: origin, facts: facts)
  }
}

/// The history was pruned meanwhile, so commits that an observer still needs are missing.
package struct ForgottenHistory: Error {
  package init() {}
}

extension CatalogReader {
  /// The effects of these commits, rebuilt from the history. They include the assets below moved directories.
  ///
  /// - Throws: ``ForgottenHistory`` if the history no longer has all of these commits.
  package func effects(after sequence: Int64, through last: Int64) throws -> CommitEffects {
    guard try historyReaches(sequence) else { throw ForgottenHistory() }
    return CommitEffects(
      touched: try touched(after: sequence, through: last), origins: try origins(after: sequence, through: last),
      collections: try touchedCollections(after: sequence, through: last))
  }
}
