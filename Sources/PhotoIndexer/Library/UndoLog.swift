import PhotoCatalog
import PhotoModel

/// The changes of clients since photod started that can be undone, oldest first.
struct UndoLog {
  /// A call, or several calls in a row that a client made as one.
  struct Entry: Sendable {
    /// The sequence of its first commit, which no other entry has.
    let id: Int64
    let date: WallTime
    let origin: String
    let group: String?
    var recording: ChangeRecording
    /// About how much memory the recording takes.
    fileprivate var byteCount: Int
    /// About the work of undoing it (see ``ChangeRecording/work``). A value that several calls change counts for each.
    fileprivate var work: Int

    init(id: Int64, date: WallTime, origin: String, group: String?, recording: ChangeRecording) {
      (self.id, self.date, self.origin, self.group) = (id, date, origin, group)
      self.recording = recording
      byteCount = recording.byteCount
      work = recording.work
    }

    fileprivate var isTooLarge: Bool { work > UndoLog.mostWork || byteCount > UndoLog.mostBytes }

    func isContinued(by later: Entry) -> Bool { group != nil && group == later.group && origin == later.origin }
  }

  static let mostEntries = 100
  /// The most work of undoing one change (see ``ChangeRecording/work``). The library does nothing else meanwhile. This much
  /// takes at most a second of processor time.
  static let mostWork = 20_000
  static let mostBytes = 32 << 20

  private(set) var entries: [Entry] = []
  /// The newest change, if it is too large. Its later calls are left out, because a part of it must not be undone.
  private var tooLarge: Entry?
  /// The last changes that were too large.
  private var tooLargeIDs: [Int64] = []
  private var byteCount = 0

  /// Adds a call. If the newest entry has the same origin and group, the call becomes a part of it.
  mutating func append(_ entry: Entry) {
    guard !entry.recording.isEmpty else { return }
    if let tooLarge {
      if tooLarge.isContinued(by: entry) { return }
      self.tooLarge = nil
    }
    byteCount += entry.byteCount
    if let last = entries.last, last.isContinued(by: entry) {
      entries[entries.count - 1].recording.append(entry.recording)
      entries[entries.count - 1].byteCount += entry.byteCount
      entries[entries.count - 1].work += entry.work
    } else {
      entries.append(entry)
    }
    if let last = entries.last, last.isTooLarge { dropLast() }
    while entries.count > Self.mostEntries || byteCount > Self.mostBytes {
      byteCount -= entries.removeFirst().byteCount
    }
  }

  /// Drops the newest change, which is too large. The changes before it stay.
  private mutating func dropLast() {
    var dropped = entries.removeLast()
    byteCount -= dropped.byteCount
    dropped.recording = ChangeRecording()
    tooLarge = dropped
    tooLargeIDs.append(dropped.id)
    if tooLargeIDs.count > Self.mostEntries { tooLargeIDs.removeFirst() }
  }

  func entry(_ id: Int64) -> Entry? { entries.first { $0.id == id } }

  /// The reason why a change without an entry can't be undone.
  func refusal(ofMissing id: Int64) -> LibraryError {
    guard tooLargeIDs.contains(id) else {
      return LibraryError.changeRejected(
        requestIndex: 0,
        message:
          "There is no change \(id) that can be undone. FetchUndoableChanges has those since photod started, at most \(Self.mostEntries)."
      )
    }
    return LibraryError.changeRejected(
      requestIndex: 0,
      message:
        "The change \(id) can't be undone, because it is too large. A change can be undone if it has at most \(Self.mostWork) places of photos in albums. The edit of a photo counts as two places, and each of its keywords as one more."
    )
  }

  mutating func remove(_ id: Int64) {
    entries.removeAll { $0.id == id }
    byteCount = entries.reduce(0) { $0 + $1.byteCount }
  }
}
