import PhotoModel

/// One connection to the daemon, as org.photod.manage gives it.
public struct ConnectedClient: Codable, Hashable, Sendable {
  /// A call with several replies that is being answered.
  public struct Stream: Codable, Hashable, Sendable {
    /// The method, with its interface.
    public var method: String
    /// A summary of the list; `nil` for the default list, and for a method without a list.
    public var options: String?
    /// The last token that was sent.
    public var token: String?
    /// There is something newer than the last reply.
    public var behind: Bool
    /// How many commits, or events, are newer; `nil` from a daemon that does not count them.
    public var behindBy: Int?
    /// The bytes that the daemon wrote and that the kernel has not taken yet.
    public var bytesUnsent: Int
    /// About how many bytes the kernel holds that the client has not read; `nil` from a daemon that does not ask.
    public var bytesInSocket: Int?

    /// Creates a stream of a connection. Unless more is given, the client has received everything.
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

  /// The number of the connection. Numbers rise, and are never used again while the daemon runs.
  public var number: Int
  /// The process that connected. It may have passed the socket on, and ended.
  public var pid: Int
  /// The user of the process.
  public var uid: Int
  /// The process's name; `nil` if it can't be read.
  public var program: String?
  /// The first word of its command line; `nil` if it can't be read.
  public var command: String?
  /// The name that the client gave with its changes.
  public var clientName: String?
  /// When the connection was made.
  public var since: PhotoDate
  /// The number of calls that were answered.
  public var callCount: Int
  /// The number of bytes that the client sent.
  public var bytesReceived: Int
  /// The number of bytes that were sent to the client.
  public var bytesSent: Int
  /// The call with one reply that is being answered.
  public var method: String?
  /// The calls with several replies that are being answered.
  public var streams: [Stream]
  /// This is the connection of the call that asked.
  public var isSelf: Bool

  /// Creates a connected client. photod sends it; a program makes one for its own tests and previews.
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
