import GRDB
import GRDBSQLite
import PhotoModel
import PredicateLanguage

/// Our functions that the catalog's SQL calls. They are registered for every connection when it is prepared.
///
/// They take bytes, whether these are UTF-8 or not (GRDB's own functions would repair them). For NULL they return NULL.
enum SQLFunctions {
  /// - `photod_fold(text)`: ``CaseFolding/fold(_:)``
  /// - `photod_name(name)`: ``FilePath/nameText(_:)``, the `filename` of the contract
  /// - `photod_path(path)`: ``FilePath/text(_:)``, the `path` of the contract
  /// - `photod_test(value, test)`: whether a ``PredicateTest`` holds for a text, or for an integer that is a date
  /// - `photod_near(latitude, longitude, latitude, longitude, kilometers)`: whether the first place is in the circle
  ///   around the second (``PlaceCircle``)
  /// - `photod_words(name, title, caption, keywords, make, model, lens)`: ``AssetWords``
  /// - `photod_finds(words, test)`: whether a ``TextTest`` holds for these words
  /// - `photod_created_date(name, modification_date, added_date)`: the creation date of an asset without a date in its
  ///   metadata (``CreationDate``), in microseconds since 1970. `photod_created_offset` and `photod_created_source`
  ///   return the other parts of that date. They are used by a migration.
  static func register(in database: Database) throws {
    try register("photod_fold", in: database) { context, _, arguments in
      SQLFunctions.answer(context, arguments) { CaseFolding.fold(String(decoding: $0, as: UTF8.self)) }
    }
    try register("photod_name", in: database) { context, _, arguments in
      SQLFunctions.answerASCII(context, arguments) { FilePath.nameText($0) }
    }
    try register("photod_path", in: database) { context, _, arguments in
      SQLFunctions.answerASCII(context, arguments) { FilePath.text($0) }
    }
    try register("photod_test", 2, in: database) { context, _, arguments in
      SQLFunctions.answerTest(context, arguments)
    }
    try register("photod_near", 5, in: database) { context, _, arguments in
      SQLFunctions.answerNear(context, arguments)
    }
    try register("photod_words", AssetWords.columnCount, in: database) { context, _, arguments in
      SQLFunctions.answerWords(context, arguments)
    }
    try register("photod_finds", 2, in: database) { context, _, arguments in
      SQLFunctions.answerFinds(context, arguments)
    }
    try register("photod_created_date", 3, in: database) { context, _, arguments in
      sqlite3_result_int64(context, SQLFunctions.created(arguments).date.microseconds)
    }
    try register("photod_created_offset", 3, in: database) { context, _, arguments in
      if let offset = SQLFunctions.created(arguments).date.offsetMinutes {
        sqlite3_result_int64(context, Int64(offset))
      } else {
        sqlite3_result_null(context)
      }
    }
    try register("photod_created_source", 3, in: database) { context, _, arguments in
      sqlite3_result_int64(context, SQLFunctions.created(arguments).source.code)
    }
  }

  private static func created(_ arguments: UnsafeMutablePointer<OpaquePointer?>?) -> CreationDate {
    CreationDate(
      metadata: nil, filename: arguments?[0].map { Array(bytes($0)) } ?? [],
      modificationTime: WallTime(microseconds: sqlite3_value_int64(arguments?[1])), now: .now)
      ?? .firstSeen(WallTime(microseconds: sqlite3_value_int64(arguments?[2])))
  }

  private typealias Function =
    @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

  private static func register(_ name: String, _ count: Int32 = 1, in database: Database, _ function: Function) throws {
    let code = sqlite3_create_function_v2(
      database.sqliteConnection, name, count, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil, function, nil,
      nil, nil)
    guard code == SQLITE_OK else {
      throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the function \(name) can't be registered")
    }
  }

  /// Like ``answer(_:_:_:)``, for functions that do not change ASCII. Nearly all values are ASCII and are returned as
  /// they are.
  private static func answerASCII(
    _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (UnsafeRawBufferPointer) -> String
  ) {
    if let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL,
      bytes(value).allSatisfy({ $0 < 0x80 })
    {
      sqlite3_result_value(context, value)
    } else {
      answer(context, arguments, body)
    }
  }

  private static func answerTest(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let value = arguments?[0], let pointer = sqlite3_value_pointer(arguments?[1], RawStatement.testType) else {
      sqlite3_result_error(context, "photod_test takes a value and a test", -1)
      return
    }
    let test = Unmanaged<PredicateTest>.fromOpaque(pointer)
    switch sqlite3_value_type(value) {
    case SQLITE_NULL: sqlite3_result_null(context)
    case SQLITE_INTEGER:
      let holds = test._withUnsafeGuaranteedRef { $0.holds(microseconds: sqlite3_value_int64(value)) }
      sqlite3_result_int(context, holds ? 1 : 0)
    default:
      let text = bytes(value)
      // SQLite checks the budget after some hundred rows. If each of them has a long text, that is too late.
      guard text.count < longText || WorkBudget.mayGoOn else { return sqlite3_result_int(context, 0) }
      let holds = text.withMemoryRebound(to: UInt8.self) { utf8 in
        test._withUnsafeGuaranteedRef { $0.holds(utf8: utf8) }
      }
      sqlite3_result_int(context, holds ? 1 : 0)
    }
  }

  /// A text of so many bytes takes longer to test than the check of the budget does.
  private static let longText = 256

  private static func answerNear(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard sqlite3_value_type(arguments?[0]) != SQLITE_NULL, sqlite3_value_type(arguments?[1]) != SQLITE_NULL else {
      sqlite3_result_null(context)
      return
    }
    func number(_ index: Int) -> Double { sqlite3_value_double(arguments?[index]) }
    let circle = PlaceCircle(latitude: number(2), longitude: number(3), kilometers: number(4))
    sqlite3_result_int(context, circle.contains(latitude: number(0), longitude: number(1)) ? 1 : 0)
  }

  private static func answerWords(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    var words = AssetWords()
    for column in 0..<Int(AssetWords.columnCount) {
      guard let value = arguments?[column], sqlite3_value_type(value) != SQLITE_NULL else { continue }
      words.append(bytes(value), column: column)
    }
    words.text.withUnsafeBytes {
      sqlite3_result_text64(
        context, $0.baseAddress?.assumingMemoryBound(to: CChar.self) ?? RawStatement.empty, UInt64($0.count),
        RawStatement.transient, UInt8(SQLITE_UTF8))
    }
  }

  private static func answerFinds(_ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
    guard let value = arguments?[0], let pointer = sqlite3_value_pointer(arguments?[1], RawStatement.textType) else {
      sqlite3_result_error(context, "photod_finds takes words and a test", -1)
      return
    }
    let test = Unmanaged<TextTest>.fromOpaque(pointer)
    let holds = bytes(value).withMemoryRebound(to: UInt8.self) { words in
      test._withUnsafeGuaranteedRef { $0.holds(spaced: words) }
    }
    sqlite3_result_int(context, holds ? 1 : 0)
  }

  private static func bytes(_ value: OpaquePointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(start: sqlite3_value_blob(value), count: Int(sqlite3_value_bytes(value)))
  }

  private static func answer(
    _ context: OpaquePointer?, _ arguments: UnsafeMutablePointer<OpaquePointer?>?,
    _ body: (UnsafeRawBufferPointer) -> String
  ) {
    guard let value = arguments?[0], sqlite3_value_type(value) != SQLITE_NULL else {
      sqlite3_result_null(context)
      return
    }
    var text = body(bytes(value))
    text.withUTF8 { utf8 in
      utf8.withMemoryRebound(to: CChar.self) {
        sqlite3_result_text64(
          context, $0.baseAddress ?? RawStatement.empty, UInt64($0.count), RawStatement.transient, UInt8(SQLITE_UTF8))
      }
    }
  }
}
