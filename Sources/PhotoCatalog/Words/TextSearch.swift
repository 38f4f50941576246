import ChangeDetails
import GRDB
import PhotoModel
import PredicateLanguage

/// Finds the beginning of a list with a text condition, by the method that seems fastest.
///
/// 1. A sample of assets from the beginning of the list is tested. If many match, the walk through the list continues,
///    because the index of words would return a large part of the library.
/// 2. Otherwise the index is asked, but only for words that are rare in the sample. It is faster to test its results
///    for the other words than to read those from the index.
/// 3. If the index returns few ids, they are looked up and sorted. If it returns many, a walk through the list selects
///    them.
struct TextSearch {
  private let database: Database
  private let plan: FetchPlan
  private let text: TextCondition
  /// The number of requested assets.
  private let limit: Int
  /// The list without the text condition, in the order of an index.
  private let list: FetchSource

  /// - Returns: nil if the list has no text condition or no limit, or if no index has its order.
  init?(_ plan: FetchPlan, limit: Int, _ database: Database) {
    guard let text = plan.source.text, plan.fetchLimit != nil, plan.order.indexedKey != nil, !plan.isWindow
    else { return nil }
    (self.database, self.plan, self.text, self.limit) = (database, plan, text, limit)
    var list = plan.source
    list.text = nil
    self.list = list
  }

  typealias Rows = [(id: AssetID, number: UInt64)]

  enum Way {
    /// Walk through the list, and test the words of each asset.
    case words
    /// Walk through the list, and select the ids from the index of words.
    case ids
    /// Look up the ids from the index of words one by one, and sort them.
    case lookups
  }

  // MARK: Statements

  /// Selects every row of the list together with its words.
  var wordsStatement: String {
    list.with + "SELECT \(columns), (SELECT words FROM asset_words WHERE asset_words.id = asset.id)" + list.from
      + list.whereClause + plan.order.sql
  }

  /// Selects every row of the list.
  var listStatement: String {
    list.with + "SELECT \(columns)" + list.from + list.whereClause + plan.order.sql
  }

  /// Selects the first rows among the ids in a JSON array. The array is the first argument, and the number of rows is
  /// the last.
  ///
  /// - Parameter isWhole: Whether the ids are known to match all words.
  func lookupStatement(isWhole: Bool) -> String {
    let source = isWhole ? list : plan.source
    return source.with + "SELECT \(columns)" + source.from(touched: true) + source.whereClause(touched: true)
      + plan.order.sql + " LIMIT ?"
  }

  private var columns: String { "\(list.idColumn), \(plan.order.firstKey)" }

  // MARK: Finding

  /// Costs in microseconds, as measured with a million assets. Only their ratios matter.
  private enum Cost {
    /// Reads and tests the words of an asset.
    static let words = 4.0
    /// Steps over a row in the index of a list.
    static let row = 0.2
    /// Receives an id from the index of words. For prefixes, the index must merge all words that begin with them.
    static let id = 0.06
    static let idOfPrefix = 0.2
    /// Looks up and sorts one asset. Its page is probably read for it alone.
    static let lookup = 2.5
  }

  /// The number of assets that are tested before anything is known of a text. It takes less than a millisecond.
  private static let sampleCount = 200

  func rows() throws -> (rows: Rows, way: Way) {
    // With a predicate, a walk may find hardly any asset, and the index of the list does not cover the predicate.
    var seldom = text.query
    var shareOfRest = 1.0
    if !plan.source.hasPredicate {
      switch try walkByWords() {
      case .rows(let rows): return (rows, .words)
      case .seldom(let query, let share): (seldom, shareOfRest) = (query, share)
      }
    }
    let found = try indexed(seldom)
    guard !found.isEmpty else { return ([], .lookups) }
    let test = seldom == text.query ? 0 : Cost.words
    let steps = Double(limit) * Double(try assetCount()) / (Double(found.count) * shareOfRest)
    let cost = steps * Cost.row + Double(limit) / shareOfRest * test
    if !plan.source.hasPredicate, cost < Double(found.count) * (Cost.lookup + test) {
      // If the matches are not in this list, for example because they are hidden, the walk gives up.
      let most = Int(min(4 * steps, 1e9)) + 1_000
      if let rows = try walk(IDSet(found), isWhole: test == 0, most: most) { return (rows, .ids) }
    }
    return (try lookedUp(found, isWhole: test == 0), .lookups)
  }

  private enum Sample {
    /// There are so many matches that the walk found all requested rows.
    case rows(Rows)
    /// The words for which to ask the index, and the share of its results that probably match the rest.
    case seldom(TextQuery, shareOfRest: Double)
  }

  private func walkByWords() throws -> Sample {
    let statement = try RawStatement(database, uncached: wordsStatement)
    statement.bind(list.arguments)
    defer { statement.reset() }
    let (whole, parts) = (text.test, text.query.parts)
    let tests = parts.map(TextTest.init)
    var partCounts = parts.map { _ in 0 }
    var rows: Rows = []
    var most = Self.sampleCount
    var count = 0
    while count < most {
      guard try statement.step() else { return .rows(rows) }
      let words = statement.bytes(2)
      if whole.holds(spaced: words) {
        rows.append((statement.assetID(0), statement.sortNumber(1, plan.order)))
        if rows.count == limit { return .rows(rows) }
      }
      count += 1
      if count <= Self.sampleCount {
        for index in tests.indices where tests[index].holds(spaced: words) { partCounts[index] += 1 }
      }
      if count == Self.sampleCount, !rows.isEmpty {
        let share = Double(rows.count) / Double(count)
        let ids = share * Double(try assetCount()) * (text.query.hasPrefixes ? Cost.idOfPrefix : Cost.id)
        if Double(limit) / share * Cost.words < ids { most = Int(min(4 * Double(limit) / share, 1e9)) }
      }
    }
    // If all words are frequent, the index is asked for the rarest.
    let bound = max(Self.sampleCount / 50, partCounts.min() ?? 0)
    let shares = partCounts.filter { $0 > bound }.map { Double($0) / Double(Self.sampleCount) }
    let seldom = zip(parts, partCounts).filter { $0.1 <= bound }.map(\.0)
    return .seldom(TextQuery(parts: seldom), shareOfRest: shares.reduce(1, *))
  }

  /// - Parameter isWhole: Whether the ids are known to match all words.
  /// - Returns: nil if the walk gave up before it had enough rows.
  private func walk(_ found: IDSet, isWhole: Bool, most: Int) throws -> Rows? {
    let statement = try RawStatement(database, uncached: listStatement)
    statement.bind(list.arguments)
    defer { statement.reset() }
    let words = try RawStatement(database, "SELECT words FROM asset_words WHERE id = ?")
    var rows: Rows = []
    for _ in 0..<most {
      guard try statement.step() else { return rows }
      let id = statement.assetID(0)
      guard found.contains(id) else { continue }
      if !isWhole {
        words.bind(1, id)
        guard try words.firstRow({ text.test.holds(spaced: words.bytes(0)) }) ?? false else { continue }
      }
      rows.append((id, statement.sortNumber(1, plan.order)))
      if rows.count == limit { return rows }
    }
    return nil
  }

  private func lookedUp(_ found: [AssetID], isWhole: Bool) throws -> Rows {
    let statement = try RawStatement(database, uncached: lookupStatement(isWhole: isWhole))
    let ids = "[" + found.map(\.description).joined(separator: ",") + "]"
    let source = isWhole ? list : plan.source
    statement.bind([.text(ids)] + source.arguments(touched: true) + [.integer(Int64(limit))])
    var rows: Rows = []
    try statement.forEachRow { rows.append((statement.assetID(0), statement.sortNumber(1, plan.order))) }
    return rows
  }

  /// The ids of all assets in the library that match these words, in no particular order.
  private func indexed(_ query: TextQuery) throws -> [AssetID] {
    let condition = TextCondition(query)
    let statement = try RawStatement(database, condition.idStatement)
    statement.bind(condition.ofAll.arguments)
    var ids: [AssetID] = []
    try statement.forEachRow { ids.append(statement.assetID(0)) }
    return ids
  }

  /// The largest id. It is a little larger than the number of assets, and known at once.
  private func assetCount() throws -> Int64 {
    let statement = try RawStatement(database, "SELECT max(id) FROM asset")
    return try statement.firstRow { statement.int64(0) } ?? 0
  }
}
