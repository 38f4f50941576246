/// Waits until a condition holds that nothing reports, such as a line in a file or the end of a process.
///
/// This is the only way in which a test polls. A test that can wait for an event does so: for the reply of `Synchronize`,
/// for a status that it observes, or for a hook.
///
/// The usual limit is long. It only matters to a test that fails, and under load a test waits minutes for its turn.
///
/// - Parameters:
///   - what: a text for the error: the condition, and the state that was found instead. It is read when the time is
///     over.
///   - isNotYet: whether an error of `holds` means that the condition may still come to hold. After the time is over, the
///     error is thrown.
/// - Throws: ``ConditionNotMet`` after the time is over, or an error of `holds`.
package func eventually(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(300),
  every pause: Duration = .milliseconds(10), isNotYet: (any Error) -> Bool = { _ in false },
  file: StaticString = #fileID, line: UInt = #line, _ holds: () async throws -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while true {
    do {
      if try await holds() { return }
    } catch  where isNotYet(error) && ContinuousClock.now < deadline {
      // The next look may find it.
    }
    guard ContinuousClock.now < deadline else {
      throw ConditionNotMet(description: "\(file):\(line): not within \(limit): \(what())")
    }
    try await Task.sleep(for: pause)
  }
}

/// The same for a condition of the main actor, which a closure for another executor can't read.
@MainActor package func eventuallyOnMainActor(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(300), file: StaticString = #fileID,
  line: UInt = #line, _ holds: () -> Bool
) async throws {
  let deadline = ContinuousClock.now + limit
  while !holds() {
    guard ContinuousClock.now < deadline else {
      throw ConditionNotMet(description: "\(file):\(line): not within \(limit): \(what())")
    }
    try await Task.sleep(for: .milliseconds(10))
  }
}

/// The condition of ``eventually(_:within:every:isNotYet:file:line:_:)`` did not come to hold in time.
package struct ConditionNotMet: Error, CustomStringConvertible {
  package let description: String
}
