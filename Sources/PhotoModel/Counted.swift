/// Formats a number with a noun in the singular or plural: `1 file`, `2 files`.
package func counted<Number: BinaryInteger>(_ number: Number, _ one: String, _ many: String) -> String {
  "\(number) \(number == 1 ? one : many)"
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

/// Formats a number with one decimal, unless that is 0.
package func roundedText(_ value: Double) -> String {
  guard value.magnitude < 1e15 else { return "\(value)" }
  let tenths = Int64((value * 10).rounded())
  return tenths % 10 == 0 ? "\(tenths / 10)" : "\(tenths / 10).\(abs(tenths % 10))"
}
