/// A number of bytes, written as `2 GiB` or `1500000`.
struct ByteSize: Hashable, Comparable, Sendable, CustomStringConvertible {
  var byteCount: Int64

  /// With less room, pictures that were just sent would fill the store.
  static let minimumCache = ByteSize(byteCount: 16 << 20)
  /// The index of the store is in memory, with some 40 bytes for each picture.
  static let maximumCache = ByteSize(byteCount: 1 << 40)

  private static let units: [(name: String, byteCount: Int64)] = [
    ("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
  ]

  init(byteCount: Int64) { self.byteCount = byteCount }

  /// Reads a whole number of bytes, or a decimal number with a unit. There may be a space before the unit.
  ///
  /// - Returns: nil if it is neither, or does not fit in 63 bits.
  init?(_ text: String) {
    guard let unit = Self.units.first(where: { text.hasSuffix($0.name) }) else {
      guard let byteCount = Int64(text), byteCount >= 0 else { return nil }
      self.byteCount = byteCount
      return
    }
    let number = text.dropLast(unit.name.count).reversed().drop { $0 == " " }.reversed()
    guard let first = number.first, first.isASCII, first.isNumber, number.allSatisfy({ "0123456789.".contains($0) }),
      let value = Double(String(number)), let byteCount = Int64(exactly: (value * Double(unit.byteCount)).rounded())
    else { return nil }
    self.byteCount = byteCount
  }

  static func < (one: ByteSize, other: ByteSize) -> Bool { one.byteCount < other.byteCount }

  /// The largest unit that divides it, else bytes.
  var description: String {
    guard byteCount > 0, let unit = Self.units.first(where: { byteCount % $0.byteCount == 0 }) else {
      return String(byteCount)
    }
    return "\(byteCount / unit.byteCount) \(unit.name)"
  }
}
