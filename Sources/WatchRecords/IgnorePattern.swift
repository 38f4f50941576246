// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// One pattern of the configuration's `ignore`: what it matches is not wanted, with all below it.
///
/// The language is that of gitignore(5) without taking back (`!`), and about bytes: no encoding, no locale, case counts.
///
/// Where a pattern applies is said by its slashes; one at its very end says only that nothing but directories match:
/// - without a slash (`Exports`, `*.gif`): any name, at any depth below a root;
/// - with one in it (`Cache/tmp`): the path below the root, from its beginning;
/// - with one at its beginning (`/home/me/Pictures/raw/*.tif`): the whole path, in which no link is left.
///
/// What it consists of, between slashes:
/// - `*`: any bytes, or none; `?`: one byte (so an `é` of two bytes takes two);
/// - `[abc]`, `[a-z]`: one byte of these; `[!a]`, `[^a]`: one of the others; a `]` stands first, a `-` first or last;
/// - `\`: the next byte as it is; every other byte: itself;
/// - `**` alone: any number of directories, or none; at the end (`Cache/**`) all that is in the directory, which is the
///   directory: it is not entered. Beside other bytes it is `*`.
///
/// A hidden name needs no leading dot: hidden names are not wanted anyway. A root itself never matches.
public struct IgnorePattern: Hashable, Sendable {
  /// Longer ones are refused.
  public static let maximumBytes = 4096

  enum Scope: Hashable {
    case name, path, absolutePath
  }

  enum Component: Hashable {
    case glob(Glob)
    /// `**`
    case anyDirectories
  }

  /// As it was written.
  public let text: [UInt8]
  let scope: Scope
  let isForDirectoriesOnly: Bool
  let components: [Component]

  /// - throws: `IgnorePatternError` with what is wrong: what could never match is refused, rather than ignored.
  public init(_ text: [UInt8]) throws(IgnorePatternError) {
    self.text = text
    guard !text.isEmpty else { throw IgnorePatternError("it is empty") }
    guard text.count <= Self.maximumBytes else { throw IgnorePatternError("it has over \(Self.maximumBytes) bytes") }
    guard !text.contains(0) else { throw IgnorePatternError("it holds a NUL, which no name does") }
    guard text.first != UInt8(ascii: "!") else {
      throw IgnorePatternError("nothing is taken back by !; a name that begins so is written \\!")
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
    // All that is in a directory is the directory, as far as photos go: it costs no watch then.
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

  /// Whether the path, which is `folder` and then `name`, matches from its beginning to its end.
  /// - complexity: at most its components times the pattern's, each compared as `Glob` says.
  func matches(_ folder: [ArraySlice<UInt8>], _ name: ArraySlice<UInt8>) -> Bool {
    func part(_ index: Int) -> ArraySlice<UInt8> { index < folder.count ? folder[index] : name }
    // The end first: most names are told apart by it.
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

/// What is wrong with a pattern, as a clause: "there is nothing between two slashes".
public struct IgnorePatternError: Error, Hashable, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}

/// A pattern for one name.
struct Glob: Hashable {
  enum Token: Hashable {
    case byte(UInt8)
    case anyByte
    /// Of 256 bits.
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
        guard let literal = rest.popFirst() else { throw IgnorePatternError("a \\ at its end takes no byte") }
        tokens.append(.byte(literal))
      default: tokens.append(.byte(byte))
      }
    }
    self.init(tokens: tokens)
  }

  /// What follows a `[`.
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
          throw IgnorePatternError("classes like [:alpha:] are not known: bytes have no locale")
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
          throw IgnorePatternError("a range in [ ] goes backwards")
        }
      }
      for byte in low...high { set[Int(byte >> 6)] |= 1 << UInt64(byte & 63) }
    }
    rest.removeFirst()
    return .oneOf(isNegated ? ~set : set)
  }

  /// - complexity: at most the name's bytes times the tokens between two `*`: what follows a `*` is looked for from the
  ///   left, and once found never again. No pattern makes it more.
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
