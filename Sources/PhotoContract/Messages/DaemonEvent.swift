import PhotoModel

/// One thing that the daemon saw on disk, or made of it.
///
/// Its words are text: a tool shows those of a later daemon as they are.
public struct DaemonEvent: Codable, Hashable, Sendable {
  /// The words of ``source``.
  package enum Source: String, CaseIterable, Sendable { case watch, library }

  /// The words of ``kind``.
  package enum Kind: String, CaseIterable, Sendable {
    case watcherStarted, watcherDied, scanStarted, fileSeen, fileMoved, fileGone, folderSeen, folderMoved, folderGone
    case listed, unreadable, offline, overflow, watchLimit
    case inserted, updated, renamed, removed, ignored, deferred, damaged, scanEnded, suspect, committed, startedOver
  }

  /// From 1, since the daemon started.
  public var number: Int
  public var time: PhotoDate
  /// `watch` for what was seen on disk, `library` for what was made of it.
  public var source: String
  /// One of the words that org.photod.manage lists; more may come.
  public var kind: String
  /// Of a move, where it is now.
  public var path: String?
  /// Of a move, where it was.
  public var fromPath: String?
  public var assetID: Int64?
  /// One line for a person.
  public var detail: String

  public init(
    number: Int, time: PhotoDate, source: String, kind: String, path: String? = nil, fromPath: String? = nil,
    assetID: Int64? = nil, detail: String
  ) {
    self.number = number
    self.time = time
    self.source = source
    self.kind = kind
    self.path = path
    self.fromPath = fromPath
    self.assetID = assetID
    self.detail = detail
  }
}

/// Events, oldest first.
public struct EventPage: Codable, Hashable, Sendable {
  public var events: [DaemonEvent]
  /// How many came between the page before (at first: since the daemon started) and the first of these, and are kept no
  /// longer.
  public var missed: Int

  public init(events: [DaemonEvent], missed: Int) {
    self.events = events
    self.missed = missed
  }
}
