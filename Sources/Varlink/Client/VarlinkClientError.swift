/// The reasons why a client gets no reply. An error that the service replies is a `VarlinkError`.
public enum VarlinkClientError: Error, Sendable, Hashable {
  /// No socket is at this path. The service never ran, or it removed the socket.
  case noSuchSocket(path: String)
  /// A socket exists, but no process listens on it: the service died.
  case connectionRefused(path: String)
  /// The socket, or a directory in its path, belongs to another user.
  case permissionDenied(path: String)
  /// Connecting failed for another reason, which the system gives.
  case connectionFailed(path: String, reason: String)
  /// The service did not accept the connection in time.
  case timedOut(path: String)
  /// The service closed the connection before it answered, or the client is closed.
  case connectionClosed
  /// The connection is used by a stream. End the stream, or connect once more.
  case streamRunning
  /// The message is not a reply to this call: it is not JSON, or the field in the text is wrong.
  case malformedReply(String)
  /// A reply longer than the client's limit.
  case replyTooLarge(maximumBytes: Int)
}

extension VarlinkClientError: CustomStringConvertible {
  /// The message for a log.
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
