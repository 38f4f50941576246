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

    init(id: Int64, date: WallTime, origin: String, group: String?, recording: ChangeRecording) {
      (self.id, self.date, self.origin, self.group) = (id, date, origin, group)
      self.recording = recording
      byteCount = recording.byteCount
    }

    func isContinued(by later: Entry) -> Bool { group != nil && group == later.group && origin == later.origin }
  }

  static let mostEntries = 100
  /// Enough for edits of some 70,000 assets.
  static let mostBytes = 32 << 20

  private(set) var entries: [Entry] = []
  /// A group that is too large. Its later calls are left out, because a part of it must not be undone.
  private var tooLarge: Entry?
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
    } else {
      entries.append(entry)
    }
    while entries.count > Self.mostEntries || byteCount > Self.mostBytes {
      var dropped = entries.removeFirst()
      byteCount -= dropped.byteCount
      dropped.recording = ChangeRecording()
      if entries.isEmpty { tooLarge = dropped }
    }
  }

  func entry(_ id: Int64) -> Entry? { entries.first { $0.id == id } }

  mutating func remove(_ id: Int64) {
    entries.removeAll { $0.id == id }
    byteCount = entries.reduce(0) { $0 + $1.byteCount }
  }
}
