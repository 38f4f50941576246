import PhotoModel
import PredicateLanguage

extension Literal {
  /// The literal for a value that is compared with a key.
  ///
  /// - Returns: nil if no value of the key is ever equal to it, such as a subtype that the library does not know.
  static func of(_ value: Any, for key: PredicateKey) throws(Untranslatable) -> Literal? {
    switch (key.valueType, value) {
    case (.boolean, let value as Bool): return .boolean(value)
    case (.integer, let value as any BinaryInteger): return Int64(exactly: value).map { .integer($0) }
    case (.integer, let value as AssetID): return .integer(value.rawValue)
    case (.real, let value as Double):
      guard value.isFinite else { throw Untranslatable("\(value) can't be written in a predicate") }
      return .real(value)
    case (.string, let value as String): return .string(value)
    case (.date, let value as PhotoDate): return .date(DateSpan(instant: value))
    case (.mediaType, let value as MediaType): return .mediaType(value)
    case (.dateSource, let value as CreationDateSource):
      return CreationDateSource.allCases.contains(value) ? .dateSource(value) : nil
    case (.mediaSubtype, let value as String): return MediaSubtypes(name: value).map { .mediaSubtype($0) }
    default: throw Untranslatable("\(key.rawValue) can't be compared with a \(type(of: value))")
    }
  }

  /// The literal for a value that is compared with the `rawValue` of a key.
  static func ofWord(_ value: Any, for key: PredicateKey) throws(Untranslatable) -> Literal? {
    switch (key.valueType, value) {
    case (.integer, _): return try of(value, for: key)
    case (.mediaType, let value as String): return MediaType(rawValue: value).map { .mediaType($0) }
    case (.dateSource, let value as String):
      return try CreationDateSource(rawValue: value).flatMap { (source) throws(Untranslatable) in
        try of(source, for: key)
      }
    default: throw Untranslatable("the raw value of \(key.rawValue) can't be compared with a \(type(of: value))")
    }
  }

  /// The value after this one, for the ends of ranges; nil if it has none.
  var predecessor: Literal? {
    guard case .integer(let value) = self, value > .min else { return nil }
    return .integer(value - 1)
  }
}

extension PredicateKey {
  /// - Throws: if the values are no texts.
  func requireText() throws(Untranslatable) {
    guard valueType == .string else { throw Untranslatable("\(rawValue) is no text for photod") }
  }
}
