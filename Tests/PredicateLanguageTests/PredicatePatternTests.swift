import TestTools
import Testing

import class Foundation.NSString

@testable import PredicateLanguage

@Suite struct PredicatePatternTests {
  private func matches(_ text: String, _ op: Predicate.Operator, _ pattern: String, _ modifiers: TextModifiers = [])
    throws -> Bool
  {
    try PredicateTest(op, pattern, modifiers).holds(text)
  }

  // MARK: - LIKE

  /// A plain implementation of LIKE, for comparison.
  private func isLike(_ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Unicode.Scalar>) -> Bool {
    guard let first = pattern.first else { return text.isEmpty }
    let rest = pattern.dropFirst()
    switch first {
    case "*": return (text.startIndex...text.endIndex).contains { isLike(text[$0...], rest) }
    case "?": return !text.isEmpty && isLike(text.dropFirst(), rest)
    case "\\": return text.first == rest.first && isLike(text.dropFirst(), rest.dropFirst())
    default: return text.first == first && isLike(text.dropFirst(), rest)
    }
  }

  @Test func likeAgreesWithAPlainImplementation() throws {
    var generator = SeededGenerator(seed: 5)
    var found = 0
    let letters = ["a", "b", "é", "\u{301}", "🦊", "*"]
    let pieces = ["a", "b", "é", "\u{301}", "🦊", "*", "*", "?", "\\*", "\\?", "\\\\"]
    for _ in 0..<20_000 {
      var text = ""
      var pattern = ""
      for _ in 0..<Int.random(in: 0...6, using: &generator) { text += letters.randomElement(using: &generator) ?? "" }
      for _ in 0..<Int.random(in: 0...5, using: &generator) { pattern += pieces.randomElement(using: &generator) ?? "" }
      let expected = isLike(Array(text.unicodeScalars)[...], Array(pattern.unicodeScalars)[...])
      #expect(
        try matches(text, .like, pattern) == expected, "\(text.debugDescription) LIKE \(pattern.debugDescription)")
      found += expected ? 1 : 0
    }
    #expect(found > 1_000)
  }

  // MARK: - MATCHES

  /// Random expressions of the subset, compared with Swift's own engine, which backtracks.
  @Test func matchesAgreesWithSwiftsRegex() throws {
    var generator = SeededGenerator(seed: 6)
    var found = 0
    for _ in 0..<2_000 {
      let pattern = expression(3, &generator)
      let reference = try Regex(pattern).matchingSemantics(.unicodeScalar)
      let program = try PredicateTest(.matches, pattern, [])
      for _ in 0..<8 {
        var text = ""
        for _ in 0..<Int.random(in: 0...5, using: &generator) {
          text += ["a", "b", "c", "é", "1", "_", " ", "\n"].randomElement(using: &generator) ?? ""
        }
        let expected = try reference.wholeMatch(in: text) != nil
        #expect(program.holds(text) == expected, "\(text.debugDescription) MATCHES \(pattern)")
        found += expected ? 1 : 0
      }
    }
    #expect(found > 1_000)
  }

  private func expression(_ depth: Int, _ generator: inout SeededGenerator) -> String {
    let atoms = [
      "a", "b", "é", "c", ".", "[ab]", "[^a]", "[a-c1]", "\\d", "\\w", "\\s", "\\D", "\\W", "\\S", "[\\d_]", "[^\\w]",
      "\\.",
    ]
    guard depth > 0 else { return atoms.randomElement(using: &generator) ?? "a" }
    let one = expression(depth - 1, &generator)
    switch Int.random(in: 0..<7, using: &generator) {
    case 0: return one + expression(depth - 1, &generator)
    case 1: return "(\(one)|\(expression(depth - 1, &generator)))"
    case 2: return "(\(one))*"
    case 3: return "(?:\(one))+"
    case 4: return "(\(one))?"
    case 5: return "(\(one)){1,2}"
    default: return one
    }
  }

  /// A backtracking matcher would practically never finish these.
  @Test func noPatternTakesMoreThanTextTimesProgram() throws {
    let text = String(repeating: "a", count: 20_000)
    for pattern in ["(a*)*b", "(a|a)*b", "(a|aa)+b", "(.*)(.*)(.*)(.*)(.*)b", "(a?){100}a{100}b", "((a+)+)+b"] {
      #expect(!(try matches(text, .matches, pattern)))
      #expect(try matches(text + "b", .matches, pattern.replacing("a{100}b", with: "a*b")))
    }
    #expect(try matches(text, .matches, "(a*)*"))
    #expect(!(try matches(text, .like, "*a*a*a*a*a*a*a*a*b")))
  }

  @Test func anchorsAndEmptyAlternativesAreAccepted() throws {
    #expect(try matches("ab", .matches, "^ab$"))
    #expect(try matches("ab", .matches, "(^a|x)(b$|)"))
    #expect(!(try matches("ab", .matches, "a^b")))
    #expect(!(try matches("ab", .matches, "a$b")))
    #expect(try matches("", .matches, ""))
    #expect(try matches("", .matches, "^$"))
    #expect(try matches("a", .matches, "(|a|b)"))
    #expect(try matches("{}", .matches, "\\{\\}"))
    #expect(try matches("]}", .matches, "]}"))
    #expect(try matches("-a", .matches, "[a-][-a]"))
    #expect(try matches("aaa", .matches, "a{3}") && !matches("aaaa", .matches, "a{3}"))
    #expect(try matches("aaaa", .matches, "a{2,}") && !matches("a", .matches, "a{2,}?"))
    #expect(try matches("日本2", .matches, "\\w\\w\\d"))
  }

  // MARK: - Folding

  @Test func foldingIsCanonicalDecompositionWithoutMarksForEveryScalar() {
    var differing = 0
    // Scalars beyond these do not decompose.
    for value in UInt32(0)..<0x30000 {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let text = String(scalar)
      let decomposed = text.decomposedStringWithCanonicalMapping.unicodeScalars
      let expected = decomposed.filter { $0.properties.canonicalCombiningClass == .notReordered }
      let folded = TextModifiers.ignoringDiacritics.folded(text).unicodeScalars
      if !folded.elementsEqual(expected) { differing += 1 }
    }
    #expect(differing == 0)
  }

  /// The table for short scalars, the path for ASCII and the general path give the same result.
  @Test func aRowIsFoldedLikeAPattern() {
    var generator = SeededGenerator(seed: 9)
    let bounds: [UInt32] = [0x7F, 0x250, 0x7FF, 0x800, 0x1FFFF]
    for _ in 0..<5_000 {
      let bound = bounds.randomElement(using: &generator) ?? 0
      var text = ""
      for _ in 0..<Int.random(in: 0...8, using: &generator) {
        text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 1...bound, using: &generator)) ?? "İ")
      }
      for modifiers in [TextModifiers.ignoringCase, .ignoringDiacritics, [.ignoringCase, .ignoringDiacritics]] {
        let row = text.withUTF8 { modifiers.withFolded($0) { Array($0) } }
        #expect(row == Array(modifiers.folded(text).utf8), "\(text.debugDescription)")
      }
    }
    // Invalid UTF-8 is repaired, as everywhere.
    for bytes: [UInt8] in [[0xC3], [0x41, 0xC3, 0x28], [0x80, 0x41], [0xC0, 0x80], [0xFF]] {
      let row = bytes.withUnsafeBufferPointer { TextModifiers.ignoringCase.withFolded($0) { Array($0) } }
      #expect(row == Array(String(decoding: bytes, as: UTF8.self).lowercased().utf8))
    }
  }

  @Test func foldingATextIsFoldingItsParts() {
    var generator = SeededGenerator(seed: 8)
    let pieces = ["a", "B", "é", "E\u{301}", "İ", "ß", "Å", "K", "한", "🦊", "\u{301}", "Σ", "が", "ﬁ", " "]
    for _ in 0..<3_000 {
      let (a, b) = (
        pieces.randomElement(using: &generator) ?? "", pieces.randomElement(using: &generator) ?? ""
      )
      for modifiers in [TextModifiers.ignoringCase, .ignoringDiacritics, [.ignoringCase, .ignoringDiacritics]] {
        #expect(modifiers.folded(a + b).utf8.elementsEqual((modifiers.folded(a) + modifiers.folded(b)).utf8))
        // Texts that Swift treats as equal have the same fold without marks, however the marks are composed.
        if a == b, modifiers.contains(.ignoringDiacritics) { #expect(modifiers.folded(a) == modifiers.folded(b)) }
      }
    }
  }

  @Test(arguments: [
    ("Éte\u{301}", "ete", true), ("한", "\u{1112}\u{1161}\u{11AB}", true), ("İstanbul", "istanbul", true),
    ("Straße", "STRASSE", false), ("Åse", "a\u{30A}SE", true), ("ПРИВЁТ", "привет", true), ("Ω", "ω", true),
  ])
  func caseAndDiacriticsAreFoldedForEveryOperator(text: String, other: String, isSame: Bool) throws {
    let both: TextModifiers = [.ignoringCase, .ignoringDiacritics]
    for op in [Predicate.Operator.equal, .contains, .beginsWith, .endsWith, .like, .matches] {
      #expect(try matches(text, op, other, both) == isSame)
      #expect(try matches(other, op, text, both) == isSame)
    }
    #expect(PredicateTest(oneOf: ["x", other, "y"], both).holds(text) == isSame)
  }

  @Test func aClassIsFoldedWithTheText() throws {
    #expect(try matches("DSCF", .matches, "[a-d][R-T][A-C]f", .ignoringCase))
    #expect(!(try matches("é", .matches, "[e]", .ignoringCase)))
    #expect(try matches("É", .matches, "[é]", .ignoringCase))
    #expect(try matches("é", .matches, "[é]", .ignoringDiacritics))
    #expect(!(try matches("A", .matches, "[^a]", .ignoringCase)))
    #expect(try matches("Ü", .matches, "[ä-ü]", .ignoringCase))
  }
}
