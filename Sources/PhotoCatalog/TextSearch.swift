import GRDB
import PhotoModel

/// The beginning of a list with a text, by the way that promises to be the shortest.
///
/// A few assets are looked at first. Words that many have are met soon on the way through the list, when the index of words
/// would name a large part of the library. Where they are not, the index is asked, for those words alone that few of these
/// assets have: what it says of the others takes longer than a look at what is left. Its ids are looked up if they are
/// few, else met on the way through the list, whose own index has all of them.
struct TextSearch {
  private let database: Database
  private let plan: FetchPlan
  private let text: TextCondition
  /// How many are wanted.
  private let limit: Int
  /// The list without the text, in the order of an index.
  private let list: FetchSource

  /// - Returns: nil for lists without a text, without an end, and in an order that is that of no index.
  init?(_ plan: FetchPlan, limit: Int, _ database: Database) {
    guard let text = plan.source.text, plan.fetchLimit != nil, plan.order.indexedKey != nil else { return nil }
    (self.database, self.plan, self.text, self.limit) = (database, plan, text, limit)
    var list = plan.source
    list.text = nil
    self.list = list
  }

  typealias Rows = [(id: Int64, number: UInt64)]

  enum Way {
    /// On the way through the list, by a look at the words of each.
    case words
    /// On the way through the list, by the ids that the index of words has.
    case ids
    /// The index's ids one by one, sorted afterwards.
    case lookups
  }

  // MARK: Statements

  /// Every row of the list, and its words.
  var wordsStatement: String {
    list.with + "SELECT \(columns), (SELECT words FROM asset_words WHERE asset_words.id = asset.id)" + list.from
      + list.whereClause + plan.order.sql
  }

  /// Every row of the list.
  var listStatement: String {
    list.with + "SELECT \(columns)" + list.from + list.whereClause + plan.order.sql
  }

  /// Of the rows whose ids are in a JSON array, which is the first argument, the first as many as the last says.
  ///
  /// - Parameter isWhole: they are known to have all words.
  func lookupStatement(isWhole: Bool) -> String {
    let source = isWhole ? list : plan.source
    return source.with + "SELECT \(columns)" + source.from(touched: true) + source.whereClause(touched: true)
      + plan.order.sql + " LIMIT ?"
  }

  private var columns: String { "\(list.idColumn), \(plan.order.firstKey)" }

  // MARK: Finding

  /// What things take, in microseconds, as measured at a million assets; only how they compare matters.
  private enum Cost {
    /// To read the words of an asset and look at them.
    static let words = 4.0
    /// To step over a row of a list's index.
    static let row = 0.2
    /// To be told an id by the index of words; by one that has to gather all words that begin with something.
    static let id = 0.06
    static let idOfPrefix = 0.2
    /// To look up and sort an asset, whose page is likely to be read for it alone.
    static let lookup = 2.5
  }

  /// As many are looked at before anything is known of a text: less than a millisecond.
  private static let sampleCount = 200

  func rows() throws -> (rows: Rows, way: Way) {
    // With a predicate hardly an asset may be met, and the index of the list has not all that is asked for.
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
      // Where those that have the words are elsewhere, as among what is hidden, the end is not reached.
      let most = Int(min(4 * steps, 1e9)) + 1_000
      if let rows = try walk(IDSet(found), isWhole: test == 0, most: most) { return (rows, .ids) }
    }
    return (try lookedUp(found, isWhole: test == 0), .lookups)
  }

  private enum Sample {
    /// They are met so often that the walk was gone on with to its end.
    case rows(Rows)
    /// What the index is to be asked for, and of what that leaves over, the share that is likely to have the rest.
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
        rows.append((statement.int64(0), statement.sortNumber(1, plan.order)))
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
    // Of all that are often met, the one that is least so.
    let bound = max(Self.sampleCount / 50, partCounts.min() ?? 0)
    let shares = partCounts.filter { $0 > bound }.map { Double($0) / Double(Self.sampleCount) }
    let seldom = zip(parts, partCounts).filter { $0.1 <= bound }.map(\.0)
    return .seldom(TextQuery(parts: seldom), shareOfRest: shares.reduce(1, *))
  }

  /// - Parameter isWhole: they have all words, and not only some.
  /// - Returns: nil where the end is not reached.
  private func walk(_ found: IDSet, isWhole: Bool, most: Int) throws -> Rows? {
    let statement = try RawStatement(database, uncached: listStatement)
    statement.bind(list.arguments)
    defer { statement.reset() }
    let words = try RawStatement(database, "SELECT words FROM asset_words WHERE id = ?")
    var rows: Rows = []
    for _ in 0..<most {
      guard try statement.step() else { return rows }
      let id = statement.int64(0)
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

  private func lookedUp(_ found: [Int64], isWhole: Bool) throws -> Rows {
    let statement = try RawStatement(database, uncached: lookupStatement(isWhole: isWhole))
    let ids = "[" + found.map(String.init).joined(separator: ",") + "]"
    let source = isWhole ? list : plan.source
    statement.bind([.text(ids)] + source.arguments(touched: true) + [.integer(Int64(limit))])
    var rows: Rows = []
    try statement.forEachRow { rows.append((statement.int64(0), statement.sortNumber(1, plan.order))) }
    return rows
  }

  /// All of the library that have these words, in no order that means anything.
  private func indexed(_ query: TextQuery) throws -> [Int64] {
    let statement = try RawStatement(database, TextCondition.idStatement)
    statement.bind(TextCondition(query).ofAll.arguments)
    var ids: [Int64] = []
    try statement.forEachRow { ids.append(statement.int64(0)) }
    return ids
  }

  /// Little more than there are, and known at once.
  private func assetCount() throws -> Int64 {
    let statement = try RawStatement(database, "SELECT max(id) FROM asset")
    return try statement.firstRow { statement.int64(0) } ?? 0
  }
}
