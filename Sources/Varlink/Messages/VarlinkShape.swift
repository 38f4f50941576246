/// The members that an interface file allows in a value, at any depth, and their bounds. The types of members are
/// checked by the decoder.
public indirect enum VarlinkShape: Sendable, Hashable {
  /// A value without members, or one whose members have any name.
  case any
  /// A string whose length in UTF-8 is bounded.
  case string(maximumBytes: Int)
  /// An object with these members.
  case object([String: VarlinkShape])
  /// A value of the type with this name.
  case named(String)
  /// - Parameter maximumCount: nil if any number of elements is allowed.
  case array(VarlinkShape, maximumCount: Int?)
  /// An object whose members have any name and values of one shape.
  case dictionary(VarlinkShape)

  /// - Parameter words: what stands between the outer brackets of a method's parameters or of a type. Words
  ///   that are no definition become ``any``: the interface file is checked elsewhere.
  init(_ words: [Substring]) {
    var reader = ShapeReader(words: words)
    self = reader.members() ?? .any
  }

  func bounded(by bound: VarlinkBound) -> VarlinkShape {
    let text = bound.bytes.map { VarlinkShape.string(maximumBytes: $0) }
    guard let count = bound.count else { return text ?? self }
    if case .array(let element, _) = self { return .array(element, maximumCount: count) }
    return .array(text ?? .any, maximumCount: count)
  }
}

/// The size limits of a member of a call's parameters.
public struct VarlinkBound: Sendable, Hashable {
  /// The most elements of an array.
  public var count: Int?
  /// The most bytes of a string as UTF-8, or of each string of an array.
  public var bytes: Int?

  /// Creates a bound. nil means that the number or the size is not bounded.
  public init(count: Int? = nil, bytes: Int? = nil) {
    self.count = count
    self.bytes = bytes
  }
}

private struct ShapeReader {
  let words: [Substring]
  private var index = 0

  init(words: [Substring]) { self.words = words }

  private mutating func next() -> Substring? {
    guard index < words.count else { return nil }
    index += 1
    return words[index - 1]
  }

  /// Reads up to the closing bracket or the end.
  mutating func members() -> VarlinkShape? {
    var members: [String: VarlinkShape] = [:]
    while let name = next() {
      if name == ")" { break }
      if name == "," { continue }
      switch next() {
      case ":":
        guard let shape = shape() else { return nil }
        members[String(name)] = shape
      // The words of an enum.
      case ",", nil: return skipBrackets()
      case ")": return .any
      default: return nil
      }
    }
    return .object(members)
  }

  private mutating func shape() -> VarlinkShape? {
    switch next() {
    case "?": return shape()
    case "(": return members()
    case "[":
      guard let key = next() else { return nil }
      if key == "]" { return shape().map { $0 == .any ? .any : .array($0, maximumCount: nil) } }
      guard next() == "]" else { return nil }
      return shape().map { $0 == .any ? .any : .dictionary($0) }
    case let word?: return word.utf8.first.map { $0 < 0x5B } == true ? .named(String(word)) : .any
    case nil: return nil
    }
  }

  private mutating func skipBrackets() -> VarlinkShape {
    var depth = 1
    while depth > 0, let word = next() { depth += word == "(" ? 1 : word == ")" ? -1 : 0 }
    return .any
  }
}
