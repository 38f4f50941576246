import PhotoCatalog
import PhotoModel
import Varlink

// Lists and the assets in them.
extension LibraryService {
  private struct FetchParameters: Decodable {
    let options: FetchOptions?
    let offset: Int?
    let count: Int?
  }

  func fetch(_ call: VarlinkServiceCall) async throws {
    let parameters = try call.parameters(FetchParameters.self)
    let offset = parameters.offset ?? 0
    guard offset >= 0 else { throw VarlinkError.invalidParameter("offset") }
    let pageSize = parameters.count ?? ReplyLimits.defaultPage
    guard pageSize >= 0 else { throw VarlinkError.invalidParameter("count") }
    let page = min(pageSize, ReplyLimits.maximumPage)
    let options = parameters.options ?? FetchOptions()

    if !call.wantsMore {
      let reply = try library.catalog.read { reader in
        var (token, pages) = try self.pages(of: options, from: offset, reader)
        let ids = try pages.next(page, reader)
        return try reader.fetchReply(ids[...], token: token, total: pages.total, offset: offset).encoded
      }
      try await call.reply(encoded: reply)
      return
    }

    // The snapshot is gone by the time of the last page, which may be read whenever.
    var sentBytes = 0
    defer { FreedMemory.giveBack(afterSending: sentBytes) }
    let last = try await sendAllButLast(of: options, from: offset, page: max(1, page), on: call, &sentBytes)
    try await call.reply(encoded: last)
  }

  /// - Returns: the last page.
  private func sendAllButLast(
    of options: FetchOptions, from offset: Int, page: Int, on call: VarlinkServiceCall, _ sentBytes: inout Int
  ) async throws -> VarlinkEncoded {
    let snapshot = try library.catalog.snapshot()
    var (token, pages) = try snapshot.read { try self.pages(of: options, from: offset, $0) }
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = min(offset, pages.total)
    // Those for which a reply had no room.
    var rest: ArraySlice<Int64> = []
    while true {
      let (reply, taken) = try snapshot.read { reader in
        if rest.count < page { rest += try pages.next(page - rest.count, reader) }
        return try reader.fetchReply(rest, token: token, total: pages.total, offset: position)
      }
      position += taken
      rest.removeFirst(taken)
      if position >= pages.total || taken == 0 { return reply }
      sentBytes += reply.byteCount
      try await sendPage(reply, on: call)
    }
  }

  func fetchIDs(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let options: FetchOptions? }
    let options = try call.parameters(Parameters.self).options ?? FetchOptions()
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    var sentBytes = 0
    defer { FreedMemory.giveBack(afterSending: sentBytes) }
    let last = try await sendAllButLastIDs(of: options, on: call, &sentBytes)
    try await call.reply(encoded: last)
  }

  /// - Returns: the last page.
  private func sendAllButLastIDs(of options: FetchOptions, on call: VarlinkServiceCall, _ sentBytes: inout Int)
    async throws -> VarlinkEncoded
  {
    let snapshot = try library.catalog.snapshot()
    var (token, pages) = try snapshot.read { try self.pages(of: options, from: 0, $0) }
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = 0
    while true {
      let ids = try snapshot.read { try pages.next(ReplyLimits.idsPerPage, $0) }
      let reply = VarlinkEncoded.idPage(ids, token: token, total: pages.total, offset: position)
      position += ids.count
      if position >= pages.total || ids.isEmpty { return reply }
      sentBytes += reply.byteCount
      try await sendPage(reply, on: call)
    }
  }

  /// The token of the reader's snapshot, and the list in it.
  private func pages(of options: FetchOptions, from offset: Int, _ reader: CatalogReader) throws
    -> (token: String, FetchPages)
  {
    let plan = try reader.plan(options)
    let sequence = try reader.sequence()
    let known = library.lists.recent(plan, sequence: sequence)?.count ?? totals.total(of: plan, at: sequence)
    let pages = try FetchPages(plan, from: offset, knownTotal: known, reader)
    totals.note(pages.total, of: plan, at: sequence)
    return (library.catalog.token(sequence).description, pages)
  }

  /// A page that others follow: a reader that does not take it until ``pageDeadline`` loses the rest.
  private func sendPage(_ reply: VarlinkEncoded, on call: VarlinkServiceCall) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await call.replyContinuing(encoded: reply) }
      group.addTask {
        try await self.pageDeadline()
        throw ContractError.snapshotExpired()
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  func getAssets(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let ids: [Int64] }
    let ids = try call.parameters(Parameters.self).ids
    guard ids.count <= ReplyLimits.maximumIDsPerCall else { throw VarlinkError.invalidParameter("ids") }
    let reply = try library.catalog.read { try $0.getAssetsReply(ids) }
    try await call.reply(encoded: reply)
  }

  func findAssets(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let paths: [String] }
    struct Reply: Encodable {
      let token: String
      let ids: [Int64]
    }
    let paths = try call.parameters(Parameters.self).paths
    guard paths.count <= ReplyLimits.maximumIDsPerCall else { throw VarlinkError.invalidParameter("paths") }
    let reply = try library.catalog.read { reader in
      Reply(token: try reader.token().description, ids: try reader.assetIDs(paths: paths.map { FilePath.bytes($0) }))
    }
    try await call.reply(reply)
  }

  func fetchCollections(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable {
      let kinds: [AssetCollection.Kind]?
      let containingAsset: Int64?
    }
    struct Reply: Encodable {
      let token: String
      let collections: [AssetCollection]
    }
    let parameters = try call.parameters(Parameters.self)
    let (token, collections) = try library.catalog.read { reader in
      (
        try reader.token().description,
        try reader.collections(kinds: parameters.kinds.map(Set.init), containing: parameters.containingAsset)
      )
    }
    var rest = collections[...]
    repeat {
      let (reply, taken) = try ReplyLimits.page(rest.prefix(ReplyLimits.defaultPage)) {
        Reply(token: token, collections: Array($0))
      }
      rest = rest.dropFirst(taken)
      guard call.wantsMore, !rest.isEmpty else {
        try await call.reply(encoded: reply)
        return
      }
      try await call.replyContinuing(encoded: reply)
    } while true
  }
}
