import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Varlink

// The history, the barrier, and what clients change.
extension LibraryService {
  private struct HistoryReply: Encodable {
    let changes: [PersistentChange]
    let token: String
  }

  func fetchPersistentChanges(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable {
      let since: String?
      let follow: Bool?
    }
    let parameters = try call.parameters(Parameters.self)
    let follows = parameters.follow ?? false
    if follows && !call.wantsMore { throw VarlinkError.expectedMore }
    var sequence = try parameters.since.map(startOfHistory) ?? library.feed.sequence
    connections.beginStream(call, .init(feed: follows ? library.feed : nil))

    while true {
      let changes = try library.catalog.read { reader in
        // Asked anew each time: while nobody read, history may have been pruned, and a gap must not look like nothing.
        guard try reader.historyReaches(sequence) else { throw forgotten() }
        return try reader.persistentChanges(after: sequence, limit: 1_000)
      }
      let (reply, taken) = try ReplyLimits.page(changes[...]) { page in
        HistoryReply(changes: Array(page), token: page.last?.token ?? library.catalog.token(sequence).description)
      }
      if taken > 0 { sequence = ChangeToken(changes[taken - 1].token)!.sequence }
      let isAll = taken == changes.count && changes.count < 1_000
      if !call.wantsMore || (isAll && !follows) {
        try await call.reply(encoded: reply)
        return
      }
      connections.updateStream(call, token: library.catalog.token(sequence).description)
      try await call.replyContinuing(encoded: reply)
      connections.updateStream(call, reached: sequence)
      if isAll {
        guard await library.feed.next(after: sequence) != nil else {
          try Task.checkCancellation()
          throw library.ended
        }
        // Commits that come while nobody reads are a page then.
        try await call.drained()
      }
    }
  }

  private func startOfHistory(_ since: String) throws -> Int64 {
    let current = library.catalog.token(library.feed.sequence)
    guard let token = ChangeToken(since) else { throw VarlinkError.invalidParameter("since") }
    guard token.library == current.library, token.epoch == current.epoch else {
      throw ContractError.tokenExpired(
        "The token is of another library, or of one that was rebuilt. Take the current token, then fetch anew.",
        current: current)
    }
    // Not compared with the feed: a commit can be read, and its token be handed out, just before it is announced.
    let (isReached, last) = try library.catalog.read { (try $0.historyReaches(token.sequence), try $0.sequence()) }
    guard token.sequence <= last else {
      throw ContractError.tokenExpired(
        "The library has not come as far as this token. Take the current token, then fetch anew.", current: current)
    }
    guard isReached else { throw forgotten() }
    return token.sequence
  }

  private func forgotten() -> VarlinkError {
    ContractError.tokenExpired(
      "The history no longer reaches back to this token. Take the current token, then fetch anew.",
      current: library.catalog.token(library.feed.sequence))
  }

  private struct TokenReply: Encodable { let token: String }

  func synchronize(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let timeoutSeconds: Double? }
    let seconds = try call.parameters(Parameters.self).timeoutSeconds ?? 30
    guard seconds >= 0, seconds <= 86_400 else { throw VarlinkError.invalidParameter("timeoutSeconds") }
    let token = try await library.synchronize(timeout: .milliseconds(Int(seconds * 1000)))
    try await call.reply(TokenReply(token: token.description))
  }

  func performChanges(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable {
      let requests: [ChangeRequest]
      let clientName: String?
    }
    struct Reply: Encodable {
      let token: String
      let createdAlbumIDs: [Int64]
    }
    let parameters = try call.parameters(Parameters.self)
    try Self.check(clientName: parameters.clientName)
    if let name = parameters.clientName { connections.name(call, name) }
    let token = try await library.perform(parameters.requests, clientName: parameters.clientName)
    try await call.reply(Reply(token: token.description, createdAlbumIDs: []))
  }

  /// It is stored with every change and sent to all observers: at most 64 Unicode scalars, none of them a control character.
  static func check(clientName: String?) throws {
    guard let scalars = clientName?.unicodeScalars else { return }
    guard scalars.count <= 64, scalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
      throw VarlinkError.invalidParameter("clientName")
    }
  }
}
