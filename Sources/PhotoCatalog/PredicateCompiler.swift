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
  /// What one comparison takes at most, as measured with SQLite 3.40.1.
  private static let comparisonParserStack = 13
  private static let keywordsParserStack = 17
  private static let resourcesParserStack = 26

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
    case .constant(let value):
      return Part(sql: value != isNegated ? "TRUE" : "FALSE", arguments: [], parserStack: 1)
    case .comparison(let comparison):
      let condition = condition(comparison)
      return Part(
        sql: isNegated ? "(\(condition.sql)) IS NOT TRUE" : condition.sql, arguments: condition.arguments,
        parserStack: Self.parserStack(comparison.key))
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

  private static func parserStack(_ key: PredicateKey) -> Int {
    key == .keywords ? keywordsParserStack : key.isOfEveryResource ? resourcesParserStack : comparisonParserStack
  }

  // MARK: - Comparisons

  private mutating func condition(_ comparison: Predicate.Comparison) -> SQLCondition {
    note(comparison.key)
    let all = comparison.quantifier == .all
    return switch comparison.key {
    case .keywords: Self.keywords(comparison, all)
    case .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType:
      Self.resources(comparison, all)
    default: Self.question(comparison, of: comparison.key.column)
    }
  }

  /// For `keyword == 'x'` this goes from the word's row to its assets by index; for other questions, over all words, which
  /// are few, each stored once.
  private static func keywords(_ comparison: Predicate.Comparison, _ all: Bool) -> SQLCondition {
    let links = "SELECT 1 FROM asset_keyword AS link WHERE link.asset_id = asset.id"
    switch comparison.question {
    case .isAbsent: return SQLCondition(sql: "NOT EXISTS (\(links))")
    case .isPresent: return SQLCondition(sql: "EXISTS (\(links))")
    default:
      let question = question(comparison, of: "keyword.name")
      return SQLCondition(
        sql: "asset.id \(all ? "NOT " : "")IN (SELECT link.asset_id FROM keyword "
          + "CROSS JOIN asset_keyword AS link ON link.keyword_id = keyword.id "
          + "WHERE \(all ? "(\(question.sql)) IS NOT TRUE" : question.sql))", arguments: question.arguments)
    }
  }

  /// The first resource is in the asset's row; the others, of which there are few, are gone through once.
  private static func resources(_ comparison: Predicate.Comparison, _ all: Bool) -> SQLCondition {
    let isPath = comparison.key == .resourcesPath
    let columns =
      switch comparison.key {
      case .resourcesPath: (PredicateKey.path.column, "photod_path(home.path || '/' || companion.name)")
      case .resourcesFilename: (PredicateKey.filename.column, "photod_name(companion.name)")
      case .resourcesByteCount: (PredicateKey.byteCount.column, "companion.byte_count")
      default: (PredicateKey.contentType.column, "companion.content_type")
      }
    switch comparison.question {
    // No asset is without.
    case .isAbsent: return SQLCondition(sql: "FALSE")
    case .isPresent: return SQLCondition(sql: "TRUE")
    default:
      let first = question(comparison, of: columns.0)
      let other = question(comparison, of: columns.1)
      return SQLCondition(
        sql: "((\(first.sql)) \(all ? "AND" : "OR") asset.id \(all ? "NOT " : "")IN (SELECT companion.asset_id "
          + "FROM resource AS companion \(isPath ? "CROSS JOIN place AS home ON home.id = companion.directory_id " : "")"
          + "WHERE companion.position > 0 AND (\(other.sql))\(all ? " IS NOT TRUE" : "")))",
        arguments: first.arguments + other.arguments)
    }
  }

  /// What is asked of one value, which `column` stands for.
  private static func question(_ comparison: Predicate.Comparison, of column: String) -> SQLCondition {
    if let (test, isNegated) = comparison.test {
      return SQLCondition(sql: "\(isNegated ? "NOT " : "")photod_test(\(column), ?)", arguments: [.test(test)])
    }
    switch comparison.question {
    case .isAbsent: return SQLCondition(sql: "\(column) IS NULL")
    case .isPresent: return SQLCondition(sql: "\(column) IS NOT NULL")
    case .isIn(let values):
      // The sign keeps SQLite from rounding the integers of a list to the column's type, which a comparison doesn't do.
      let column = (comparison.key.valueType == .real ? "+" : "") + column
      let operands = values.map(operand)
      return SQLCondition(
        sql: "\(column) IN (\(operands.map(\.sql).joined(separator: ", ")))", arguments: operands.flatMap(\.arguments))
    case .isBetween(.date(let low), .date(let high)):
      return within("BETWEEN", low.first, high.last, column, comparison.key)
    case .isBetween(let low, let high):
      let (low, high) = (operand(low), operand(high))
      return SQLCondition(
        sql: "\(column) BETWEEN \(low.sql) AND \(high.sql)", arguments: low.arguments + high.arguments)
    case .compares(let op, .date(let span)): return order(op, span, column, comparison.key)
    case .compares(let op, let value):
      let operand = operand(value)
      return switch op {
      case .contains: SQLCondition(sql: "instr(\(column), \(operand.sql)) > 0", arguments: operand.arguments)
      case .beginsWith: SQLCondition(sql: "instr(\(column), \(operand.sql)) = 1", arguments: operand.arguments)
      default: SQLCondition(sql: "\(column) \(sign(op)) \(operand.sql)", arguments: operand.arguments)
      }
    }
  }

  private static func order(
    _ op: Predicate.Operator, _ span: DateSpan, _ column: String, _ key: PredicateKey
  ) -> SQLCondition {
    switch op {
    case .equal where !span.isInstant: within("BETWEEN", span.first, span.last, column, key)
    case .notEqual where !span.isInstant: within("NOT BETWEEN", span.first, span.last, column, key)
    // After it is after its end, and so is "not after" before or at its end.
    case .greater, .lessOrEqual: moment(op, span.last, column, key)
    default: moment(op, span.first, column, key)
    }
  }

  private static func moment(
    _ op: Predicate.Operator, _ microseconds: Int64, _ column: String, _ key: PredicateKey
  ) -> SQLCondition {
    dated("\(sign(op)) ?", [.integer(microseconds)], column, hasIndex: key == .creationDate && op != .notEqual)
  }

  private static func within(
    _ word: String, _ first: Int64, _ last: Int64, _ column: String, _ key: PredicateKey
  ) -> SQLCondition {
    dated(
      "\(word) ? AND ?", [.integer(first), .integer(last)], column,
      hasIndex: key == .creationDate && word == "BETWEEN")
  }

  /// Where there is a creation date the sort date is the same, and that has an index.
  private static func dated(
    _ question: String, _ arguments: [SQLValue], _ column: String, hasIndex: Bool
  ) -> SQLCondition {
    guard hasIndex else { return SQLCondition(sql: "\(column) \(question)", arguments: arguments) }
    return SQLCondition(
      sql: "(\(column) \(question) AND asset.sort_date \(question))", arguments: arguments + arguments)
  }

  private static func sign(_ op: Predicate.Operator) -> String {
    switch op {
    case .equal: "="
    case .notEqual: "<>"
    default: op.rawValue
    }
  }

  private static func operand(_ value: Predicate.Literal) -> (sql: String, arguments: [SQLValue]) {
    switch value {
    case .null: ("NULL", [])
    case .boolean(let value): (value ? "1" : "0", [])
    case .mediaType(let value): (String(value.code), [])
    case .integer(let value): ("?", [.integer(value)])
    case .real(let value): ("?", [.real(value)])
    case .string(let value): ("?", [.text(value)])
    case .date(let value): ("?", [.integer(value.first)])
    }
  }

  /// Notes what the statement needs for a key.
  private mutating func note(_ key: PredicateKey) {
    dependsOn.formUnion(key.fields)
    usesPath = usesPath || key == .path || key == .resourcesPath
    usesOffline = usesOffline || key == .available
  }
}
