/// The folds of the scalars with one or two bytes of UTF-8: ASCII, Latin, Greek, Cyrillic, Hebrew, Arabic, and their
/// combining marks. Texts of these scalars are folded by bytes, ten times as fast as by Unicode's properties.
struct FoldingTable: Sendable {
  /// The table holds the scalars below this one.
  private static let end: UInt32 = 0x800
  /// A text with this byte, or a higher one, has scalars that are not in the table.
  static let firstByteBeyond: UInt8 = 0xE0

  /// The bytes of each fold, the first one lowest. A fold has at most twice as many bytes as its scalar.
  private let bytes: [UInt32]
  private let counts: [UInt8]

  static func of(_ modifiers: TextModifiers) -> FoldingTable { tables[Int(modifiers.rawValue & 3)] }

  private static let tables = (0...3).map { FoldingTable(TextModifiers(rawValue: $0)) }

  private init(_ modifiers: TextModifiers) {
    var (bytes, counts) = ([UInt32](), [UInt8]())
    for scalar in (0..<Self.end).compactMap(Unicode.Scalar.init) {
      let folded = modifiers.folded(String(scalar)).utf8
      // No fold is longer in any version of Unicode so far. A longer one would be computed from Unicode's properties.
      let fits = folded.count <= (scalar.isASCII ? 2 : 4)
      bytes.append(fits ? folded.reversed().reduce(0) { $0 << 8 | UInt32($1) } : 0)
      counts.append(fits ? UInt8(folded.count) : Self.tooLong)
    }
    self.bytes = bytes
    self.counts = counts
  }

  private static let tooLong: UInt8 = 255

  /// - Parameter folded: must be twice as long as the text.
  /// - Returns: the number of bytes of the fold; `nil` if the text has scalars that are not in the table, or is not
  ///   UTF-8.
  func fold(_ utf8: UnsafeBufferPointer<UInt8>, into folded: UnsafeMutableBufferPointer<UInt8>) -> Int? {
    var (index, written) = (0, 0)
    while index < utf8.count {
      let first = utf8[index]
      var scalar = Int(first)
      index += 1
      if first >= 0x80 {
        guard first >= 0xC2, first < Self.firstByteBeyond, index < utf8.count, utf8[index] & 0xC0 == 0x80 else {
          return nil
        }
        scalar = Int(first & 0x1F) << 6 | Int(utf8[index] & 0x3F)
        index += 1
      }
      let count = counts[scalar]
      guard count != Self.tooLong else { return nil }
      var rest = bytes[scalar]
      for _ in 0..<count {
        folded[written] = UInt8(truncatingIfNeeded: rest)
        written += 1
        rest >>= 8
      }
    }
    return written
  }
}
