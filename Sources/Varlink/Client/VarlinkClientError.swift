/// Why a client could not get an answer. What a service answers with is a `VarlinkError`.
public enum VarlinkClientError: Error, Sendable, Hashable {
  /// No socket is at this path: the service never ran, or removed it.
  case noSuchSocket(path: String)
  /// A socket is there, nobody listens: the service died.
  case connectionRefused(path: String)
  /// The socket, or a directory on the way, belongs to somebody else.
  case permissionDenied(path: String)
  /// Connecting failed in another way, as the system says.
  case connectionFailed(path: String, reason: String)
  /// The service did not accept the connection in time.
  case timedOut(path: String)
  /// The service closed the connection before it answered, or the client is closed.
  case connectionClosed
  /// A stream has this connection; end it, or connect once more.
  case streamRunning
  /// What came is no reply to this call: not JSON, or a field at fault, which the text names.
  case malformedReply(String)
  /// A reply longer than the client's limit.
  case replyTooLarge(maximumBytes: Int)
}

extension VarlinkClientError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .noSuchSocket(let path): "no service at \(path)"
    case .connectionRefused(let path): "the service at \(path) is not running"
    case .permissionDenied(let path): "\(path) belongs to another user"
    case .connectionFailed(let path, let reason): "can't connect to \(path): \(reason)"
    case .timedOut(let path): "the service at \(path) does not take connections"
    case .connectionClosed: "the service closed the connection"
    case .streamRunning: "this connection is taken by a stream"
    case .malformedReply(let reason): "the service's reply is malformed: \(reason)"
    case .replyTooLarge(let maximum): "the service's reply has more than \(maximum) bytes"
    }
  }
}
