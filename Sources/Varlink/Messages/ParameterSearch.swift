/// Finds the first member of a JSON text that its shape does not allow: an unknown member, or one beyond its bound.
///
/// It runs before the parameters are decoded, so that a list that is too long costs only one pass over its text.
struct ParameterSearch {
  /// The longest part of an unknown name that the error repeats. A name may have megabytes.
  private static let longestName = 100

  private let text: UnsafeBufferPointer<UInt8>
  private let types: [String: VarlinkShape]
  private var position = 0

  /// - Parameters:
  ///   - text: found to be well formed by ``JSONScanner``.
  ///   - types: of the interface, by name.
  /// - Returns: such as `options.colection` or `requests[0].edit`; nil if all members are allowed.
  /// - Complexity: O(n) for the length of the text.
  static func firstFault(
    in text: UnsafeBufferPointer<UInt8>, shape: VarlinkShape, types: [String: VarlinkShape]
  ) -> String? {
    var search = ParameterSearch(text: text, types: types)
    return search.fault(in: shape).map {
      String(String.UnicodeScalarView($0.unicodeScalars.prefix(Self.longestName)))
    }
  }

  private init(text: UnsafeBufferPointer<UInt8>, types: [String: VarlinkShape]) {
    self.text = text
    self.types = types
  }

  /// - Returns: the path of the fault within this value, which is empty if the value itself is beyond its bound.
  private mutating func fault(in shape: VarlinkShape) -> String? {
    switch (shape, next()) {
    case (.named(let name), _): return fault(in: types[name] ?? .any)
    case (.object(let members), UInt8(ascii: "{")): return faultInObject { members[$0] }
    case (.dictionary(let element), UInt8(ascii: "{")): return faultInObject { _ in element }
    case (.array(let element, let maximum), UInt8(ascii: "[")): return faultInArray(element, maximum ?? .max)
    case (.string(let maximum), UInt8(ascii: "\"")): return measureString() > maximum ? "" : nil
    default:
      skip()
      return nil
    }
  }

  private mutating func faultInObject(_ shape: (String) -> VarlinkShape?) -> String? {
    position += 1
    while position < text.count, next() != UInt8(ascii: "}") {
      let name = name()
      guard let shape = shape(name) else { return name }
      _ = next()
      position += 1  // the colon
      if let inner = fault(in: shape) { return inner.isEmpty || inner.first == "[" ? name + inner : "\(name).\(inner)" }
      if next() == UInt8(ascii: ",") { position += 1 }
    }
    position += 1
    return nil
  }

  private mutating func faultInArray(_ element: VarlinkShape, _ maximum: Int) -> String? {
    position += 1
    var index = 0
    while position < text.count, next() != UInt8(ascii: "]") {
      guard index < maximum else { return "" }
      if let inner = fault(in: element) {
        return inner.isEmpty || inner.first == "[" ? "[\(index)]\(inner)" : "[\(index)].\(inner)"
      }
      index += 1
      if next() == UInt8(ascii: ",") { position += 1 }
    }
    position += 1
    return nil
  }

  /// The next byte after white space, or 0 at the end.
  private mutating func next() -> UInt8 {
    while position < text.count, [0x20, 0x09, 0x0A, 0x0D].contains(text[position]) { position += 1 }
    return position < text.count ? text[position] : 0
  }

  /// Reads a member's name. Escapes are decoded, so that another spelling does not hide an unknown name.
  private mutating func name() -> String {
    let start = position
    skipString()
    let quoted = UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[start..<min(position, text.count)]))
    if quoted.contains(UInt8(ascii: "\\")) {
      do { return try JSONCoding.decode(String.self, from: quoted) } catch { return "\u{FFFD}" }
    }
    return String(decoding: text[start + 1..<max(start + 1, position - 1)], as: UTF8.self)
  }

  private mutating func skipString() {
    position += 1
    while position < text.count, text[position] != UInt8(ascii: "\"") {
      position += text[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position += 1
  }

  /// Skips a string.
  ///
  /// - Returns: its bytes as UTF-8, without quotes and escapes.
  private mutating func measureString() -> Int {
    var count = 0
    position += 1
    while position < text.count, text[position] != UInt8(ascii: "\"") {
      if text[position] != UInt8(ascii: "\\") {
        position += 1
        count += 1
      } else if position + 1 < text.count, text[position + 1] == UInt8(ascii: "u") {
        count += byteCount(ofEscape: text[min(position + 2, text.count)..<min(position + 6, text.count)])
        position += 6
      } else {
        position += 2
        count += 1
      }
    }
    position += 1
    return count
  }

  /// - Parameter digits: the four hexadecimal digits. Each half of a surrogate pair has two of the four bytes of its scalar.
  private func byteCount(ofEscape digits: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
    let code = digits.reduce(0) { $0 << 4 | Int($1 <= UInt8(ascii: "9") ? $1 & 0xF : $1 & 0xF + 9) }
    return switch code {
    case ..<0x80: 1
    case ..<0x800, 0xD800..<0xE000: 2
    default: 3
    }
  }

  /// Skips a whole value of any type.
  private mutating func skip() {
    var depth = 0
    repeat {
      switch next() {
      case UInt8(ascii: "\""): skipString()
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        position += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        position += 1
      case UInt8(ascii: ","), UInt8(ascii: ":"): position += 1
      default:
        // A number or a literal.
        while position < text.count, !Self.endsLiteral(text[position]) { position += 1 }
      }
    } while depth > 0 && position < text.count
  }

  private static func endsLiteral(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x09, 0x0A, 0x0D: true
    default: false
    }
  }
}
