/// One interface that a service offers.
public protocol VarlinkInterface: Sendable {
  /// The name in `definition`, such as `org.example.library`.
  var name: String { get }

  /// The text of the interface file. GetInterfaceDescription returns it, and `respond(to:)` is called only for its
  /// methods.
  var definition: String { get }

  /// The bounds of members of calls, by method or type and member, such as `GetAssets.ids`. A call beyond a bound gets
  /// `InvalidParameter` with the member's name, before its parameters are decoded.
  var bounds: [String: VarlinkBound] { get }

  /// Answers one call. A call with `more` gets any number of `replyContinuing` and one `reply` at the end. A oneway
  /// call needs no reply, and any other call gets one `reply`.
  ///
  /// The calls of one connection run one after the other, those of several connections concurrently. The task is
  /// cancelled if the peer disconnects or the service's time to shut down is over.
  ///
  /// - Throws: `VarlinkError` to reply with that error (`methodNotImplemented` for a method that is only in the
  ///   definition). Any other error is reported as an event and answered with `InternalError`; the connection stays
  ///   open.
  func respond(to call: VarlinkServiceCall) async throws
}

extension VarlinkInterface {
  /// No bounds, which suits an interface whose calls return little.
  public var bounds: [String: VarlinkBound] { [:] }
}

/// The process at the other end of a connection, as the kernel reported it when the connection was accepted.
public struct VarlinkPeer: Sendable, Hashable {
  /// The number of the connection within its service, from 1.
  public let connection: Int
  /// The user of the process.
  public let uid: UInt32
  /// The group of the process.
  public let gid: UInt32
  /// The process that connected. Since then it may have passed the socket on and ended.
  public let pid: Int32

  /// Creates a peer, for tests of an interface without a socket. A service gives its own peers.
  public init(connection: Int, uid: UInt32, gid: UInt32, pid: Int32) {
    self.connection = connection
    self.uid = uid
    self.gid = gid
    self.pid = pid
  }
}
