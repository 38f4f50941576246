import PhotoCatalog
import PhotoModel

/// The changes of clients since photod started, oldest first. Changes that can't be undone are in it, too, so that no
/// client takes an older change for the last one.
struct UndoLog {
  /// A call, or several calls of a client that have the same group.
  struct Entry: Sendable {
    /// The sequence of its first commit, which no other entry has.
    let id: Int64
    let date: WallTime
    let origin: String
    let group: String?
    /// The actions of its calls, each once.
    private(set) var actions: [UndoableChange.Action]
    /// If the change can't be undone, it only has the titles of collections.
    private(set) var recording: ChangeRecording
    private(set) var obstacle: Obstacle?
    /// The number of assets in the recordings that were dropped. An asset counts once for each call.
    private var droppedAssetCount = 0
    /// About how much memory the recording takes.
    private(set) var byteCount: Int
    /// About the work of undoing it (see ``ChangeRecording/work``). A value that several calls change counts for each.
    private var work: Int

    init(
      id: Int64, date: WallTime, origin: String, group: String?, actions: [UndoableChange.Action] = [],
      recording: ChangeRecording
    ) {
      (self.id, self.date, self.origin, self.group) = (id, date, origin, group)
      self.recording = recording
      byteCount = recording.byteCount
      work = recording.work
      self.actions = []
      add(actions)
      dropIfNeeded()
    }

    var assetCount: Int { recording.assetCount + droppedAssetCount }

    fileprivate var isEmpty: Bool { recording.isEmpty && assetCount == 0 }

    fileprivate func isContinued(by later: Entry) -> Bool {
      group != nil && group == later.group && origin == later.origin
    }

    private mutating func add(_ later: [UndoableChange.Action]) {
      for action in later where !actions.contains(action) { actions.append(action) }
    }

    fileprivate mutating func append(_ later: Entry) {
      add(later.actions)
      if obstacle == nil { obstacle = later.obstacle ?? (recording.isContinued(by: later.recording) ? nil : .mixed) }
      recording.append(later.recording)
      droppedAssetCount += later.droppedAssetCount
      byteCount += later.byteCount
      work += later.work
      dropIfNeeded()
    }

    /// Drops the recording of a change that can't be undone.
    private mutating func dropIfNeeded() {
      if obstacle == nil, work > UndoLog.mostWork || byteCount > UndoLog.mostBytes { obstacle = .tooLarge }
      guard obstacle != nil else { return }
      droppedAssetCount += recording.assetCount
      recording = recording.onlyTitles(limit: UndoableChanges.mostTitles)
      byteCount = recording.byteCount
    }
  }

  /// Why a change can't be undone.
  enum Obstacle: Sendable {
    case tooLarge
    /// Another change came between two of its calls, and changed the same things.
    case mixed
  }

  /// A group of calls.
  private struct Group: Hashable {
    let origin: String
    let name: String
  }

  static let mostEntries = 100
  /// The most work of undoing one change (see ``ChangeRecording/work``). The library does nothing else meanwhile. This much
  /// takes at most a second of processor time.
  static let mostWork = 20_000
  static let mostBytes = 32 << 20
  private static let mostEndedGroups = 1_000

  private(set) var entries: [Entry] = []
  /// The groups of the last entries that left the log because it was full, last used ones last. Their later calls are left
  /// out, because a part of a change must not be undone.
  private var endedGroups: [Group] = []

  /// Adds a call. If an entry has the same origin and group, the call becomes a part of it.
  mutating func append(_ entry: Entry) {
    guard !entry.isEmpty, !isOfEndedGroup(entry) else { return }
    if let index = entries.lastIndex(where: { $0.isContinued(by: entry) }) {
      entries[index].append(entry)
    } else {
      entries.append(entry)
    }
    while entries.count > Self.mostEntries || entries.reduce(0, { $0 + $1.byteCount }) > Self.mostBytes {
      let oldest = entries.removeFirst()
      if let name = oldest.group { endGroup(Group(origin: oldest.origin, name: name)) }
    }
  }

  private mutating func isOfEndedGroup(_ entry: Entry) -> Bool {
    guard let name = entry.group else { return false }
    let group = Group(origin: entry.origin, name: name)
    guard endedGroups.contains(group) else { return false }
    endGroup(group)
    return true
  }

  private mutating func endGroup(_ group: Group) {
    endedGroups.removeAll { $0 == group }
    endedGroups.append(group)
    if endedGroups.count > Self.mostEndedGroups { endedGroups.removeFirst() }
  }

  func entry(_ id: Int64) -> Entry? { entries.first { $0.id == id } }

  /// The error for a change without an entry.
  static func refusal(ofMissing id: Int64) -> LibraryError {
    LibraryError.changeRejected(
      requestIndex: 0,
      message:
        "There is no change \(id) that can be undone. FetchUndoableChanges has those since photod started, at most \(mostEntries)."
    )
  }

  mutating func remove(_ id: Int64) { entries.removeAll { $0.id == id } }
}

extension UndoLog.Entry {
  /// The error if a client undoes the change nevertheless; nil if it can be undone.
  var refusal: LibraryError? {
    switch obstacle {
    case .tooLarge:
      LibraryError.changeRejected(
        requestIndex: 0,
        message:
          "The change \(id) can't be undone, because it is too large. A change can be undone if it has at most \(UndoLog.mostWork) places of photos in albums. The edit of a photo counts as two places, and each of its keywords as one more."
      )
    case .mixed:
      LibraryError.changeRejected(
        requestIndex: 0,
        message:
          "The change \(id) can't be undone, because another change of the same photos or albums came between its calls."
      )
    case nil: nil
    }
  }

  /// Why the change can't be undone, for a person; nil if it can.
  var problem: String? {
    guard case .changeRejected(_, let message) = refusal else { return nil }
    return message
  }
}
