import ChangeDetails
import GRDB
import PhotoModel

extension CatalogReader {
  /// Fetches a list as a whole. If the fetch has a limit, some rows beyond it are fetched as a reserve
  /// (``OrderedList/entries``).
  ///
  /// - Complexity: that of ``ids(_:)``.
  package func list(_ plan: FetchPlan) throws -> OrderedList {
    let wanted = plan.fetchLimit.map(OrderedList.fetchCount)
    if let wanted, let search = TextSearch(plan, limit: wanted, database) {
      let rows = try search.rows().rows
      return OrderedList(
        entries: OrderedIDs(ids: rows.map(\.id), keys: rows.map(\.number)), isWhole: rows.count < wanted,
        limit: plan.fetchLimit)
    }
    let statement = try RawStatement(database, uncached: plan.entryStatement)
    statement.bind(plan.source.arguments + (wanted.map { [.integer(Int64($0))] } ?? []))
    var (ids, numbers): ([AssetID], [UInt64]) = ([], [])
    try statement.forEachRow {
      ids.append(statement.assetID(0))
      numbers.append(statement.sortNumber(1, plan.order))
    }
    return OrderedList(
      entries: OrderedIDs(ids: ids, keys: numbers), isWhole: wanted.map { ids.count < $0 } ?? true,
      limit: plan.fetchLimit)
  }

  /// Returns the list in this snapshot, by updating the list of an earlier commit.
  ///
  /// - Parameters:
  ///   - known: the result of ``list(_:)`` or of this method at `sequence`.
  ///   - sequence: the commit to which `known` belongs.
  ///   - effects: the effects of all commits after `sequence` that are in this snapshot. If it is nil, they are read
  ///     from the history.
  /// - Complexity: O(t log n) for t touched assets. One statement reads the touched assets that may have entered, left
  ///   or moved. Further statements compare their sort keys with those of their neighbours. The list is fetched as a
  ///   whole if t is a large part of it, or if the commits do not name every touched asset.
  package func list(
    _ plan: FetchPlan, updating known: OrderedList, of sequence: Int64, effects: CommitEffects? = nil
  ) throws -> OrderedList {
    try updated(known, plan, since: sequence, effects: effects) ?? list(plan)
  }

  /// Updates a list as ``list(_:updating:of:effects:)`` does: it removes all assets that may have entered, left or
  /// moved, and inserts those that are in the list now.
  ///
  /// - Returns: nil if the list must be fetched as a whole instead.
  func updated(
    _ known: OrderedList, _ plan: FetchPlan, since sequence: Int64, effects: CommitEffects? = nil
  ) throws -> OrderedList? {
    let most = max(64, known.entries.count / 8)
    let named = try effects.map { plan.placed(by: $0, in: known) } ?? placedAssets(known, plan, since: sequence, most)
    guard var placed = named, placed.count <= most else { return nil }
    if effects.map(plan.isConcerned(byDirectoriesOf:)) ?? true {
      guard let below = try assetsBelow(plan, since: sequence, most) else { return nil }
      placed.formUnion(below)
    }
    let touched = placed.sorted()
    guard !touched.isEmpty else { return known }
    var list = known
    var edits = 0
    for id in touched where list.entries.remove(id) != nil { edits += 1 }

    let sorting = SortingStatement(database, plan)
    var low = 0
    for (id, number) in try sorting.sorted(touched) {
      guard let position = try sorting.position(of: id, number, in: list.entries, from: low) else { return nil }
      // The list does not know the rows after its reserve, so this asset and all later ones are left out.
      if position == list.entries.count && !list.isWhole { break }
      list.entries.insert(id, key: number, at: position)
      low = position + 1
      edits += 1
    }
    guard edits > 0 else { return known }
    list.noteEdits(edits)
    if let limit = plan.fetchLimit {
      if list.entries.count < limit && !list.isWhole { return nil }
      try trim(&list, limit)
    }
    return list
  }

  /// Shortens a reserve that has grown. Without this, insertions would let it grow until it has the whole list.
  private func trim(_ list: inout OrderedList, _ limit: Int) throws {
    let wanted = OrderedList.fetchCount(limit: limit)
    guard list.entries.count > wanted + wanted / 2 else { return }
    list.isWhole = false
    for id in list.entries.ids(in: wanted..<list.entries.count) { list.entries.remove(id) }
  }

  /// The assets in the history whose position in the list may have changed. nil if the history does not name all of
  /// them. If there are more than `most`, it may return only some, but more than `most`.
  private func placedAssets(
    _ known: OrderedList, _ plan: FetchPlan, since sequence: Int64, _ most: Int
  ) throws -> Set<AssetID>? {
    // The history does not name the assets that enter or leave a window because of others.
    guard !plan.isWindow, try historyReaches(sequence) else { return nil }
    // The history says that an album changed, but not which of its members did.
    if let album = plan.albumID, try touchedCollections(after: sequence, through: .max).contains(album) { return nil }
    var placed: Set<AssetID> = []
    let history = try RawStatement(
      database, "SELECT inserted_assets, updated_assets, deleted_assets FROM history WHERE sequence > ?")
    history.bind(1, sequence)
    try history.forEachRow {
      guard placed.count <= most else { return }
      placed.formUnion(try PackedIDs.unpack(history.bytes(0)))
      for (id, fields) in try PackedIDs.unpackFields(history.bytes(1)) where !fields.isDisjoint(with: plan.dependsOn) {
        placed.insert(id)
      }
      for id: AssetID in try PackedIDs.unpack(history.bytes(2)) where known.entries.contains(id) { placed.insert(id) }
    }
    return placed
  }

  /// The assets below directories that were renamed, or that went online or offline. Only lists that depend on paths or
  /// availability need them. nil if there are more than `most`.
  private func assetsBelow(_ plan: FetchPlan, since sequence: Int64, _ most: Int) throws -> Set<AssetID>? {
    var kinds: [MovedSubtree] = []
    if plan.source.usesPath || plan.source.usesOffline { kinds.append(.renamed) }
    if plan.source.usesOffline { kinds.append(.cameOrWent) }
    var below: Set<AssetID> = []
    for kind in kinds {
      let ids = try assets(below: kind, after: sequence, through: .max, limit: most + 1)
      // An id may occur twice, so there may be fewer assets than ids. A whole fetch is correct in that case, too.
      if ids.count > most { return nil }
      below.formUnion(ids)
    }
    return below
  }
}

/// Finds the positions of assets in a list.
private struct SortingStatement {
  /// Among entries with the same sort number, only SQLite can compare. Each statement sorts the asset together with
  /// this many entries, so a search needs few statements.
  private static let probeCount = 16

  private let database: Database
  private let plan: FetchPlan

  init(_ database: Database, _ plan: FetchPlan) {
    self.database = database
    self.plan = plan
  }

  /// Returns those of the assets that are in the list, in its order, with their sort numbers.
  ///
  /// - Complexity: one lookup for each id, whatever the size of the catalog. If the list depends on paths, it also
  ///   takes one pass over all directories.
  func sorted(_ ids: [AssetID]) throws -> [(id: AssetID, number: UInt64)] {
    let statement = try RawStatement(database, uncached: plan.touchedStatement)
    statement.bind([.text("[" + ids.map(\.description).joined(separator: ",") + "]")] + plan.touchedArguments)
    var sorted: [(AssetID, UInt64)] = []
    try statement.forEachRow { sorted.append((statement.assetID(0), statement.sortNumber(1, plan.order))) }
    return sorted
  }

  /// The position at which to insert an asset into the list.
  ///
  /// - Parameter start: the asset belongs at this position or after it.
  /// - Returns: nil if the entries do not match the catalog.
  func position(of id: AssetID, _ number: UInt64, in list: OrderedIDs, from start: Int) throws -> Int? {
    if let ascending = plan.order.idsAscendInTies {
      return list.position(forKey: number, id: id, ascending: ascending)
    }
    let ties = list.positions(forKey: number)
    var (low, high) = (max(start, ties.lowerBound), ties.upperBound)
    while low < high {
      // The first and the last entry are always compared, because a new asset is often the first or the last.
      let count = min(high - low, Self.probeCount)
      let probes = (0..<count).map { count == 1 ? low : low + $0 * (high - 1 - low) / (count - 1) }
      let sorted = try sorted(([id] + probes.map { list[$0] }).sorted()).map(\.id)
      guard sorted.count == count + 1, let before = sorted.firstIndex(of: id) else { return nil }
      high = before == count ? high : probes[before]
      if before > 0 { low = probes[before - 1] + 1 }
    }
    return low
  }
}

extension RawStatement {
  /// The ``SortNumber`` as a list stores it. If the order descends, its bits are inverted, so that the numbers ascend
  /// in every list.
  func sortNumber(_ column: Int32, _ order: FetchOrder) -> UInt64 {
    order.isFirstAscending ? sortNumber(column) : ~sortNumber(column)
  }
}
