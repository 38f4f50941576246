import PhotoModel
import Varlink

/// One connection to the daemon, as org.photod.manage gives it.
public struct ConnectedClient: Codable, Hashable, Sendable {
  /// A call with several replies that is being answered.
  public struct Stream: Codable, Hashable, Sendable {
    /// With its interface.
    public var method: String
    /// What the list is, in short; `nil` for the default list, and where there is none.
    public var options: String?
    /// The last that was sent.
    public var token: String?
    /// There is something newer than what it was sent.
    public var behind: Bool
    /// How many commits, or events; `nil` from a daemon that does not count them.
    public var behindBy: Int?
    /// Written by the daemon, and not taken by the client.
    public var bytesUnsent: Int
    /// About what the kernel has, and the client has not taken; `nil` from a daemon that does not ask.
    public var bytesInSocket: Int?

    public init(
      method: String, options: String? = nil, token: String? = nil, behind: Bool = false, behindBy: Int? = nil,
      bytesUnsent: Int = 0, bytesInSocket: Int? = nil
    ) {
      self.method = method
      self.options = options
      self.token = token
      self.behind = behind
      self.behindBy = behindBy
      self.bytesUnsent = bytesUnsent
      self.bytesInSocket = bytesInSocket
    }
  }

  /// Rising; never used again while the daemon runs.
  public var number: Int
  /// The process that connected; it may have passed the socket on, and ended.
  public var pid: Int
  public var uid: Int
  /// The process's name, `nil` where it can't be read.
  public var program: String?
  /// The first word of its command line, `nil` where it can't be read.
  public var command: String?
  /// As it gave it with its changes.
  public var clientName: String?
  public var since: PhotoDate
  /// Calls that were answered.
  public var callCount: Int
  public var bytesReceived: Int
  public var bytesSent: Int
  /// The call with one reply that is being answered.
  public var method: String?
  public var streams: [Stream]
  /// The connection over which this was asked.
  public var isSelf: Bool

  public init(
    number: Int, pid: Int, uid: Int, program: String? = nil, command: String? = nil, clientName: String? = nil,
    since: PhotoDate, callCount: Int = 0, bytesReceived: Int = 0, bytesSent: Int = 0, method: String? = nil,
    streams: [Stream] = [], isSelf: Bool = false
  ) {
    self.number = number
    self.pid = pid
    self.uid = uid
    self.program = program
    self.command = command
    self.clientName = clientName
    self.since = since
    self.callCount = callCount
    self.bytesReceived = bytesReceived
    self.bytesSent = bytesSent
    self.method = method
    self.streams = streams
    self.isSelf = isSelf
  }
}

/// One thing that the daemon saw on disk, or made of it.
public struct DaemonEvent: Codable, Hashable, Sendable {
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

/// A file or a folder of the library that can't be read; what the library has of it stays.
public struct UnreadableFile: Codable, Hashable, Sendable {
  public var path: String
  /// `damaged`: its content can't be parsed. `failing`: the disk fails in it. `unreadable`: it can't be opened, or looked
  /// at. More may come.
  public var kind: String
  /// What the system, or the reader of its format, said.
  public var reason: String
  /// When it was found to be so, where that is known.
  public var since: PhotoDate?
  /// What helps.
  public var remedy: String
  /// `nil` for a folder, and for a file that is not in the library.
  public var assetID: Int64?

  public init(
    path: String, kind: String, reason: String, since: PhotoDate? = nil, remedy: String, assetID: Int64? = nil
  ) {
    self.path = path
    self.kind = kind
    self.reason = reason
    self.since = since
    self.remedy = remedy
    self.assetID = assetID
  }
}

/// A copy of the daemon's catalog.
public struct BackupFile: Codable, Hashable, Sendable {
  public var path: String
  /// When it was made.
  public var date: PhotoDate
  public var byteCount: Int64
  /// `nil` where the file can't be read.
  public var assetCount: Int?
  /// Made by hand: it is never dropped to make room for daily ones.
  public var isKept: Bool

  public init(path: String, date: PhotoDate, byteCount: Int64, assetCount: Int?, isKept: Bool) {
    self.path = path
    self.date = date
    self.byteCount = byteCount
    self.assetCount = assetCount
    self.isKept = isKept
  }
}

/// What a restore did.
public struct RestoredBackup: Codable, Hashable, Sendable {
  public var path: String
  public var assetCount: Int
  /// Assets with something that a person typed.
  public var userDataCount: Int
  /// The state before.
  public var previous: BackupFile

  public init(path: String, assetCount: Int, userDataCount: Int, previous: BackupFile) {
    self.path = path
    self.assetCount = assetCount
    self.userDataCount = userDataCount
    self.previous = previous
  }
}

/// What a look at the catalog found.
public struct CatalogCheck: Codable, Hashable, Sendable {
  public struct Finding: Codable, Hashable, Sendable {
    /// `warning`: nothing is lost, and no answer is wrong. `error`: what the library says may be wrong.
    public var severity: String
    public var what: String
    /// The first of them.
    public var place: String
    public var remedy: String

    public init(severity: String, what: String, place: String, remedy: String) {
      self.severity = severity
      self.what = what
      self.place = place
      self.remedy = remedy
    }
  }

  /// Errors first.
  public var findings: [Finding]
  /// What was looked at, by its name.
  public var counts: [String: Int]

  public init(findings: [Finding], counts: [String: Int]) {
    self.findings = findings
    self.counts = counts
  }

  /// No errors; there may be warnings.
  public var isOK: Bool { findings.allSatisfy { $0.severity != "error" } }
}

// What org.photod.manage answers: for people and their tools, not needed to show photos.
extension PhotoLibrary {
  private static let management = "org.photod.manage"
  private struct ClientsReply: Decodable { let clients: [ConnectedClient] }
  private struct EventsCall: Encodable { let follow: Bool? }
  private struct UnreadableReply: Decodable { let files: [UnreadableFile] }
  private struct PathCall: Encodable { let path: String? }
  private struct CheckCall: Encodable { let deep: Bool? }
  private struct BackupReply: Decodable { let backup: BackupFile }
  private struct BackupsReply: Decodable { let backups: [BackupFile] }

  /// Who is connected to the daemon, oldest connection first.
  public func clients() async throws -> [ConnectedClient] {
    try await call("Clients", in: Self.management, VarlinkEmpty(), returning: ClientsReply.self).clients
  }

  /// Who is connected, and again when something differs, at most twice a second; it never ends by itself.
  public func clientUpdates() -> LibraryReplies<[ConnectedClient]> {
    stream("Clients", in: Self.management, VarlinkEmpty(), of: ClientsReply.self) { $0.clients }
  }

  /// What happened last, as far as the daemon keeps it (some 1,000 events).
  ///
  /// - Parameter follow: goes on with events as they happen, and never ends by itself. The daemon queues nothing for a
  ///   reader: one that is slow misses what it keeps no longer, and ``EventPage/missed`` says how much.
  public func events(follow: Bool = false) -> LibraryReplies<EventPage> {
    stream("Events", in: Self.management, EventsCall(follow: follow ? true : nil), of: EventPage.self) { $0 }
  }

  /// What can't be read in the library's folders, by path, page by page.
  public func unreadableFiles() -> LibraryReplies<[UnreadableFile]> {
    stream("ListUnreadable", in: Self.management, VarlinkEmpty(), of: UnreadableReply.self) { $0.files }
  }

  /// Copies the catalog to a file, verified, while the library goes on.
  ///
  /// - Parameter path: absolute; nothing may stand there. `nil`: among the daily backups.
  /// - Throws: ``PhotoLibraryError/cannotWrite(path:message:)``, ``PhotoLibraryError/storageFull(message:)``,
  ///   ``PhotoLibraryError/busy(message:)``.
  public func backUp(to path: String? = nil) async throws -> BackupFile {
    try await call("Backup", in: Self.management, PathCall(path: path), returning: BackupReply.self).backup
  }

  /// The backups in the daemon's own folder, newest first.
  public func backups() async throws -> [BackupFile] {
    try await call("ListBackups", in: Self.management, VarlinkEmpty(), returning: BackupsReply.self).backups
  }

  /// Puts a backup in the place of the catalog, after the present state was backed up.
  ///
  /// The daemon opens the library anew after its answer: streams end, and older tokens expire.
  ///
  /// - Throws: ``PhotoLibraryError/notABackup(path:message:)`` and the errors of ``backUp(to:)``.
  public func restore(from path: String) async throws -> RestoredBackup {
    try await call("Restore", in: Self.management, PathCall(path: path), returning: RestoredBackup.self)
  }

  /// Compares the catalog with the rules that it must follow.
  ///
  /// - Parameter deep: also every index with its table; it reads the whole file.
  public func check(deep: Bool = false) async throws -> CatalogCheck {
    try await call("Check", in: Self.management, CheckCall(deep: deep ? true : nil), returning: CatalogCheck.self)
  }
}
