import PhotoModel
import PredicateLanguage

/// Completes a predicate of `--where` at the cursor: a key, its operator, or a value that photos in the library have.
///
/// A shell closes the quote of the option when only one candidate remains. So a key that is complete comes together with
/// each of its operators, and an operator with each value. Then several candidates remain until the predicate can end.
struct PredicateCompletion: Sendable {
  let source: CompletionSource
  let socket: String?
  /// The shell's quote around the predicate, if it is open. Values then have the other quote.
  let shellQuote: Unicode.Scalar?

  /// - Parameter text: the predicate up to the cursor, without the shell's quotes.
  /// - Returns: whole predicates up to the end of the completed word.
  func candidates(_ text: String) async -> [Candidate] {
    let beginning = PredicateBeginning(text)
    let begun = beginning.begun
    let continuations: [Candidate] =
      switch beginning.continuation {
      case .key(let isQuantified): await keys(begun, isQuantified)
      case .comparisonOperator(let key, let isQuantified): await operators(of: key, begun, isQuantified)
      case .value(let key, let name, let isQuantified):
        await values(of: key, name, isQuantified, begun, quote: beginning.quote)
      case .connective: await connectives(begun, after: beginning.before)
      case .none: []
      }
    return continuations.map { Candidate(beginning.before + $0.text, $0.description) }
  }

  private func keys(_ begun: String, _ isQuantified: Bool) async -> [Candidate] {
    let known = await source.keys(socket).predicateKeys
      .filter { !isQuantified || PredicateKey(rawValue: $0)?.isList == true }
    let matches = known.filter { $0.hasPrefix(begun) }
    let words = isQuantified ? [] : ["ANY", "ALL", "NONE", "NOT"].filter { $0.hasPrefix(begun.uppercased()) }
    if matches.isEmpty, words.count == 1 {
      return await keys("", words[0] != "NOT").map { Candidate("\(words[0]) \($0.text)") }
    }
    // A key can be the beginning of another one: location and location.latitude.
    guard let name = matches.first(where: { $0 == begun }) ?? (words.isEmpty && matches.count == 1 ? matches[0] : nil),
      let key = PredicateKey(rawValue: name)
    else { return (matches + words.map { $0 + " " }).map { Candidate($0) } }
    return matches.filter { $0 != name }.map { Candidate($0) }
      + Self.operatorNames(of: key, isQuantified).map { Candidate("\(name) \($0)") }
  }

  /// A list that needs ANY, ALL or NONE can be compared with nil only.
  private static func operatorNames(of key: PredicateKey, _ isQuantified: Bool) -> [String] {
    key.needsQuantifier && !isQuantified ? ["==", "!="] : key.valueType.operatorNames
  }

  private func operators(of key: PredicateKey, _ begun: String, _ isQuantified: Bool) async -> [Candidate] {
    let usual = ["=": "==", "<>": "!=", "=<": "<=", "=>": ">="][begun] ?? begun.uppercased()
    let matches = Self.operatorNames(of: key, isQuantified).filter { $0.hasPrefix(usual) }
    guard let name = matches.first(where: { $0 == usual }) ?? (matches.count == 1 ? matches[0] : nil) else {
      return matches.map { Candidate($0) }
    }
    // The spelling of the typed operator stays, so that the shell finds it in each candidate.
    let written = name == usual && !begun.isEmpty ? begun : name
    let start = ["IN", "BETWEEN", "NEAR"].contains(name) ? "\(written) {" : "\(written) "
    let values = await values(of: key, name, isQuantified, "", quote: nil)
    return matches.filter { $0 != name }.map { Candidate($0) }
      + (values.isEmpty ? [Candidate(start)] : values.map { Candidate(start + $0.text, $0.description) })
  }

  private func values(
    of key: PredicateKey, _ name: String, _ isQuantified: Bool, _ begun: String, quote: Unicode.Scalar?
  ) async -> [Candidate] {
    let type = key.valueType
    let isEquality = name == "==" || name == "!="
    let hasNil = isEquality && !isQuantified && quote == nil && type.mayBeNil && "nil".hasPrefix(begun.lowercased())
    let absent = hasNil ? [Candidate("nil")] : []
    if key.needsQuantifier, !isQuantified { return absent }
    if type.isWrittenInQuotes, quote == nil, !begun.isEmpty { return absent }
    let found: [Candidate]
    if let names = type.names {
      found = names.filter { $0.hasPrefix(begun) }.map { Candidate($0) }
    } else if !Self.patternOperators.contains(name), let valueKey = Self.valueKey(key, begun) {
      found = await source.values(socket, valueKey, begun).map { value, count in
        Candidate(value, Text.count(count, "asset", "assets"))
      }
    } else {
      found = []
    }
    // If nil were the only candidate, Tab would insert it although the person wants to type another value.
    if found.isEmpty, begun.isEmpty, type != .place { return [] }
    guard type.isWrittenInQuotes else { return found + absent }
    let literalQuote = quote ?? (shellQuote == "'" ? "\"" : "'")
    return found.map { Candidate(Self.literal($0.text, literalQuote), $0.description) } + absent
  }

  /// The operators whose text is a pattern, in which the characters of a value may have another meaning.
  private static let patternOperators: Set<String> = ["LIKE", "MATCHES", "NEAR"]

  /// The key of ListValues whose values a key has; nil if the library cannot list them.
  private static func valueKey(_ key: PredicateKey, _ begun: String) -> String? {
    switch key {
    // A year is offered first, then its months, then the days of a month.
    case .creationDate: begun.utf8.count < 5 ? "year" : begun.utf8.count < 8 ? "month" : "day"
    case .cameraMake, .cameraModel, .cameraLens, .cameraISO, .cameraFNumber, .cameraFocalLengthMillimeters, .rating,
      .keywords, .contentType:
      key.rawValue
    case .resourcesContentType: "contentType"
    case .path, .resourcesPath: "folder"
    default: nil
    }
  }

  private static func literal(_ text: String, _ quote: Unicode.Scalar) -> String {
    let escaped = text.unicodeScalars.reduce(into: "") { result, scalar in
      if scalar == quote || scalar == "\\" { result += "\\" }
      result.unicodeScalars.append(scalar)
    }
    return "\(quote)\(escaped)\(quote)"
  }

  private func connectives(_ begun: String, after text: String) async -> [Candidate] {
    let space = begun.isEmpty && text.unicodeScalars.last.map { !$0.properties.isWhitespace } ?? false ? " " : ""
    let words = ["AND", "OR"].filter { $0.hasPrefix(begun.uppercased()) }
    guard words.count == 1 else { return words.map { Candidate("\(space)\($0) ") } }
    return await keys("", false).map { Candidate("\(space)\(words[0]) \($0.text)") }
  }
}

extension PredicateKey.ValueType {
  /// All values of this type, if they are few.
  fileprivate var names: [String]? {
    switch self {
    case .boolean: ["true", "false"]
    case .mediaType: ["image", "video", "audio", "unknown"]
    case .mediaSubtype: MediaSubtypes.each.flatMap(\.names)
    case .dateSource: ["user", "metadata", "filename", "file"]
    case .integer, .real, .string, .date, .place: nil
    }
  }

  /// Whether a value of this type can be absent, so that a comparison with nil is useful.
  fileprivate var mayBeNil: Bool {
    switch self {
    case .integer, .real, .string, .mediaSubtype, .place: true
    case .boolean, .date, .mediaType, .dateSource: false
    }
  }
}
