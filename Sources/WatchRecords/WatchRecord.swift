// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// A directory as photod-watch numbers it. A number is never used again in the life of one photod-watch.
public typealias DirectoryNumber = UInt32

/// What identifies a file or directory while its file system is mounted.
public struct FileIdentity: Hashable, Sendable {
  public var device: UInt64
  public var inode: UInt64
  /// Nanoseconds since 1970; 0 where the file system keeps none. It tells a new file from an old one with its inode.
  public var birthTime: Int64

  public init(device: UInt64, inode: UInt64, birthTime: Int64) {
    self.device = device
    self.inode = inode
    self.birthTime = birthTime
  }
}

/// What one look at a regular file said. Times are nanoseconds since 1970.
public struct FileStat: Hashable, Sendable {
  public var identity: FileIdentity
  public var byteCount: Int64
  public var modificationTime: Int64
  public var changeTime: Int64

  public init(identity: FileIdentity, byteCount: Int64, modificationTime: Int64, changeTime: Int64) {
    self.identity = identity
    self.byteCount = byteCount
    self.modificationTime = modificationTime
    self.changeTime = changeTime
  }
}

/// How photod-watch knows that something is gone.
public enum Evidence: UInt8, Hashable, Sendable {
  /// The kernel reported it.
  case event
  /// A listing of the directory lacks it, of a scan or of a directory that is polled: it may as well be an unmounted drive.
  case scan
}

/// Why directories are polled rather than watched.
public enum PollingReason: Hashable, Sendable {
  /// There are more directories than watches (ENOSPC, or photod-watch's share of the limit).
  case watchLimit
  /// The kernel gives no inotify instance (EMFILE).
  case noInstance
  /// A file system of this kind ("nfs4", "cifs", "fuse.sshfs") does not tell what other machines or programs change in it.
  case fileSystem(name: [UInt8])
}

/// Watches: what there are, and what of them photod-watch has.
public struct WatchBudget: Hashable, Sendable {
  /// Directories that have a watch.
  public var watched: UInt32
  /// photod-watch never has more watches than this: its share of `limit`.
  public var allowed: UInt32
  /// What all programs of this user may have together; 0 when it can't be read.
  public var limit: UInt32
  /// The limit is that of this user namespace (user.max_inotify_watches), not fs.inotify.max_user_watches.
  public var isNamespaceLimit: Bool
  /// The kernel refused a watch though photod-watch has less than `allowed`: other programs have the rest.
  public var isRefused: Bool
  /// Why there is no inotify instance (EMFILE, ENOMEM), else 0.
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

/// One statement of photod-watch. They are true in their order: each was looked at after all that is said before it, and
/// what happens to a path after it was looked at is said later.
public enum WatchRecord: Hashable, Sendable {
  /// A directory that was not known. The top of a root has parent 0 and the root's absolute path as name.
  case directoryFound(
    number: DirectoryNumber, parent: DirectoryNumber, root: UInt16, name: [UInt8], identity: FileIdentity)
  /// A known directory is now here; whatever stands in that place is elsewhere, and later records say where.
  case directoryMoved(number: DirectoryNumber, parent: DirectoryNumber, name: [UInt8])
  /// A directory is gone with all that is in it; its number and those below it are never named again.
  case directoryGone(number: DirectoryNumber, evidence: Evidence)

  /// The `fileFound` of this directory from here to `listingEnded` are all its files (those with a wanted name).
  /// With `.scan`, a scan of the root lists it, or it is polled; with `.event`, the directory is new or was in doubt.
  case listingStarted(number: DirectoryNumber, evidence: Evidence)
  /// `complete` is false when reading the directory failed: then a file that was not named says nothing.
  case listingEnded(number: DirectoryNumber, complete: Bool)

  /// A regular file with a wanted name is there.
  case fileFound(directory: DirectoryNumber, name: [UInt8], stat: FileStat)
  /// A wanted name that an event named is not there, or is no regular file. Also of a directory that could not be entered
  /// (`unreadable`) and has left.
  case fileGone(directory: DirectoryNumber, name: [UInt8])
  /// One rename; both names are wanted. `stat` is nil when the file had already left the new name as well, or its
  /// directory could not be verified: later records say what is there.
  case fileMoved(
    from: DirectoryNumber, fromName: [UInt8], to: DirectoryNumber, toName: [UInt8], stat: FileStat?)

  /// A scan of a root begins, or of the directory that was asked for. All its directories are listed before `scanEnded`.
  case scanStarted(root: UInt16, request: UInt32, reason: ScanReason)
  /// `complete` is false when the queue overflowed again meanwhile, the root went, or there was nothing to scan: then it
  /// says nothing of what it did not find. What it could not read it says by `unreadable`.
  case scanEnded(root: UInt16, request: UInt32, complete: Bool)

  /// The root's directory can't be opened (`errorNumber` is errno); it is tried again every two seconds.
  case rootOffline(root: UInt16, errorNumber: Int32)

  /// The kernel's queue overflowed; scans of all roots follow.
  case overflow
  /// Everything that happened before sync request `number` was made has been said.
  case synced(number: UInt64)
  /// For this reason so many of the root's directories have no watch and are polled; 0: none any more. Said for each reason
  /// that a root has, when the numbers have changed, at most every two seconds. It ends with the root (`rootOffline`).
  case polling(root: UInt16, reason: PollingReason, polled: UInt32, directories: UInt32)
  /// What photod-watch has of inotify. Said when directories are polled for want of watches or of an instance, and when
  /// that is over.
  case watchBudget(WatchBudget)
  /// A directory, or with an empty name this one itself, could not be read: what is in it and below is not known.
  case unreadable(directory: DirectoryNumber, name: [UInt8], errorNumber: Int32)
  /// This name is there and a person's word keeps it out: a pattern of the configuration, or with an empty name a marker
  /// in the directory itself. What is known of it, and of what is below it, leaves; nothing else does. Said in listings.
  case ignored(directory: DirectoryNumber, name: [UInt8])
  /// photod-watch goes on; nothing else. Something is said every ten seconds or so, if only this: where nothing comes it
  /// hangs.
  case alive
}

/// Why a root is scanned.
public enum ScanReason: UInt8, Hashable, Sendable {
  case start, overflow, rescan, rootReturned
  /// Other names are wanted than before.
  case rules
}

/// One order to photod-watch.
public enum WatchOrder: Hashable, Sendable {
  /// Which names are wanted: the first order, and again at any time. Extensions are lower-case ASCII without the dot, the
  /// patterns those of `IgnorePattern`. What is unwanted from now on leaves, what is wanted again is found by a scan.
  case configure(extensions: [[UInt8]], ignoredDirectoryNames: [[UInt8]], ignoredPatterns: [[UInt8]])
  /// Watch and scan this directory. Roots neither repeat nor contain one another.
  case addRoot(root: UInt16, path: [UInt8])
  case removeRoot(root: UInt16)
  /// Scan a root again, or with a directory only that and what is below it. `scanEnded` repeats `request`.
  case rescan(root: UInt16, directory: DirectoryNumber?, request: UInt32)
  /// Say `synced(number)` once all that happened before is said.
  case sync(number: UInt64)
}
