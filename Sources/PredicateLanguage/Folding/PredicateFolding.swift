/// How texts are compared: exactly, without regard to case (`[c]`), to diacritics (`[d]`), or to both.
package struct TextModifiers: OptionSet, Hashable, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// `[c]`, as defined by ``CaseFolding``.
  package static let ignoringCase = TextModifiers(rawValue: 1)
  /// `[d]`: combining marks are removed from the canonical decomposition. A mark has a canonical combining class other
  /// than 0.
  package static let ignoringDiacritics = TextModifiers(rawValue: 2)

  /// The folded text: all texts that these modifiers treat as equal have the same. Each scalar is folded by itself, so
  /// the fold of a text is the folds of its parts in a row.
  package func folded(_ text: String) -> String {
    var text = text
    if contains(.ignoringCase) { text = CaseFolding.fold(text) }
    if contains(.ignoringDiacritics) { text = Self.withoutDiacritics(text) }
    return text
  }

  /// Calls `body` with the folded text. For ASCII and the other scalars of ``FoldingTable``, only long texts need
  /// memory on the heap.
  func withFolded<Result>(
    _ utf8: UnsafeBufferPointer<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result
  ) -> Result {
    guard !isEmpty else { return body(utf8) }
    var highest: UInt8 = 0
    var hasUpper = false
    for byte in utf8 {
      highest = max(highest, byte)
      hasUpper = hasUpper || byte &- 65 < 26
    }
    if highest < 0x80, !(hasUpper && contains(.ignoringCase)) { return body(utf8) }
    let result: Result? =
      highest >= FoldingTable.firstByteBeyond
      ? nil
      : withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 2 * utf8.count) { folded in
        FoldingTable.of(self).fold(utf8, into: folded).map { body(UnsafeBufferPointer(rebasing: folded[..<$0])) }
      }
    if let result { return result }
    var text = folded(String(decoding: utf8, as: UTF8.self))
    return text.withUTF8(body)
  }

  private static func withoutDiacritics(_ text: String) -> String {
    guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
    var rest = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isASCII {
        rest.append(scalar)
      } else if let jamo = hangul(scalar) {
        rest.append(contentsOf: jamo)
      } else if let decomposed = CanonicalDecompositions.withoutMarks(scalar) {
        rest.append(contentsOf: decomposed)
      } else if scalar.properties.canonicalCombiningClass == .notReordered {
        rest.append(scalar)
      }
    }
    return String(rest)
  }

  /// https://www.unicode.org/versions/latest/core-spec/chapter-3/#G56669
  private static func hangul(_ scalar: Unicode.Scalar) -> [Unicode.Scalar]? {
    guard (0xAC00...0xD7A3).contains(scalar.value) else { return nil }
    let index = scalar.value - 0xAC00
    let trailing = index % 28
    let jamo = [0x1100 + index / 588, 0x1161 + index % 588 / 28] + (trailing == 0 ? [] : [0x11A7 + trailing])
    return jamo.compactMap(Unicode.Scalar.init)
  }
}

extension TextModifiers: CustomStringConvertible {
  /// The modifiers as written after an operator: nothing, `[c]`, `[d]` or `[cd]`.
  package var description: String {
    let letters = (contains(.ignoringCase) ? "c" : "") + (contains(.ignoringDiacritics) ? "d" : "")
    return letters.isEmpty ? "" : "[\(letters)]"
  }
}
