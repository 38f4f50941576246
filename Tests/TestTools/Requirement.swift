/// Ends a test because its environment can't be made, or its next step has no sense.
///
/// It is the `#require` of the targets that are no test targets: these are built without the Testing module.
package func require(_ holds: Bool, _ what: @autoclosure () -> String) throws {
  guard holds else { throw RequirementNotMet(description: what()) }
}

/// - Returns: the value, which must be there.
package func require<Value>(_ value: Value?, _ what: @autoclosure () -> String) throws -> Value {
  guard let value else { throw RequirementNotMet(description: what()) }
  return value
}

package struct RequirementNotMet: Error, CustomStringConvertible {
  package let description: String
}
