import PhotoModel

/// The syntax tree of a regular expression of `MATCHES`.
///
/// ```
/// alternatives = sequence { "|" sequence }
/// sequence     = { piece }
/// piece        = atom [ ("*" | "+" | "?" | "{" m "}" | "{" m ",}" | "{" m "," n "}") [ "?" ] ]
/// atom         = scalar | "." | "^" | "$" | escape | class | "(" [ "?:" ] alternatives ")"
/// class        = "[" [ "^" ] { scalar | scalar "-" scalar | escape } "]"
/// escape       = "\" ( "d" | "D" | "w" | "W" | "s" | "S" | "n" | "t" | "r" | punctuation )
/// ```
/// This is the part of ICU's syntax, which NSPredicate uses, that describes a regular language. There are no
/// back-references, no lookaround and no possessive repetitions. A `?` after a repetition chooses between several
/// matches. It makes no difference here, because the whole text must match.
indirect enum RegexNode {
  case set(ScalarSet)
  /// A single scalar, already folded.
  case scalar(UInt32)
  case start, end
  case sequence([RegexNode])
  case alternatives([RegexNode])
  /// `most` is `nil` if there is no upper bound.
  case repeated(RegexNode, least: Int, most: Int?)
}

/// Parses the syntax of ``RegexNode`` by recursive descent.
struct RegexParser {
  /// The deepest nesting of parentheses.
  private static let maximumDepth = 50
  /// The largest number in `{m,n}`.
  private static let maximumCount = 1_000

  private let scalars: [Unicode.Scalar]
  private let modifiers: TextModifiers
  private var index = 0
  private var depth = 0

  init(_ pattern: String, _ modifiers: TextModifiers) {
    scalars = Array(pattern.unicodeScalars)
    self.modifiers = modifiers
  }

  mutating func parse() throws(PatternError) -> RegexNode {
    let node = try alternatives()
    guard index == scalars.count else {
      throw PatternError("this ) has no (; for the character itself, write \\\\)", at: index)
    }
    return node
  }

  private var peek: Unicode.Scalar? { index < scalars.count ? scalars[index] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard peek == scalar else { return false }
    index += 1
    return true
  }

  private mutating func alternatives() throws(PatternError) -> RegexNode {
    var nodes = [try sequence()]
    while take("|") { nodes.append(try sequence()) }
    return nodes.count == 1 ? nodes[0] : .alternatives(nodes)
  }

  private mutating func sequence() throws(PatternError) -> RegexNode {
    var nodes: [RegexNode] = []
    while let scalar = peek, scalar != "|", scalar != ")" { nodes.append(try repeated(try atom(scalar))) }
    return nodes.count == 1 ? nodes[0] : .sequence(nodes)
  }

  // MARK: - Repetition

  private mutating func repeated(_ node: RegexNode) throws(PatternError) -> RegexNode {
    let place = index
    let repeated: RegexNode
    if take("*") {
      repeated = .repeated(node, least: 0, most: nil)
    } else if take("+") {
      repeated = .repeated(node, least: 1, most: nil)
    } else if take("?") {
      repeated = .repeated(node, least: 0, most: 1)
    } else if take("{") {
      repeated = try counted(node, from: place)
    } else {
      return node
    }
    if peek == "+" { throw PatternError("possessive repetitions are not possible; leave out the +", at: index) }
    _ = take("?")
    if let scalar = peek, ["*", "+", "?", "{"].contains(scalar) {
      throw PatternError("one repetition follows another; put the first one in (?: )", at: index)
    }
    return repeated
  }

  /// Parses a count after its opening brace.
  private mutating func counted(_ node: RegexNode, from place: Int) throws(PatternError) -> RegexNode {
    let least = number()
    var most = least
    if take(",") {
      most = number()
      if most == nil, peek != "}" { throw Self.malformedCount(at: place) }
    }
    guard let least, take("}") else { throw Self.malformedCount(at: place) }
    guard max(least, most ?? 0) <= Self.maximumCount else {
      throw PatternError("a repetition can count to \(Self.maximumCount) at most", at: place)
    }
    guard most.map({ $0 >= least }) ?? true else {
      throw PatternError("the second number of {m,n} is less than the first", at: place)
    }
    return .repeated(node, least: least, most: most)
  }

  private static func malformedCount(at place: Int) -> PatternError {
    PatternError("{ begins a count such as {3}, {2,} or {2,5}; for the character itself, write \\\\{", at: place)
  }

  private mutating func number() -> Int? {
    var value: Int?
    while let scalar = peek, ("0"..."9").contains(scalar) {
      value = min((value ?? 0) * 10 + Int(scalar.value - 48), 1_000_000)
      index += 1
    }
    return value
  }

  // MARK: - Atoms

  private mutating func atom(_ scalar: Unicode.Scalar) throws(PatternError) -> RegexNode {
    let place = index
    index += 1
    switch scalar {
    case ".": return .set(ScalarSet(categories: [(.lineEnd, true)]))
    case "^": return .start
    case "$": return .end
    case "[": return .set(try set(from: place))
    case "(": return try group(from: place)
    case "*", "+", "?":
      throw PatternError(
        "there is nothing before \(scalar) to repeat; for the character itself, write \\\\\(scalar)", at: place)
    case "{": throw Self.malformedCount(at: place)
    case "\\":
      switch try escaped(at: place) {
      case .category(let category, let isNegated): return .set(ScalarSet(categories: [(category, isNegated)]))
      case .scalar(let meant): return literal(meant)
      }
    default: return literal(scalar)
    }
  }

  /// A scalar as a node. Its fold may be several scalars, one, or none.
  private func literal(_ scalar: Unicode.Scalar) -> RegexNode {
    guard !modifiers.isEmpty else { return .scalar(scalar.value) }
    let folded = modifiers.folded(String(scalar)).unicodeScalars.map { RegexNode.scalar($0.value) }
    return folded.count == 1 ? folded[0] : .sequence(folded)
  }

  private mutating func group(from place: Int) throws(PatternError) -> RegexNode {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else {
      throw PatternError("there are more than \(Self.maximumDepth) nested parentheses", at: place)
    }
    if take("?"), !take(":") {
      throw PatternError(
        "of the groups that begin with (?, only (?: ) is possible; to ignore case, write MATCHES[c]", at: place)
    }
    let inner = try alternatives()
    guard take(")") else { throw PatternError("this ( has no ); for the character itself, write \\\\(", at: place) }
    return inner
  }

  private enum Escape {
    case scalar(Unicode.Scalar)
    case category(ScalarSet.Category, isNegated: Bool)
  }

  /// Parses an escape after its backslash.
  private mutating func escaped(at place: Int) throws(PatternError) -> Escape {
    guard let scalar = peek else {
      throw PatternError("nothing follows the backslash at the end of the pattern", at: place)
    }
    index += 1
    switch scalar {
    case "d": return .category(.digit, isNegated: false)
    case "D": return .category(.digit, isNegated: true)
    case "w": return .category(.word, isNegated: false)
    case "W": return .category(.word, isNegated: true)
    case "s": return .category(.space, isNegated: false)
    case "S": return .category(.space, isNegated: true)
    case "n": return .scalar("\n")
    case "t": return .scalar("\t")
    case "r": return .scalar("\r")
    case "1"..."9":
      throw PatternError("back-references are not possible: they can't be matched in linear time", at: place)
    case "a"..."z", "A"..."Z", "0":
      throw PatternError(
        "\\\(scalar) is not possible; the escapes are \\d \\w \\s \\D \\W \\S \\n \\t \\r, and \\ before a sign",
        at: place)
    default: return .scalar(scalar)
    }
  }

  // MARK: - Classes

  /// Parses a class after its opening bracket.
  private mutating func set(from place: Int) throws(PatternError) -> ScalarSet {
    var ranges: [ClosedRange<UInt32>] = []
    var categories: [(category: ScalarSet.Category, isNegated: Bool)] = []
    let isNegated = take("^")
    while let scalar = peek, scalar != "]" {
      let itemPlace = index
      switch try item() {
      case .category(let category, let isNegated): categories.append((category, isNegated))
      case .scalar(let low):
        guard peek == "-", index + 1 < scalars.count, scalars[index + 1] != "]" else {
          ranges.append(low.value...low.value)
          continue
        }
        index += 1
        guard case .scalar(let high) = try item(), low.value <= high.value else {
          throw PatternError(
            "a range goes from a character up to another, as in a-z; for the character - itself, write \\-",
            at: itemPlace)
        }
        ranges.append(low.value...high.value)
      }
    }
    guard take("]") else { throw PatternError("this [ has no ]; for the character itself, write \\\\[", at: place) }
    guard !ranges.isEmpty || !categories.isEmpty else {
      throw PatternError("the class is empty; for the character ] itself, write \\]", at: place)
    }
    return ScalarSet(ranges: ranges, categories: categories, isNegated: isNegated, modifiers: modifiers)
  }

  private mutating func item() throws(PatternError) -> Escape {
    let place = index
    let scalar = scalars[index]
    index += 1
    switch scalar {
    case "\\": return try escaped(at: place)
    case "[": throw PatternError("a class can't be within another; for the character [ itself, write \\[", at: place)
    case "&", "-":
      guard peek == scalar else { return .scalar(scalar) }
      throw PatternError(
        "classes can't be combined by \(scalar)\(scalar); for the character itself, write \\\\\(scalar)", at: place)
    default: return .scalar(scalar)
    }
  }
}
