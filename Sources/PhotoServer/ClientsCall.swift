import PhotoModel
import Varlink

// Who is connected.
extension ManageService {
  struct Client: Encodable, Hashable {
    struct Stream: Encodable, Hashable {
      let method: String
      let options: String?
      let token: String?
      let behind: Bool
      let behindBy: Int
      let bytesUnsent: Int
      let bytesInSocket: Int?
    }

    let number: Int
    let pid: Int32
    let uid: UInt32
    let program: String?
    let command: String?
    let clientName: String?
    let since: PhotoDate
    var callCount: Int
    var bytesReceived: Int
    var bytesSent: Int
    let method: String?
    var streams: [Stream]
    let isSelf: Bool
  }

  private struct Reply: Encodable { let clients: [Client] }

  func clients(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else {
      try await call.reply(Reply(clients: await currentClients(for: call)))
      return
    }
    var sent: [Client]?
    while true {
      try await call.drained()
      let clients = await currentClients(for: call)
      let comparable = clients.map { client in
        // Each reply changes these.
        guard client.isSelf else { return client }
        var client = client
        (client.callCount, client.bytesReceived, client.bytesSent, client.streams) = (0, 0, 0, [])
        return client
      }
      if comparable != sent { try await call.replyContinuing(Reply(clients: clients)) }
      sent = comparable
      try await interval()
      if events.feed.isFinished { throw ended() }
    }
  }

  private func currentClients(for call: VarlinkServiceCall) async -> [Client] {
    let entries = await connections.entries()
    let now = (clock: ContinuousClock.now, microseconds: microsecondsNow())
    return entries.map { entry in
      let connection = entry.connection
      let process = ProcessName(of: connection.peer.pid)
      let age = (now.clock - connection.connectedAt).components
      let ageMicroseconds = age.seconds * 1_000_000 + age.attoseconds / 1_000_000_000_000
      // The clock may be set and slewed: the same connection must not look as if it began anew with each look.
      let since = (now.microseconds - ageMicroseconds + 500_000) / 1_000_000 * 1_000_000
      let running = connection.runningCall
      let streams = running.flatMap { running -> Client.Stream? in
        guard running.wantsMore else { return nil }
        let behindBy = entry.stream?.behindBy ?? 0
        return Client.Stream(
          method: running.method, options: entry.stream?.options, token: entry.stream?.token,
          behind: behindBy > 0, behindBy: behindBy, bytesUnsent: connection.bytesUnsent,
          bytesInSocket: connection.bytesInSocket)
      }
      return Client(
        number: connection.peer.connection, pid: connection.peer.pid, uid: connection.peer.uid,
        program: process.program, command: process.command, clientName: entry.clientName,
        since: PhotoDate(microseconds: since), callCount: connection.answeredCallCount,
        bytesReceived: connection.bytesReceived, bytesSent: connection.bytesSent,
        method: running.flatMap { $0.wantsMore ? nil : $0.method }, streams: streams.map { [$0] } ?? [],
        isSelf: connection.peer.connection == call.peer.connection)
    }
  }
}

extension FetchOptions {
  /// In short, for a person: `smart:favorites; isHidden == false; limit 100`; nil for the default list.
  var summary: String? {
    var parts: [String] = []
    if let collection { parts.append(collection) }
    if let mediaTypes { parts.append(mediaTypes.joined(separator: ", ")) }
    if let predicate {
      do {
        parts.append(try Predicate(parsing: predicate).description)
      } catch {
        parts.append(predicate)
      }
    }
    if let text { parts.append("text " + text) }
    if let sortDescriptors, !sortDescriptors.isEmpty {
      parts.append("by " + sortDescriptors.map { $0.key + ($0.ascending ? "" : " descending") }.joined(separator: ", "))
    }
    if let fetchLimit { parts.append("limit \(fetchLimit)") }
    if includeHidden == true { parts.append("with hidden") }
    if includeTrashed == true { parts.append("with trashed") }
    if excludeUnavailable == true { parts.append("without unavailable") }
    guard !parts.isEmpty else { return nil }
    let text = parts.joined(separator: "; ")
    // A predicate may have thousands of ids.
    return text.unicodeScalars.count <= 500 ? text : String(text.prefix(500)) + "…"
  }
}
