/// Formats a number with a noun in the singular or plural: `1 file`, `1,234 files`.
package func counted<Number: BinaryInteger>(_ number: Number, _ one: String, _ many: String) -> String {
  "\(grouped(number)) \(number == 1 ? one : many)"
}

/// Formats a number with a comma for every thousand.
package func grouped<Number: BinaryInteger>(_ number: Number) -> String {
  let digits = String(number.magnitude)
  var text = number < 0 ? "-" : ""
  for (index, digit) in digits.enumerated() {
    if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
    text.append(digit)
  }
  return text
}

/// Formats a size in the unit in which it has at most three digits: `3.4 MB`.
package func byteText(_ count: Int64) -> String {
  var value = Double(count)
  for unit in ["bytes", "kB", "MB", "GB"] {
    if value < 1000 { return unit == "bytes" ? "\(count) bytes" : "\(roundedText(value)) \(unit)" }
    value /= 1000
  }
  return "\(roundedText(value)) TB"
}

/// Formats a number with at most this many decimals, without zeros at the end.
package func roundedText(_ value: Double, decimals: Int = 1) -> String {
  let scale = (0..<decimals).reduce(1 as UInt64) { scale, _ in scale * 10 }
  let scaled = (value * Double(scale)).rounded()
  guard scaled.magnitude < 1e16 else { return "\(value)" }
  let (whole, rest) = Int64(scaled).magnitude.quotientAndRemainder(dividingBy: scale)
  var text = "\(scaled < 0 ? "-" : "")\(whole)"
  guard rest > 0 else { return text }
  let digits = String(rest)
  text += "." + String(repeating: "0", count: decimals - digits.count) + digits
  while text.hasSuffix("0") { text.removeLast() }
  return text
}
