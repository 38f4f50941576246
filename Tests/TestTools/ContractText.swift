/// The types, methods and errors of an interface file, with the members, optionality, enum words and bounds that
/// `VarlinkInterfaceDefinition` does not keep.
package struct ContractText {
  package indirect enum Shape: Hashable, Sendable {
    /// `bool`, `int`, `float` or `string`.
    case scalar(String)
    case named(String)
    case words([String])
    case array(Shape)
    case dictionary(Shape)
    case object([String: Member])
  }

  package struct Member: Hashable, Sendable {
    package var shape: Shape
    package var isOptional: Bool

    package init(shape: Shape, isOptional: Bool) {
      self.shape = shape
      self.isOptional = isOptional
    }
  }

  /// The size of a member that a `bounds:` line states.
  package struct Bound: Hashable, Sendable {
    package var count: Int?
    package var bytes: Int?

    package init(count: Int? = nil, bytes: Int? = nil) {
      self.count = count
      self.bytes = bytes
    }
  }

  package struct SyntaxError: Error { let found: String }

  package private(set) var types: [String: Shape] = [:]
  package private(set) var requests: [String: Shape] = [:]
  package private(set) var replies: [String: Shape] = [:]
  package private(set) var errors: [String: Shape] = [:]
  /// By method or type and member, such as `GetAssets.ids`.
  package private(set) var bounds: [String: Bound] = [:]

  package init(_ text: String) throws {
    try readBounds(text)
    var reader = Reader(text)
    try reader.expect("interface")
    _ = try reader.next()
    while !reader.isAtEnd {
      let keyword = try reader.next()
      let name = try reader.next()
      switch keyword {
      case "type": types[name] = try reader.shape()
      case "error": errors[name] = try reader.shape()
      case "method":
        requests[name] = try reader.shape()
        try reader.expect("->")
        replies[name] = try reader.shape()
      default: throw SyntaxError(found: keyword)
      }
    }
  }

  /// Reads lines such as `# bounds: kinds 16 of 64 bytes, title 1,000 bytes`, each of which is above a type or a method.
  private mutating func readBounds(_ text: String) throws {
    var pending: Substring?
    for line in text.split(separator: "\n") {
      if line.hasPrefix("# bounds: ") {
        pending = line.dropFirst("# bounds: ".count)
      } else if let found = line.firstMatch(of: /^(?:type|method) (\w+)/), let bounds = pending {
        for bound in bounds.split(separator: ", ") {
          guard let match = bound.wholeMatch(of: /(\w+) ([\d,]+)(?: of ([\d,]+))?( bytes)?/) else {
            throw SyntaxError(found: String(bound))
          }
          let (number, bytes) = (Self.number(match.2), match.3.map(Self.number))
          self.bounds["\(found.1).\(match.1)"] =
            match.4 != nil && bytes == nil ? Bound(bytes: number) : Bound(count: number, bytes: bytes)
        }
        pending = nil
      }
    }
    if let pending { throw SyntaxError(found: String(pending)) }
  }

  private static func number(_ text: Substring) -> Int { Int(text.filter(\.isNumber)) ?? 0 }

  private struct Reader {
    private var tokens: ArraySlice<String>

    init(_ text: String) {
      var tokens: [String] = []
      for line in text.split(separator: "\n") {
        var word = ""
        for character in line.prefix(while: { $0 != "#" }) + " " {
          if character.isLetter || character.isNumber || character == "." || "->".contains(character) {
            word.append(character)
          } else {
            if !word.isEmpty { tokens.append(word) }
            if !character.isWhitespace { tokens.append(String(character)) }
            word = ""
          }
        }
      }
      self.tokens = tokens[...]
    }

    var isAtEnd: Bool { tokens.isEmpty }

    mutating func next() throws -> String {
      guard let token = tokens.popFirst() else { throw SyntaxError(found: "the end") }
      return token
    }

    mutating func expect(_ wanted: String) throws {
      let token = try next()
      guard token == wanted else { throw SyntaxError(found: token) }
    }

    mutating func shape() throws -> Shape {
      switch try next() {
      case "(": return try brackets()
      case "[":
        let key = try next()
        if key == "]" { return .array(try shape()) }
        try expect("]")
        return .dictionary(try shape())
      case let word: return word.first?.isUppercase == true ? .named(word) : .scalar(word)
      }
    }

    /// Members, or the words of an enum, up to the closing bracket.
    private mutating func brackets() throws -> Shape {
      var members: [String: Member] = [:]
      var words: [String] = []
      while true {
        let name = try next()
        if name == ")" { break }
        if name == "," { continue }
        guard tokens.first == ":" else {
          words.append(name)
          continue
        }
        try expect(":")
        let isOptional = tokens.first == "?"
        if isOptional { try expect("?") }
        members[name] = Member(shape: try shape(), isOptional: isOptional)
      }
      return words.isEmpty ? .object(members) : .words(words)
    }
  }
}
