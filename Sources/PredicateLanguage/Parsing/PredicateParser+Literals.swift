import PhotoModel

/// Parses literals, lists and patterns.
extension PredicateParser {
  mutating func list(for key: PredicateKey) throws(PredicateError) -> [Predicate.Literal] {
    let start = token.position
    guard try accept(sign: "{") else { throw unexpected("{ and the values of the list") }
    var values: [Predicate.Literal] = []
    if try accept(sign: "}") { return values }
    repeat {
      listValues += 1
      if listValues > Predicate.maximumListCount {
        throw PredicateError("the lists have more than \(Predicate.maximumListCount) values", at: token.position)
      }
      if isNil {
        throw PredicateError("nil can't be in a list; write \(key.rawValue) == nil OR …", at: token.position)
      }
      values.append(try literal(for: key, orNil: false))
    } while try accept(sign: ",")
    guard try accept(sign: "}") else { throw unexpected(", or } for the { at position \(start)") }
    return values
  }

  /// Parses the two values of BETWEEN.
  mutating func range(for key: PredicateKey) throws(PredicateError) -> (Predicate.Literal, Predicate.Literal) {
    guard try accept(sign: "{") else { throw unexpected("{ and two values, as in BETWEEN {1, 5}") }
    let low = try literal(for: key, orNil: false)
    guard try accept(sign: ",") else { throw unexpected(", and the upper end of BETWEEN") }
    let high = try literal(for: key, orNil: false)
    guard try accept(sign: "}") else { throw unexpected("} after the two values of BETWEEN") }
    return (low, high)
  }

  /// Parses the latitude, the longitude and the distance of NEAR.
  mutating func circle() throws(PredicateError) -> PlaceCircle {
    let example = "as in NEAR {52.52, 13.4, 5}"
    guard try accept(sign: "{") else { throw unexpected("{, a latitude, a longitude and kilometres, \(example)") }
    let latitude = try number("a latitude", "-90 to 90", example) { abs($0) <= 90 }
    guard try accept(sign: ",") else { throw unexpected(", and the longitude, \(example)") }
    let longitude = try number("a longitude", "-180 to 180", example) { abs($0) <= 180 }
    guard try accept(sign: ",") else { throw unexpected(", and the distance in kilometres, \(example)") }
    let kilometers = try number(
      "a distance", "more than 0 and at most \(Int(PlaceCircle.maximumKilometers)) kilometres", example
    ) { $0 > 0 && $0 <= PlaceCircle.maximumKilometers }
    guard try accept(sign: "}") else { throw unexpected("} after the distance of NEAR") }
    return PlaceCircle(latitude: latitude, longitude: longitude, kilometers: kilometers)
  }

  private mutating func number(
    _ name: String, _ range: String, _ example: String, _ isAllowed: (Double) -> Bool
  ) throws(PredicateError) -> Double {
    guard case .number(let text) = token.kind else { throw unexpected("\(name), \(example)") }
    guard let number = Double(text), isAllowed(number) else {
      throw PredicateError("\(text.prefix(40)) is no \(name.dropFirst(2)); it must be \(range)", at: token.position)
    }
    try advance()
    return number
  }

  mutating func literal(for key: PredicateKey, orNil: Bool) throws(PredicateError) -> Predicate.Literal {
    let expected = "\(key.valueType.expectation)\(orNil ? ", or nil," : "") for \(key.rawValue)"
    guard let value = try value(for: key, expected: expected) else {
      if let refusal = refusal(for: key) { throw refusal }
      throw unexpected(expected)
    }
    try advance()
    return value
  }

  /// `nil` if the token has another type.
  private func value(for key: PredicateKey, expected: String) throws(PredicateError) -> Predicate.Literal? {
    switch (token.kind, key.valueType) {
    case (.string(let text), .string): return .string(text)
    case (.string(let text), .date):
      guard let span = DateSpan(text) else {
        throw PredicateError("\(Self.shown(text)) is no date; expected \(expected)", at: token.position)
      }
      return .date(span)
    case (.string(let text), .mediaType):
      guard let type = MediaType(request: text) else {
        throw PredicateError("\(Self.shown(text)) is no media type; expected \(expected)", at: token.position)
      }
      return .mediaType(type)
    case (.string(let text), .mediaSubtype):
      guard let subtype = MediaSubtypes(name: text) else {
        throw PredicateError("\(Self.shown(text)) is no media subtype; expected \(expected)", at: token.position)
      }
      return .mediaSubtype(subtype)
    case (.string(let text), .dateSource):
      guard let source = CreationDateSource(request: text) else {
        throw PredicateError("\(Self.shown(text)) is no source of a date; expected \(expected)", at: token.position)
      }
      return .dateSource(source)
    case (.number(let text), .integer), (.number(let text), .real):
      if let integer = Int64(text) { return .integer(integer) }
      guard let real = Double(text), real.isFinite else {
        throw PredicateError("the number is too large", at: token.position)
      }
      return Int64(exactly: real).map { .integer($0) } ?? .real(real)
    case (.word(let word), .boolean):
      switch word.lowercased() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      default: return nil
      }
    default: return nil
    }
  }

  /// Checks a pattern while it is parsed, so that the error can name the position in the pattern.
  mutating func check(
    _ text: String, as op: Predicate.Operator, _ modifiers: TextModifiers, at position: Int
  ) throws(PredicateError) {
    guard op == .like || op == .matches else { return }
    guard text.unicodeScalars.count <= Predicate.maximumPatternCount else {
      throw PredicateError("a pattern can have at most \(Predicate.maximumPatternCount) characters", at: position)
    }
    do {
      patternSteps += try PredicateTest(op, text, modifiers).programCount
    } catch {
      throw PredicateError(error.message, at: lexer.position(ofScalar: error.offset, inTextAt: position))
    }
    guard patternSteps <= Predicate.maximumPatternCount else {
      throw PredicateError(
        "the patterns of MATCHES are too large: they amount to more than \(Predicate.maximumPatternCount) steps",
        at: position)
    }
  }
}
