import PhotoContract
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
    var sent: Int?
    while true {
      try await call.drained()
      let (reply, hash) = try await currentClients(for: call)
      if hash != sent { try await call.replyContinuing(encoded: reply) }
      sent = hash
      try await interval()
      if events.feed.isFinished { throw ended() }
    }
  }

  /// - Returns: the reply, and a hash of it that changes if the connections change.
  private func currentClients(for call: VarlinkServiceCall) async throws -> (reply: VarlinkEncoded, hash: Int) {
    let entries = await connections.entries(of: call.service)
    // This looks into /proc for each of up to 2,048 connections. The reply may have some megabytes.
    return try await ClientReads(threads: threads, peer: call.peer).run {
      let clients = Self.describe(entries, for: call.peer)
      return (try VarlinkEncoded(encoding: ClientsReply(clients: clients)), Self.hash(clients))
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

  private static func describe(_ entries: [ConnectionRegistry.Entry], for peer: VarlinkPeer) -> [ConnectedClient] {
    let now = (clock: ContinuousClock.now, microseconds: microsecondsNow())
    return entries.map { entry in
      let connection = entry.connection
      let process = ProcessName(of: connection.peer.pid)
      let age = (now.clock - connection.connectedAt).components
      let ageMicroseconds = age.seconds * 1_000_000 + age.attoseconds / 1_000_000_000_000
      // The clock may be set or slewed. A connection must not seem to begin at another time with each look.
      let since = (now.microseconds - ageMicroseconds + 500_000) / 1_000_000 * 1_000_000
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
        method: running.flatMap { $0.wantsMore ? nil : $0.method }, streams: streams.map { [$0] } ?? [],
        isSelf: connection.peer.connection == peer.connection)
    }
  }
}
