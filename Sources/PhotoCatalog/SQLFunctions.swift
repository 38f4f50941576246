import GRDB
import GRDBSQLite
import PhotoModel

/// What the catalog's SQL calls of ours. Every connection gets them when it is prepared.
///
/// They take bytes, whether or not these are UTF-8 (GRDB's own functions would mend them), and give NULL for NULL.
enum SQLFunctions {
  /// - `photod_fold(text)`: ``CaseFolding/fold(_:)``
  /// - `photod_name(name)`: ``FilePath/nameText(_:)``, the `filename` of the wire
  /// - `photod_path(path)`: ``FilePath/text(_:)``, the `path` of the wire
  static func register(in database: Database) throws {
    try register("photod_fold", in: database) { context, _, arguments in
      SQLFunctions.answer(context, arguments) { CaseFolding.fold(String(decoding: $0, as: UTF8.self)) }
    }
    try register("photod_name", in: database) { context, _, arguments in
      SQLFunctions.answer(context, arguments) { FilePath.nameText($0) }
    }
    try register("photod_path", in: database) { context, _, arguments in
      SQLFunctions.answer(context, arguments) { FilePath.text($0) }
    }
  }

  private typealias Function =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  private static func register(_ name: String, in database: Database, _ function: Function) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, function, nil,
      nil, nil)
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the function \(name) can't be registered")
    }
  }

  private static func answer(
    _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (UnsafeRawBufferPointer) -> String
  ) {
    guard let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL else {
      sqlite3_result_null(context)
      return
    }
    let bytes = UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
    var text = body(bytes)
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        sqlite3_result_text64(
          context, $0.baseAddress ?? RawStatement.empty, UInt64($0.count), RawStatement.transient, UInt8(SQLITE_UTF8))
      }
    }
  }
}
