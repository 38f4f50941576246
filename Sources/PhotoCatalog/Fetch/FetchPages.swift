import GRDB
import PhotoModel

/// Reads a list page by page from one snapshot.
///
/// If the rows can be read in the order of an index (``FetchPlan/nextStatement``), each page begins after the last
/// asset of the page before. Only that asset's key and id are kept. Otherwise the whole list is sorted once, and all of
/// its ids are kept (8 bytes each).
package struct FetchPages: Sendable {
  private enum Rest: Sendable {
    /// The rest begins after the asset with this value of the first sort key and this id. It has at most `left` ids.
    case after(SQLValue, AssetID, left: Int)
    case ids(ArraySlice<AssetID>)
    case none
  }

  private let plan: FetchPlan
  private var rest: Rest
  /// The length of the list, with the limit applied.
  package let total: Int

  /// Begins a list.
  ///
  /// - Parameters:
  ///   - offset: the index of the first page's first asset.
  ///   - knownTotal: the length of the list in this snapshot, if the caller knows it. Otherwise a pass over an index
  ///     counts it.
  package init(_ plan: FetchPlan, from offset: Int, knownTotal: Int? = nil, _ reader: CatalogReader) throws {
    self.plan = plan
    guard plan.nextStatement != nil else {
      let ids = try reader.ids(plan)
      total = ids.count
      rest = .ids(ids.dropFirst(offset))
      return
    }
    total = try knownTotal ?? reader.count(plan)
    guard offset < total else {
      rest = .none
      return
    }
    guard offset > 0 else {
      // The first page begins before everything: +∞ and -∞ are beyond every date and rank.
      rest = .after(
        .real(plan.order.isFirstAscending ? -.infinity : .infinity),
        AssetID(rawValue: plan.order.isFirstAscending ? .min : .max), left: total)
      return
    }
    let statement = try RawStatement(reader.database, uncached: plan.entryStatement)
    statement.bind(plan.arguments)
    defer { statement.reset() }
    for _ in 0..<offset { guard try statement.step() else { break } }
    rest = .after(statement.number(1), statement.assetID(0), left: total - offset)
  }

  /// The ids of the next page; none at the end.
  ///
  /// - Parameter reader: a reader of the same snapshot.
  package mutating func next(_ count: Int, _ reader: CatalogReader) throws -> [AssetID] {
    switch rest {
    case .none: return []
    case .ids(let ids):
      rest = .ids(ids.dropFirst(count))
      return Array(ids.prefix(count))
    case .after(let key, let id, let left):
      guard let sql = plan.nextStatement else { return [] }
      let statement = try RawStatement(reader.database, uncached: sql)
      statement.bind(plan.source.arguments + [key, .id(id), .integer(Int64(min(count, left)))])
      var ids: [AssetID] = []
      var last = key
      try statement.forEachRow {
        ids.append(statement.assetID(0))
        last = statement.number(1)
      }
      rest = ids.last.map { left > ids.count ? .after(last, $0, left: left - ids.count) : .none } ?? .none
      return ids
    }
  }
}
