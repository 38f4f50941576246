/// A sort key as a number, so that lists can be searched without SQLite. The numbers of two values are in the order of
/// the values, or equal. For numbers and absent values, equal numbers mean equal values. For text, the number has the
/// first eight bytes.
enum SortNumber {
  /// NULL, before everything else (https://www.sqlite.org/datatype3.html#sort_order).
  static let absent: UInt64 = 0

  static func of(_ integer: Int64) -> UInt64 { max(UInt64(bitPattern: integer) ^ 1 << 63, 1) }

  /// The bits of IEEE 754 numbers are in the order of the numbers, except for the sign.
  static func of(_ real: Double) -> UInt64 {
    let bits = (real == 0 ? 0 : real).bitPattern
    return bits >> 63 == 1 ? ~bits : bits | 1 << 63
  }

  /// Text is compared by bytes (BINARY).
  static func of(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    for index in 0..<8 { number = number << 8 | (index < text.count ? UInt64(text[index]) : 0) }
    return number
  }
}
