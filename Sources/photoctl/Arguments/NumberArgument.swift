/// Parses the number of an option. Without it, the parser's message would not say what is expected.
enum NumberArgument {
  struct Mistake: Error, Equatable, CustomStringConvertible {
    let description: String
  }

  /// - Parameter expected: the expected value, such as `a number, 1 or more`.
  /// - Throws: ``Mistake`` if the argument is not a whole number.
  static func whole(_ argument: String, _ expected: String) throws -> Int {
    guard let number = Int(argument) else { throw Mistake(description: "it must be \(expected)") }
    return number
  }

  /// - Parameter expected: the expected value, such as `a number of seconds`.
  /// - Throws: ``Mistake`` if the argument is not a number.
  static func real(_ argument: String, _ expected: String) throws -> Double {
    guard let number = Double(argument) else { throw Mistake(description: "it must be \(expected)") }
    return number
  }
}
