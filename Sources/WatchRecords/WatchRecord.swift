// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// The number that photod-watch gives a directory. A number is never reused in the life of one photod-watch. No two
/// processes that run at the same time use the same numbers (`WatchOrder.begin`).
public typealias DirectoryNumber = UInt64

/// Identifies a file or directory while its file system is mounted.
public struct FileIdentity: Hashable, Sendable {
  public var device: UInt64
  public var inode: UInt64
  /// Unknown if the file system keeps none. It distinguishes a new file from an old one with its inode.
  public var birthTime: FileTime

  public init(device: UInt64, inode: UInt64, birthTime: FileTime) {
    self.device = device
    self.inode = inode
    self.birthTime = birthTime
  }
}

/// The result of one look at a regular file.
public struct FileStat: Hashable, Sendable {
  public var identity: FileIdentity
  public var byteCount: Int64
  public var modificationTime: FileTime
  public var changeTime: FileTime

  public init(identity: FileIdentity, byteCount: Int64, modificationTime: FileTime, changeTime: FileTime) {
    self.identity = identity
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.changeTime = changeTime
  }
}

/// The kernel's events of a file, as far as photod needs them beside the file's present state.
public struct FileEvent: Hashable, Sendable {
  /// When photod-watch read the first of the events. Unknown if no event named the file and a listing found it.
  public var time: FileTime
  /// A program that had the file open for writing closed it (CLOSE_WRITE).
  public var isWritten: Bool
  /// How the file got its name.
  public var naming: Naming

  /// How a file got its name, by the last event that shows it.
  public enum Naming: UInt8, Hashable, Sendable {
    /// No event shows it.
    case unknown
    /// CREATE: the file is new, or this is another name of a file (a hard link).
    case created
    /// MOVED_TO: the file had another name before.
    case renamed
    /// The same, and the file that had this name before may have got the other name in exchange (renameat2(2) with
    /// RENAME_EXCHANGE). The kernel reports an exchange as two renames, and this is the first. Or one file was renamed and
    /// at once renamed back, with the same two events.
    case firstOfExchange
    /// The second of the two.
    case secondOfExchange
  }

  public static let none = FileEvent(time: .unknown, isWritten: false)

  public init(time: FileTime, isWritten: Bool, naming: Naming = .unknown) {
    self.time = time
    self.isWritten = isWritten
    self.naming = naming
  }

  /// Adds a later event of the same name.
  public mutating func add(_ later: FileEvent) {
    if later.isWritten { isWritten = true }
    if later.naming != .unknown { naming = later.naming }
  }
}

/// How photod-watch knows that a file or directory is gone.
public enum Evidence: UInt8, Hashable, Sendable {
  /// The kernel reported it.
  case event
  /// A listing lacks it, in a scan or of a polled directory. The cause may as well be an unmounted drive.
  case scan
}

/// Why directories are polled rather than watched.
public enum PollingReason: Hashable, Sendable {
  /// There are more directories than watches (ENOSPC, or photod-watch's share of the limit).
  case watchLimit
  /// The kernel grants no inotify instance (EMFILE).
  case noInstance
  /// On a file system of this type ("nfs4", "cifs", "fuse.sshfs"), inotify misses changes by other machines or
  /// programs.
  case fileSystem(name: [UInt8])
  /// The kernel refuses a watch (EACCES), although the directory may be read. Security modules have a permission of their
  /// own for watches.
  case refused
}

/// The limit of watches, and the part of it that photod-watch uses.
public struct WatchBudget: Hashable, Sendable {
  /// Directories that have a watch.
  public var watched: UInt32
  /// The most watches that photod-watch takes: its share of `limit`.
  public var allowed: UInt32
  /// The number of watches that all programs of this user may have together; 0 if it can't be read.
  public var limit: UInt32
  /// The limit is that of this user namespace (user.max_inotify_watches), not fs.inotify.max_user_watches.
  public var isNamespaceLimit: Bool
  /// The kernel refused a watch although photod-watch has fewer than `allowed`. Other programs have the rest.
  public var isRefused: Bool
  /// Why there is no inotify instance (EMFILE, ENOMEM); 0 if there is one.
  public var instanceError: Int32

  public init(
    watched: UInt32, allowed: UInt32, limit: UInt32, isNamespaceLimit: Bool = false, isRefused: Bool = false,
    instanceError: Int32 = 0
  ) {
    self.watched = watched
    self.allowed = allowed
    self.limit = limit
    self.isNamespaceLimit = isNamespaceLimit
    self.isRefused = isRefused
    self.instanceError = instanceError
  }
}

/// One statement of photod-watch. Records are true in their order. Each was verified after everything in earlier
/// records. Later changes of a path are in later records.
public enum WatchRecord: Hashable, Sendable {
  /// A directory that was not known. The top of a root has parent 0 and the root's absolute path as its name.
  case directoryFound(
    number: DirectoryNumber, parent: DirectoryNumber, root: UInt16, name: [UInt8], identity: FileIdentity)
  /// A known directory is now here. A directory that was known at this place is elsewhere, and later records report its
  /// place.
  case directoryMoved(number: DirectoryNumber, parent: DirectoryNumber, name: [UInt8])
  /// A directory is gone with everything in it. Its number and those below it do not appear again.
  case directoryGone(number: DirectoryNumber, evidence: Evidence)

  /// The `fileFound` records of this directory from here to `listingEnded` are all its files with wanted names. With
  /// `.scan`, a scan of the root lists it, or it is polled. With `.event`, the directory is new or was in doubt.
  case listingStarted(number: DirectoryNumber, evidence: Evidence)
  /// `complete` is false if reading the directory failed. In that case, a missing file proves nothing.
  case listingEnded(number: DirectoryNumber, complete: Bool)

  /// A regular file with a wanted name exists.
  case fileFound(directory: DirectoryNumber, name: [UInt8], stat: FileStat, event: FileEvent = .none)
  /// A wanted name that an event named does not exist, or is no regular file. Also sent for a directory that could not
  /// be entered (`unreadable`) and has left.
  case fileGone(directory: DirectoryNumber, name: [UInt8])
  /// One rename between two wanted names. `stat` is nil if the file had left the new name as well, or if its directory
  /// could not be verified. Later records report what is there. `event.isWritten` includes writes under the old name
  /// that were not reported yet.
  case fileMoved(
    from: DirectoryNumber, fromName: [UInt8], to: DirectoryNumber, toName: [UInt8], stat: FileStat?,
    event: FileEvent = .none)

  /// A scan begins, of a root or of the requested directory. All its directories are listed before `scanEnded`.
  case scanStarted(root: UInt16, request: UInt32, reason: ScanReason)
  /// `complete` is false if the queue overflowed again meanwhile, the root went offline, or there was nothing to scan.
  /// In that case, files that the scan did not find may exist. It reports directories that it could not read as
  /// `unreadable`.
  case scanEnded(root: UInt16, request: UInt32, complete: Bool)

  /// The root's directory can't be opened (`errorNumber` is errno). It is tried again every two seconds. 0 means that
  /// photod ordered the root's removal. The numbers of its directories do not appear again.
  case rootOffline(root: UInt16, errorNumber: Int32)

  /// The kernel's queue overflowed; scans of all roots follow.
  case overflow
  /// Everything that happened before photod requested sync `number` has been reported.
  case synced(number: UInt64)
  /// The number of the root's directories that have no watch and are polled for this reason; 0 if none is left. Sent
  /// for each reason of a root when the numbers have changed, at most every two seconds. It is void after
  /// `rootOffline`.
  case polling(root: UInt16, reason: PollingReason, polled: UInt32, directories: UInt32)
  /// The state of inotify. Sent when directories are polled for lack of watches or of an instance, and when that ends.
  case watchBudget(WatchBudget)
  /// A directory could not be read, or with an empty name this one itself. Its contents and everything below are
  /// unknown.
  case unreadable(directory: DirectoryNumber, name: [UInt8], errorNumber: Int32)
  /// This name exists, but the user excludes it: by a pattern of the configuration or, with an empty name, by a marker
  /// in the directory itself. Whatever is known at it and below it is removed, and nothing else is. Sent in listings.
  case ignored(directory: DirectoryNumber, name: [UInt8])
  /// photod-watch is running. It sends some record about every ten seconds, if only this one. If none comes, it hangs.
  case alive
  /// A requested scan has reported a certain number of files since the last checkpoint. It pauses while photod has not
  /// answered with `WatchOrder.passed` (`ScanPace`). Numbers rise by one.
  case checkpoint(number: UInt32)
}

/// Why a root is scanned.
public enum ScanReason: UInt8, Hashable, Sendable {
  case start, overflow, rescan, rootReturned
  /// The rules about wanted names have changed.
  case rules
}

/// One order to photod-watch.
public enum WatchOrder: Hashable, Sendable {
  /// The first order. Directories are numbered from `firstNumber`. photod-watch takes at most `watchPercent` percent of
  /// the user's inotify watches. If it refuses shares, a root on one is offline (EREMOTE) and not touched.
  case begin(firstNumber: DirectoryNumber, watchPercent: UInt8, refusesShares: Bool)
  /// Sets which names are wanted. It is the second order, and may come again at any time. Extensions are lower-case
  /// ASCII without the dot. The patterns are those of `IgnorePattern`. Unwanted files leave, and a scan finds those
  /// that are wanted again.
  case configure(extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]], ignoredPatterns: [[UInt8]])
  /// Watch and scan this directory. Roots neither repeat nor contain one another.
  case addRoot(root: UInt16, path: [UInt8])
  case removeRoot(root: UInt16)
  /// Poll each directory of this root at most once in so many seconds; 0 for the usual intervals. Directories with a
  /// watch, scans and syncs are not affected.
  case setPollInterval(root: UInt16, seconds: UInt32)
  /// Scan a root again, or only the given directory with everything below it. `scanEnded` repeats `request`.
  case rescan(root: UInt16, directory: DirectoryNumber?, request: UInt32)
  /// Send `synced(number)` once everything that happened before has been reported.
  case sync(number: UInt64)
  /// photod has taken the records up to this checkpoint.
  case passed(checkpoint: UInt32)
}
