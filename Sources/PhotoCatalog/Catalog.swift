import GRDB
import Glibc
import Migrations
import PhotoModel

/// The SQLite database of one library: the only place with SQL.
///
/// One writer beside many readers (WAL). Every method blocks; the `Library` actor, whose executor may be blocked, is the
/// only writer.
package final class Catalog: Sendable {
  /// Which library this is, and of which epoch its tokens are.
  package let uuid: String
  package let epoch: Int64

  private let pool: DatabasePool

  /// Opens the catalog, or makes it with its directory (0700); brings an older schema up to date.
  ///
  /// The epoch rises when the catalog was not closed in order before the machine went down: SQLite may then have lost
  /// its last commits (`synchronous = NORMAL`), and tokens that speak of them must not be believed.
  ///
  /// - Parameter lastStep: of the schema, by name, for tests of what an older photod left behind.
  /// - Throws: ``PhotoError`` `catalogUnreadable` or `catalogTooNew`.
  package init(path: String, bootID: String = Catalog.currentBootID(), lastStep: String? = nil) throws {
    var configuration = Configuration()
    configuration.label = "catalog"
    configuration.maximumReaderCount = 8
    configuration.prepareDatabase { database in
      // A first scan writes the pages of its indexes again and again: the WAL takes 16 MB before they are copied.
      try database.execute(
        sql: """
          PRAGMA synchronous = NORMAL; PRAGMA cache_size = -16000; PRAGMA temp_store = MEMORY;
          PRAGMA wal_autocheckpoint = 4000
          """)
      try SQLFunctions.register(in: database)
    }
    do {
      pool = try DatabasePool(path: path, configuration: configuration)
      var migrator = DatabaseMigrator()
      for step in Migrations.steps {
        migrator.registerMigration(step.name) { try $0.execute(sql: step.sql) }
        if step.name == lastStep { break }
      }
      if try pool.read({ try migrator.hasBeenSuperseded($0) }) {
        throw PhotoError(
          "catalogTooNew",
          "The catalog \(path) was written by a newer photod. Install that version again, or name another file with --catalog."
        )
      }
      try migrator.migrate(pool)
      (uuid, epoch) = try pool.write { try Self.open($0, bootID: bootID) }
    } catch let error as PhotoError {
      throw error
    } catch {
      throw PhotoError(
        "catalogUnreadable",
        "The catalog \(path) can't be opened. Check that its folder is yours and has room; a damaged file can be moved away: photod then makes a new one.",
        cause: error)
    }
  }

  private static func open(_ database: Database, bootID: String) throws -> (String, Int64) {
    if let row = try Row.fetchOne(database, sql: "SELECT uuid, epoch, boot_id, is_clean FROM library") {
      let uuid: String = row[0]
      var epoch: Int64 = row[1]
      if row[3] == 0 && row[2] != bootID { epoch += 1 }
      try database.execute(sql: "UPDATE library SET epoch = ?, boot_id = ?, is_clean = 0", arguments: [epoch, bootID])
      return (uuid, epoch)
    }
    var generator = SystemRandomNumberGenerator()
    let hex = String(generator.next() as UInt64, radix: 16)
    let uuid = String(repeating: "0", count: 16 - hex.count) + hex
    // Beyond every epoch that a catalog removed by hand may have had is not needed: the library's name differs.
    try database.execute(
      sql: "INSERT INTO library (id, uuid, epoch, boot_id, is_clean) VALUES (1, ?, 1, ?, 0)", arguments: [uuid, bootID])
    return (uuid, 1)
  }

  /// The kernel's name of the running boot (random(4)).
  package static func currentBootID() -> String {
    guard let file = fopen("/proc/sys/kernel/random/boot_id", "re") else { return "unknown" }
    defer { fclose(file) }
    var line = [CChar](repeating: 0, count: 64)
    guard fgets(&line, 64, file) != nil else { return "unknown" }
    return String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  package func token(_ sequence: Int64) -> ChangeToken {
    ChangeToken(library: uuid, epoch: epoch, sequence: sequence)
  }

  /// One transaction. Readers see all of it or none.
  ///
  /// - Parameter durable: on disk before it returns, also if the power fails then; else SQLite may lose it, never break.
  package func write<Value>(durable: Bool = false, _ body: (CatalogWriter) throws -> Value) throws -> Value {
    func run(_ database: Database) throws -> Value {
      let writer = CatalogWriter(connection: database)
      let value = try body(writer)
      try writer.finish()
      return value
    }
    guard durable else { return try pool.write(run) }
    return try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      defer {
        // Where this fails it stays FULL: slower, not wrong.
        _ = Result { try database.execute(sql: "PRAGMA synchronous = NORMAL") }
      }
      var value: Value?
      try database.inTransaction(.immediate) {
        value = try run(database)
        return .commit
      }
      return value!
    }
  }

  /// Reads in one snapshot, beside the writer.
  package func read<Value>(_ body: (CatalogReader) throws -> Value) throws -> Value {
    try pool.read { try body(CatalogReader(database: $0, catalog: self)) }
  }

  /// A snapshot that stays as it is for any number of reads. It holds a connection and keeps the WAL from shrinking: let
  /// go of it soon.
  package func snapshot() throws -> CatalogSnapshot {
    CatalogSnapshot(snapshot: try pool.makeSnapshot(), catalog: self)
  }

  /// `PRAGMA integrity_check`: "ok", or what is damaged.
  package func integrityReport() throws -> String {
    try pool.read { try String.fetchAll($0, sql: "PRAGMA integrity_check").joined(separator: "\n") }
  }

  /// Whether this is SQLite's way to say that the disk is full.
  package static func isFull(_ error: any Error) -> Bool {
    (error as? DatabaseError)?.resultCode == .SQLITE_FULL
  }

  /// Marks the catalog as closed in order and closes it.
  package func close() throws {
    try pool.write { try $0.execute(sql: "UPDATE library SET is_clean = 1") }
    try pool.close()
  }
}

/// One state of the catalog, for a reply in several pages.
package final class CatalogSnapshot: Sendable {
  private let snapshot: DatabaseSnapshot
  private let catalog: Catalog

  init(snapshot: DatabaseSnapshot, catalog: Catalog) {
    self.snapshot = snapshot
    self.catalog = catalog
  }

  package func read<Value>(_ body: (CatalogReader) throws -> Value) throws -> Value {
    try snapshot.read { try body(CatalogReader(database: $0, catalog: catalog)) }
  }
}
