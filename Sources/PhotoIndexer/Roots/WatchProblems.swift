/// The reasons why photod-watch does not see all changes at once. None of it is in the catalog.
struct WatchProblems {
  /// The folders that are polled, and the watchers that ended.
  var watching = WatchState()
  /// The folders and files that can't be read, and the shares that are left out.
  var unreadable = UnreadablePaths()
  /// The files of the library that photod may not open; nil if there are none.
  var forbiddenFiles: (count: Int, first: [UInt8])?
  /// Whether a commit may have changed ``forbiddenFiles``.
  var forbiddenFilesMayDiffer = true
  /// Mounted shares below roots, with inner roots on them.
  var leftOutShares: Set<[UInt8]> = []
}
