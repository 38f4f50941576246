/// Formats a number with a noun in the singular or plural: `1 file`, `2 files`.
package func counted<Number: BinaryInteger>(_ number: Number, _ one: String, _ many: String) -> String {
  "\(number) \(number == 1 ? one : many)"
}
