import GRDB
import PhotoModel

/// All collections with their exact counts, covers and dates, kept up from what commits touched: what is counted once is
/// never counted again.
///
/// For each visible asset it remembers in which smart albums and in which folder it is, some 5 bytes, and for each place in
/// an album of the user's some 100. So a touched asset tells which counts change without a look at any collection.
package struct CollectionBoard: Sendable {
  struct Entry: Sendable {
    var row: CollectionRow
    var place: CollectionPlace
    var count = 0
    var ends = CollectionEnds()
    /// Which of the ends must be looked up: the asset that was there has left, or moved away from it.
    var staleEnds: Set<WritableKeyPath<CollectionEnds, CollectionEnd?> & Sendable> = []
    /// Of a user's album, for which no index has the order by date.
    var members: AlbumMembers?
    /// As it is published.
    var collection: AssetCollection
    /// The commit that it was last changed by, as far as that is known.
    var changedAt: Int64

    init(_ row: CollectionRow, changedAt: Int64) {
      self.row = row
      self.changedAt = changedAt
      place = CollectionPlace(row)
      members = row.kind == .album ? AlbumMembers() : nil
      collection = AssetCollection(row, count: 0)
    }
  }

  /// The visible assets of an album by date, and those of them that say when they were taken.
  struct AlbumMembers: Sendable {
    var all = OrderedIDs()
    var dated = OrderedIDs()
  }

  /// Of which commit it is.
  package internal(set) var sequence: Int64
  var entries: [Int64: Entry] = [:]
  /// Those that an asset can be in by what it is; their index is their bit in `numbers`.
  var smartAlbums: [(id: Int64, requirements: AssetRequirements)] = []
  /// Folder albums as `numbers` has them; never used again for another.
  var folders: [Int64] = []
  var folderOfDirectory: [Int64: Int] = [:]
  /// Where each visible asset is; see ``Membership``. 0: it isn't visible.
  var numbers = PagedNumbers()
  /// Of the user's.
  var albumCount = 0
  /// Albums of the user's that show an asset.
  var albumsOfAsset: [Int64: [Int64]] = [:]
  /// The order, of each choice of kinds that was asked for.
  var orders: [Set<AssetCollection.Kind>: OrderedIDs] = [:]
  var log: CollectionLog
  /// How many statements were run since the board was made.
  package internal(set) var statementCount = 0

  /// Where an asset is: bit 0, and one for each smart album above it; from bit 8, the folder's index and 1.
  struct Membership: Hashable, Sendable {
    static let mostSmartAlbums = 7
    var number: UInt32

    init(number: UInt32) { self.number = number }

    init(smart: UInt32, folder: Int?) {
      number = 1 | smart << 1 | UInt32(truncatingIfNeeded: folder.map { $0 + 1 } ?? 0) << 8
    }

    var smart: UInt32 { number >> 1 & 0x7f }
    var folder: Int? { number >> 8 == 0 ? nil : Int(number >> 8) - 1 }
  }

  package func collection(_ id: Int64) -> AssetCollection? { entries[id]?.collection }

  package var count: Int { entries.count }

  /// The order of these kinds. A copy of it is kept at the price of what changes since.
  /// - Complexity: O(n log n) where they were not asked for before, else O(1).
  package mutating func order(of kinds: Set<AssetCollection.Kind>) -> OrderedIDs {
    if let order = orders[kinds] { return order }
    let order = OrderedIDs(
      ids: entries.values.filter { kinds.contains($0.row.kind) }.map(\.place).sorted().map(\.id))
    orders[kinds] = order
    return order
  }

  /// Where a collection stands, or would.
  func position(of place: CollectionPlace, in order: OrderedIDs) -> Int {
    var (low, high) = (0, order.count)
    while low < high {
      let middle = (low + high) / 2
      if let other = entries[order[middle]], other.place < place { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// - Returns: nil where nothing differs.
  /// - Parameters:
  ///   - before: the order of these kinds at `sequence`, a commit that this board was at, or one before it.
  ///   - kinds: of which it is.
  /// - Complexity: O(k log n) for k collections that changed, where that is not too long ago.
  package mutating func change(
    from before: OrderedIDs, at sequence: Int64, of kinds: Set<AssetCollection.Kind>
  ) -> CollectionChange? {
    let after = order(of: kinds)
    var (fields, deleted) = log.changes(after: sequence) ?? allChanges(after: sequence, before)
    fields = fields.filter { before.contains($0.key) || after.contains($0.key) }
    deleted = deleted.filter(before.contains)
    let touched = TouchedAssets(fields: fields.mapValues { _ in [] }, deleted: deleted)
    guard var details = FetchResultChangeDetails.incremental(from: before, to: after, touched: touched) else {
      return nil
    }
    let changed = details.changedAfter.flatMap { after.ids(in: $0.start..<$0.start + $0.count) }
    details.changedFields = changed.reduce(into: CollectionFields()) { $0.formUnion(fields[$1] ?? []) }.names
    return CollectionChange(
      details: details, inserted: details.insertedIDs.compactMap(collection), updated: changed.compactMap(collection),
      deleted: details.removedBefore.flatMap { before.ids(in: $0.start..<$0.start + $0.count) })
  }

  /// What the log doesn't say any more.
  private func allChanges(after sequence: Int64, _ before: OrderedIDs) -> CollectionLog.Changes {
    let changed = entries.lazy.filter { $0.value.changedAt > sequence }.map { ($0.key, CollectionFields.all) }
    return (
      fields: Dictionary(uniqueKeysWithValues: changed), deleted: Set(before.lazy.filter { entries[$0] == nil })
    )
  }
}

/// How collections differ between two commits, with those that came or changed as they are now.
package struct CollectionChange: Sendable {
  package let details: FetchResultChangeDetails
  /// Parallel to `details.insertedIDs`.
  package let inserted: [AssetCollection]
  /// Parallel to `details.changedAfter`.
  package let updated: [AssetCollection]
  package let deleted: [Int64]
}

/// What of a collection changed.
package struct CollectionFields: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let title = CollectionFields(rawValue: 1 << 0)
  package static let path = CollectionFields(rawValue: 1 << 1)
  package static let count = CollectionFields(rawValue: 1 << 2)
  /// Another asset, or another picture of the same.
  package static let keyAsset = CollectionFields(rawValue: 1 << 3)
  package static let dates = CollectionFields(rawValue: 1 << 4)
  static let all: CollectionFields = [.title, .path, .count, .keyAsset, .dates]

  /// In the order of the contract.
  package var names: [String] {
    let names: [(CollectionFields, String)] = [
      (.title, "title"), (.path, "path"), (.count, "count"), (.keyAsset, "keyAsset"), (.dates, "dates"),
    ]
    return names.filter { contains($0.0) }.map(\.1)
  }

  init(from before: AssetCollection, to after: AssetCollection) {
    self = []
    if before.title != after.title { insert(.title) }
    if before.path != after.path { insert(.path) }
    if before.count != after.count { insert(.count) }
    if before.keyAssetID != after.keyAssetID { insert(.keyAsset) }
    if before.startDate != after.startDate || before.endDate != after.endDate { insert(.dates) }
  }
}

/// Which collections the newest commits changed.
struct CollectionLog: Sendable {
  typealias Changes = (fields: [Int64: CollectionFields], deleted: Set<Int64>)

  private var changes: [(sequence: Int64, changes: Changes)] = []
  /// It has all that changed after this commit.
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
    // To a half of it, so that it isn't moved each time.
    var forgotten = 0
    while idCount > mostIDs / 2, forgotten < changes.count {
      let old = changes[forgotten]
      idCount -= old.changes.fields.count + old.changes.deleted.count
      start = old.sequence
      forgotten += 1
    }
    changes.removeFirst(forgotten)
  }

  /// nil where it doesn't reach so far.
  /// - Complexity: O(k) for the k that changed since.
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
