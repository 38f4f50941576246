/// Runs the reads of one client.
///
/// The server's executor uses its own threads, schedules clients in turn, and bounds the processor time of a read.
package protocol ReadExecutor: Sendable {
  /// - Throws: the errors of `work`, and `WorkBudget.Spent` if the read may not continue.
  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
}
