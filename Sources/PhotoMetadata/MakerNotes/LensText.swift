/// The text of a lens that a camera describes by numbers, in the form that ExifTool gives it.
enum LensText {
  /// "18-70mm f/3.5-4.5", or "50mm f/1.8" for equal ends of a range or an unknown upper end.
  static func range(
    _ short: Double, _ long: Double?, _ unit: String, _ aperture: Double, _ apertureAtLong: Double?
  ) -> String? {
    func ends(_ low: Double, _ high: Double?) -> String {
      guard let high, high > 0, high != low else { return number(low) }
      return "\(number(low))-\(number(high))"
    }
    guard short.isFinite, short < 100_000, aperture < 1000 else { return nil }
    return ends(short, long) + unit + ends(aperture, apertureAtLong)
  }

  /// At most two decimals, without zeros at the end.
  private static func number(_ value: Double) -> String {
    let hundredths = Int((min(value, 1e9) * 100).rounded())
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    if rest == 0 { return "\(whole)" }
    return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
  }

  /// Sony's LensSpec of eight bytes: flags, both focal lengths and both apertures in decimal digits, flags.
  static func sony(_ bytes: [UInt8]) -> String? {
    func digits(_ bytes: ArraySlice<UInt8>) -> Double? {
      var value = 0
      for byte in bytes {
        guard byte >> 4 < 10, byte & 15 < 10 else { return nil }
        value = value * 100 + Int(byte >> 4) * 10 + Int(byte & 15)
      }
      return Double(value)
    }
    guard bytes.count == 8, let short = digits(bytes[1...2]), let long = digits(bytes[3...4]),
      let wide = digits(bytes[5...5]), let narrow = digits(bytes[6...6]), short > 0, wide > 0,
      long == 0 || long >= short, narrow == 0 || narrow >= wide,
      var text = range(short, long, "mm F", wide / 10, narrow / 10)
    else { return nil }
    let flags = UInt16(bytes[0]) << 8 | UInt16(bytes[7])
    for feature in features {
      guard let name = feature.names[flags & feature.mask] else { continue }
      text = feature.isPrefix ? "\(name) \(text)" : "\(text) \(name)"
    }
    return text
  }

  private static let features: [(mask: UInt16, names: [UInt16: String], isPrefix: Bool)] = [
    (0x4000, [0x4000: "PZ"], true),
    (0x0300, [0x0100: "DT", 0x0200: "FE", 0x0300: "E"], true),
    (0x00E0, [0x0020: "STF", 0x0040: "Reflex", 0x0060: "Macro", 0x0080: "Fisheye"], false),
    (0x000C, [0x0004: "ZA", 0x0008: "G"], false),
    (0x0003, [0x0001: "SSM", 0x0002: "SAM"], false),
    (0x8000, [0x8000: "OSS"], false),
    (0x2000, [0x2000: "LE"], false),
    (0x0800, [0x0800: "II"], false),
  ]
}
