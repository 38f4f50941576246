import PhotoIndexer
import Synchronization
import Varlink

/// What is known of the connections of one service: what Varlink counts, and beside it what the interfaces say of the
/// streams they answer and of the names that clients gave themselves.
package final class ConnectionBoard: Sendable {
  /// A stream, in the words of the interface that answers it.
  struct Stream: Sendable {
    var options: String?
    /// What was sent last.
    var token: String?
    /// Up to here the stream has looked, in the numbers of `feed`.
    var reached: Int64 = 0
    /// What it follows, if it does.
    var feed: ChangeFeed?

    /// What came since, and was not looked at for it: commits, or what else the feed counts.
    var behindBy: Int { feed.map { Int(max(0, $0.sequence - reached)) } ?? 0 }
  }

  private struct State {
    weak var service: VarlinkService?
    /// By the connection's number: there is one call at a time on each.
    var streams: [Int: Stream] = [:]
    var names: [Int: String] = [:]
  }

  private let state = Mutex(State())

  package init() {}

  /// The service whose connections these are; it has the interfaces, and so is made after them.
  package func watch(_ service: VarlinkService) { state.withLock { $0.service = service } }

  var connectionCount: Int { state.withLock { $0.service }?.connectionCount ?? 0 }

  // MARK: What interfaces say

  /// A call with `more` is being answered from here to ``endStream(_:)``.
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
    state.withLock { state in
      state.names[call.peer.connection] = clientName
      // Connections come and go by the thousand: names of those that went are dropped now and then.
      guard state.names.count > 512, let service = state.service else { return }
      let open = Set(service.connections.map(\.peer.connection))
      state.names = state.names.filter { open.contains($0.key) }
    }
  }

  // MARK: What is asked

  struct Entry: Sendable {
    let connection: VarlinkConnection
    let stream: Stream?
    let clientName: String?
  }

  /// The connections that are open now, oldest first.
  func entries() async -> [Entry] {
    guard let service = state.withLock({ $0.service }) else { return [] }
    let connections = await service.connectionsWithSockets()
    return state.withLock { state in
      connections.map { connection in
        let number = connection.peer.connection
        return Entry(connection: connection, stream: state.streams[number], clientName: state.names[number])
      }
    }
  }
}
