import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import Testing

import class Foundation.ProcessInfo

@testable import PhotoCatalog

/// Random texts that a person would not write. None may stop the daemon, and SQLite must accept each text that the
/// parser accepts.
///
/// 20,000 texts are tried, or as many as PHOTOD_FUZZ_SECONDS allows. PHOTOD_SEED makes others. A failing text is
/// printed with its escapes, to be put into a test of its own.
@Suite struct PredicateFuzzTests {
  @Test func anyTextIsAPredicateForSQLiteOrAnErrorWithItsPlace() throws {
    let fixture = try CatalogFixture()
    let seed = Self.number("PHOTOD_SEED") ?? 1
    let clock = ContinuousClock()
    let end = Self.number("PHOTOD_FUZZ_SECONDS").map { clock.now + .seconds($0) }
    var generator = PredicateTexts(seed: UInt64(truncatingIfNeeded: seed))
    var (rounds, parsed, refused) = (0, 0, 0)
    try fixture.catalog.read { reader in
      while end.map({ clock.now < $0 }) ?? (rounds < 20_000) {
        rounds += 1
        let text = generator.next()
        switch Result(catching: { () throws(PredicateError) in try Predicate(parsing: text) }) {
        case .failure(let error):
          #expect((0...text.unicodeScalars.count).contains(error.position), "\(text.debugDescription)")
          #expect(error.message.count < 200 && !error.message.isEmpty, "\(text.debugDescription): \(error.message)")
        case .success(let predicate):
          parsed += 1
          let canonical = predicate.description
          let again = try Predicate(parsing: canonical)
          #expect(again.description == canonical, "\(text.debugDescription)")
          #expect(canonical.utf8.allSatisfy { $0 >= 32 && $0 < 127 }, "\(text.debugDescription)")
          do {
            let plan = try reader.plan(FetchOptions(predicate: text))
            #expect(try reader.plan(FetchOptions(predicate: canonical)).key == plan.key)
            let statement = try RawStatement(reader.database, uncached: plan.idStatement)
            statement.bind(plan.arguments)
            #expect(!(try statement.step()))
          } catch FetchError.invalidPredicate {
            refused += 1  // It is too deep for SQLite's parser.
          } catch {
            Issue.record("\(text.debugDescription): \(error)")
          }
        }
      }
    }
    #expect(parsed > rounds / 10 && refused < parsed / 100, "\(parsed) of \(rounds), \(refused) refused")
  }

  private static func number(_ variable: String) -> Int? {
    ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
  }
}

/// Random texts: bytes, tokens in any order, predicates by the grammar, and changed predicates.
private struct PredicateTexts {
  private var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func next() -> String {
    switch Int.random(in: 0..<10, using: &random) {
    case 0:
      let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      return String(decoding: bytes, as: UTF8.self)
    case 1...3:
      return (0..<Int.random(in: 1...14, using: &random)).map { _ in pick(Self.tokens) }.joined(
        separator: pick([" ", "", " "]))
    case 4, 5: return predicate(4)
    default: return mutated(predicate(3))
    }
  }

  private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }

  private mutating func mutated(_ text: String) -> String {
    var scalars = Array(text.unicodeScalars)
    for _ in 0..<Int.random(in: 1...3, using: &random) {
      let start = Int.random(in: 0...scalars.count, using: &random)
      let end = min(scalars.count, start + Int.random(in: 0...3, using: &random))
      switch Int.random(in: 0..<5, using: &random) {
      case 0: scalars.replaceSubrange(start..<end, with: pick(Self.tokens).unicodeScalars)
      case 1: scalars.removeSubrange(start..<end)
      case 2: scalars.insert(contentsOf: scalars[start..<end], at: Int.random(in: 0...scalars.count, using: &random))
      case 3: scalars.insert(Unicode.Scalar(UInt32.random(in: 0..<0xD800, using: &random)) ?? "a", at: start)
      default: if start < scalars.count { scalars[start] = Unicode.Scalar(UInt8.random(in: 32..<127, using: &random)) }
      }
    }
    return String(String.UnicodeScalarView(scalars))
  }

  // MARK: - Texts by the grammar

  private mutating func predicate(_ depth: Int) -> String {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 5), using: &random) {
    case 5: return "\(predicate(depth - 1)) \(pick(["AND", "&&", "or", "||"])) \(predicate(depth - 1))"
    case 6: return "(\(predicate(depth - 1)))"
    case 7: return "\(pick(["NOT ", "!", "not"]) + "(")\(predicate(depth - 1)))"
    case 8: return pick(["TRUEPREDICATE", "falsepredicate"])
    default: return comparison()
    }
  }

  private mutating func comparison() -> String {
    let key = PredicateKey.allCases.randomElement(using: &random) ?? .id
    let subject = (key.isList ? pick(["ANY ", "some ", "ALL ", "NONE "]) : "") + key.rawValue
    let values: [String] =
      switch key.valueType {
      case .boolean: ["true", "FALSE"]
      case .integer, .real: ["0", "-1", "5", "2.5e3", ".5", "+7", "9223372036854775807", "1e300"]
      case .mediaType: ["'image'", "'video'"]
      case .mediaSubtype: ["'raw'", "'screenshot'", "'livePhoto'"]
      case .dateSource: ["'file'", "'metadata'"]
      case .place: ["{0, 0, 5}", "{-90, 180, 1e4}", "{89.99, -179.5, 0.1}"]
      case .date: ["'2024'", "'2024-07'", "'1969-07-20T20:17-05:00'", "'0001-01-01'", "\"9999-12-31T23:59:59.999999\""]
      case .string: ["''", "'a'", "\"it's\"", "'\\u{1F98A}é'", "'%_*?'", "'a\\\\*b'", "'\n'", "'Ǆ'"]
      }
    if key.valueType == .place {
      return key.rawValue + " " + (.random(using: &random) ? "NEAR \(pick(values))" : "\(pick(["==", "!="])) nil")
    }
    switch Int.random(in: 0..<6, using: &random) {
    case 0:
      let list = (0..<Int.random(in: 0...5, using: &random)).map { _ in pick(values) }.joined(separator: ", ")
      return "\(subject) IN\(key.valueType == .string ? pick(Self.modifiers) : "") {\(list)}"
    case 1 where !key.isList: return "\(key.rawValue) \(pick(["==", "!="])) \(pick(["nil", "NULL"]))"
    case 2 where key.valueType.isNumber || key.valueType == .date:
      return "\(subject) BETWEEN {\(pick(values)), \(pick(values))}"
    case 3 where key.valueType == .string: return "\(subject) LIKE\(pick(Self.modifiers)) \(pick(Self.likes))"
    case 4 where key.valueType == .string: return "\(subject) MATCHES\(pick(Self.modifiers)) '\(expression(3))'"
    case 5 where key.valueType == .string:
      return
        "\(subject) \(pick(["==", "!=", "CONTAINS", "BEGINSWITH", "endswith"]))\(pick(Self.modifiers)) \(pick(values))"
    default:
      let operators =
        key.valueType.isOrdered ? ["==", "=", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>"] : ["==", "!="]
      return "\(subject) \(pick(operators)) \(pick(values))"
    }
  }

  private mutating func expression(_ depth: Int) -> String {
    guard depth > 0 else {
      return pick(["a", ".", "[a-z]", "[^\\\\d_]", "\\\\w", "\\\\s", "é", "\\\\.", "^", "$", "", "\\'"])
    }
    let one = expression(depth - 1)
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return one + expression(depth - 1)
    case 1: return "(\(one)|\(expression(depth - 1)))"
    case 2: return "(?:\(one))\(pick(["*", "+", "?", "*?", "{2}", "{0,3}", "{1,}"]))"
    default: return one
    }
  }

  private static let modifiers = ["", "[c]", "[d]", "[cd]", " [DC] "]
  private static let likes = ["'*'", "'?a*'", "'\\\\*'", "'a*b*c?'", "''", "'*é*'"]
  private static let tokens =
    PredicateKey.allCases.map(\.rawValue) + [
      "==", "=", "!=", "<", ">=", "IN", "BETWEEN", "NEAR", "CONTAINS", "LIKE", "MATCHES", "ENDSWITH", "ANY", "ALL",
      "NONE",
      "AND",
      "or", "NOT", "!", "(", ")", "(", ")", "{", "}", ",", "[", "]", "[c]", "[cd]", "'", "\"", "\\", "\\u{", "1", "-",
      ".",
      "e", "1e5", "nil", "true", "'2024'", "'2024-07-21T10:00'", "'x'", "'[a-z'", "'(a|b)*'", "now()", "%@", "$x", "*",
      "/",
      "+", "@", "\u{301}", "👍", "\0", "TRUEPREDICATE", "9999999999999999999", "\u{FEFF}", "\u{2028}", "CAST(",
    ]
}
