import PhotoModel

/// Writes predicates from any text that a person typed.
enum PredicateText {
  /// A text literal that means exactly these scalars.
  static func quoted(_ text: String) -> String {
    let escaped = text.replacingScalars { scalar in
      if scalar == "'" || scalar == "\\" { return "\\\(scalar)" }
      // A character that would be invisible in a message is written by its number.
      return Printable.isPlain(scalar) ? nil : "\\u{\(String(scalar.value, radix: 16))}"
    }
    return "'\(escaped)'"
  }

  /// The camera's make or model contains each of these words. So `Fujifilm X-T5` matches words of the make and the
  /// model.
  static func camera(_ text: String) -> String {
    let words = text.split(whereSeparator: \.isWhitespace).map { quoted(String($0)) }
    let parts = words.map { "(camera.make CONTAINS[c] \($0) OR camera.model CONTAINS[c] \($0))" }
    return parts.joined(separator: " AND ")
  }

  /// The lens's name contains each of these words.
  static func lens(_ text: String) -> String {
    text.split(whereSeparator: \.isWhitespace).map { "camera.lens CONTAINS[c] \(quoted(String($0)))" }
      .joined(separator: " AND ")
  }

  /// The path begins with this folder. A path that is not UTF-8 is a URI, also if its folder's path is UTF-8.
  static func under(_ folder: [UInt8]) -> String {
    let prefix = folder == [UInt8(ascii: "/")] ? folder : folder + [UInt8(ascii: "/")]
    let forms = [FilePath.text(prefix), FilePath.uri(prefix)]
    let parts = (forms[0] == forms[1] ? [forms[0]] : forms).map { "path BEGINSWITH \(quoted($0))" }
    return parts.count == 1 ? parts[0] : "(\(parts.joined(separator: " OR ")))"
  }

  static func keyword(_ text: String) -> String { "ANY keywords ==[c] \(quoted(text))" }

  /// The index of the first parenthesis without a counterpart, in Unicode scalars; `nil` if all of them match.
  ///
  /// A predicate that closes more than it opened would close the parentheses that are put around it.
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
