import PhotoModel
import PredicateLanguage

/// The value of an expression, as far as it is known without an asset: several pieces, each with the condition on an
/// asset under which the expression has this value. For an asset without any of the conditions, the value is nil.
///
/// Optional values, `??`, `if let` and `?:` all become pieces. The conditions of two pieces are never both true.
struct Term {
  struct Piece {
    var condition: Condition
    var leaf: Leaf
  }

  enum Leaf {
    /// A value that does not depend on the asset, never an optional one.
    case constant(Any)
    /// The value of a key of the asset, or of one element of a list.
    case key(PredicateKey)
    /// The `rawValue` of the value of a key.
    case word(PredicateKey)
    case condition(Condition)
    case subject(Subject)
    case list(AssetList)
    /// The result of a comparison of a text with another one, without case.
    case comparison(PredicateKey, with: String)
  }

  /// A value with properties.
  enum Subject {
    case asset, camera, location, firstResource
    /// One element of `resources`, in a closure.
    case eachResource
  }

  var pieces: [Piece]

  init(_ pieces: [Piece]) { self.pieces = pieces.filter { $0.condition != .constant(false) } }

  init(_ leaf: Leaf, if condition: Condition = .constant(true)) { self.init([Piece(condition: condition, leaf: leaf)]) }

  init(_ condition: Condition) { self.init(.condition(condition)) }

  /// A value that does not depend on the asset; nil becomes the term without pieces.
  init(constant value: Any) {
    var value = value
    while let optional = value as? any OptionalValue {
      guard let wrapped = optional.wrapped else {
        self.init([])
        return
      }
      value = wrapped
    }
    self.init(.constant(value))
  }

  static func key(_ key: PredicateKey, isOptional: Bool = true) -> Term {
    Term(.key(key), if: isOptional ? .present(key) : .constant(true))
  }

  /// The condition under which the value is not nil.
  var isPresent: Condition { .any(pieces.map(\.condition)) }

  /// The constant, if it does not depend on the asset.
  var constant: Any? {
    guard pieces.count == 1, pieces[0].condition == .constant(true), case .constant(let value) = pieces[0].leaf else {
      return nil
    }
    return value
  }

  /// The value that a function has for this value, piece by piece; nil where this value is nil.
  func flatMap(_ transform: (Leaf) throws -> Term) rethrows -> Term {
    Term(
      try pieces.flatMap { piece in
        try transform(piece.leaf).pieces.map {
          Piece(condition: .all([piece.condition, $0.condition]), leaf: $0.leaf)
        }
      })
  }

  /// The condition that a function gives for the value; false where it is nil.
  func condition(_ test: (Leaf) throws -> Condition) rethrows -> Condition {
    .any(try pieces.map { .all([$0.condition, try test($0.leaf)]) })
  }

  /// This value, or the other one where it is nil.
  func or(_ other: Term) -> Term {
    let isAbsent = Condition.not(of: isPresent)
    return Term(
      pieces + other.pieces.map { Piece(condition: .all([isAbsent, $0.condition]), leaf: $0.leaf) })
  }

  /// The condition that a value of type `Bool` is true; false where it is nil.
  func isTrue() throws(Untranslatable) -> Condition {
    var conditions: [Condition] = []
    for piece in pieces { conditions.append(.all([piece.condition, try piece.leaf.isTrue()])) }
    return .any(conditions)
  }
}

extension Term.Leaf {
  func isTrue() throws(Untranslatable) -> Condition {
    switch self {
    case .constant(let value as Bool): return .constant(value)
    case .key(let key) where key.valueType == .boolean: return .compares(key, .equal, .boolean(true))
    case .condition(let condition): return condition
    default: throw Untranslatable("it is no condition on an asset")
    }
  }
}

/// An optional of any type.
private protocol OptionalValue {
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  fileprivate var wrapped: Any? { map { $0 } }
}

/// The reason why an expression can't be translated, without the expression.
struct Untranslatable: Error {
  let reason: String
  let remedy: String

  init(_ reason: String, remedy: String = "Fetch without this condition, and test the assets in the program.") {
    self.reason = reason
    self.remedy = remedy
  }
}
