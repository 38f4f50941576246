import GRDB
import PhotoModel

/// What some commits touched, as far as it tells which lists they can concern. The newest are kept in memory, so that most
/// lists are told to be what they were without a look at the catalog.
package struct CommitEffects: Sendable {
  /// With the same that history says of them, but what is below directories.
  package private(set) var touched = TouchedAssets()
  package private(set) var origins: Set<String> = []
  /// Made, updated or deleted.
  package private(set) var collections: Set<Int64> = []
  /// Made or deleted.
  private(set) var newAndGoneCollections: Set<Int64> = []
  /// Of albums whose members or order were edited: what came, went or moved in them.
  private var editedAlbums: [Int64: Set<Int64>] = [:]
  /// Directories have other paths, with all that is below them.
  package private(set) var hasRenames = false
  /// Roots, or what is mounted below them, came or went with all that they hold.
  package private(set) var hasAvailability = false
  private(set) var isFromHistory = false
  /// That came with these commits, whatever became of them.
  private var inserted: Set<Int64> = []
  /// Of touched assets as the last of these commits left them. None of those that are not known: they may be anything.
  private var facts: [Int64: AssetFacts] = [:]

  /// Nothing.
  package init() {}

  /// - Parameter facts: of the assets that came or were updated; those that are left out may be anything.
  init(_ record: CommitRecord, origin: String, facts: [Int64: AssetFacts]) {
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

  /// What history says. It has all that was touched, but not what came, which albums were edited how, nor what the assets
  /// are now.
  init(touched: TouchedAssets, origins: Set<String>, collections: Set<Int64>) {
    isFromHistory = true
    self.touched = touched
    self.origins = origins
    self.collections = collections
  }

  /// How many assets are named.
  package var assetCount: Int { touched.fields.count }

  /// `touched` names all assets that these commits concern.
  package var namesAllAssets: Bool { !hasRenames && !hasAvailability }

  /// Takes in what the next commits did.
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

  /// What came, went or moved in an album without anything else being done to it; nil where that is not known.
  package func placed(inAlbum id: Int64) -> Set<Int64>? {
    guard collections.contains(id) else { return [] }
    guard !isFromHistory, !newAndGoneCollections.contains(id) else { return nil }
    return editedAlbums[id] ?? []
  }

  func wasInserted(_ id: Int64) -> Bool { inserted.contains(id) }
  func facts(of id: Int64) -> AssetFacts? { facts[id] }
}

/// What of an asset decides whether it can be in a list at all.
struct AssetFacts: Hashable, Sendable {
  let mediaType: Int64
  let isFavorite: Bool
  let isHidden: Bool
  let isTrashed: Bool
  let isScreenshot: Bool
  /// Of the first resource.
  let directoryID: Int64
}

/// What an asset must be to be in a list; there may be more that it must.
struct AssetRequirements: Hashable, Sendable {
  /// nil: of any.
  var mediaTypes: Set<Int64>?
  var favorite = false
  var visible = false
  var untrashed = false
  var screenshot = false
  var directoryID: Int64?

  mutating func require(mediaTypes codes: [Int64]) {
    mediaTypes = mediaTypes?.intersection(codes) ?? Set(codes)
  }

  func admit(_ facts: AssetFacts) -> Bool {
    (mediaTypes?.contains(facts.mediaType) ?? true) && (!favorite || facts.isFavorite)
      && (!visible || !facts.isHidden) && (!untrashed || !facts.isTrashed) && (!screenshot || facts.isScreenshot)
      && (directoryID ?? facts.directoryID) == facts.directoryID
  }
}

extension FetchPlan {
  /// What commits may mean for one list.
  package enum Concern: Int, Comparable, Sendable {
    /// It is what it was, and so are its assets.
    case none
    /// It has the same ids in the same order; some of its assets may have changed.
    case assets
    /// Assets may have come, gone or moved.
    case list

    package static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
  }

  /// What commits can mean for this list, told without the catalog.
  ///
  /// - Parameters:
  ///   - effects: not from history, which doesn't say enough: that may concern any list.
  ///   - list: as it was before them.
  /// - Complexity: O(k log n) for k touched assets, and nothing for what media types, albums, folders and flags tell.
  package func concern(of effects: CommitEffects, in list: OrderedList) -> Concern {
    guard !effects.isFromHistory else { return .list }
    if let albumID, effects.placed(inAlbum: albumID) != [] { return .list }
    if isConcerned(byDirectoriesOf: effects) { return .list }
    var concern: Concern = effects.namesAllAssets || list.count == 0 ? .none : .assets
    for (id, fields) in effects.touched.fields {
      let position = list.entries.position(of: id)
      if mayPlace(id, fields, effects, isThere: position != nil) { return .list }
      if let position, position < list.count { concern = .assets }
    }
    return concern
  }

  /// Conditions that what is below a directory meets or not as that comes, goes or gets another path.
  func isConcerned(byDirectoriesOf effects: CommitEffects) -> Bool {
    (effects.hasRenames && (source.usesPath || source.usesOffline)) || (effects.hasAvailability && source.usesOffline)
  }

  /// The touched assets that may have come, gone or moved; nil where more may have than are named.
  func placed(by effects: CommitEffects, in list: OrderedList) -> Set<Int64>? {
    guard !effects.isFromHistory else { return nil }
    var placed: Set<Int64> = []
    if let albumID {
      guard let edited = effects.placed(inAlbum: albumID) else { return nil }
      placed = edited
    }
    for (id, fields) in effects.touched.fields
    where mayPlace(id, fields, effects, isThere: list.entries.contains(id)) { placed.insert(id) }
    return placed
  }

  /// - Parameter isThere: in the list, as it was before.
  private func mayPlace(_ id: Int64, _ fields: ChangedFields, _ effects: CommitEffects, isThere: Bool) -> Bool {
    let isGone = effects.touched.deleted.contains(id)
    let isNew = effects.wasInserted(id)
    guard isGone || isNew || !fields.isDisjoint(with: dependsOn) else { return false }
    if isThere { return true }
    if isGone { return false }
    // In an album from the start is only what is back, and then the album is named.
    if let albumID, isNew, !effects.collections.contains(albumID) { return false }
    return effects.facts(of: id).map(source.requirements.admit) ?? true
  }
}

extension TouchedAssets {
  /// Takes in one commit, or several as one.
  mutating func note(
    inserted: some Sequence<Int64>, updated: some Sequence<(Int64, ChangedFields)>, deleted: some Sequence<Int64>
  ) {
    for id in inserted {
      // One that was deleted and is back: at another place, and nobody knows what else was done to it meanwhile.
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
  /// What this transaction does, once all of it is written.
  ///
  /// - Complexity: a lookup for each asset that came or was updated.
  package func effects(of record: CommitRecord, origin: String) throws -> CommitEffects {
    let ids = record.insertedAssets.union(record.updatedAssets.keys)
    var facts: [Int64: AssetFacts] = [:]
    if !ids.isEmpty {
      let select = try RawStatement(
        database,
        "SELECT media_type, is_favorite, is_hidden, is_trashed, media_subtypes & 8 <> 0, directory_id FROM asset "
          + "WHERE id = ?")
      for id in ids {
        select.bind(1, id)
        facts[id] = try select.firstRow {
          AssetFacts(
            mediaType: select.int64(0), isFavorite: select.bool(1), isHidden: select.bool(2), isTrashed: select.bool(3),
            isScreenshot: select.bool(4), directoryID: select.int64(5))
        }
      }
    }
    return CommitEffects(record, origin: origin, facts: facts)
  }
}

/// History was pruned meanwhile, of commits that somebody has yet to be told of.
package struct ForgottenHistory: Error {
  package init() {}
}

extension CatalogReader {
  /// What these commits touched, from history: also what is below directories that it names.
  ///
  /// - Throws: ``ForgottenHistory`` where history has not all of them any more.
  package func effects(after sequence: Int64, through last: Int64) throws -> CommitEffects {
    guard try historyReaches(sequence) else { throw ForgottenHistory() }
    return CommitEffects(
      touched: try touched(after: sequence, through: last), origins: try origins(after: sequence, through: last),
      collections: try touchedCollections(after: sequence, through: last))
  }
}
