import PhotoModel

/// Parses ISO 6709's text form of a place: latitude, longitude and perhaps altitude, each with its sign.
///
/// `+47.3750+008.5333+400.0/` is in degrees. More digits before the point add minutes and seconds: `+4722.50`,
/// `+472230.0`.
enum GeographicPoint {
  static func parse(_ text: some Sequence<UInt8>) -> Location? {
    var numbers: [(digits: Int, value: Double, sign: Double)] = []
    var digits = 0
    var value = 0.0
    var fraction = 0.0
    var scale = 0.0
    var sign: Double?
    func finish() {
      if let sign, digits > 0 { numbers.append((digits, value + fraction, sign)) }
      (digits, value, fraction, scale, sign) = (0, 0, 0, 0, nil)
    }
    for byte in text {
      switch byte {
      case UInt8(ascii: "+"), UInt8(ascii: "-"):
        finish()
        guard numbers.count < 3 else { return nil }
        sign = byte == UInt8(ascii: "+") ? 1 : -1
      case 0x30...0x39 where sign != nil:
        if scale > 0 {
          fraction += Double(byte - 0x30) * scale
          scale /= 10
        } else {
          guard digits < 9 else { return nil }
          value = value * 10 + Double(byte - 0x30)
          digits += 1
        }
      case UInt8(ascii: ".") where scale == 0: scale = 0.1
      default:
        // The end, or a reference system: "CRSWGS_84/".
        finish()
        return location(numbers)
      }
    }
    finish()
    return location(numbers)
  }

  private static func location(_ numbers: [(digits: Int, value: Double, sign: Double)]) -> Location? {
    guard numbers.count >= 2, let latitude = degrees(numbers[0], whole: 2),
      let longitude = degrees(numbers[1], whole: 3)
    else { return nil }
    return Location(ofFile: latitude, longitude, altitude: numbers.count > 2 ? numbers[2].sign * numbers[2].value : nil)
  }

  /// - Parameter whole: the digits of the degrees, if the number contains minutes too.
  private static func degrees(_ number: (digits: Int, value: Double, sign: Double), whole: Int) -> Double? {
    switch number.digits - whole {
    case ...0: return number.sign * number.value
    case 2:
      let degrees = (number.value / 100).rounded(.down)
      return number.sign * (degrees + (number.value - degrees * 100) / 60)
    case 4:
      let degrees = (number.value / 10_000).rounded(.down)
      let rest = number.value - degrees * 10_000
      let minutes = (rest / 100).rounded(.down)
      return number.sign * (degrees + minutes / 60 + (rest - minutes * 100) / 3600)
    default: return nil
    }
  }
}
