/// One open connection of a service at one moment, for an operator to look at.
public struct VarlinkConnection: Sendable, Hashable {
  /// A call that is being answered.
  public struct RunningCall: Sendable, Hashable {
    /// With the interface's name.
    public var method: String
    /// It gets several replies.
    public var wantsMore: Bool

    public init(method: String, wantsMore: Bool) {
      self.method = method
      self.wantsMore = wantsMore
    }
  }

  public var peer: VarlinkPeer
  public var connectedAt: ContinuousClock.Instant
  /// Calls that an interface is done with, errors included. Messages that are no call, and calls of methods that are
  /// not there, are not counted.
  public var answeredCallCount: Int
  /// A connection has one call at a time; those that it sent ahead wait.
  public var runningCall: RunningCall?
  public var bytesReceived: Int
  /// Given to the kernel.
  public var bytesSent: Int
  /// Written, and waiting in this process for the reader: at most 1 MiB and one reply.
  public var bytesUnsent: Int
  /// About what the kernel has and the reader has not taken, some 200 KB at most, with what the kernel adds to each piece;
  /// `nil` where it was not asked (``VarlinkService/connectionsWithSockets()``).
  public var bytesInSocket: Int?
}
