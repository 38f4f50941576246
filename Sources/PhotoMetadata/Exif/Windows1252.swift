/// The character set that most programs of the time before Unicode wrote: Latin-1, with quotation marks, dashes and other
/// characters in place of the control characters 0x80 to 0x9F. Browsers, too, read texts that claim to be Latin-1 in this
/// way (https://encoding.spec.whatwg.org/#names-and-labels).
enum Windows1252 {
  /// The characters of the bytes from 0x80 on; 0 if the byte has none
  /// (https://www.unicode.org/Public/MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT).
  private static let characters: [UInt16] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
    0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E,
    0x0178,
  ]

  /// The character of a byte; nil if it has none.
  static func scalar(_ byte: UInt8) -> Unicode.Scalar? {
    guard (0x80...0x9F).contains(byte) else { return Unicode.Scalar(byte) }
    let character = characters[Int(byte) - 0x80]
    return character == 0 ? nil : Unicode.Scalar(character)
  }
}
