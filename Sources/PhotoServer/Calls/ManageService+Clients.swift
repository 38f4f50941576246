import PhotoContract
import PhotoModel
import Varlink

// The call that lists connected clients.
extension ManageService {
  func clients(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else {
      try await call.reply(ClientsReply(clients: try await currentClients(for: call)))
      return
    }
    var sent: [ConnectedClient]?
    while true {
      try await call.drained()
      let clients = try await currentClients(for: call)
      let comparable = clients.map { client in
        // Each reply changes these fields.
        guard client.isSelf else { return client }
        var client = client
        (client.callCount, client.bytesReceived, client.bytesSent, client.streams) = (0, 0, 0, [])
        return client
      }
      if comparable != sent { try await call.replyContinuing(ClientsReply(clients: clients)) }
      sent = comparable
      try await interval()
      if events.feed.isFinished { throw ended() }
    }
  }

  private func currentClients(for call: VarlinkServiceCall) async throws -> [ConnectedClient] {
    let entries = await connections.entries(of: call.service)
    // This looks into /proc for each of up to 2,048 connections.
    return try await ClientReads(threads: threads, peer: call.peer).run { Self.describe(entries, for: call.peer) }
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
        program: process.program, command: process.command, clientName: entry.clientName,
        since: PhotoDate(microseconds: since), callCount: connection.answeredCallCount,
        bytesReceived: connection.bytesReceived, bytesSent: connection.bytesSent,
        method: running.flatMap { $0.wantsMore ? nil : $0.method }, streams: streams.map { [$0] } ?? [],
        isSelf: connection.peer.connection == peer.connection)
    }
  }
}
