import Glibc
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// The call that lists connected clients.
extension ManageService {
  func clients(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else {
      try await call.reply(encoded: try await currentClients(for: call).reply)
      return
    }
    // A thousand clients may ask for the list of all of them. So only its hash is kept.
    var sent: (number: Int, hash: Int)?
    while true {
      try await call.drained()
      let (reply, number, hash) = try await currentClients(for: call, after: sent?.number)
      if hash != sent?.hash { try await call.replyContinuing(encoded: reply) }
      sent = (number, hash)
      if events.feed.isFinished { throw ended() }
    }
  }

  /// - Parameter number: the snapshot that the caller was sent last.
  /// - Returns: the reply, the number of its snapshot, and a hash that changes if the connections change.
  private func currentClients(
    for call: VarlinkServiceCall, after number: Int? = nil
  ) async throws -> (reply: VarlinkEncoded, number: Int, hash: Int) {
    let reads = reads(call)
    let snapshot = try await snapshots.next(after: number) {
      let entries = await connections.entries(of: call.service)
      // This looks into /proc for each of up to 2,048 connections. It has a turn as photod's own, because callers of all
      // processes wait for it.
      return try await self.reads(for: Self.ownPeer).run { Self.describe(entries) }
    }
    return try await reads.run {
      var clients = snapshot.clients
      if let index = clients.firstIndex(where: { $0.number == call.peer.connection }) { clients[index].isSelf = true }
      return (try Self.reply(clients).encoded, snapshot.number, Self.hash(clients))
    }
  }

  private static let ownPeer = VarlinkPeer(connection: 0, uid: geteuid(), gid: getegid(), pid: getpid())

  /// A thousand clients with long options do not fit into a reply.
  static func reply(_ clients: [ConnectedClient]) throws -> (encoded: VarlinkEncoded, taken: Int) {
    try ReplyLimits.page(clients[...]) {
      ClientList(clients: Array($0), omitted: $0.count < clients.count ? clients.count - $0.count : nil)
    }
  }

  private static func hash(_ clients: [ConnectedClient]) -> Int {
    var hasher = Hasher()
    for var client in clients {
      // Each reply changes these fields.
      if client.isSelf { (client.callCount, client.bytesReceived, client.bytesSent, client.streams) = (0, 0, 0, []) }
      hasher.combine(client)
    }
    return hasher.finalize()
  }

  private static func describe(_ entries: [ConnectionRegistry.Entry]) -> [ConnectedClient] {
    let now = (clock: ContinuousClock.now, microseconds: WallTime.now.microseconds)
    return entries.map { entry in
      let connection = entry.connection
      let process = ProcessName(of: connection.peer.pid)
      let age = now.clock - connection.connectedAt
      // The clock may be set or slewed. A connection must not seem to begin at another time with each look.
      let since = (now.microseconds - age.wholeMicroseconds + 500_000) / 1_000_000 * 1_000_000
      let running = connection.runningCall
      let streams = running.flatMap { running -> ConnectedClient.Stream? in
        guard running.wantsMore else { return nil }
        let behindBy = entry.stream?.behindBy ?? 0
        return ConnectedClient.Stream(
          method: running.method, options: entry.stream?.options, token: entry.stream?.token,
          behind: behindBy > 0, behindBy: behindBy, bytesUnsent: connection.bytesUnsent,
          bytesInSocket: connection.bytesInSocket)
      }
      return ConnectedClient(
        number: connection.peer.connection, pid: Int(connection.peer.pid), uid: Int(connection.peer.uid),
        program: process.program, command: process.command?.shortened, clientName: entry.clientName,
        since: PhotoDate(microseconds: since), callCount: connection.answeredCallCount,
        bytesReceived: connection.bytesReceived, bytesSent: connection.bytesSent,
        method: running.flatMap { $0.wantsMore ? nil : $0.method }, streams: streams.map { [$0] } ?? [])
    }
  }
}
