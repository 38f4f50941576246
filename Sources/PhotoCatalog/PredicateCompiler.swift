import PhotoModel

/// A predicate as a condition of SQL, and what it needs around it.
struct CompiledPredicate: Sendable {
  /// The canonical text: equal for predicates that are written differently and mean the same.
  let key: String
  let condition: SQLCondition
  let usesPath: Bool
  let usesOffline: Bool
  let dependsOn: ChangedFields
}

/// Makes SQL of a predicate. What the caller wrote is bound, never part of the SQL; of the predicate only its shape, its
/// keys and the few values of Booleans and media types are, so that the partial indexes fit.
///
/// SQL's NULL is kept from meaning anything: a comparison with an absent value is NULL, which AND, OR and WHERE take for
/// false. NOT is moved inwards to the comparisons, where `IS NOT TRUE` turns both false and NULL into true.
struct PredicateCompiler {
  /// How much of the stack of SQLite's parser a predicate may take, of 100 in all (YYSTACKDEPTH,
  /// https://www.sqlite.org/compile.html#yystackdepth); the rest is for the statement around it.
  private static let maximumParserStack = 75
  /// More than any one comparison takes.
  private static let comparisonParserStack = 12

  /// A part of the condition.
  private struct Part {
    var sql: String
    var arguments: [SQLValue]
    /// What the parser has on its stack, at most, while it reads the part.
    var parserStack: Int
    /// It is several parts with AND or OR between them.
    var isJoined = false
  }

  private var usesPath = false
  private var usesOffline = false
  private var dependsOn: ChangedFields = []

  /// - Throws: ``FetchError/invalidPredicate(message:position:)``.
  static func compile(_ text: String) throws(FetchError) -> CompiledPredicate {
    let predicate: Predicate
    do {
      predicate = try Predicate(parsing: text)
    } catch {
      throw .invalidPredicate(message: error.message, position: error.position)
    }
    var compiler = PredicateCompiler()
    let part = compiler.part(predicate, isNegated: false)
    guard part.parserStack <= maximumParserStack else {
      throw .invalidPredicate(
        message: "ANDs and ORs lie too deep within each other; about \(maximumParserStack - comparisonParserStack) "
          + "levels are possible", position: 0)
    }
    return CompiledPredicate(
      key: predicate.description, condition: SQLCondition(sql: "(\(part.sql))", arguments: part.arguments),
      usesPath: compiler.usesPath, usesOffline: compiler.usesOffline, dependsOn: compiler.dependsOn)
  }

  // MARK: - Logic

  private mutating func part(_ predicate: Predicate, isNegated: Bool) -> Part {
    switch predicate {
    case .not(let inner): return part(inner, isNegated: !isNegated)
    case .and(let parts): return joined(parts, by: isNegated ? "OR" : "AND", isNegated: isNegated)
    case .or(let parts): return joined(parts, by: isNegated ? "AND" : "OR", isNegated: isNegated)
    case .comparison(let key, let op, let value):
      return negated(comparison(key, op, value), isNegated)
    case .in(let key, let values): return negated(membership(key, values), isNegated)
    }
  }

  private mutating func joined(_ predicates: [Predicate], by word: String, isNegated: Bool) -> Part {
    // The deepest first: while the parser reads it, nothing waits on the stack but its parenthesis.
    var parts = predicates.map { part($0, isNegated: isNegated) }
    parts.sort { $0.parserStack > $1.parserStack }
    guard parts.count != 1 else { return parts[0] }
    var joined = Part(sql: word == "AND" ? "TRUE" : "FALSE", arguments: [], parserStack: 1, isJoined: true)
    for (index, part) in parts.enumerated() {
      let sql = part.isJoined ? "(\(part.sql))" : part.sql
      joined.sql = index == 0 ? sql : "\(joined.sql) \(word) \(sql)"
      joined.arguments += part.arguments
      let waiting = (index == 0 ? 0 : 2) + (part.isJoined ? 1 : 0)
      joined.parserStack = max(joined.parserStack, part.parserStack + waiting)
    }
    return joined
  }

  private func negated(_ condition: SQLCondition, _ isNegated: Bool) -> Part {
    Part(
      sql: isNegated ? "(\(condition.sql)) IS NOT TRUE" : condition.sql, arguments: condition.arguments,
      parserStack: Self.comparisonParserStack)
  }

  // MARK: - Comparisons

  private mutating func comparison(
    _ key: PredicateKey, _ op: Predicate.Operator, _ value: Predicate.Literal
  ) -> SQLCondition {
    let column = column(of: key)
    let (operand, arguments) = Self.operand(value)
    let sign = op == .equal ? "=" : op == .notEqual ? "<>" : op.rawValue
    switch (op, value) {
    case (.equal, .null): return SQLCondition(sql: "\(column) IS NULL")
    case (.notEqual, .null): return SQLCondition(sql: "\(column) IS NOT NULL")
    case (.contains, _): return SQLCondition(sql: "instr(\(column), \(operand)) > 0", arguments: arguments)
    case (.beginsWith, _): return SQLCondition(sql: "instr(\(column), \(operand)) = 1", arguments: arguments)
    default:
      let sql = "\(column) \(sign) \(operand)"
      guard key == .creationDate, op != .notEqual else { return SQLCondition(sql: sql, arguments: arguments) }
      // Where there is a creation date the sort date is the same, and that has an index.
      return SQLCondition(
        sql: "(\(sql) AND asset.sort_date \(sign) \(operand))", arguments: arguments + arguments)
    }
  }

  private mutating func membership(_ key: PredicateKey, _ values: [Predicate.Literal]) -> SQLCondition {
    // The sign keeps SQLite from rounding the integers of a list to the column's type, which a comparison doesn't do.
    let column = (key.valueType == .real ? "+" : "") + column(of: key)
    let operands = values.map(Self.operand)
    return SQLCondition(
      sql: "\(column) IN (\(operands.map(\.sql).joined(separator: ", ")))", arguments: operands.flatMap(\.arguments))
  }

  private static func operand(_ value: Predicate.Literal) -> (sql: String, arguments: [SQLValue]) {
    switch value {
    case .null: ("NULL", [])
    case .boolean(let value): (value ? "1" : "0", [])
    case .mediaType(let value): (String(value.code), [])
    case .integer(let value): ("?", [.integer(value)])
    case .real(let value): ("?", [.real(value)])
    case .string(let value): ("?", [.text(value)])
    case .date(let value): ("?", [.integer(value.microseconds)])
    }
  }

  // MARK: - Keys

  private mutating func column(of key: PredicateKey) -> String {
    switch key {
    case .path:
      usesPath = true
      dependsOn.formUnion([.path, .resources])
    case .available:
      usesOffline = true
      dependsOn.formUnion([.availability, .path, .resources])
    case .filename: dependsOn.formUnion([.path, .resources])
    case .isFavorite: dependsOn.insert(.favorite)
    case .isHidden: dependsOn.insert(.hidden)
    case .isTrashed: dependsOn.insert(.trashed)
    case .id, .addedDate: break
    default: dependsOn.formUnion([.content, .metadata, .resources])
    }
    return Self.columns(key)
  }

  private static func columns(_ key: PredicateKey) -> String {
    switch key {
    case .id: "asset.id"
    case .mediaType: "asset.media_type"
    case .creationDate: "asset.creation_date"
    case .modificationDate: "asset.modification_date"
    case .addedDate: "asset.added_date"
    case .pixelWidth: "asset.pixel_width"
    case .pixelHeight: "asset.pixel_height"
    case .orientation: "asset.orientation"
    case .durationSeconds: "asset.duration"
    case .title: "asset.title"
    case .caption: "asset.caption"
    case .rating: "asset.rating"
    case .isFavorite: "asset.is_favorite"
    case .isHidden: "asset.is_hidden"
    case .isTrashed: "asset.is_trashed"
    case .burstIdentifier: "asset.burst_identifier"
    case .available: "(asset.directory_id NOT IN offline)"
    case .cameraMake: "asset.camera_make"
    case .cameraModel: "asset.camera_model"
    case .cameraLens: "asset.camera_lens"
    case .cameraExposureSeconds: "asset.exposure"
    case .cameraFNumber: "asset.f_number"
    case .cameraISO: "asset.iso"
    case .cameraFocalLengthMillimeters: "asset.focal_length"
    case .cameraFlashFired: "asset.flash_fired"
    // A place is latitude and longitude together; one alone is none.
    case .locationLatitude: "iif(asset.longitude IS NULL, NULL, asset.latitude)"
    case .locationLongitude: "iif(asset.latitude IS NULL, NULL, asset.longitude)"
    case .locationAltitude: "iif(asset.latitude IS NULL OR asset.longitude IS NULL, NULL, asset.altitude)"
    case .filename: "photod_name(asset.name)"
    case .path: "photod_path(place.path || '/' || asset.name)"
    case .byteCount: "asset.byte_count"
    case .contentType: "asset.content_type"
    }
  }
}
