import GRDB
import Glibc
import PhotoModel
import Testing

@testable import PhotoCatalog

/// The kind of an error, on which its remedy depends.
struct WriteFailureTests {
  @Test func errorsOfSQLiteAreClassified() {
    let expected: [(ResultCode, WriteFailure)] = [
      (.SQLITE_FULL, .noRoom), (.SQLITE_IOERR_SHMSIZE, .noRoom), (.SQLITE_READONLY_DBMOVED, .notWritable),
      (.SQLITE_PERM, .notWritable), (.SQLITE_CANTOPEN, .notWritable), (.SQLITE_BUSY_SNAPSHOT, .locked),
      (.SQLITE_IOERR_WRITE, .disk), (.SQLITE_CORRUPT, .disk), (.SQLITE_NOTADB, .disk),
      (.SQLITE_CONSTRAINT_UNIQUE, .bug), (.SQLITE_ERROR, .bug),
    ]
    for (code, failure) in expected {
      #expect(WriteFailure(DatabaseError(resultCode: code)) == failure, "\(code)")
    }
  }

  @Test func errorsOfTheJournalAreClassified() {
    let expected: [(Int32, WriteFailure)] = [
      (ENOSPC, .noRoom), (EDQUOT, .noRoom), (EACCES, .notWritable), (EROFS, .notWritable), (EIO, .disk), (EBADF, .bug),
    ]
    for (code, failure) in expected {
      #expect(WriteFailure(PrivateFile.failure("/j", "written", code)) == failure, "\(code)")
    }
  }

  @Test func anErrorWithARemedyNeedsNoOther() {
    #expect(WriteFailure(PhotoError("catalogReplaced", "Try again in a moment.")) == .explained)
    #expect(WriteFailure(CancellationError()) == .bug)
  }
}
