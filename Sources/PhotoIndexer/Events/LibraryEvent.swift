import PhotoModel
import WatchRecords

/// A record that the library received, or a change that it made. It is kept as the bytes and numbers that were there
/// anyway, and made into text only on request.
package struct LibraryEvent: Sendable {
  /// Counts the events of this daemon, from 1.
  package let number: Int64
  package let time: WallTime
  package let fact: Fact

  package enum Fact: Sendable {
    // The records of photod-watch.
    case watcherStarted(session: Int)
    case watcherDied(reason: String)
    case scanStarted(root: [UInt8], ScanReason)
    case fileSeen(EventPlace, byteCount: Int64)
    case fileMoved(from: EventPlace?, to: EventPlace)
    case fileGone(EventPlace)
    case folderSeen(EventPlace)
    case folderMoved(from: EventPlace, to: EventPlace)
    case folderGone(EventPlace, Evidence)
    /// A folder was listed. The outcomes of its files are counted here and not recorded file by file.
    case listed(EventPlace, Evidence, ListingCounts)
    case unreadable(EventPlace, errorNumber: Int32)
    case rootOffline(root: [UInt8], errorNumber: Int32)
    case overflow
    /// The number of a root's directories that have no watch.
    case polling(root: [UInt8], PollingReason, polled: Int, directories: Int)

    // The decisions of the library.
    case inserted(EventPlace, assetID: AssetID)
    case updated(EventPlace, assetID: AssetID, ChangedFields)
    case renamed(from: EventPlace, to: EventPlace, assetID: AssetID)
    case folderRenamed(from: [UInt8], to: [UInt8])
    case removed(EventPlace, assetID: AssetID)
    /// A folder left with all that was below it.
    case folderRemoved(EventPlace, assetCount: Int)
    case ignored(EventPlace, assetID: AssetID?, Reason)
    case deferred(EventPlace, assetID: AssetID, Reason)
    /// The content of the file can't be parsed.
    case damaged(EventPlace, assetID: AssetID, failure: String)
    case scanDecided(root: [UInt8], removed: Int, isComplete: Bool)
    /// A scan misses too many photos to remove them before a second scan misses them too, or a person confirms it.
    case braked(root: [UInt8], missing: Int)
    case committed(sequence: Int64, origin: String, CommitCounts)
    /// A transaction failed. The changes since the last commit are undone, and all folders are scanned anew.
    case startedOver(error: String)
  }

  /// The reason why no change was made, or not yet.
  package enum Reason: Sendable {
    /// Size, times and inode are those that the catalog has.
    case sameStat
    /// The file was read again, and has the same content as before.
    case sameContent
    case empty
    /// The file was elsewhere, or was another one, when it was to be read.
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
    /// The files that are in the catalog and were not named.
    package var missing = 0

    /// Whether the catalog had all files of the listing as they are.
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

/// A path in two parts that other values own too, so that the bytes are not copied for it.
package struct EventPlace: Sendable, Hashable {
  let directory: [UInt8]
  /// The name, or an empty array for the directory itself.
  let name: [UInt8]

  package var path: String {
    if name.isEmpty { return FilePath.text(directory) }
    return FilePath.text(directory + (directory.last == UInt8(ascii: "/") ? [] : [UInt8(ascii: "/")]) + name)
  }
}
