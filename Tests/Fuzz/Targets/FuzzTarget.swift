/// A parser of bytes that photod did not write, and the rules that hold whatever these bytes are.
struct FuzzTarget: Sendable {
  let name: String
  /// The endings of real files whose beginnings are seeds.
  var endings: [String] = []
  /// Inputs that the target can make itself.
  var seeds: [[UInt8]] = []
  /// Parses one input. It traps if a rule is broken.
  let run: @Sendable (UnsafeRawBufferPointer) -> Void

  static let all =
    containers + [xmp, predicate, words, varlink, watchRecords, fileRecords, extractRecords, imageRecords, thumbnail]
}

/// Ends the program with a report if a rule is broken. libFuzzer then saves the input.
func require(_ rule: Bool, _ text: @autoclosure () -> String) {
  if !rule { fatalError("a rule is broken: \(text())") }
}
