/// `1 file`, `2 files`: a number with the words for one, or for any other number.
package func counted<Number: BinaryInteger>(_ number: Number, _ one: String, _ many: String) -> String {
  "\(number) \(number == 1 ? one : many)"
}
