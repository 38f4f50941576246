/// One interface that a service offers.
public protocol VarlinkInterface: Sendable {
  /// Such as `org.example.library`; the name that `definition` gives.
  var name: String { get }

  /// The interface file's text. It is what GetInterfaceDescription answers, and its methods are the only ones that
  /// `respond(to:)` is asked for.
  var definition: String { get }

  /// The bounds of the members of calls, by method or type and member, such as `GetAssets.ids`. A call that is beyond one
  /// is answered with `InvalidParameter`, which names the member, before its parameters are decoded.
  var bounds: [String: VarlinkBound] { get }

  /// Answers one call: with one `reply`, or for a call with `more` with any number of `replyContinuing` and one
  /// `reply` at the end; a oneway call needs none.
  ///
  /// Calls of one connection come one after the other, those of several connections at once. The task is cancelled
  /// when the peer goes away or the service's time to shut down is over.
  ///
  /// - Throws: `VarlinkError` to answer with that error (`methodNotImplemented` for what is in the definition only).
  ///   Anything else is reported as an event and answered with `InternalError`; the connection is kept.
  func respond(to call: VarlinkServiceCall) async throws
}

extension VarlinkInterface {
  public var bounds: [String: VarlinkBound] { [:] }
}

/// Who is on the other end of a connection: what the kernel said when it was accepted.
public struct VarlinkPeer: Sendable, Hashable {
  /// Counts the connections of a service, from 1.
  public let connection: Int
  public let uid: UInt32
  public let gid: UInt32
  /// The process that connected. It may have passed the socket on, and ended, since.
  public let pid: Int32

  public init(connection: Int, uid: UInt32, gid: UInt32, pid: Int32) {
    self.connection = connection
    self.uid = uid
    self.gid = gid
    self.pid = pid
  }
}
