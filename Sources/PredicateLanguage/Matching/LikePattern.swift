import PhotoModel

/// The error in a pattern, and the index of its scalar.
struct PatternError: Error, Hashable {
  let message: String
  let offset: Int

  init(_ message: String, at offset: Int) {
    self.message = message
    self.offset = offset
  }
}

/// A pattern of `LIKE` for the whole text. `*` matches any scalars, including none, and `?` matches one scalar. `\*`,
/// `\?` and `\\` match the characters themselves.
struct LikePattern: Sendable {
  /// Each element is a byte of UTF-8, or one of the two values below.
  private let elements: [UInt16]
  private static let one: UInt16 = 256
  private static let any: UInt16 = 257

  var byteCount: Int { elements.count * MemoryLayout<UInt16>.stride }

  /// - Parameter modifiers: those of the comparison. ``matches(_:)`` takes folded texts.
  init(_ pattern: String, _ modifiers: TextModifiers) throws(PatternError) {
    var elements: [UInt16] = []
    var literal = String.UnicodeScalarView()
    func finishLiteral() {
      elements += modifiers.folded(String(literal)).utf8.map(UInt16.init)
      literal = String.UnicodeScalarView()
    }
    var escape: Int?
    for (offset, scalar) in pattern.unicodeScalars.enumerated() {
      switch scalar {
      case _ where escape != nil:
        guard scalar == "*" || scalar == "?" || scalar == "\\" else {
          throw PatternError(
            "in a pattern of LIKE, a backslash must be followed by *, ? or another backslash", at: offset - 1)
        }
        literal.append(scalar)
        escape = nil
      case "\\": escape = offset
      case "*":
        finishLiteral()
        if elements.last != Self.any { elements.append(Self.any) }
      case "?":
        finishLiteral()
        elements.append(Self.one)
      default: literal.append(scalar)
      }
    }
    if let escape { throw PatternError("nothing follows the backslash at the end of the pattern", at: escape) }
    finishLiteral()
    self.elements = elements
  }

  /// - Complexity: O(n · m) at worst, about O(n) for usual patterns, because only the last `*` is ever retried.
  func matches(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
    var text = 0
    var element = 0
    /// The element after the last `*`, and the position up to which the `*` matches.
    var star: (element: Int, text: Int)?
    var steps = BudgetedSteps()
    while text < utf8.count {
      guard steps.mayTake() else { return false }
      if element < elements.count {
        switch elements[element] {
        case Self.any:
          element += 1
          star = (element, text)
          continue
        case Self.one:
          text = Self.next(utf8, text)
          element += 1
          continue
        case UInt16(utf8[text]):
          text += 1
          element += 1
          continue
        default: break
        }
      }
      guard let last = star else { return false }
      text = Self.next(utf8, last.text)
      element = last.element
      star = (element, text)
    }
    return elements[element...].allSatisfy { $0 == Self.any }
  }

  /// The position of the next scalar.
  private static func next(_ utf8: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int {
    var index = index + 1
    while index < utf8.count, utf8[index] & 0xC0 == 0x80 { index += 1 }
    return index
  }
}
