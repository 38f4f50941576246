/// Runs the reads of one client.
///
/// The server's executor uses threads of its own, gives each client its turn, and bounds the processor time of a read.
package protocol ReadExecutor: Sendable {
  /// - Throws: what `work` throws, and `WorkBudget.Spent` if the read may not go on.
  func run<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value
}
