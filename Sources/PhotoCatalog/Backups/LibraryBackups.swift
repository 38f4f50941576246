import PhotoContract
import PhotoModel

/// The operations that keep a library safe. `org.photod.manage` offers them.
///
/// Paths are absolute, as ``FilePath`` texts. Every call throws ``BackupError`` for a problem that a person can solve.
/// One backup, restore or check of a client runs at a time, and another one throws `busy`. If the task is cancelled
/// before the work begins, the call changes nothing and throws `CancellationError`.
package protocol LibraryBackups: Sendable {
  /// Copies the catalog to a file while the library goes on, and verifies the copy before it gets its name.
  ///
  /// - Parameter path: nothing may exist there. Nil puts the backup among the daily ones, with the present time in its
  ///   name.
  func backup(to path: String?) async throws -> BackupReport

  /// The backups in the catalog's `backups` folder, newest first. They are not verified again. It blocks, and checks the
  /// current `WorkBudget`.
  func backups() throws -> [BackupReport]

  /// Replaces the catalog with a backup.
  ///
  /// The present state is backed up first, and the given file is verified in full. When this returns, the restored
  /// catalog is on disk, and the next opening uses it, even if photod ends now. The daemon then closes its library and
  /// opens it again at the same socket. So the calling connection gets the reply and is closed a moment later. Clients
  /// that come back with an older token must reload. Ids that were assigned since the backup are not reused.
  func restore(from path: String) async throws -> RestoreReport

  /// Checks whether the catalog satisfies its invariants. It changes nothing, with two exceptions. A report without
  /// errors includes the notices of a rebuilt catalog as warnings, and acknowledges them. A catalog that SQLite finds
  /// damaged is rebuilt at once.
  ///
  /// - Parameter deep: runs SQLite's `integrity_check`, which reads every page and compares every index. Otherwise
  ///   `quick_check` runs, which does not compare indexes.
  func check(deep: Bool) async throws -> CheckReport
}

package struct BackupReport: Hashable, Sendable {
  package var path: String
  package var byteCount: Int64
  /// Nil if the assets could not be counted: in ``LibraryBackups/backups()``, the file can't be read.
  package var assetCount: Int?
  /// When the backup was made.
  package var date: PhotoDate
  /// True for a backup that was made by hand. It is never removed to make room for daily ones.
  package var isKept: Bool

  package init(path: String, byteCount: Int64, assetCount: Int?, date: PhotoDate, isKept: Bool) {
    self.path = path
    self.byteCount = byteCount
    self.assetCount = assetCount
    self.date = date
    self.isKept = isKept
  }
}

package struct RestoreReport: Hashable, Sendable {
  /// The backup that was restored.
  package var path: String
  package var assetCount: Int
  /// The number of assets with user data.
  package var userDataCount: Int
  /// A backup of the previous state, with which the restore can be undone.
  package var previous: BackupReport

  package init(path: String, assetCount: Int, userDataCount: Int, previous: BackupReport) {
    self.path = path
    self.assetCount = assetCount
    self.userDataCount = userDataCount
    self.previous = previous
  }
}

package struct CheckReport: Hashable, Sendable {
  package struct Finding: Hashable, Sendable {
    package var severity: CatalogCheck.Finding.Severity
    /// The problem with its count: `3 files belong to no asset`.
    package var what: String
    /// The first violation: a table and an id, or a file.
    package var place: String
    /// The remedy, as a sentence.
    package var remedy: String

    package init(_ severity: CatalogCheck.Finding.Severity, _ what: String, place: String, remedy: String) {
      self.severity = severity
      self.what = what
      self.place = place
      self.remedy = remedy
    }
  }

  /// The errors come first.
  package var findings: [Finding]
  /// The number of checked items by name: `assets`, `files`, `folders`, `albums`, `keywords`, `commits`, `user data`.
  package var counts: [String: Int]

  package init(findings: [Finding], counts: [String: Int]) {
    self.findings = findings
    self.counts = counts
  }

  /// Whether there are no errors. There may be warnings.
  package var isOK: Bool { findings.allSatisfy { $0.severity != .error } }
}

/// Why a backup, restore or check is impossible. Each message has the problem, the file and the remedy.
package enum BackupError: Error, Hashable, Sendable {
  /// There is no such file, or it is no catalog, a damaged one, one of a newer photod, or the catalog itself. A backup
  /// of another library is valid: after the restore, the library is that one.
  case notABackup(path: String, message: String)
  /// The file exists already, or its folder can't be written.
  case cannotWrite(path: String, message: String)
  case storageFull(message: String)
  /// Another of these operations is running, or photod is stopping.
  case busy(message: String)
}
