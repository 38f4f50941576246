import PhotoModel

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
