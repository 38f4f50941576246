// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// One pattern of the configuration's `ignore`. A name that it matches is not wanted, and nothing below that name is.
///
/// The language is that of gitignore(5) without negation (`!`). It works on bytes: no encoding, no locale, and case
/// counts.
///
/// The slashes decide where a pattern applies. One at the very end only means that the pattern matches directories
/// alone:
/// - without a slash (`Exports`, `*.gif`): any name, at any depth below a root;
/// - with one in it (`Cache/tmp`): the path below the root, from its beginning;
/// - with one at its beginning (`/home/me/Pictures/raw/*.tif`): the whole path, after symbolic links are resolved.
///
/// Between slashes, a pattern consists of:
/// - `*`: any number of bytes; `?`: one byte (so an `é` of two bytes needs two);
/// - `[abc]`, `[a-z]`: one of these bytes; `[!a]`, `[^a]`: any other byte; a `]` must come first, a `-` first or last;
/// - `\`: the next byte literally; every other byte stands for itself;
/// - `**` alone: any number of directories, or none. At the end (`Cache/**`) it means everything in the directory. It
///   then matches the directory itself, which is not entered. Beside other bytes it is the same as `*`.
///
/// There is no special rule for a leading dot, because hidden names are never wanted. A root itself never matches.
public struct IgnorePattern: Hashable, Sendable {
  /// Longer patterns are refused.
  public static let maximumBytes = 4096

  enum Scope: Hashable {
    case name, path, absolutePath
  }

  enum Component: Hashable {
    case glob(Glob)
    /// `**`
    case anyDirectories
  }

  /// The pattern as the user wrote it.
  public let text: [UInt8]
  let scope: Scope
  let isForDirectoriesOnly: Bool
  let components: [Component]

  /// - Throws: `IgnorePatternError`. A pattern that could never match is refused rather than ignored.
  public init(_ text: [UInt8]) throws(IgnorePatternError) {
    self.text = text
    guard !text.isEmpty else { throw IgnorePatternError("it is empty") }
    guard text.count <= Self.maximumBytes else { throw IgnorePatternError("it has over \(Self.maximumBytes) bytes") }
    guard !text.contains(0) else { throw IgnorePatternError("it contains a NUL, which no name contains") }
    guard text.first != UInt8(ascii: "!") else {
      throw IgnorePatternError("a pattern can't begin with !; for a name that begins with !, write \\!")
    }
    let slash = UInt8(ascii: "/")
    var body = text[...]
    var onlyDirectories = false
    if body.last == slash {
      onlyDirectories = true
      body.removeLast()
    }
    scope = body.first == slash ? .absolutePath : body.contains(slash) ? .path : .name
    if scope == .absolutePath { body.removeFirst() }
    var components: [Component] = []
    for part in body.split(separator: slash, omittingEmptySubsequences: false) {
      guard !part.isEmpty else { throw IgnorePatternError("there is nothing between two slashes") }
      let isDots = part.elementsEqual(Array(".".utf8)) || part.elementsEqual(Array("..".utf8))
      guard !isDots else { throw IgnorePatternError("\(String(decoding: part, as: UTF8.self)) is no name") }
      if part.elementsEqual(Array("**".utf8)), scope != .name {
        if components.last != .anyDirectories { components.append(.anyDirectories) }
      } else {
        components.append(.glob(try Glob(part)))
      }
    }
    // A pattern for everything in a directory is one for the directory, as far as photos go. Then it costs no watch.
    if components.last == .anyDirectories {
      components.removeLast()
      onlyDirectories = true
    }
    let isAnywhere = scope == .name || components.first == .anyDirectories
    let names = components.filter { $0 != .anyDirectories }
    guard !names.isEmpty, onlyDirectories || !isAnywhere || names != [.glob(.anything)] else {
      throw IgnorePatternError("it would ignore everything")
    }
    isForDirectoriesOnly = onlyDirectories
    self.components = components
  }

  /// Whether the whole path, which is `folder` followed by `name`, matches.
  /// - Complexity: at most the path's components times the pattern's, each comparison as stated at `Glob`.
  func matches(_ folder: [ArraySlice<UInt8>], _ name: ArraySlice<UInt8>) -> Bool {
    func part(_ index: Int) -> ArraySlice<UInt8> { index < folder.count ? folder[index] : name }
    // The end comes first, because it rules out most names.
    var patternEnd = components.count
    var pathEnd = folder.count + 1
    while patternEnd > 0, case .glob(let glob) = components[patternEnd - 1] {
      guard pathEnd > 0, glob.matches(part(pathEnd - 1)) else { return false }
      patternEnd -= 1
      pathEnd -= 1
    }
    if patternEnd == 0 { return pathEnd == 0 }
    var (position, at) = (0, 0)
    var retry: (position: Int, at: Int)?
    while at < pathEnd {
      if position < patternEnd {
        switch components[position] {
        case .anyDirectories:
          position += 1
          retry = (position, at)
          continue
        case .glob(let glob):
          if glob.matches(part(at)) {
            position += 1
            at += 1
            continue
          }
        }
      }
      guard let last = retry else { return false }
      retry = (last.position, last.at + 1)
      (position, at) = (last.position, last.at + 1)
    }
    return components[position..<patternEnd].allSatisfy { $0 == .anyDirectories }
  }
}

/// Why a text is no pattern, as a clause: "there is nothing between two slashes".
public struct IgnorePatternError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// A pattern for one name.
struct Glob: Hashable {
  enum Token: Hashable {
    case byte(UInt8)
    case anyByte
    /// A set of bytes, in 256 bits.
    case oneOf(SIMD4<UInt64>)
    case anyBytes

    func matches(_ byte: UInt8) -> Bool {
      switch self {
      case .byte(let wanted): byte == wanted
      case .anyByte: true
      case .oneOf(let set): set[Int(byte >> 6)] & (1 << UInt64(byte & 63)) != 0
      case .anyBytes: false
      }
    }
  }

  private let tokens: [Token]
  private let minimumLength: Int

  /// `*`
  static let anything = Glob(tokens: [.anyBytes])

  private init(tokens: [Token]) {
    self.tokens = tokens
    minimumLength = tokens.count { $0 != .anyBytes }
  }

  init(_ text: ArraySlice<UInt8>) throws(IgnorePatternError) {
    var tokens: [Token] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "*"): if tokens.last != .anyBytes { tokens.append(.anyBytes) }
      case UInt8(ascii: "?"): tokens.append(.anyByte)
      case UInt8(ascii: "["): tokens.append(try Self.set(&rest))
      case UInt8(ascii: "\\"):
        guard let literal = rest.popFirst() else { throw IgnorePatternError("nothing follows the \\ at its end") }
        tokens.append(.byte(literal))
      default: tokens.append(.byte(byte))
      }
    }
    self.init(tokens: tokens)
  }

  /// Reads a set from behind its `[`.
  private static func set(_ rest: inout ArraySlice<UInt8>) throws(IgnorePatternError) -> Token {
    var set = SIMD4<UInt64>()
    var isNegated = false
    if rest.first == UInt8(ascii: "!") || rest.first == UInt8(ascii: "^") {
      isNegated = true
      rest.removeFirst()
    }
    func literal(_ rest: inout ArraySlice<UInt8>) throws(IgnorePatternError) -> UInt8 {
      guard var byte = rest.popFirst() else { throw IgnorePatternError("a [ has no ]") }
      if byte == UInt8(ascii: "[") {
        if let next = rest.first, [UInt8(ascii: ":"), UInt8(ascii: "."), UInt8(ascii: "=")].contains(next) {
          throw IgnorePatternError("classes like [:alpha:] are not possible, because bytes have no locale")
        }
      } else if byte == UInt8(ascii: "\\") {
        guard let escaped = rest.popFirst() else { throw IgnorePatternError("a [ has no ]") }
        byte = escaped
      }
      return byte
    }
    var isFirst = true
    while isFirst || rest.first != UInt8(ascii: "]") {
      isFirst = false
      let low = try literal(&rest)
      var high = low
      if rest.first == UInt8(ascii: "-"), rest.dropFirst().first != UInt8(ascii: "]") {
        rest.removeFirst()
        high = try literal(&rest)
        guard low <= high else {
          throw IgnorePatternError("a range in [ ] must go from the lower to the higher byte")
        }
      }
      for byte in low...high { set[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
    }
    rest.removeFirst()
    return .oneOf(isNegated ? ~set : set)
  }

  /// - Complexity: at most the name's bytes times the tokens between two `*`. The tokens after a `*` are searched for
  ///   from the left, and never again once found. No pattern costs more.
  func matches(_ name: ArraySlice<UInt8>) -> Bool {
    guard name.count >= minimumLength else { return false }
    if let last = tokens.last, last != .anyBytes, let byte = name.last, !last.matches(byte) { return false }
    var (position, at) = (0, name.startIndex)
    var retry: (position: Int, at: Int)?
    while at < name.endIndex {
      if position < tokens.count {
        if tokens[position] == .anyBytes {
          position += 1
          retry = (position, at)
          continue
        }
        if tokens[position].matches(name[at]) {
          position += 1
          at += 1
          continue
        }
      }
      guard let last = retry else { return false }
      retry = (last.position, last.at + 1)
      (position, at) = (last.position, last.at + 1)
    }
    return tokens[position...].allSatisfy { $0 == .anyBytes }
  }
}
