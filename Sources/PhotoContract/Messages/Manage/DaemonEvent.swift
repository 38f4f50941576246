import PhotoModel

/// One event that the daemon saw on disk, or one action of its library.
///
/// ``source`` and ``kind`` are text, so that a tool can show the words of a later daemon.
public struct DaemonEvent: Codable, Hashable, Sendable {
  /// The words of ``source``.
  package enum Source: String, CaseIterable, Sendable { case watch, library }

  /// The words of ``kind``.
  package enum Kind: String, CaseIterable, Sendable {
    case watcherStarted, watcherDied, scanStarted, fileSeen, fileMoved, fileGone, folderSeen, folderMoved, folderGone
    case listed, unreadable, offline, overflow, watchLimit
    case inserted, updated, renamed, removed, ignored, deferred, damaged, scanEnded, suspect, committed, startedOver
  }

  /// The number of the event, counted from 1 since the daemon started.
  public var number: Int
  /// When the event happened.
  public var time: PhotoDate
  /// `watch` for an event on disk, `library` for an action of the library.
  public var source: String
  /// One of the words that org.photod.manage lists. Later daemons may have more.
  public var kind: String
  /// The path of the file or folder; for a move, the path after it.
  public var path: String?
  /// The path before a move.
  public var fromPath: String?
  /// The asset that is concerned; nil if it is not one.
  public var assetID: AssetID?
  /// One line for a person.
  public var detail: String

  /// Creates an event. photod sends it; a program makes one for its own tests and previews.
  public init(
    number: Int, time: PhotoDate, source: String, kind: String, path: String? = nil, fromPath: String? = nil,
    assetID: AssetID? = nil, detail: String
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
  /// The events, oldest first.
  public var events: [DaemonEvent]
  /// How many events are no longer kept, of those between the page before (for the first page: the start of the daemon)
  /// and the first of these events.
  public var missed: Int

  /// Creates a page. `missed` is the number of events that were dropped before its first one.
  public init(events: [DaemonEvent], missed: Int) {
    self.events = events
    self.missed = missed
  }
}
