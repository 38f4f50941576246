/// Why a list can't be made from the options of a fetch. Each is the caller's to mend.
package enum FetchError: Error, Hashable, Sendable {
  /// - Parameter position: where in the predicate's text, in Unicode scalars from 0.
  case invalidPredicate(message: String, position: Int)
  /// - Parameter position: where in the text that is looked for, in Unicode scalars from 0.
  case invalidText(message: String, position: Int)
  case unknownSortKey(key: String, known: [String])
  /// - Parameter similar: up to three collections that may be meant, written as `FetchOptions.collection` takes them.
  case noSuchCollection(collection: String, similar: [String])
  /// - Parameter candidates: every collection that it may mean, written so that each means only one.
  case ambiguousCollection(collection: String, candidates: [String])
  /// - Parameter field: of ``FetchOptions``.
  case invalidOption(field: String, message: String)
}
