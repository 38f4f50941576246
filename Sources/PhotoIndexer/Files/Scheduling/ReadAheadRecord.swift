import WatchRecords

/// A record of photod-watch, as far as it matters for reading ahead: the places of directories, and the files that may have
/// to be read.
enum ReadAheadRecord {
  /// A directory is at this place.
  case directory(DirectoryPlace, isNew: Bool)
  case directoryGone(DirectoryNumber)
  case listingStarted(DirectoryNumber, Evidence)
  case listingEnded
  /// A file that may have to be read. An empty file is no photo yet.
  case file(directory: DirectoryNumber, name: [UInt8], FileStat, FileEvent)
  case rootOffline
  case other

  // Nothing else decodes records for reading ahead. So a new kind of record does not compile without a decision here.
  init(_ record: WatchRecord) {
    switch record {
    case .directoryFound(let number, let parent, _, let name, _):
      self = .directory(DirectoryPlace(number: number, parent: parent, name: name), isNew: true)
    case .directoryMoved(let number, let parent, let name):
      self = .directory(DirectoryPlace(number: number, parent: parent, name: name), isNew: false)
    case .directoryGone(let number, _): self = .directoryGone(number)
    case .listingStarted(let number, let evidence): self = .listingStarted(number, evidence)
    case .listingEnded: self = .listingEnded
    case .fileFound(let directory, let name, let stat, let event):
      self = stat.byteCount > 0 ? .file(directory: directory, name: name, stat, event) : .other
    case .fileMoved(_, _, let directory, let name, let stat, let event):
      self = if let stat, stat.byteCount > 0 { .file(directory: directory, name: name, stat, event) } else { .other }
    case .rootOffline: self = .rootOffline
    case .fileGone, .scanStarted, .scanEnded, .overflow, .synced, .polling, .watchBudget, .unreadable, .ignored, .alive,
      .checkpoint:
      self = .other
    }
  }
}
