import GRDB
import GRDBSQLite
import PhotoModel

/// Ends the statements of a read whose ``WorkBudget`` is spent, through SQLite's progress handler
/// (https://www.sqlite.org/c3ref/progress_handler.html).
enum ReadInterruption {
  /// The number of instructions of SQLite's virtual machine between two checks of the budget, usually less than a
  /// millisecond. A test that takes longer within one instruction checks the budget itself (``PredicateTest``).
  private static let instructionCount: Int32 = 4_000

  /// Runs `body` with the budget of the current work.
  ///
  /// - Parameter whole: the budget of the read of which `body` is a part. It is watched again afterwards.
  /// - Throws: `WorkBudget.Spent` instead of SQLite's error. It is also thrown if the budget was spent at the very end.
  ///   A test of a predicate may then have ended early with a wrong result.
  static func watching<Value>(
    _ database: Database, partOf whole: WorkBudget? = nil, _ body: () throws -> Value
  ) throws -> Value {
    guard let budget = WorkBudget.current else { return try body() }
    try budget.check()
    // Both budgets outlive their handlers.
    watch(budget, database)
    defer { watch(whole, database) }
    let result: Value
    do {
      result = try body()
    } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
      try budget.check()
      throw error
    }
    try budget.check()
    return result
  }

  /// Makes SQLite check a budget, and no other one.
  private static func watch(_ budget: WorkBudget?, _ database: Database) {
    let connection = database.sqliteConnection
    guard let budget else { return sqlite3_progress_handler(connection, 0, nil, nil) }
    sqlite3_progress_handler(
      connection, instructionCount,
      { context in
        guard let context else { return 0 }
        return Unmanaged<WorkBudget>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.mayGoOn ? 0 : 1 }
      }, Unmanaged.passUnretained(budget).toOpaque())
  }
}
