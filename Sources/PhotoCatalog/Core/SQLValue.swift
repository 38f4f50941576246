import PredicateLanguage

/// A value for a `?` of a statement. The texts and numbers of a caller reach SQL only in this form.
enum SQLValue: Hashable, Sendable {
  case integer(Int64)
  case real(Double)
  case text([UInt8])
  /// The second argument of `photod_test`.
  case test(PredicateTest)
  /// The second argument of `photod_finds`.
  case textTest(TextTest)

  static func text(_ text: String) -> SQLValue { .text(Array(text.utf8)) }
}

/// A condition, and the values of its `?` in their order.
struct SQLCondition: Sendable {
  var sql: String
  var arguments: [SQLValue] = []
}

extension RawStatement {
  func bind(_ values: [SQLValue]) {
    for (index, value) in values.enumerated() {
      switch value {
      case .integer(let integer): bind(Int32(index + 1), integer)
      case .real(let real): bind(Int32(index + 1), real)
      case .text(let bytes): bind(Int32(index + 1), text: bytes)
      case .test(let test): bind(Int32(index + 1), test: test)
      case .textTest(let test): bind(Int32(index + 1), text: test)
      }
    }
  }
}
