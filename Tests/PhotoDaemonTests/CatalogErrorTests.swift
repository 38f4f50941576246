import GRDB
import Glibc
import PhotoModel
import Testing

@testable import PhotoCatalog
@testable import PhotoDaemon

/// The message at a start that cannot read the catalog names the catalog's file.
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
    #expect(error.remedy.contains("If you move the catalog away, photod makes a new one"))
  }

  @Test func catalogThatContradictsItselfIsNamed() throws {
    let error = try #require(said(PhotoError("catalogDamaged", "The catalog has a file too many.")))
    #expect(error.problem.contains("/p/catalog.sqlite") && error.problem.contains("a file too many"))
  }

  @Test func errorThatNamesItStaysAsItIs() throws {
    #expect(said(PhotoError("catalogTooNew", "The catalog /x is newer."))?.problem == "The catalog /x is newer.")
    let other = StartError(.system, "something else is wrong", remedy: "Correct it.")
    #expect(said(other) == other)
    // Without the journal, the user data could not be restored, so the remedy must not be to move the catalog away.
    let journal = try #require(said(PrivateFile.failure("/p/catalog.userdata", "read", EACCES)))
    #expect(journal.problem == "/p/catalog.userdata can't be read: Permission denied")
    #expect(!journal.remedy.contains("move the catalog away"))
  }

  /// On a full disk, it would not help to move the catalog away, or to look for a broken disk.
  @Test func fullDiskAsksForRoom() throws {
    let error = try #require(said(DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full")))
    #expect(error.problem.hasPrefix("there is no room for the catalog /p/catalog.sqlite"))
    #expect(error.remedy == "Make room on its disk.")
  }
}
