import WatchRecords

// The data that photod-watch keeps.
extension SimulatedWatcher {
  struct Node {
    let key: SimulatedDisk.NodeKey
    let identity: FileIdentity
    var parent: DirectoryNumber
    var name: String
    /// The number of the root, if the directory is its top.
    var root: UInt16
    var watch: Int?
    var isDisplaced = false
    var ignoresContents = false
    var isIncomplete = false
    /// The times of a directory without a watch when it was listed.
    var listedTimes: [Int64]?
    var wasRecent = false
    /// The names of subfolders that could not be entered.
    var unentered: Set<String> = []
  }

  struct Place: Hashable {
    let directory: DirectoryNumber
    let name: String
  }

  struct Root {
    let path: String
    var top: DirectoryNumber?
    var reportedError: Int32?
    var activeScan: Int?
    var waiting: [(request: UInt32, reason: ScanReason, directory: DirectoryNumber?)] = []
  }

  struct Scan {
    let root: UInt16
    let request: UInt32
    var remaining = 0
    var isComplete = true
  }

  struct Request {
    var isDoubtful = false
    var attempts = 0
    var retryAt: Int64 = 0
    var evidence: Evidence
    var scan: Int?
    var isRecursive: Bool
    var stamp: Int
    var postponements = 0
  }

  struct Missing {
    var since: Int64
    var retryAt: Int64 = 0
    var evidence: Evidence
    var stamp: Int
    var isDead = false
    /// How often its parent refused access.
    var attempts = 0
  }

  struct Rename {
    let from: Place
    let to: Place
    let cookie: UInt64
    /// That of its second half.
    let stamp: Int
  }

  struct Departure {
    let place: Place
    let since: Int64
    let stamp: Int
    /// The file was written just before the rename, and the write was not reported yet.
    var isWritten = false
    /// The last event of the old name since the rename.
    var touched: FileEvent?
  }

  struct Fresh {
    var checkAt: Int64
    var byteCount: Int64
    var modificationTime: FileTime
    let event: FileEvent
    let stamp: Int
  }

  struct Sync {
    let number: UInt64
    var isSeen = false
    var isLost = false
    var stamp = 0
  }
}
