import PhotoModel
import WatchRecords

/// One thing that the library was told, or did: kept as the bytes and numbers that were there anyway, made into text only
/// when somebody asks.
package struct LibraryEvent: Sendable {
  /// Counts the events of this daemon, from 1.
  package let number: Int64
  /// Nanoseconds since 1970.
  package let time: Int64
  package let fact: Fact

  package enum Fact: Sendable {
    // What photod-watch said.
    case watcherStarted(session: Int)
    case watcherDied(reason: String)
    case scanStarted(root: [UInt8], ScanReason)
    case fileSeen(EventPlace, byteCount: Int64)
    case fileMoved(from: EventPlace?, to: EventPlace)
    case fileGone(EventPlace)
    case folderSeen(EventPlace)
    case folderMoved(from: EventPlace, to: EventPlace)
    case folderGone(EventPlace, Evidence)
    /// A folder was listed; what the library made of its files is counted here and not said file by file.
    case listed(EventPlace, Evidence, ListingCounts)
    case unreadable(EventPlace, errorNumber: Int32)
    case rootOffline(root: [UInt8], errorNumber: Int32)
    case overflow
    /// So many of a root's directories have no watch.
    case polling(root: [UInt8], PollingReason, polled: Int, directories: Int)

    // What the library made of it.
    case inserted(EventPlace, assetID: Int64)
    case updated(EventPlace, assetID: Int64, ChangedFields)
    case renamed(from: EventPlace, to: EventPlace, assetID: Int64)
    case folderRenamed(from: [UInt8], to: [UInt8])
    case removed(EventPlace, assetID: Int64)
    /// A folder left with all that was below it.
    case folderRemoved(EventPlace, assetCount: Int)
    case ignored(EventPlace, assetID: Int64?, Reason)
    case deferred(EventPlace, assetID: Int64, Reason)
    /// Its content can't be parsed.
    case damaged(EventPlace, assetID: Int64, failure: String)
    case scanDecided(root: [UInt8], removed: Int, isComplete: Bool)
    /// A scan misses so much that nothing is removed until a second one misses it too, or a person says so.
    case braked(root: [UInt8], missing: Int)
    case committed(sequence: Int64, origin: String, CommitCounts)
    /// A transaction failed: what was said since the last commit is undone, and all folders are scanned anew.
    case startedOver(error: String)
  }

  /// Why nothing was done, or not now.
  package enum Reason: Sendable {
    /// Size, times and inode are those that the catalog has.
    case sameStat
    /// It was read again, and says what it said before.
    case sameContent
    case empty
    /// It was elsewhere or another when it was to be read.
    case raced
  }

  /// Files of one listing.
  package struct ListingCounts: Sendable, Hashable {
    package var found = 0
    package var inserted = 0
    package var updated = 0
    package var renamed = 0
    package var deferred = 0
    package var damaged = 0
    /// In the catalog, and not named.
    package var missing = 0

    /// The catalog had all of it.
    package var isQuiet: Bool { inserted + updated + renamed + deferred + damaged + missing == 0 }
  }

  package struct CommitCounts: Sendable, Hashable {
    package var inserted: Int
    package var updated: Int
    package var deleted: Int
    package var folders: Int
    package var roots: Int
  }
}

/// A path in two parts that others own too: nothing is copied for it.
package struct EventPlace: Sendable, Hashable {
  let directory: [UInt8]
  /// Empty where the directory itself is meant.
  let name: [UInt8]

  package var path: String {
    if name.isEmpty { return FilePath.text(directory) }
    return FilePath.text(directory + (directory.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name)
  }
}
