import Foundation
import GRDB
import Migrations
import Testing

@testable import PhotoCatalog

/// Migrations/schema.sql, of which new catalogs are made, and the steps by which older catalogs come to the same tables.
@Suite struct SchemaTests {
  private static let file = URL(filePath: #filePath).deletingLastPathComponent()
    .appending(path: "../../Migrations/schema.sql").standardized

  private static let header = """
    -- The tables of a new catalog. This file is made of the steps v001 to the last one, which explain the tables:
    -- after a new step, PHOTOD_RECORD_SNAPSHOTS=1 Scripts/test --filter SchemaTests writes it anew.


    """

  /// The tables that FTS5 makes itself.
  private static let madeByFTS5 = "(SELECT name FROM pragma_table_list WHERE type = 'shadow')"

  /// The catalog that the steps make.
  private static func migrated() throws -> DatabaseQueue {
    let database = try DatabaseQueue(configuration: Catalog.configuration)
    try CatalogOpening.migrator(nil).migrate(database)
    return database
  }

  /// The statements that make the tables, each table with its indexes and triggers, and then its rows.
  private static func script(_ database: Database) throws -> String {
    let statements = try String.fetchAll(
      database,
      sql: """
        SELECT sql FROM sqlite_schema entry
        WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND tbl_name NOT IN \(madeByFTS5)
        ORDER BY (SELECT min(rowid) FROM sqlite_schema other WHERE other.tbl_name = entry.tbl_name), type <> 'table', rowid
        """)
    let tables = try String.fetchAll(
      database,
      sql: """
        SELECT name FROM pragma_table_list
        WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'grdb_migrations' ORDER BY name
        """)
    let rows = try tables.flatMap { table in
      let names = try database.columns(in: table).map(\.name)
      let values = names.map { "quote(\($0))" }.joined(separator: ", ")
      return try Row.fetchAll(database, sql: "SELECT \(values) FROM \(table) ORDER BY \(names[0])").map { row in
        let pairs = zip(names, row.databaseValues.map { String.fromDatabaseValue($0) ?? "" }).filter { $0.1 != "NULL" }
        return "INSERT INTO \(table) (\(pairs.map(\.0).joined(separator: ", "))) "
          + "VALUES (\(pairs.map(\.1).joined(separator: ", ")))"
      }
    }
    return header + (statements + rows).map { $0 + ";\n" }.joined()
  }

  /// All entries of the schema, those of FTS5 too, and all rows of all tables, in an order that is the same for both.
  private static func contents(_ database: Database) throws -> [String] {
    let entries = try String.fetchAll(
      database, sql: "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_schema")
    let tables = try String.fetchAll(
      database, sql: "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'shadow')")
    let rows = try tables.filter { $0 != "sqlite_schema" }.flatMap { table in
      try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map { "\(table) \($0)" }
    }
    return (entries + rows).sorted()
  }

  @Test func theFileHasTheTablesOfTheSteps() throws {
    let script = try Self.migrated().read { try Self.script($0) }
    if ProcessInfo.processInfo.environment["PHOTOD_RECORD_SNAPSHOTS"] == "1" {
      try Data(script.utf8).write(to: Self.file)
    } else {
      #expect(try String(contentsOf: Self.file, encoding: .utf8) == script)
    }
  }

  @Test func aNewCatalogEqualsOneThatTheStepsMade() throws {
    let steps = try Self.migrated().read { try Self.contents($0) }
    let new = try CatalogOpening.emptyDatabase(nil).read { try Self.contents($0) }
    #expect(steps.count > 100)
    #expect(new == steps)
  }
}
