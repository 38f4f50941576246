import PhotoModel

/// What a person does to keep a library safe: `org.photod.manage` is made of it.
///
/// Paths are absolute, as ``FilePath`` texts. Every call throws ``KeepingError`` for what a person can mend.
package protocol LibraryKeeping: Sendable {
  /// Copies the catalog to a file while the library goes on, and verifies the copy before it gets its name.
  ///
  /// - Parameter path: nothing may stand there. Nil: among the daily backups, with the present time in its name.
  func backup(to path: String?) async throws -> BackupReport

  /// Those in the catalog's `backups` folder, newest first. Not verified again.
  func backups() async throws -> [BackupReport]

  /// Puts a backup in the place of the catalog.
  ///
  /// The present state is backed up first, the given file is verified in full. When this returns the restored catalog is
  /// on disk and decided for, also if photod ends now; the daemon then closes its library and opens it anew at the same
  /// socket, so that the connection that asked gets the reply and is closed a moment later. Clients that come back with
  /// an older token are told to reload. Ids that were given since the backup are not used again.
  func restore(from path: String) async throws -> RestoreReport

  /// Compares the catalog with the rules that it must follow. Changes nothing, but that a report without errors holds, as
  /// warnings, what the status says of a rebuilt catalog, and acknowledges it; and that one which SQLite finds damaged is
  /// made anew at once.
  ///
  /// - Parameter deep: also SQLite's `integrity_check`, which reads every page and compares every index; else
  ///   `quick_check`, which does not compare indexes.
  func check(deep: Bool) async throws -> CheckReport
}

package struct BackupReport: Codable, Hashable, Sendable {
  package var path: String
  package var byteCount: Int64
  /// Nil where the file was not opened to count them: of ``LibraryKeeping/backups()`` those that can't be read.
  package var assetCount: Int?
  /// When it was made.
  package var date: PhotoDate
  /// Made by hand: it is never dropped to make room for daily ones.
  package var isKept: Bool

  package init(path: String, byteCount: Int64, assetCount: Int?, date: PhotoDate, isKept: Bool) {
    self.path = path
    self.byteCount = byteCount
    self.assetCount = assetCount
    self.date = date
    self.isKept = isKept
  }
}

package struct RestoreReport: Codable, Hashable, Sendable {
  /// What was restored.
  package var path: String
  package var assetCount: Int
  /// Those with something that a person typed.
  package var userDataCount: Int
  /// The state before, which this can be undone with.
  package var previous: BackupReport

  package init(path: String, assetCount: Int, userDataCount: Int, previous: BackupReport) {
    self.path = path
    self.assetCount = assetCount
    self.userDataCount = userDataCount
    self.previous = previous
  }
}

package struct CheckReport: Codable, Hashable, Sendable {
  package struct Finding: Codable, Hashable, Sendable {
    package enum Severity: String, Codable, Hashable, Sendable {
      /// Nothing is lost or wrong for who asks the library.
      case warning
      /// The catalog breaks a rule: what the library says may be wrong.
      case error
    }

    package var severity: Severity
    /// What is wrong, with numbers: `3 files belong to no asset`.
    package var what: String
    /// The first of them: a table with its ids, or a file.
    package var place: String
    /// What to do about it, as a sentence.
    package var remedy: String

    package init(_ severity: Severity, _ what: String, place: String, remedy: String) {
      self.severity = severity
      self.what = what
      self.place = place
      self.remedy = remedy
    }
  }

  /// Errors first.
  package var findings: [Finding]
  /// What was looked at, by its name: `assets`, `files`, `folders`, `albums`, `keywords`, `commits`, `user data`.
  package var counts: [String: Int]

  package init(findings: [Finding], counts: [String: Int]) {
    self.findings = findings
    self.counts = counts
  }

  /// No errors; there may be warnings.
  package var isOK: Bool { findings.allSatisfy { $0.severity != .error } }
}

/// Why a backup, a restore or a check can't be done. Each message says what, on what, and the remedy.
package enum KeepingError: Error, Hashable, Sendable {
  /// No such file, no catalog, a damaged one, one of a newer photod, or the catalog itself. That of another library is one:
  /// restored, the library is that one.
  case notABackup(path: String, message: String)
  /// The file is there already, or its folder can't be written.
  case cannotWrite(path: String, message: String)
  case storageFull(message: String)
  /// Another of these is under way, or photod is stopping.
  case busy(message: String)
}
