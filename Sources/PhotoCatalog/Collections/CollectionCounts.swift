import ChangeDetails
import GRDB
import PhotoModel

/// All collections with their exact counts, covers and dates. They are updated from the changes of each commit, so that
/// collections are not counted anew.
///
/// For each asset, it stores the smart albums and the folder that show it, in some 5 bytes (``CollectionMemberships``).
/// Each place in a user's album or smart album takes some 100 bytes. From these and the touched assets, it computes the
/// new counts without reading a collection.
package struct CollectionCounts: Sendable {
  struct Entry: Sendable {
    var row: CollectionRow
    var place: CollectionPlace
    var count = 0
    var ends = CollectionEnds()
    /// The ends that must be looked up, because their asset has left, or got a date between those of other assets.
    var staleEnds: Set<WritableKeyPath<CollectionEnds, CollectionEnd?> & Sendable> = []
    /// The visible assets of a user's album, or of a smart album with an order of its own, ordered by date. No index has
    /// that order.
    var members: OrderedIDs?
    /// The list of a smart album for which ``CollectionRow/isListed`` is true, in the album's own order.
    var list: AlbumList?
    /// The published form.
    var collection: AssetCollection
    /// Whether it is a person's smart album whose query takes too long. It is not counted again until it has another query.
    var isTooCostly = false
    /// The last commit that changed it, as far as known.
    var changedAt: Int64

    init(_ row: CollectionRow, changedAt: Int64) {
      self.row = row
      self.changedAt = changedAt
      place = CollectionPlace(row)
      members = Self.hasMembers(row) ? OrderedIDs() : nil
      collection = AssetCollection(row, count: 0)
    }

    /// Drops the list and the members of a smart album. They must be read again if it is to be counted.
    mutating func forgetList() {
      list = nil
      isTooCostly = false
      members = Self.hasMembers(row) ? OrderedIDs() : nil
    }

    private static func hasMembers(_ row: CollectionRow) -> Bool {
      row.kind == .album || row.isListed && row.hasOwnOrder
    }
  }

  /// The assets of a smart album. It is updated like a list that a client observes.
  struct AlbumList: Sendable {
    let plan: FetchPlan
    var list: OrderedList

    /// The assets that may have entered or left the list; nil if these effects do not name all of them.
    func placed(by effects: CommitEffects?) -> Set<AssetID>? {
      guard let effects, plan.fetchLimit == nil, !plan.isConcerned(byDirectoriesOf: effects) else { return nil }
      return plan.placed(by: effects, in: list)
    }
  }

  /// The commit whose state this is.
  package internal(set) var sequence: Int64
  var entries: [CollectionID: Entry] = [:]
  /// The smart albums that are not in ``listedAlbums``, by their index in `memberships`. An asset is in them by its own fields.
  var smartAlbums: [(id: CollectionID, requirements: AssetRequirements)] = []
  /// The folder albums by their index in `memberships`. An index is never reused.
  var folders: [CollectionID] = []
  var folderOfDirectory: [DirectoryID: Int] = [:]
  var memberships = CollectionMemberships()
  /// The smart albums of persons, and those with a limit.
  var listedAlbums: [CollectionID] = []
  /// The number of the user's albums.
  var albumCount = 0
  /// The user's albums that show an asset.
  var albumsOfAsset: [AssetID: [CollectionID]] = [:]
  /// The order of the collections, for each set of kinds that was requested. See ``CollectionID/element``.
  var orders: [Set<AssetCollection.Kind>: OrderedIDs] = [:]
  var log: CollectionLog
  /// The number of statements that were run since this was created.
  package internal(set) var statementCount = 0

  /// The smart albums of persons that can be counted.
  var albumsOfPersons: [CollectionID] {
    listedAlbums.filter { entries[$0].map { $0.row.isOfPerson && !$0.isTooCostly } ?? false }
  }

  package func collection(_ id: CollectionID) -> AssetCollection? { entries[id]?.collection }

  package var count: Int { entries.count }

  /// The order of these kinds. Keeping a copy of it costs only as much memory as later changes take.
  /// - Complexity: O(1), or O(n log n) for a set of kinds that was not requested before.
  package mutating func order(of kinds: Set<AssetCollection.Kind>) -> OrderedIDs {
    if let order = orders[kinds] { return order }
    let order = OrderedIDs(
      ids: entries.values.filter { kinds.contains($0.row.kind) }.map(\.place).sorted().map(\.id.element))
    orders[kinds] = order
    return order
  }

  /// The position in the order at which a collection with this place is, or would be inserted.
  func position(of place: CollectionPlace, in order: OrderedIDs) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if let other = entries[CollectionID(element: order[middle])], other.place < place {
        low = middle + 1
      } else {
        high = middle
      }
    }
    return low
  }

  /// The difference between an earlier state and the present one.
  ///
  /// - Parameters:
  ///   - before: the order of these kinds at the earlier state.
  ///   - sequence: the commit of the earlier state. An older one also gives the right order, but more changed
  ///     collections.
  ///   - kinds: the kinds of collections in the order.
  /// - Returns: nil if nothing differs.
  /// - Complexity: O(k log n) for k changed collections, if `sequence` is not too long ago.
  package mutating func change(
    from before: OrderedIDs, at sequence: Int64, of kinds: Set<AssetCollection.Kind>
  ) -> CollectionChange? {
    let after = order(of: kinds)
    var (fields, deleted) = log.changes(after: sequence) ?? allChanges(after: sequence, before)
    fields = fields.filter { before.contains($0.key.element) || after.contains($0.key.element) }
    deleted = deleted.filter { before.contains($0.element) }
    let touched = TouchedAssets(
      fields: Dictionary(uniqueKeysWithValues: fields.keys.map { ($0.element, []) }),
      deleted: Set(deleted.map(\.element)))
    guard var details = FetchResultChangeDetails.incremental(from: before, to: after, touched: touched) else {
      return nil
    }
    func collections(_ ranges: [IndexRange], in list: OrderedIDs) -> [CollectionID] {
      ranges.flatMap { list.ids(in: $0.start..<$0.start + $0.count) }.map(CollectionID.init(element:))
    }
    let changed = collections(details.changedAfter, in: after)
    details.changedFields = changed.reduce(into: CollectionFields()) { $0.formUnion(fields[$1] ?? []) }.names
    return CollectionChange(
      details: details, inserted: details.insertedIDs.compactMap { collection(CollectionID(element: $0)) },
      updated: changed.compactMap(collection), deleted: collections(details.removedBefore, in: before))
  }

  /// The changes since a commit that the log no longer reaches.
  private func allChanges(after sequence: Int64, _ before: OrderedIDs) -> CollectionLog.Changes {
    let changed = entries.lazy.filter { $0.value.changedAt > sequence }.map { ($0.key, CollectionFields.all) }
    return (
      fields: Dictionary(uniqueKeysWithValues: changed),
      deleted: Set(before.lazy.map(CollectionID.init(element:)).filter { entries[$0] == nil })
    )
  }
}

/// The differences of collections between two commits, with the present state of inserted and changed ones.
package struct CollectionChange: Sendable {
  package let details: FetchResultChangeDetails
  /// Parallel to `details.insertedIDs`.
  package let inserted: [AssetCollection]
  /// Parallel to `details.changedAfter`.
  package let updated: [AssetCollection]
  package let deleted: [CollectionID]
}

/// The fields of a collection that changed.
package struct CollectionFields: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let title = CollectionFields(rawValue: 1 << 0)
  package static let path = CollectionFields(rawValue: 1 << 1)
  package static let count = CollectionFields(rawValue: 1 << 2)
  /// Another asset, or another picture of the same asset.
  package static let keyAsset = CollectionFields(rawValue: 1 << 3)
  package static let dates = CollectionFields(rawValue: 1 << 4)
  package static let parent = CollectionFields(rawValue: 1 << 5)
  static let query = CollectionFields(rawValue: 1 << 6)
  static let all: CollectionFields = [.title, .parent, .path, .count, .keyAsset, .dates, .query]

  /// The names, in the order of the contract.
  package var names: [String] {
    let names: [(CollectionFields, String)] = [
      (.title, "title"), (.parent, "parent"), (.path, "path"), (.count, "count"), (.keyAsset, "keyAsset"),
      (.dates, "dates"), (.query, "query"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }

  init(from before: AssetCollection, to after: AssetCollection) {
    self = []
    if before.title != after.title { insert(.title) }
    if before.parentID != after.parentID { insert(.parent) }
    if before.path != after.path { insert(.path) }
    if before.count != after.count { insert(.count) }
    if (before.keyAssetID, before.chosenKeyAssetID) != (after.keyAssetID, after.chosenKeyAssetID) { insert(.keyAsset) }
    if before.startDate != after.startDate || before.endDate != after.endDate { insert(.dates) }
    if before.query != after.query || before.problem != after.problem { insert(.query) }
  }
}

/// The collections that the newest commits changed.
struct CollectionLog: Sendable {
  typealias Changes = (fields: [CollectionID: CollectionFields], deleted: Set<CollectionID>)

  private var changes: [(sequence: Int64, changes: Changes)] = []
  /// The log has all changes after this commit.
  private var start: Int64
  private var idCount = 0
  private let mostIDs: Int

  init(after sequence: Int64, mostIDs: Int = 1 << 14) {
    start = sequence
    self.mostIDs = mostIDs
  }

  mutating func append(_ new: Changes, at sequence: Int64) {
    guard !new.fields.isEmpty || !new.deleted.isEmpty else { return }
    changes.append((sequence, new))
    idCount += new.fields.count + new.deleted.count
    guard idCount > mostIDs else { return }
    // Half of the log is dropped, so that the rest is not moved each time.
    var forgotten = 0
    while idCount > mostIDs / 2, forgotten < changes.count {
      let old = changes[forgotten]
      idCount -= old.changes.fields.count + old.changes.deleted.count
      start = old.sequence
      forgotten += 1
    }
    changes.removeFirst(forgotten)
  }

  /// nil if the log does not reach back to this commit.
  /// - Complexity: O(k) for k changes since.
  func changes(after sequence: Int64) -> Changes? {
    guard sequence >= start else { return nil }
    var all: Changes = ([:], [])
    for (_, changes) in changes.reversed().prefix(while: { $0.sequence > sequence }) {
      all.fields.merge(changes.fields) { $0.union($1) }
      all.deleted.formUnion(changes.deleted)
    }
    return all
  }
}
