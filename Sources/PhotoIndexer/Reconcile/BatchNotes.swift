import WatchRecords

/// The news in the records of a batch beside changes of the catalog. The library takes it in after the COMMIT.
struct BatchNotes {
  /// The folders in which the records report something.
  var changed: Set<DirectoryNumber> = []
  /// Whether the records report a change, if only that a folder is gone.
  var hasChanges = false
  /// The paths of the folders that moved or went, which may be wrong in earlier reports.
  var leftPaths = LeftPaths()
  /// The number of files that the records report as present.
  var foundCount = 0
  /// The roots on which a share is mounted now.
  var remoteRoots: [UInt16] = []
  /// The shares below roots that were left out.
  var leftOut: [(directory: DirectoryNumber, name: [UInt8])] = []
  /// In the order of the records.
  var reports: [WatchReport] = []
}

/// The former paths of folders.
struct LeftPaths {
  /// If there are more bytes of paths, they are not kept: an array with the path of each folder of a deep chain would
  /// take gigabytes.
  static let mostBytes = 1 << 20

  /// nil if there are too many.
  private(set) var paths: [[UInt8]]? = []
  private var byteCount = 0

  mutating func append(_ path: @autoclosure () -> [UInt8]) {
    guard paths != nil else { return }
    let path = path()
    byteCount += path.count
    if byteCount <= Self.mostBytes { paths?.append(path) } else { paths = nil }
  }
}

/// A report of photod-watch about what it sees, and how.
enum WatchReport {
  case overflow
  case scanStarted(root: UInt16, ScanReason)
  case scanEnded(root: UInt16)
  case offline(root: UInt16)
  case polling(root: UInt16, PollingReason, count: UInt32, total: UInt32)
  case budget(WatchBudget)
  case unreadable(directory: DirectoryNumber, name: [UInt8], errorNumber: Int32)
  /// The names of a directory that can't be read are reported anew.
  case listing(directory: DirectoryNumber)
}
