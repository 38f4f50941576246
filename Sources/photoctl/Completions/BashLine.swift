/// A bash command line up to the cursor, split into words as bash does, and the replacements for the last word.
///
/// bash passes the line as typed to a completion. It replaces only the end of the last word: the part after the last
/// character of `COMP_WORDBREAKS`, or after an open quote.
struct BashLine {
  /// The words before the last, without their quotes.
  private(set) var words: [String] = []
  /// The word at the cursor, without its quotes.
  private(set) var current = ""
  /// The part of ``current`` that stays before the replacement.
  private var kept = ""
  /// The quote that is open at the cursor.
  private(set) var quote: Unicode.Scalar?

  /// - Parameter wordBreaks: the value of `COMP_WORDBREAKS`.
  init(_ line: String, wordBreaks: String = " \t\n\"'@><=;|&(:") {
    var isEscaped = false
    var isInWord = false
    let breaks = Set(wordBreaks.unicodeScalars)
    for scalar in line.unicodeScalars {
      if isEscaped {
        isEscaped = false
        // In double quotes, a backslash is literal unless one of these follows.
        if quote != nil, !"\"\\$`\n".unicodeScalars.contains(scalar) { current += "\\" }
        current.unicodeScalars.append(scalar)
        continue
      }
      if let open = quote {
        if scalar == open {
          quote = nil
          kept = current
        } else if scalar == "\\", open == "\"" {
          isEscaped = true
        } else {
          current.unicodeScalars.append(scalar)
        }
        continue
      }
      switch scalar {
      case "\\":
        isEscaped = true
        isInWord = true
      case "'", "\"":
        quote = scalar
        isInWord = true
        kept = current
      case " ", "\t", "\n":
        if isInWord { endWord() }
        isInWord = false
      default:
        current.unicodeScalars.append(scalar)
        isInWord = true
        if breaks.contains(scalar) { kept = current }
      }
    }
    // `A=1 photoctl` first sets a variable.
    while words.first?.isAssignment == true { words.removeFirst() }
    if !words.isEmpty { words.removeFirst() }
  }

  private mutating func endWord() {
    words.append(current)
    current = ""
    kept = ""
  }

  /// The text that bash must insert so that the word becomes `text`; `nil` if `text` does not begin like the word.
  ///
  /// - Parameter ignoringCase: whether letters may differ in case.
  func replacement(for text: String, ignoringCase: Bool = false) -> String? {
    let scalars = Array(text.unicodeScalars)
    let begun = Array(current.unicodeScalars)
    guard scalars.count >= begun.count else { return nil }
    let begins = zip(scalars, begun).allSatisfy {
      $0 == $1 || (ignoringCase && $0.properties.lowercaseMapping == $1.properties.lowercaseMapping)
    }
    // The part that stays on the line must match exactly.
    guard begins, scalars.starts(with: kept.unicodeScalars) else { return nil }
    let rest = String(String.UnicodeScalarView(scalars.dropFirst(kept.unicodeScalars.count)))
    guard let quote else { return rest.replacingScalars { $0.isPlainInShell ? nil : "\\\($0)" } }
    let quoted = rest.replacingScalars { scalar in
      if quote == "'" { return scalar == "'" ? "'\\''" : nil }
      // A backslash before ! would remain, so the quotes end before it and begin again after it.
      return "\"\\$`".unicodeScalars.contains(scalar) ? "\\\(scalar)" : scalar == "!" ? "\"\\!\"" : nil
    }
    // bash appends the closing quote itself, unless the word seems to end with one.
    return quoted.unicodeScalars.last == quote ? "\(quoted)\(quote)" : quoted
  }
}

extension Unicode.Scalar {
  fileprivate var isPlainInShell: Bool {
    switch self {
    case "a"..."z", "A"..."Z", "0"..."9", "_", ".", "/", ",", ":", "=", "@", "%", "+", "-": true
    default: value >= 0x80
    }
  }
}

extension String {
  fileprivate var isAssignment: Bool {
    guard let equals = firstIndex(of: "="), equals != startIndex else { return false }
    return self[..<equals].utf8.allSatisfy {
      ($0 | 0x20) >= 0x61 && ($0 | 0x20) <= 0x7A || $0 == 0x5F || (48...57).contains($0)
    }
  }
}
