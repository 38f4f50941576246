/// The state of one open connection of a service at one moment, for an operator.
public struct VarlinkConnection: Sendable, Hashable {
  /// A running call.
  public struct RunningCall: Sendable, Hashable {
    /// The method, including the interface's name.
    public var method: String
    /// Whether the call gets several replies.
    public var wantsMore: Bool

    /// Creates the description of a call that is being answered.
    public init(method: String, wantsMore: Bool) {
      self.method = method
      self.wantsMore = wantsMore
    }
  }

  /// The process at the other end.
  public var peer: VarlinkPeer
  /// When the connection was accepted.
  public var connectedAt: ContinuousClock.Instant
  /// The number of calls that an interface has finished, including those that ended with an error. Messages that are
  /// not calls, and calls of unknown methods, do not count.
  public var answeredCallCount: Int
  /// The running call. A connection has one at a time, and queued calls wait.
  public var runningCall: RunningCall?
  /// The number of bytes that were read from the socket.
  public var bytesReceived: Int
  /// The bytes that the kernel has taken.
  public var bytesSent: Int
  /// The bytes that wait in this process for the reader: at most 1 MiB and one reply.
  public var bytesUnsent: Int
  /// Roughly the bytes that the kernel has and the reader has not taken, at most some 200 KB, including the kernel's
  /// overhead for each piece. It is `nil` unless it was requested (``VarlinkService/connectionsWithSockets()``).
  public var bytesInSocket: Int?
}
