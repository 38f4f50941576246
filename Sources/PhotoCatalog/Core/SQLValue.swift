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

  /// About how much memory it takes, in bytes. The words of a text search have at most 4,000 bytes, several times.
  var byteCount: Int {
    let content =
      switch self {
      case .integer, .real: 0
      case .text(let bytes): 32 + bytes.count
      case .test(let test): test.byteCount
      case .textTest: 16 << 10
      }
    return MemoryLayout<SQLValue>.stride + content
  }
}

/// A condition, and the values of its `?` in their order.
struct SQLCondition: Sendable {
  var sql: String
  var arguments: [SQLValue] = []

  var byteCount: Int { arguments.reduce(sql.utf8.count) { $0 + $1.byteCount } }
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
