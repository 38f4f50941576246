import PhotoIndexer
import PhotoLive
import PhotoModel
import Synchronization
import Varlink

/// The facts that interfaces know of the connections of their service, and that Varlink does not: the streams that they
/// answer, and the names that clients gave themselves.
///
/// All interfaces of a service share one registry. It does not refer to the service, which refers to its interfaces: each
/// call brings the service with it.
package final class ConnectionRegistry: Sendable {
  /// A call with `more` that is being answered, described by its interface.
  struct Stream: Sendable {
    var options: String?
    /// The last token that was sent.
    var token: String?
    /// The last sequence of `feed` that this stream has handled.
    var reached: Int64 = 0
    /// The feed that the stream follows, if it follows one.
    var feed: ChangeFeed?

    /// The number of commits, or of other entries of the feed, that the stream has not handled yet.
    var behindBy: Int { feed.map { Int(max(0, $0.sequence - reached)) } ?? 0 }
  }

  private struct State {
    /// By the connection's number. A connection has at most one call at a time.
    var streams: [Int: Stream] = [:]
    var names: [Int: String] = [:]
  }

  /// Names of closed connections are dropped once there are more names than this.
  private static let maximumNames = 512

  private let state = Mutex(State())

  package init() {}

  // MARK: Written by interfaces

  /// Records that a call with `more` is being answered, until ``endStream(_:)``.
  func beginStream(_ call: VarlinkServiceCall, _ stream: Stream) {
    guard call.wantsMore else { return }
    state.withLock { $0.streams[call.peer.connection] = stream }
  }

  func updateStream(_ call: VarlinkServiceCall, token: String? = nil, reached: Int64? = nil) {
    state.withLock { state in
      if let token { state.streams[call.peer.connection]?.token = token }
      if let reached { state.streams[call.peer.connection]?.reached = reached }
    }
  }

  func endStream(_ call: VarlinkServiceCall) {
    guard call.wantsMore else { return }
    state.withLock { $0.streams[call.peer.connection] = nil }
  }

  func name(_ call: VarlinkServiceCall, _ clientName: String) {
    let isFull = state.withLock { state in
      state.names[call.peer.connection] = clientName
      return state.names.count > Self.maximumNames
    }
    guard isFull else { return }
    let open = Set(call.service.connections.map(\.peer.connection))
    // A connection that was opened in between has a higher number, and keeps its name.
    let newest = open.max() ?? 0
    state.withLock { state in
      state.names = state.names.filter { open.contains($0.key) || $0.key > newest }
    }
  }

  // MARK: Read by the method Clients

  struct Entry: Sendable {
    let connection: VarlinkConnection
    let stream: Stream?
    let clientName: String?
  }

  /// The connections that are open now, oldest first.
  func entries(of service: VarlinkService) async -> [Entry] {
    let connections = await service.connectionsWithSockets()
    return state.withLock { state in
      connections.map { connection in
        let number = connection.peer.connection
        return Entry(connection: connection, stream: state.streams[number], clientName: state.names[number])
      }
    }
  }
}
