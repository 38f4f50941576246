import PhotoModel

/// A predicate as a condition of SQL.
struct CompiledPredicate: Sendable {
  var key: String
  var condition: SQLCondition
  var usesPath = false
  var usesOffline = false
  var dependsOn: ChangedFields = []
}

enum PredicateCompiler {
  static func compile(_ text: String) throws -> CompiledPredicate {
    throw FetchError.invalidPredicate(message: "Predicates are not compiled yet.", position: 0)
  }
}
