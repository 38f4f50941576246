import GRDB
import PhotoModel
import PredicateLanguage

extension CatalogReader {
  /// Counts the assets of a list by their values.
  ///
  /// SQLite groups the rows by the columns that a value is made from, and only one row for each group is read here. It
  /// groups by sorting. For texts, that takes longer than reading all rows, so their columns are grouped here.
  /// - Parameter prefix: restricts the values to those that begin with it, without regard to case.
  /// - Complexity: one pass over the list, and a sort of the columns.
  package func values(of key: ValueKey, in plan: FetchPlan, prefix: String? = nil) throws -> CountedValues {
    var tally = ValueTally(prefix: prefix)
    var paths = try DirectoryPaths(database)
    switch key {
    case .year, .month, .day:
      let length = key == .year ? 4 : key == .month ? 7 : 10
      try count(plan, by: [Self.localDay], in: &tally) { [Self.text(ofDay: $0.int64(0), length)] }
    case .mediaType:
      try count(plan, by: ["asset.media_type"], in: &tally) { [MediaType(code: $0.int64(0)).rawValue] }
    case .mediaSubtypes:
      try count(plan, by: ["asset.media_subtypes"], in: &tally) { MediaSubtypes(rawValue: $0.int64(0)).names }
    case .creationDateSource:
      try count(plan, by: ["asset.creation_source"], in: &tally) { [CreationDateSource(code: $0.int64(0)).rawValue] }
    case .camera:
      try countTexts(plan, [PredicateKey.cameraMake.column, PredicateKey.cameraModel.column], in: &tally) {
        Self.camera(make: $0[0], model: $0[1])
      }
    case .cameraMake: try countTexts(plan, [PredicateKey.cameraMake.column], in: &tally) { $0[0] }
    case .cameraModel: try countTexts(plan, [PredicateKey.cameraModel.column], in: &tally) { $0[0] }
    case .cameraLens: try countTexts(plan, [PredicateKey.cameraLens.column], in: &tally) { $0[0] }
    case .contentType: try countTexts(plan, [PredicateKey.contentType.column], in: &tally) { $0[0] }
    case .cameraISO: try countNumbers(plan, .cameraISO, in: &tally)
    case .cameraFNumber: try countNumbers(plan, .cameraFNumber, in: &tally)
    case .cameraFocalLengthMillimeters: try countNumbers(plan, .cameraFocalLengthMillimeters, in: &tally)
    case .rating: try countNumbers(plan, .rating, in: &tally)
    case .keywords: try countKeywords(plan, in: &tally)
    case .folder:
      try count(plan, by: ["asset.directory_id"], in: &tally) { row in
        [FilePath.text(try paths.place(row.directoryID(0)).path)]
      }
    case .album, .collection:
      try count(plan, by: ["asset.directory_id"], in: &tally) { row in
        let place = try paths.place(row.directoryID(0))
        return [key == .album ? FilePath.nameText(place.name) : "folder:" + FilePath.text(place.path)]
      }
      let assetCount = tally.assetCount
      var titles = try names("SELECT id, title FROM collection WHERE title IS NOT NULL")
      if key == .collection { titles = Self.uniqueNames(titles) }
      try count(
        plan, by: ["filing.collection_id"], join: " CROSS JOIN album_asset AS filing ON filing.asset_id = asset.id",
        in: &tally
      ) { row in titles[row.int64(0)].map { [$0] } ?? [] }
      // Every asset is in a folder.
      (tally.assetCount, tally.absentCount) = (assetCount, 0)
    }
    return tally.counted
  }

  /// - Parameter value: the value of assets with these texts in the columns; nil if they have none.
  private func countTexts(
    _ plan: FetchPlan, _ columns: [String], in tally: inout ValueTally, value: ([String?]) -> String?
  ) throws {
    var groups = TextGroups(columnCount: columns.count)
    let statement = try RawStatement(database, uncached: plan.columnStatement(columns))
    statement.bind(plan.arguments)
    try statement.forEachRow { groups.count(statement) }
    for (texts, count) in groups.counts { tally.add(value(texts).map { [$0] } ?? [], count: count) }
  }

  /// The rows of an asset follow each other, one for each of its keywords.
  private func countKeywords(_ plan: FetchPlan, in tally: inout ValueTally) throws {
    let keywords = try names("SELECT id, name FROM keyword")
    var counts: [Int64: Int] = [:]
    var absentCount = 0
    var last: AssetID?
    let statement = try RawStatement(
      database,
      uncached: plan.columnStatement(
        ["asset.id", "link.keyword_id"], join: " LEFT JOIN asset_keyword AS link ON link.asset_id = asset.id"))
    statement.bind(plan.arguments)
    try statement.forEachRow {
      if let keyword = statement.optionalInt64(1) { counts[keyword, default: 0] += 1 } else { absentCount += 1 }
      let id = statement.assetID(0)
      if id != last { tally.assetCount += 1 }
      last = id
    }
    for (keyword, count) in counts { tally.add(keywords[keyword].map { [$0] } ?? [], count: count, ofAssets: false) }
    tally.absentCount = absentCount
  }

  private func countNumbers(_ plan: FetchPlan, _ key: PredicateKey, in tally: inout ValueTally) throws {
    try count(plan, by: [key.column], in: &tally) { row in
      guard !row.isNull(0) else { return [] }
      return switch row.number(0) {
      case .real(let real): [Int64(exactly: real).map(String.init) ?? "\(real)"]
      default: ["\(row.int64(0))"]
      }
    }
  }

  /// - Parameter values: the values of the assets in a group; none if they have no value.
  private func count(
    _ plan: FetchPlan, by columns: [String], join: String = "", in tally: inout ValueTally,
    values: (RawStatement) throws -> [String]
  ) throws {
    let statement = try RawStatement(database, uncached: plan.groupStatement(by: columns, join: join))
    statement.bind(plan.arguments)
    try statement.forEachRow { tally.add(try values(statement), count: Int(statement.int64(Int32(columns.count)))) }
  }

  private func names(_ sql: String) throws -> [Int64: String] {
    var names: [Int64: String] = [:]
    let statement = try RawStatement(database, sql)
    try statement.forEachRow { names[statement.int64(0)] = statement.text(1) }
    return names
  }

  /// The names of the user's albums in `FetchOptions`. A title that several albums have, without regard to case, is no
  /// name.
  private static func uniqueNames(_ titles: [Int64: String]) -> [Int64: String] {
    let counts = Dictionary(titles.values.map { (CaseFolding.fold($0), 1) }, uniquingKeysWith: +)
    return Dictionary(
      uniqueKeysWithValues: titles.map { id, title in
        (id, counts[CaseFolding.fold(title)] == 1 ? "album:\(title)" : "id:\(id)")
      })
  }

  /// The number of the day in the photo's local time. SQLite's division rounds to zero, so the numbers begin long before
  /// the first date.
  private static let localDay =
    "(\(PredicateKey.creationDate.column(by: .local)) + \(firstDay * microsecondsPerDay)) / \(microsecondsPerDay)"
  private static let firstDay: Int64 = 1_000_000
  private static let microsecondsPerDay: Int64 = 86_400_000_000

  /// The first characters of the day, as in `2024-07-21`.
  private static func text(ofDay day: Int64, _ length: Int) -> String {
    String(PhotoDate(microseconds: (day - firstDay) * microsecondsPerDay).description.prefix(length))
  }

  /// The make is left out if the model begins with its first word, as `NIKON D90` by `NIKON CORPORATION` does.
  private static func camera(make: String?, model: String?) -> String? {
    guard let make, let word = make.split(separator: " ").first, let model, !model.isEmpty else { return model ?? make }
    return CaseFolding.fold(model).utf8.starts(with: CaseFolding.fold(String(word)).utf8) ? model : "\(make) \(model)"
  }
}

extension FetchPlan {
  /// Selects these columns of the rows of the list.
  fileprivate func columnStatement(_ columns: [String], join: String = "") -> String {
    statement(selecting: columns.joined(separator: ", "), join: join, end: "")
  }

  /// Counts the rows of the list for each combination of these columns, which are also selected.
  fileprivate func groupStatement(by columns: [String], join: String) -> String {
    statement(
      selecting: columns.joined(separator: ", ") + ", count(*)", join: join,
      end: " GROUP BY " + columns.indices.map { String($0 + 1) }.joined(separator: ", "))
  }

  private func statement(selecting columns: String, join: String, end: String) -> String {
    let start = source.with + "SELECT " + columns
    guard fetchLimit != nil else { return start + source.from + join + source.whereClause + end }
    return start + " FROM asset" + join + " WHERE asset.id IN (SELECT \(source.idColumn)" + source.from
      + source.whereClause + order.sql + " LIMIT ?)" + end
  }
}

/// Counts rows with equal texts. A library has few cameras and lenses, so nearly every row is found without a copy of its
/// texts.
private struct TextGroups {
  private let columnCount: Int
  /// The texts of each group, one after another, each after its length. An absent text has the length -1.
  private var keys: [[UInt8]] = []
  private var rowCounts: [Int] = []
  /// The groups by the hash of their keys.
  private var groups: [Int: [Int]] = [:]
  /// The key of the present row. It keeps its memory.
  private var key: [UInt8] = []
  /// The group of the row before.
  private var last: Int?

  init(columnCount: Int) { self.columnCount = columnCount }

  mutating func count(_ row: RawStatement) {
    key.removeAll(keepingCapacity: true)
    for column in 0..<Int32(columnCount) {
      row.withOptionalBytes(column) { bytes in
        let length = Int32(bytes.map { $0.count } ?? -1)
        withUnsafeBytes(of: length) { key.append(contentsOf: $0) }
        if let bytes { key.append(contentsOf: bytes) }
      }
    }
    // Photos of one camera follow each other.
    if let last, keys[last] == key {
      rowCounts[last] += 1
      return
    }
    var hasher = Hasher()
    key.withUnsafeBytes { hasher.combine(bytes: $0) }
    let hash = hasher.finalize()
    if let group = groups[hash]?.first(where: { keys[$0] == key }) {
      rowCounts[group] += 1
      last = group
    } else {
      last = keys.count
      groups[hash, default: []].append(keys.count)
      keys.append(key)
      rowCounts.append(1)
    }
  }

  /// The texts of each group and its number of rows.
  var counts: [(texts: [String?], count: Int)] {
    zip(keys, rowCounts).map { key, count in
      var rest = key[...]
      let texts = (0..<columnCount).map { _ -> String? in
        let length = Int(rest.prefix(4).withUnsafeBytes { $0.loadUnaligned(as: Int32.self) })
        rest = rest.dropFirst(4)
        guard length >= 0 else { return nil }
        defer { rest = rest.dropFirst(length) }
        return String(decoding: rest.prefix(length), as: UTF8.self)
      }
      return (texts, count)
    }
  }
}

/// Adds up the counts of values.
private struct ValueTally {
  private let prefix: [UInt8]
  /// By their bytes, because Swift's own equality does not tell `é` from `e` with a combining accent.
  private var counts: [[UInt8]: Int] = [:]
  var assetCount = 0
  var absentCount = 0

  init(prefix: String?) { self.prefix = Array(CaseFolding.fold(prefix ?? "").utf8) }

  /// - Parameter ofAssets: false if the assets are counted elsewhere.
  mutating func add(_ values: [String], count: Int, ofAssets: Bool = true) {
    if ofAssets { assetCount += count }
    if ofAssets, values.isEmpty { absentCount += count }
    for value in values where prefix.isEmpty || CaseFolding.fold(value).utf8.starts(with: prefix) {
      counts[Array(value.utf8), default: 0] += count
    }
  }

  var counted: CountedValues {
    let sorted = counts.sorted { $0.value != $1.value ? $0.value > $1.value : $0.key.lexicographicallyPrecedes($1.key) }
    return CountedValues(
      values: sorted.map { CountedValues.Value(text: String(decoding: $0.key, as: UTF8.self), count: $0.value) },
      assetCount: assetCount, absentCount: absentCount)
  }
}
