import PhotoModel
import PredicateLanguage

/// A predicate as an SQL condition, with the tables that the condition needs.
struct CompiledPredicate: Sendable {
  /// The canonical text. Predicates that differ in spelling but not in meaning have the same one.
  let key: String
  let condition: SQLCondition
  let usesPath: Bool
  let usesOffline: Bool
  let dependsOn: ChangedFields
}

/// Compiles a predicate to SQL. Texts and numbers of the caller are bound, and never become part of the SQL. Only the
/// predicate's shape, its keys, Booleans and media types do, so that the partial indexes fit.
///
/// SQL's NULL gets no meaning of its own: a comparison with an absent value is NULL, which AND, OR and WHERE treat as
/// false. NOT is moved inwards to the comparisons, where `IS NOT TRUE` turns both false and NULL into true.
struct PredicateCompiler {
  /// How much of the stack of SQLite's parser a predicate may take, of 100 in all (YYSTACKDEPTH,
  /// https://www.sqlite.org/compile.html#yystackdepth). The rest is for the statement around it.
  private static let maximumParserStack = 75
  /// The most that one comparison takes, as measured with SQLite 3.40.1.
  private static let comparisonParserStack = 13
  private static let keywordsParserStack = 17
  private static let resourcesParserStack = 26

  /// A part of the condition.
  private struct Part {
    var sql: String
    var arguments: [SQLValue]
    /// The largest stack of the parser while it reads this part.
    var parserStack: Int
    /// Whether it consists of several parts joined by AND or OR.
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
        message: "ANDs and ORs are nested too deeply; about \(maximumParserStack - comparisonParserStack) "
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
    // The deepest part comes first. While the parser reads it, only its parenthesis is on the stack.
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
    case .mediaSubtypes: Self.subtypes(comparison, all)
    case .resourcesPath, .resourcesFilename, .resourcesByteCount, .resourcesContentType:
      Self.resources(comparison, all)
    default: Self.question(comparison, of: comparison.key.column)
    }
  }

  /// For `keyword == 'x'`, this goes by index from the word's row to its assets. Other questions are asked of all
  /// words, which are few, because each is stored once.
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

  /// The subtypes are bits of one number. The numbers are written out, so that the index of screenshots fits.
  private static func subtypes(_ comparison: Predicate.Comparison, _ all: Bool) -> SQLCondition {
    let known = MediaSubtypes(MediaSubtypes.each)
    func hasAny(of subtypes: MediaSubtypes, _ sign: String = "<>") -> SQLCondition {
      SQLCondition(sql: "asset.media_subtypes & \(subtypes.rawValue) \(sign) 0")
    }
    return switch comparison.question {
    case .isAbsent: hasAny(of: known, "=")
    case .isPresent: hasAny(of: known)
    default:
      all
        ? hasAny(of: known.subtracting(comparison.matchingSubtypes), "=") : hasAny(of: comparison.matchingSubtypes)
    }
  }

  /// The first resource is in the asset's row. The others are few, and one pass reads them all.
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
    // Every asset has a resource.
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

  /// A question about one value, given by the SQL expression `column`.
  private static func question(_ comparison: Predicate.Comparison, of column: String) -> SQLCondition {
    let column = comparison.question.clock.map(comparison.key.column(by:)) ?? column
    if let (test, isNegated) = comparison.test {
      return SQLCondition(sql: "\(isNegated ? "NOT " : "")photod_test(\(column), ?)", arguments: [.test(test)])
    }
    switch comparison.question {
    case .isAbsent: return SQLCondition(sql: "\(column) IS NULL")
    case .isPresent: return SQLCondition(sql: "\(column) IS NOT NULL")
    // The comparison of latitudes is cheap, and leaves few rows for the function.
    case .isNear(let circle):
      return SQLCondition(
        sql: "(asset.latitude BETWEEN ? AND ? AND photod_near(asset.latitude, asset.longitude, ?, ?, ?))",
        arguments: [circle.south, circle.north, circle.latitude, circle.longitude, circle.kilometers].map {
          .real($0)
        })
    case .isIn(let values):
      // The sign keeps SQLite from rounding the integers of a list to the column's type. A comparison does not round
      // them either.
      let column = (comparison.key.valueType == .real ? "+" : "") + column
      let operands = values.map(operand)
      return SQLCondition(
        sql: "\(column) IN (\(operands.map(\.sql).joined(separator: ", ")))", arguments: operands.flatMap(\.arguments))
    case .isBetween(.date(let low), .date(let high)):
      return dated("BETWEEN", low.first, high.last, by: low.clock, column, comparison.key)
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
    case .equal: dated("BETWEEN", span.first, span.last, by: span.clock, column, key)
    case .notEqual: dated("NOT BETWEEN", span.first, span.last, by: span.clock, column, key)
    case .less: dated("<", nil, span.first, by: span.clock, column, key)
    case .greaterOrEqual: dated(">=", span.first, nil, by: span.clock, column, key)
    // After a span means after its end. "Not after" means before or at its end.
    case .greater: dated(">", span.last, nil, by: span.clock, column, key)
    default: dated("<=", nil, span.last, by: span.clock, column, key)
    }
  }

  /// The condition that a date is at, before or after one or two moments.
  ///
  /// The index of dates is by instant. Local times are searched for in the part of the index that can contain them,
  /// which is a day longer at each end. So the list is read in its order.
  private static func dated(
    _ word: String, _ low: Int64?, _ high: Int64?, by clock: DateSpan.Clock, _ column: String, _ key: PredicateKey
  ) -> SQLCondition {
    let moments = [low, high].compactMap { $0.map(SQLValue.integer) }
    let question = "\(column) \(word) ?" + (moments.count > 1 ? " AND ?" : "")
    guard key == .creationDate, clock == .local, word != "NOT BETWEEN" else {
      return SQLCondition(sql: question, arguments: moments)
    }
    let part = [
      low.map { ("asset.creation_date >= ?", $0 - PhotoDate.largestOffset) },
      high.map { ("asset.creation_date <= ?", $0 + PhotoDate.largestOffset) },
    ].compactMap(\.self)
    return SQLCondition(
      sql: "(" + ([question] + part.map(\.0)).joined(separator: " AND ") + ")",
      arguments: moments + part.map { .integer($0.1) })
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
    case .mediaSubtype(let value): (String(value.rawValue), [])
    case .integer(let value): ("?", [.integer(value)])
    case .real(let value): ("?", [.real(value)])
    case .string(let value): ("?", [.text(value)])
    case .date(let value): ("?", [.integer(value.first)])
    case .moment(let value): ("?", [.integer(value.microseconds)])
    case .dateSource(let value): (String(value.code), [])
    }
  }

  /// Records the tables and fields that the statement needs for a key.
  private mutating func note(_ key: PredicateKey) {
    dependsOn.formUnion(key.fields)
    usesPath = usesPath || key == .path || key == .resourcesPath
    usesOffline = usesOffline || key == .available
  }
}

extension Predicate.Question {
  /// The clock of the dates with which a value is compared.
  fileprivate var clock: DateSpan.Clock? {
    switch self {
    case .compares(_, .date(let span)), .isBetween(.date(let span), _): span.clock
    case .isIn(let values): Predicate.Literal.spans(values)?.1
    default: nil
    }
  }
}
