import PhotoModel
import PredicateLanguage

/// photod's evaluation of the text of a predicate.
struct Matcher {
  /// The names of all keys.
  static let keys = PredicateKey.allCases.map(\.rawValue)

  private let matches: (Asset) -> Bool

  init(_ text: String) throws { matches = try Predicate(parsing: text).prepared() }

  func callAsFunction(_ asset: Asset) -> Bool { matches(asset) }
}
