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
    /// Written by the daemon, and not taken by the client.
    public var bytesUnsent: Int

    public init(
      method: String, options: String? = nil, token: String? = nil, behind: Bool = false, bytesUnsent: Int = 0
    ) {
      self.method = method
      self.options = options
      self.token = token
      self.behind = behind
      self.bytesUnsent = bytesUnsent
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

// What org.photod.manage answers: for people and their tools, not needed to show photos.
extension PhotoLibrary {
  private static let management = "org.photod.manage"
  private struct ClientsReply: Decodable { let clients: [ConnectedClient] }
  private struct EventsCall: Encodable { let follow: Bool? }

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
}
