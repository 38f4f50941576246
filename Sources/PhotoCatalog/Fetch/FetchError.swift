/// Why a list can't be made from the options of a fetch. In every case, the caller's options are at fault.
package enum FetchError: Error, Hashable, Sendable {
  /// - Parameter position: the index in the predicate's text, in Unicode scalars from 0.
  case invalidPredicate(message: String, position: Int)
  /// - Parameter position: the index in the search text, in Unicode scalars from 0.
  case invalidText(message: String, position: Int)
  case unknownSortKey(key: String, known: [String])
  case unknownValueKey(key: String, known: [String])
  /// - Parameter similar: up to three collections that may be meant, as values of `FetchOptions.collection`.
  case noSuchCollection(collection: String, similar: [String])
  /// - Parameters:
  ///   - candidates: the first collections that may be meant, each as a value that means only one.
  ///   - count: the number of all of them.
  case ambiguousCollection(collection: String, candidates: [String], count: Int)
  /// - Parameter field: the place in ``FetchOptions``, such as `mediaTypes[1]`.
  case invalidOption(field: String)

  /// The message for a person, without the beginning of a sentence.
  var explanation: String {
    switch self {
    case .invalidPredicate(let message, let position):
      "the predicate is invalid at character \(position + 1): \(message)"
    case .invalidText(let message, let position): "the text is invalid at character \(position + 1): \(message)"
    case .unknownSortKey(let key, let known):
      "photos can't be sorted by '\(key)'. The keys are \(known.joined(separator: ", "))."
    case .unknownValueKey(let key, _): "'\(key)' has no values."
    case .noSuchCollection(let name, _): "there is no collection '\(name)'."
    case .ambiguousCollection(let name, _, _): "'\(name)' is the name of several collections."
    case .invalidOption(let field): "\(field) is invalid."
    }
  }
}
