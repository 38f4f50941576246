import PhotoModel
import WatchRecords

/// Something that is wrong with the library, as the status reports it.
///
/// A warning has only facts, such as a path and a number. Warning+Text.swift makes the message of them. Warnings are
/// computed from the current state, so a warning ends with its cause. Three kinds of facts are text already:
///
/// - A `problem` is the text of an error of the catalog's files, which may have its own remedy.
/// - A notice is stored in the catalog as text, because a later photod may not know the event that it reports.
/// - A problem of the configuration is a sentence that `photod --check-config` prints, too.
///
/// While there is no library, `DegradedService` reports the error that keeps photod from opening one, also in the log.
package enum Warning: Hashable, Sendable {
  // MARK: The catalog and its configuration

  /// The high-water mark could not be written.
  case lastCommitNotRemembered(problem: String)
  /// A fact that photod found at the catalog's place when it opened it, as a sentence.
  case catalogNotice(String)
  case catalogFileRemoved(problem: String)
  case catalogNotWritten(path: String, CatalogProblem)
  case backupFailed(problem: String)
  /// A problem of the configuration, as a sentence.
  case configuration(String)

  // MARK: Watching

  /// photod-watch ended.
  ///
  /// - roots: the paths of its roots, if it is not the one that watches all drives.
  case watcherDied(reason: String, roots: [[UInt8]])
  case queueOverflowed
  /// Folders have no inotify watch, and are polled.
  case watchesExhausted(folderCount: Int, WatchBudget?)
  case noInotifyInstance(folderCount: Int, errorNumber: Int32)
  /// Folders are polled because their file systems do not report all changes.
  case silentFileSystems(folderCount: Int, types: [String])
  /// Folders are polled because the kernel refuses to watch them.
  case watchesRefused(folderCount: Int)

  // MARK: Roots, folders and files

  case rootOffline([UInt8], OfflineReason)
  case rootForeign([UInt8], ForeignFolder)
  /// - examples: the paths of some of the missing photos.
  /// - end: when the removal grace ends.
  case rootSuspect([UInt8], missing: Int, examples: [[UInt8]], end: PhotoDate)
  case rootUnconfigured([UInt8], isEmpty: Bool)
  /// Another file system is in the place of a folder below a root.
  case driveAway([UInt8])
  case sharesLeftOut(first: [UInt8], count: Int)
  case unreadable(first: [UInt8], errorNumber: Int32, count: Int)
  /// The disk fails in the content of files.
  case failingFiles(first: [UInt8], reason: String, count: Int)
}

/// Why a root is offline.
package enum OfflineReason: Hashable, Sendable {
  /// It was offline before, and has not been looked at since photod started or since it was configured again.
  case notLookedAt
  /// The folder does not exist, and the library has never had it.
  case neverThere
  /// It can't be opened, with this errno.
  case cannotBeOpened(Int32)
}

/// The kind of folder that is in a root's place instead of its own.
package enum ForeignFolder: Hashable, Sendable {
  /// A folder of another file system.
  case otherFileSystem
  /// Another folder of the same file system.
  case otherFolder
}
