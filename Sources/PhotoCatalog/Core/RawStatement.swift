import GRDB
import GRDBSQLite
import Glibc
import PhotoModel
import PredicateLanguage

/// A prepared statement from GRDB's cache, bound and stepped without GRDB's values in between. That is three times as
/// fast for the statements that run for every file. Text is bound and read as bytes, because names need not be UTF-8.
///
/// It is valid only in the `read` or `write` closure of its `Database`.
struct RawStatement {
  private let database: Database
  private let statement: Statement
  private let handle: OpaquePointer
  /// The memory of bound texts and digests. nil if SQLite copies each of them.
  private let arena: TextArena?

  init(_ database: Database, _ sql: String) throws {
    self.init(database, try database.cachedStatement(sql: sql), clearing: true)
  }

  /// For a statement with many values, all of which are bound each time.
  ///
  /// - Parameter arena: keeps the texts until the statement has run.
  init(_ database: Database, _ sql: String, arena: TextArena) throws {
    self.init(database, try database.cachedStatement(sql: sql), clearing: false, arena: arena)
  }

  /// Prepares a statement for this use only. Statements shaped by callers would fill the cache without bound.
  init(_ database: Database, uncached sql: String) throws {
    self.init(database, try database.makeStatement(sql: sql), clearing: true)
  }

  private init(_ database: Database, _ statement: Statement, clearing: Bool, arena: TextArena? = nil) {
    self.database = database
    self.statement = statement
    self.arena = arena
    handle = statement.sqliteStatement
    sqlite3_reset(handle)
    if clearing { sqlite3_clear_bindings(handle) }
  }

  // MARK: Binding (indexes begin with 1)

  func bind(_ index: Int32, _ value: Int64?) {
    if let value { sqlite3_bind_int64(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(_ index: Int32, _ value: Int?) { bind(index, value.map(Int64.init)) }

  func bind(_ index: Int32, _ value: Bool) { bind(index, value ? Int64(1) : 0) }

  func bind(_ index: Int32, _ value: Double?) {
    if let value { sqlite3_bind_double(handle, index, value) } else { sqlite3_bind_null(handle, index) }
  }

  func bind(_ index: Int32, text: [UInt8]) {
    text.withUnsafeBytes { bind(index, utf8: $0) }
  }

  func bind(_ index: Int32, _ text: String?) {
    guard var text else {
      sqlite3_bind_null(handle, index)
      return
    }
    text.withUTF8 { bind(index, utf8: UnsafeRawBufferPointer($0)) }
  }

  private func bind(_ index: Int32, utf8 bytes: UnsafeRawBufferPointer) {
    let copy = arena?.keep(bytes)
    let start = (copy ?? bytes.baseAddress)?.assumingMemoryBound(to: CChar.self) ?? Self.empty
    sqlite3_bind_text64(
      handle, index, start, UInt64(bytes.count), copy == nil ? Self.transient : nil, UInt8(SQLITE_UTF8))
  }

  func bind(_ index: Int32, blob: [UInt8]?) {
    guard let blob, !blob.isEmpty else {
      sqlite3_bind_null(handle, index)
      return
    }
    blob.withUnsafeBytes { _ = sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), Self.transient) }
  }

  /// Binds fingerprint, sample and hash to three columns.
  func bind(_ index: Int32, marks: ContentMarks) {
    bind(index, marks.fingerprint.map(Int64.init(bitPattern:)))
    bind(index + 1, marks.sample)
    bind(index + 2, marks.hash)
  }

  /// Binds sample and hash to two columns of `resource`. A small file's hash is its sample, and is not stored twice.
  func bind(_ index: Int32, proofOf marks: ContentMarks) {
    bind(index, marks.sample)
    if let hash = marks.hash, hash == marks.sample {
      sqlite3_bind_zeroblob(handle, index + 1, 0)
    } else {
      bind(index + 1, marks.hash)
    }
  }

  func bind(_ index: Int32, _ digest: ContentDigest?) {
    guard let digest else {
      sqlite3_bind_null(handle, index)
      return
    }
    digest.withBytes { bytes in
      let copy = arena?.keep(bytes)
      sqlite3_bind_blob64(
        handle, index, copy ?? bytes.baseAddress, UInt64(bytes.count), copy == nil ? Self.transient : nil)
    }
  }

  /// Binds a pointer that only our own SQL functions can read (https://www.sqlite.org/bindptr.html). The statement
  /// keeps the test alive until it is bound again or ends.
  func bind(_ index: Int32, test: PredicateTest) {
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
      if let pointer { Unmanaged<PredicateTest>.fromOpaque(pointer).release() }
    }
    sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(test).toOpaque(), Self.testType, release)
  }

  /// Binds a pointer, like ``bind(_:test:)``.
  func bind(_ index: Int32, text test: TextTest) {
    let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { pointer in
      if let pointer { Unmanaged<TextTest>.fromOpaque(pointer).release() }
    }
    sqlite3_bind_pointer(handle, index, Unmanaged.passRetained(test).toOpaque(), Self.textType, release)
  }

  // MARK: Stepping

  /// Runs a statement that returns no rows, and resets it for the next values.
  func run() throws {
    defer { sqlite3_reset(handle) }
    let code = sqlite3_step(handle)
    guard code == SQLITE_DONE || code == SQLITE_ROW else { throw failure(code) }
  }

  /// Steps to the next row, if there is one. At the end, the statement is reset for the next values.
  func step() throws -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE:
      sqlite3_reset(handle)
      return false
    case let code:
      sqlite3_reset(handle)
      throw failure(code)
    }
  }

  /// For callers that stop stepping before the end.
  func reset() { sqlite3_reset(handle) }

  /// Calls `body` for every row. The statement is also reset if `body` throws.
  func forEachRow(_ body: () throws -> Void) throws {
    defer { sqlite3_reset(handle) }
    while true {
      switch sqlite3_step(handle) {
      case SQLITE_ROW: try body()
      case SQLITE_DONE: return
      case let code: throw failure(code)
      }
    }
  }

  /// The result of `body` for the first row, or nil.
  func firstRow<Value>(_ body: () throws -> Value) throws -> Value? {
    defer { sqlite3_reset(handle) }
    return try step() ? body() : nil
  }

  private func failure(_ code: Int32) -> DatabaseError {
    DatabaseError(
      resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(database.sqliteConnection)),
      sql: statement.sql)
  }

  // MARK: Columns (indexes begin with 0)

  func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  func optionalInt64(_ column: Int32) -> Int64? { isNull(column) ? nil : int64(column) }

  func optionalInt(_ column: Int32) -> Int? { isNull(column) ? nil : Int(int64(column)) }

  func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  func optionalDouble(_ column: Int32) -> Double? { isNull(column) ? nil : sqlite3_column_double(handle, column) }

  /// An integer or a real number, with its own type.
  func number(_ column: Int32) -> SQLValue {
    sqlite3_column_type(handle, column) == SQLITE_FLOAT ? .real(double(column)) : .integer(int64(column))
  }

  /// See ``SortNumber``.
  func sortNumber(_ column: Int32) -> UInt64 {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_NULL: SortNumber.absent
    case SQLITE_INTEGER: SortNumber.of(sqlite3_column_int64(handle, column))
    case SQLITE_FLOAT: SortNumber.of(sqlite3_column_double(handle, column))
    default:
      SortNumber.of(
        UnsafeBufferPointer(
          start: sqlite3_column_text(handle, column), count: Int(sqlite3_column_bytes(handle, column))))
    }
  }

  func bool(_ column: Int32) -> Bool { int64(column) != 0 }

  /// Reads fingerprint, sample and hash from three columns. An empty hash stands for the sample.
  func marks(_ column: Int32) -> ContentMarks {
    let sample = digest(column + 1)
    return ContentMarks(
      fingerprint: optionalInt64(column).map(UInt64.init(bitPattern:)), sample: sample,
      hash: digest(column + 2) ?? (isNull(column + 2) ? nil : sample))
  }

  private func digest(_ column: Int32) -> ContentDigest? {
    guard let start = sqlite3_column_blob(handle, column) else { return nil }
    return ContentDigest(bytes: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// The bytes of a text or a blob.
  func bytes(_ column: Int32) -> [UInt8] {
    guard let start = sqlite3_column_blob(handle, column) else { return [] }
    return Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
  }

  /// Calls `body` with the bytes of a text, which are valid only there; nil for NULL.
  func withOptionalBytes(_ column: Int32, _ body: (UnsafeRawBufferPointer?) -> Void) {
    guard !isNull(column) else { return body(nil) }
    // The pointer of an empty text may be null, too.
    let start = sqlite3_column_blob(handle, column)
    body(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))))
  }

  func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_blob(handle, column) else { return "" }
    return String(
      decoding: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))), as: UTF8.self)
  }

  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }

  /// Makes SQLite copy bound values before the call returns (https://www.sqlite.org/c3ref/c_static.html).
  static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }
  /// Replaces a null pointer, which would bind NULL instead of the empty text.
  nonisolated(unsafe) static let empty = UnsafePointer<CChar>(strdup("")!)
  /// SQLite compares this text and keeps the pointer to it.
  nonisolated(unsafe) static let testType = UnsafePointer<CChar>(strdup("photod-test")!)
  nonisolated(unsafe) static let textType = UnsafePointer<CChar>(strdup("photod-text")!)
}
