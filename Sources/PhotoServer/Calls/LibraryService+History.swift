import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

// The call for the library's history.
extension LibraryService {
  func fetchPersistentChanges(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let parameters = try call.shortParameters(HistoryRequest.self)
    let follows = parameters.follow ?? false
    if follows && !call.wantsMore { throw VarlinkError.expectedMore }
    var sequence = live.feed.sequence
    if let since = parameters.since { sequence = try await startOfHistory(since, reads) }
    connections.beginStream(call, .init(feed: follows ? live.feed : nil))

    while true {
      let (reply, last, isAll) = try await historyPage(after: sequence, reads)
      sequence = last
      if !call.wantsMore || (isAll && !follows) {
        try await call.reply(encoded: reply)
        return
      }
      connections.updateStream(call, token: library.catalog.token(sequence).description)
      try await call.replyContinuing(encoded: reply)
      connections.updateStream(call, reached: sequence)
      if isAll {
        guard await live.feed.next(after: sequence) != nil else {
          try Task.checkCancellation()
          throw library.ended
        }
        // Commits that come while the client does not read are sent as one page.
        try await call.drained()
      }
    }
  }

  /// A commit that was just made is in memory.
  ///
  /// - Returns: the page, the sequence of its last change, and whether it has the newest change.
  private func historyPage(
    after sequence: Int64, _ reads: ClientReads
  ) async throws -> (VarlinkEncoded, last: Int64, isAll: Bool) {
    if let page = live.history.page(after: sequence) { return (page.encoded, page.last, true) }
    return try await reads.run { try self.historyPage(after: sequence) }
  }

  private func historyPage(after sequence: Int64) throws -> (VarlinkEncoded, last: Int64, isAll: Bool) {
    let (changes, isAll) = try library.catalog.read { reader in
      // This is checked for each page. History may have been pruned while the client did not read, and a gap must be
      // reported.
      guard try reader.historyReaches(sequence) else { throw forgotten() }
      return try reader.persistentChanges(
        after: sequence, limit: ReplyLimits.changesPerPage, maximumBytes: ReplyLimits.maximumBytes)
    }
    let (reply, taken) = ReplyLimits.page(changes[...]) { page in
      VarlinkEncoded(
        HistoryPage(changes: Array(page), token: page.last?.token ?? library.catalog.token(sequence).description))
    }
    let last = taken > 0 ? ChangeToken(changes[taken - 1].token)!.sequence : sequence
    return (reply, last, isAll && taken == changes.count)
  }

  private func startOfHistory(_ since: String, _ reads: ClientReads) async throws -> Int64 {
    let current = live.token
    guard let token = ChangeToken(since) else { throw VarlinkError.invalidParameter("since") }
    guard token.library == current.library, token.epoch == current.epoch else {
      throw ContractError.tokenExpired(
        "The token is of another library, or of one that was rebuilt or restored. Fetch your lists again, and continue from the current token.",
        current: current)
    }
    // The feed is no measure: a commit can be read, and its token returned, just before the commit is announced.
    let (isReached, last) = try await reads.read(library.catalog) {
      (try $0.historyReaches(token.sequence), try $0.sequence())
    }
    guard token.sequence <= last else {
      _ = try await library.endTokens(because: token)
      throw ContractError.tokenExpired(
        "The token is newer than the library's last commit. Take the current token, then fetch again.",
        current: live.token)
    }
    guard isReached else { throw forgotten() }
    return token.sequence
  }

  private func forgotten() -> VarlinkError {
    ContractError.tokenExpired(
      "The history no longer reaches back to this token. Take the current token, then fetch again.",
      current: live.token)
  }
}
