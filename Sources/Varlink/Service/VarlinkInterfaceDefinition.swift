/// The content of an interface file: its name and the names of its definitions.
/// (https://varlink.org/Interface-Definition)
///
/// The parser reads only as much as a service needs to know which methods exist. It checks the brackets of parameters
/// and does not resolve types.
public struct VarlinkInterfaceDefinition: Sendable, Hashable {
  /// The reverse-domain name, such as `org.example.library`.
  public let name: String
  /// The methods in the order of the file, without the interface's name.
  public let methods: [String]
  /// The errors in the order of the file, without the interface's name.
  public let errors: [String]
  /// The types in the order of the file.
  public let types: [String]
  /// The members of each method's parameters, and of each type, by name.
  public private(set) var parameterShapes: [String: VarlinkShape]
  /// The members of each type, by name.
  public private(set) var typeShapes: [String: VarlinkShape]
  /// The unchanged text, including comments. GetInterfaceDescription returns it.
  public let text: String

  /// The reason why a text is not an interface definition.
  public struct SyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The text that was expected there.
    public let expected: String
    /// The line and the expected text, for a log.
    public var description: String { "line \(line): \(expected) was expected" }
  }

  /// Parses an interface file. Comments start with `#` or `//` and go on to the end of the line.
  ///
  /// - Throws: `SyntaxError`, also for a name that is defined twice.
  /// - Complexity: O(text).
  public init(parsing text: String) throws(SyntaxError) {
    var scanner = Scanner(text)
    try scanner.expect("interface")
    let name = try scanner.word("an interface name") { Self.isInterfaceName($0) }
    var methods: [String] = []
    var errors: [String] = []
    var types: [String] = []
    var (parameterShapes, typeShapes): ([String: VarlinkShape], [String: VarlinkShape]) = ([:], [:])
    var seen: Set<String> = []
    while let keyword = scanner.next() {
      guard keyword == "method" || keyword == "error" || keyword == "type" else {
        throw scanner.error("method, error or type")
      }
      let member = try scanner.word("a name that starts with a capital letter") { Self.isMemberName($0) }
      guard seen.insert(member).inserted else { throw scanner.error("another name than \(member), which is taken,") }
      switch keyword {
      case "method":
        parameterShapes[member] = VarlinkShape(try scanner.skipBrackets())
        try scanner.expect("->")
        try scanner.skipBrackets()
        methods.append(member)
      case "error":
        try scanner.skipBrackets()
        errors.append(member)
      default:
        typeShapes[member] = VarlinkShape(try scanner.skipBrackets())
        types.append(member)
      }
    }
    self.name = name
    self.methods = methods
    self.errors = errors
    self.types = types
    self.parameterShapes = parameterShapes
    self.typeShapes = typeShapes
    self.text = text
  }

  /// The same definition with bounds.
  ///
  /// - Parameter bounds: by method or type and member, such as `GetAssets.ids`.
  /// - Precondition: the definition has all these members.
  func bounded(by bounds: [String: VarlinkBound]) -> VarlinkInterfaceDefinition {
    var definition = self
    for (place, bound) in bounds {
      let names = place.split(separator: ".").map(String.init)
      precondition(names.count == 2, "\(place) is no member of \(name)")
      let isBounded =
        Self.bind(names[1], in: &definition.parameterShapes[names[0]], by: bound)
        || Self.bind(names[1], in: &definition.typeShapes[names[0]], by: bound)
      precondition(isBounded, "\(name) has no \(place)")
    }
    return definition
  }

  private static func bind(_ member: String, in shape: inout VarlinkShape?, by bound: VarlinkBound) -> Bool {
    guard case .object(var members) = shape, let old = members[member] else { return false }
    members[member] = old.bounded(by: bound)
    shape = .object(members)
    return true
  }

  /// Whether the word has two or more parts joined by dots, of letters, digits and inner hyphens. The first part starts
  /// with a letter.
  static func isInterfaceName(_ word: Substring) -> Bool {
    let parts = word.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count >= 2, word.utf8.first.map(isLetter) == true else { return false }
    return parts.allSatisfy { part in
      guard let first = part.utf8.first, let last = part.utf8.last else { return false }
      return isAlphanumeric(first) && isAlphanumeric(last)
        && part.utf8.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
    }
  }

  private static func isMemberName(_ word: Substring) -> Bool {
    guard let first = word.utf8.first, UInt8(ascii: "A")...UInt8(ascii: "Z") ~= first else { return false }
    return word.utf8.allSatisfy(isAlphanumeric)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isLetter(byte) || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }
}

/// Reads the words, brackets and arrows of an interface file.
private struct Scanner {
  private let text: Substring.UTF8View
  private var position: Substring.UTF8View.Index
  private var line = 1

  init(_ text: String) {
    self.text = Substring(text).utf8
    position = self.text.startIndex
  }

  /// The next word or sign; nil at the end.
  mutating func next() -> Substring? {
    skipBlanks()
    guard position < text.endIndex else { return nil }
    let start = position
    if text[start...].starts(with: "->".utf8) {
      text.formIndex(&position, offsetBy: 2)
    } else if Self.isWordByte(text[position]) {
      while position < text.endIndex, Self.isWordByte(text[position]), !text[position...].starts(with: "->".utf8) {
        text.formIndex(after: &position)
      }
    } else {
      // A sign, or a character of any length that does not occur in definitions.
      text.formIndex(after: &position)
      while position < text.endIndex, text[position] & 0xC0 == 0x80 { text.formIndex(after: &position) }
    }
    return Substring(text[start..<position])
  }

  mutating func expect(_ word: Substring) throws(VarlinkInterfaceDefinition.SyntaxError) {
    guard next() == word else { throw error(String(word)) }
  }

  mutating func word(
    _ expected: String, where isValid: (Substring) -> Bool
  ) throws(VarlinkInterfaceDefinition.SyntaxError) -> String {
    guard let word = next(), isValid(word) else { throw error(expected) }
    return String(word)
  }

  /// Reads from an opening parenthesis to its closing one.
  ///
  /// - Returns: the words and signs between them.
  @discardableResult
  mutating func skipBrackets() throws(VarlinkInterfaceDefinition.SyntaxError) -> [Substring] {
    try expect("(")
    var words: [Substring] = []
    var depth = 1
    while depth > 0 {
      guard let word = next() else { throw error("a closing parenthesis") }
      if word == "(" { depth += 1 }
      if word == ")" { depth -= 1 }
      if depth > 0 { words.append(word) }
    }
    return words
  }

  func error(_ expected: String) -> VarlinkInterfaceDefinition.SyntaxError {
    VarlinkInterfaceDefinition.SyntaxError(line: line, expected: expected)
  }

  private mutating func skipBlanks() {
    while position < text.endIndex {
      switch text[position] {
      case UInt8(ascii: "\n"):
        line += 1
        text.formIndex(after: &position)
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"):
        text.formIndex(after: &position)
      case UInt8(ascii: "#"):
        skipLine()
      case UInt8(ascii: "/") where text[position...].starts(with: "//".utf8):
        skipLine()
      default:
        return
      }
    }
  }

  private mutating func skipLine() {
    position = text[position...].firstIndex(of: UInt8(ascii: "\n")) ?? text.endIndex
  }

  private static func isWordByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
      return true
    default:
      return false
    }
  }
}
