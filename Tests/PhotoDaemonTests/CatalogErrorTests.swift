import PhotoModel
import Testing

@testable import PhotoDaemon

/// What a start says of a catalog that can't be read names its file.
@Suite struct CatalogErrorTests {
  private struct SQLiteError: Error, CustomStringConvertible {
    let description = "SQLite error 11: malformed"
  }

  private func said(_ error: any Error) -> StartError? {
    #expect(throws: (any Error).self) { try ServingLibrary.naming("/p/catalog.sqlite") { throw error } }
      .map { StartError($0) }
  }

  @Test func errorOfSQLiteNamesTheCatalogAndWhatHelps() throws {
    let error = try #require(said(SQLiteError()))
    #expect(error.status == .inputOutput)
    #expect(error.problem == "the catalog /p/catalog.sqlite can't be read (SQLite error 11: malformed)")
    #expect(error.remedy.contains("Moved away, it is made anew"))
  }

  @Test func catalogThatContradictsItselfIsNamed() throws {
    let error = try #require(said(PhotoError("catalogDamaged", "The catalog has a file too many.")))
    #expect(error.problem.contains("/p/catalog.sqlite") && error.problem.contains("a file too many"))
  }

  @Test func errorThatNamesItStaysAsItIs() {
    #expect(said(PhotoError("catalogTooNew", "The catalog /x is newer."))?.problem == "The catalog /x is newer.")
  }
}
