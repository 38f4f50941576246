/// Writes the text of predicates from what a person typed, whatever that is.
enum PredicateText {
  /// A text literal that means exactly these scalars.
  static func quoted(_ text: String) -> String {
    let escaped = text.replacingScalars { scalar in
      if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
      // What nobody could see in a message is written by its number.
      return Printable.isPlain(scalar) ? nil : "\\u{\(String(scalar.value, radix: 16))}"
    }
    return "'\(escaped)'"
  }

  /// The camera's make or model contains each of these words, so that `Fujifilm X-T5` is found in the make and the model.
  static func camera(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).map { quoted(String($0)) }
    let parts = words.map { "(camera.make CONTAINS[c] \($0) OR camera.model CONTAINS[c] \($0))" }
    return parts.joined(separator: " AND ")
  }

  static func keyword(_ text: String) -> String { "ANY keywords ==[c] \(quoted(text))" }

  /// Where the first parenthesis is that has no other, in Unicode scalars; `nil` if all have.
  ///
  /// A predicate that closes more than it opened would end the parentheses that are put around it.
  static func unmatchedParenthesis(in predicate: String) -> Int? {
    var open: [Int] = []
    var quote: Unicode.Scalar?
    var isEscaped = false
    for (index, scalar) in predicate.unicodeScalars.enumerated() {
      if let end = quote {
        if isEscaped {
          isEscaped = false
        } else if scalar == "\\" {
          isEscaped = true
        } else if scalar == end {
          quote = nil
        }
        continue
      }
      switch scalar {
      case "'", "\"": quote = scalar
      case "(": open.append(index)
      case ")": if open.popLast() == nil { return index }
      default: break
      }
    }
    return open.last
  }
}
