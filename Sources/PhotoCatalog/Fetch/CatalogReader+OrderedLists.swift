import ChangeDetails
import GRDB

extension CatalogReader {
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
    var (ids, numbers): ([Int64], [UInt64]) = ([], [])
    try statement.forEachRow {
      ids.append(statement.int64(0))
      numbers.append(statement.sortNumber(1, plan.order))
    }
    return OrderedList(
      entries: OrderedIDs(ids: ids, keys: numbers), isWhole: wanted.map { ids.count < $0 } ?? true,
      limit: plan.fetchLimit)
  }

  /// The present list, made from its state at an earlier commit.
  ///
  /// - Parameters:
  ///   - known: the result of ``list(_:)`` or of this method at `sequence`.
  ///   - effects: the effects of all later commits in this snapshot; nil to read them from the history.
  /// - Complexity: O(t log n) for t touched assets. One statement reads those that may have entered, left or moved.
  ///   Some more compare the sort keys of neighbours. If t is a large part of the list, or if the touched assets are
  ///   not named one by one, the complexity is that of ``list(_:)``.
  package func list(
    _ plan: FetchPlan, updating known: OrderedList, of sequence: Int64, effects: CommitEffects? = nil
  ) throws -> OrderedList {
    try updated(known, plan, since: sequence, effects: effects) ?? list(plan)
  }

  /// - Returns: nil if the list should be fetched as a whole instead.
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
      // The rows after the reserve are unknown.
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

  /// Cuts a reserve that has grown. Otherwise it would contain the whole list in the end.
  private func trim(_ list: inout OrderedList, _ limit: Int) throws {
    let wanted = OrderedList.fetchCount(limit: limit)
    guard list.entries.count > wanted + wanted / 2 else { return }
    list.isWhole = false
    for id in list.entries.ids(in: wanted..<list.entries.count) { list.entries.remove(id) }
  }

  /// The assets in the history whose place in the list may have changed. nil if there are so many that a whole fetch
  /// costs as much, or if the history does not name them.
  private func placedAssets(
    _ known: OrderedList, _ plan: FetchPlan, since sequence: Int64, _ most: Int
  ) throws -> Set<Int64>? {
    guard try historyReaches(sequence) else { return nil }
    // The history does not name the members of an album and their order.
    if let album = plan.albumID, try touchedCollections(after: sequence, through: .max).contains(album) { return nil }
    var placed: Set<Int64> = []
    let history = try RawStatement(
      database, "SELECT inserted_assets, updated_assets, deleted_assets FROM history WHERE sequence > ?")
    history.bind(1, sequence)
    try history.forEachRow {
      guard placed.count <= most else { return }
      placed.formUnion(try PackedIDs.unpack(history.bytes(0)))
      for (id, fields) in try PackedIDs.unpackFields(history.bytes(1)) where !fields.isDisjoint(with: plan.dependsOn) {
        placed.insert(id)
      }
      for id in try PackedIDs.unpack(history.bytes(2)) where known.entries.contains(id) { placed.insert(id) }
    }
    return placed
  }

  /// The assets below directories that were renamed, or that came or went. Only lists that depend on paths or
  /// availability need them. nil if there are too many.
  private func assetsBelow(_ plan: FetchPlan, since sequence: Int64, _ most: Int) throws -> Set<Int64>? {
    var kinds: [MovedSubtree] = []
    if plan.source.usesPath || plan.source.usesOffline { kinds.append(.renamed) }
    if plan.source.usesOffline { kinds.append(.cameOrWent) }
    var below: Set<Int64> = []
    for kind in kinds {
      let ids = try assets(below: kind, after: sequence, through: .max, limit: most + 1)
      // Some may occur twice. In that case there are further ones.
      if ids.count > most { return nil }
      below.formUnion(ids)
    }
    return below
  }
}

/// Finds the positions of assets in the order of a list, and leaves out those that are not in the list.
private struct SortingStatement {
  /// The number of assets to compare at once if their numbers are equal: the asset is searched for among sixteen.
  private static let probeCount = 16

  private let database: Database
  private let plan: FetchPlan

  init(_ database: Database, _ plan: FetchPlan) {
    self.database = database
    self.plan = plan
  }

  /// - Complexity: one lookup for each id, independent of the size of the catalog. If paths are needed, one pass over
  ///   all directories.
  func sorted(_ ids: [Int64]) throws -> [(id: Int64, number: UInt64)] {
    let statement = try RawStatement(database, uncached: plan.touchedStatement)
    statement.bind([.text("[" + ids.map(String.init).joined(separator: ",") + "]")] + plan.touchedArguments)
    var sorted: [(Int64, UInt64)] = []
    try statement.forEachRow { sorted.append((statement.int64(0), statement.sortNumber(1, plan.order))) }
    return sorted
  }

  /// The number of list entries that precede an asset which is not in the list, including all before `start`.
  ///
  /// - Returns: nil if the list does not match the catalog.
  func position(of id: Int64, _ number: UInt64, in list: OrderedIDs, from start: Int) throws -> Int? {
    if let ascending = plan.order.idsAscendInTies {
      return list.position(forKey: number, id: id, ascending: ascending)
    }
    let ties = list.positions(forKey: number)
    var (low, high) = (max(start, ties.lowerBound), ties.upperBound)
    while low < high {
      // Both ends are included, because a new asset is often the first or the last.
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
  /// The sort number as lists keep it, in the direction of the order.
  func sortNumber(_ column: Int32, _ order: FetchOrder) -> UInt64 {
    order.isFirstAscending ? sortNumber(column) : ~sortNumber(column)
  }
}
