import GRDB
import PhotoModel

extension CatalogReader {
  /// The list as it is now, made from what it was at an earlier commit where few assets were touched since.
  ///
  /// - Parameter known: what ``ids(_:)`` gave at `sequence`.
  /// - Complexity: O(n) in memory and O(t log n) lookups for t touched assets; where t is more than ``mostTouched``, or
  ///   paths, a user's album or the end of a limited list are concerned, that of ``ids(_:)``.
  package func ids(_ plan: FetchPlan, updating known: [Int64], of sequence: Int64) throws -> [Int64] {
    // What is shorter is fetched in less time.
    guard known.count >= 256, let updated = try updated(known, plan, since: sequence) else { return try ids(plan) }
    return updated
  }

  /// Touched assets that are placed one by one.
  private static let mostTouched = 16

  /// - Returns: nil where that is not the way to it.
  func updated(_ known: [Int64], _ plan: FetchPlan, since sequence: Int64) throws -> [Int64]? {
    guard plan.albumID == nil, !plan.source.usesPath,
      let touched = try touchedAssets(plan, since: sequence)
    else { return nil }
    guard !touched.isEmpty else { return known }

    var list: [Int64] = []
    list.reserveCapacity(known.count + touched.count)
    // Most ids are told from the touched ones by their last six bits.
    let lastBits = touched.reduce(UInt64(0)) { $0 | 1 << UInt64($1 & 63) }
    for id in known where lastBits & 1 << UInt64(id & 63) == 0 || !touched.contains(id) { list.append(id) }
    let wasFull = plan.fetchLimit == known.count
    if wasFull && list.count < known.count { return nil }

    let sorting = try SortingStatement(database, plan)
    var low = 0
    for id in try sorting.sorted(Array(touched)) {
      guard let position = try sorting.position(of: id, in: list, from: low) else { return nil }
      list.insert(id, at: position)
      low = position + 1
    }
    return plan.fetchLimit.map { Array(list.prefix($0)) } ?? list
  }

  /// The assets that commits after this one touched in a way that can concern the list; nil where they are many, or
  /// history doesn't name them one by one.
  private func touchedAssets(_ plan: FetchPlan, since sequence: Int64) throws -> Set<Int64>? {
    guard try historyReaches(sequence) else { return nil }
    if !plan.dependsOn.isDisjoint(with: [.path, .availability]) {
      for table in ["history_directory", "history_root"] {
        let statement = try RawStatement(database, "SELECT 1 FROM \(table) WHERE sequence > ? LIMIT 1")
        statement.bind(1, sequence)
        if try statement.firstRow({ true }) == true { return nil }
      }
    }
    var touched: Set<Int64> = []
    var lostCollections = false
    let history = try RawStatement(
      database,
      "SELECT inserted_assets, updated_assets, deleted_assets, deleted_collections FROM history WHERE sequence > ?")
    history.bind(1, sequence)
    try history.forEachRow {
      guard touched.count <= Self.mostTouched, !lostCollections else { return }
      lostCollections = !history.isNull(3)
      touched.formUnion(try PackedIDs.unpack(history.bytes(0)))
      for (id, fields) in try PackedIDs.unpackFields(history.bytes(1)) where !fields.isDisjoint(with: plan.dependsOn) {
        touched.insert(id)
      }
      touched.formUnion(try PackedIDs.unpack(history.bytes(2)))
    }
    return lostCollections || touched.count > Self.mostTouched ? nil : touched
  }
}

/// Puts a few assets in the order of a list, and leaves out those that are not in it.
private struct SortingStatement {
  /// As many as are compared at once: one that is sought among 16.
  private static let width = 17

  private let statement: RawStatement
  private let first: Int

  init(_ database: Database, _ plan: FetchPlan) throws {
    var source = plan.source
    first = source.arguments.count + 1
    let places = Array(repeating: "?", count: Self.width).joined(separator: ", ")
    source.conditions.append(SQLCondition(sql: "asset.id IN (\(places))"))
    statement = try RawStatement(
      database, uncached: source.with + "SELECT asset.id" + source.from + source.whereClause + plan.order)
    statement.bind(source.arguments)
  }

  /// - Parameter ids: at most ``width``, at least one.
  func sorted(_ ids: [Int64]) throws -> [Int64] {
    for index in 0..<Self.width { statement.bind(Int32(first + index), ids[min(index, ids.count - 1)]) }
    var sorted: [Int64] = []
    try statement.forEachRow { sorted.append(statement.int64(0)) }
    return sorted
  }

  /// How many of the list come before an asset that it doesn't have, all those before `low` among them.
  ///
  /// - Returns: nil where the list is not what is in the catalog.
  func position(of id: Int64, in list: [Int64], from start: Int) throws -> Int? {
    var (low, high) = (start, list.count)
    while low < high {
      // Both ends are among them: what is new is often first or last.
      let count = min(high - low, Self.width - 1)
      let probes = (0..<count).map { count == 1 ? low : low + $0 * (high - 1 - low) / (count - 1) }
      let sorted = try sorted([id] + probes.map { list[$0] })
      guard sorted.count == count + 1, let before = sorted.firstIndex(of: id) else { return nil }
      high = before == count ? high : probes[before]
      if before > 0 { low = probes[before - 1] + 1 }
    }
    return low
  }
}
