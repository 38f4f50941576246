import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// Calls for lists and their assets.
extension LibraryService {
  /// A snapshot that is held for a stream of pages.
  private struct SnapshotLease {
    let slot: SnapshotSlots.Slot
    let begunAt: ContinuousClock.Instant
  }

  func fetch(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let parameters = try await reads.parameters(call, FetchRequest.self)
    let offset = parameters.offset ?? 0
    guard offset >= 0 else { throw VarlinkError.invalidParameter("offset") }
    let pageSize = parameters.count ?? ReplyLimits.defaultPage
    guard pageSize >= 0 else { throw VarlinkError.invalidParameter("count") }
    let page = min(pageSize, ReplyLimits.maximumPage)
    let options = parameters.options ?? FetchOptions()

    if !call.wantsMore {
      let reply = try await reads.read(library.catalog) { reader in
        var (token, pages) = try self.pages(of: options, from: offset, reader)
        let ids = try pages.next(page, reader)
        return try reader.fetchReply(ids[...], token: token, total: pages.total, offset: offset).encoded
      }
      try await call.reply(encoded: reply)
      return
    }

    // The snapshot is released before the last page, which may be read at any time.
    var sentBytes = 0
    defer { FreedMemory.giveBack(afterSending: sentBytes) }
    let last = try await sendAllButLast(of: options, from: offset, page: max(1, page), on: call, &sentBytes)
    try await call.reply(encoded: last)
  }

  /// - Returns: the last page, which is not sent yet.
  private func sendAllButLast(
    of options: FetchOptions, from offset: Int, page: Int, on call: VarlinkServiceCall, _ sentBytes: inout Int
  ) async throws -> VarlinkEncoded {
    let reads = reads(call)
    let lease = SnapshotLease(slot: snapshots.take(for: call.peer.pid), begunAt: .now)
    defer { snapshots.giveBack(lease.slot) }
    let (snapshot, token, first) = try await begin(options, from: offset, reads)
    var pages = first
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = min(offset, pages.total)
    // The ids for which the last reply had no room.
    var rest: ArraySlice<Int64> = []
    while true {
      let (reply, taken, read, ids) = try await reads.run { [pages, rest, position] in
        try snapshot.read { reader in
          var (pages, rest) = (pages, rest)
          if rest.count < page { rest += try pages.next(page - rest.count, reader) }
          let (reply, taken) = try reader.fetchReply(rest, token: token, total: pages.total, offset: position)
          return (reply, taken, pages, rest)
        }
      }
      (pages, rest) = (read, ids)
      position += taken
      rest.removeFirst(taken)
      if position >= pages.total || taken == 0 { return reply }
      sentBytes += reply.byteCount
      try await sendPage(reply, on: call, lease)
    }
  }

  func fetchIDs(_ call: VarlinkServiceCall) async throws {
    let options = try await reads(call).parameters(call, FetchIDsRequest.self).options ?? FetchOptions()
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    var sentBytes = 0
    defer { FreedMemory.giveBack(afterSending: sentBytes) }
    let last = try await sendAllButLastIDs(of: options, on: call, &sentBytes)
    try await call.reply(encoded: last)
  }

  /// - Returns: the last page, which is not sent yet.
  private func sendAllButLastIDs(of options: FetchOptions, on call: VarlinkServiceCall, _ sentBytes: inout Int)
    async throws -> VarlinkEncoded
  {
    let reads = reads(call)
    let lease = SnapshotLease(slot: snapshots.take(for: call.peer.pid), begunAt: .now)
    defer { snapshots.giveBack(lease.slot) }
    let (snapshot, token, first) = try await begin(options, from: 0, reads)
    var pages = first
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = 0
    while true {
      let (reply, count, read) = try await reads.run { [pages, position] in
        try snapshot.read { reader in
          var pages = pages
          let ids = try pages.next(ReplyLimits.idsPerPage, reader)
          let reply = VarlinkEncoded.idPage(ids, token: token, total: pages.total, offset: position)
          return (reply, ids.count, pages)
        }
      }
      pages = read
      position += count
      if position >= pages.total || count == 0 { return reply }
      sentBytes += reply.byteCount
      try await sendPage(reply, on: call, lease)
    }
  }

  /// Takes a snapshot. Returns it with its token and the list in it.
  private func begin(_ options: FetchOptions, from offset: Int, _ reads: ClientReads) async throws
    -> (CatalogSnapshot, token: String, FetchPages)
  {
    try await reads.run {
      let snapshot = try self.library.catalog.snapshot()
      let (token, pages) = try snapshot.read { try self.pages(of: options, from: offset, $0) }
      return (snapshot, token, pages)
    }
  }

  /// The token of the reader's snapshot, and the list in it.
  private func pages(of options: FetchOptions, from offset: Int, _ reader: CatalogReader) throws
    -> (token: String, FetchPages)
  {
    let plan = try reader.plan(options)
    let sequence = try reader.sequence()
    let known =
      library.live.lists.recent(plan, sequence: sequence)?.count ?? library.live.totals.total(of: plan, at: sequence)
    let pages = try FetchPages(plan, from: offset, knownTotal: known, reader)
    library.live.totals.note(pages.total, of: plan, at: sequence)
    return (library.catalog.token(sequence).description, pages)
  }

  /// Sends a page that others follow. A reader that does not take it until ``pageDeadline``, or does not take all pages
  /// until ``snapshotDeadline``, loses the rest.
  private func sendPage(
    _ reply: VarlinkEncoded, on call: VarlinkServiceCall, _ lease: SnapshotLease
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await call.replyContinuing(encoded: reply) }
      group.addTask {
        try await self.pageDeadline()
        throw ContractError.snapshotExpired("The reply was not read for 10 seconds.")
      }
      group.addTask {
        try await self.snapshotDeadline(lease.begunAt)
        throw ContractError.snapshotExpired("The whole reply was not read within two minutes.")
      }
      group.addTask {
        await lease.slot.untilExpired()
        try Task.checkCancellation()
        throw ContractError.snapshotExpired(
          "More than \(SnapshotSlots.most) replies of many pages were read at a time.")
      }
      defer { group.cancelAll() }
      try await group.next()
    }
  }

  func getAssets(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let ids = try await reads.parameters(call, GetAssetsRequest.self).ids
    let reply = try await reads.read(library.catalog) { try $0.getAssetsReply(ids) }
    try await call.reply(encoded: reply)
  }

  func findAssets(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let paths = try await reads.parameters(call, FindAssetsRequest.self).paths
    let reply = try await reads.read(library.catalog) { reader in
      FindAssetsReply(
        token: try reader.token().description, ids: try reader.assetIDs(paths: paths.map { FilePath.bytes($0) }))
    }
    try await call.reply(reply)
  }

  /// - Throws: `VarlinkError.invalidParameter` for a word that is no kind of collection.
  static func kinds(_ words: [String]?) throws(VarlinkError) -> Set<AssetCollection.Kind>? {
    guard let words else { return nil }
    var kinds: Set<AssetCollection.Kind> = []
    for (index, word) in words.enumerated() {
      guard let kind = AssetCollection.Kind(request: word) else { throw .invalidParameter("kinds[\(index)]") }
      kinds.insert(kind)
    }
    return kinds
  }

  func fetchCollections(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let parameters = try await reads.parameters(call, FetchCollectionsRequest.self)
    let kinds = try Self.kinds(parameters.kinds)
    let (token, collections) = try await reads.read(library.catalog) { reader in
      (
        try reader.token().description,
        try reader.collections(kinds: kinds, containing: parameters.containingAsset)
      )
    }
    var rest = collections[...]
    repeat {
      let (reply, taken) = try await reads.run { [rest] in
        try ReplyLimits.page(rest.prefix(ReplyLimits.defaultPage)) {
          CollectionPage(token: token, collections: Array($0))
        }
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
