import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

// Calls for lists and their assets.
extension LibraryService {
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
        var (token, pages) = try self.pages(of: try reader.plan(options), from: offset, reader)
        let ids = try pages.next(page, reader)
        return try reader.fetchReply(ids[...], token: token, total: pages.total, offset: offset).encoded
      }
      try await call.reply(encoded: reply)
      return
    }

    try await sendPages(of: options, from: offset, on: call) { try $0.nextAssets(max(1, page), $1) }
  }

  func fetchIDs(_ call: VarlinkServiceCall) async throws {
    let options = try await reads(call).parameters(call, FetchIDsRequest.self).options ?? FetchOptions()
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    try await sendPages(of: options, from: 0, on: call) { try $0.nextIDs($1) }
  }

  private func sendPages(
    of options: FetchOptions, from offset: Int, on call: VarlinkServiceCall, _ read: @escaping PagedList.Read
  ) async throws {
    var sentBytes = 0
    defer { FreedMemory.giveBack(afterSending: sentBytes) }
    // The snapshot is released before the last page, which may be read at any time.
    let last = try await sendAllButLast(of: options, from: offset, on: call, &sentBytes, read)
    try await call.reply(encoded: last)
  }

  /// The snapshot is taken by the job that reads the first page. If another job took it, a process could have a snapshot
  /// for each of its connections before the first page of one was read.
  ///
  /// - Returns: the last page, which is not sent yet.
  private func sendAllButLast(
    of options: FetchOptions, from offset: Int, on call: VarlinkServiceCall, _ sentBytes: inout Int,
    _ read: @escaping PagedList.Read
  ) async throws -> VarlinkEncoded {
    let reads = reads(call)
    let slot = SnapshotSlots.Slot(process: call.peer.pid)
    defer { snapshots.giveBack(slot) }
    let (token, summary, first) = try await reads.run {
      let snapshot = try self.library.catalog.snapshot()
      let (plan, token, pages) = try snapshot.read { reader in
        let plan = try reader.plan(options)
        let (token, pages) = try self.pages(of: plan, from: offset, reader)
        return (plan, token, pages)
      }
      var list = PagedList(snapshot, token, pages, from: offset)
      let page = try list.next(read)
      if !page.isLast {
        slot.put(list)
        self.snapshots.hold(slot)
      }
      return (token, page.isLast ? nil : options.summary(predicate: plan.predicate), page)
    }
    var page = first
    let begunAt = ContinuousClock.now
    connections.beginStream(call, .init(options: summary, token: token))
    while !page.isLast {
      sentBytes += page.reply.byteCount
      try await sendPage(page.reply, on: call, slot, begunAt)
      page = try await reads.run {
        guard var list = slot.take() else { throw Self.tooManySnapshots }
        let page = try list.next(read)
        if !page.isLast { slot.put(list) }
        return page
      }
    }
    return page.reply
  }

  private static let tooManySnapshots = ContractError.snapshotExpired(
    "More than \(SnapshotSlots.most) replies of many pages were read at once.")

  /// The token of the reader's snapshot, and the list in it.
  private func pages(of plan: FetchPlan, from offset: Int, _ reader: CatalogReader) throws
    -> (token: String, FetchPages)
  {
    let sequence = try reader.sequence()
    let known =
      live.lists.recent(plan, sequence: sequence)?.count ?? live.totals.total(of: plan, at: sequence)
    let pages = try FetchPages(plan, from: offset, knownTotal: known, reader)
    live.totals.note(pages.total, of: plan, at: sequence)
    return (library.catalog.token(sequence).description, pages)
  }

  /// Sends a page that others follow. A reader that does not take it until ``pageDeadline``, or does not take all pages
  /// until ``snapshotDeadline``, loses the rest.
  private func sendPage(
    _ reply: VarlinkEncoded, on call: VarlinkServiceCall, _ slot: SnapshotSlots.Slot,
    _ begunAt: ContinuousClock.Instant
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await call.replyContinuing(encoded: reply) }
      group.addTask {
        try await self.pageDeadline()
        throw ContractError.snapshotExpired("The reply was not read for 10 seconds.")
      }
      group.addTask {
        try await self.snapshotDeadline(begunAt)
        throw ContractError.snapshotExpired("The whole reply was not read within two minutes.")
      }
      group.addTask {
        await slot.untilExpired()
        try Task.checkCancellation()
        throw Self.tooManySnapshots
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

  func listValues(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let parameters = try await reads.parameters(call, ListValuesRequest.self)
    let key = try ValueKey(named: parameters.key)
    let limit = parameters.limit ?? ReplyLimits.defaultValues
    guard limit >= 1 else { throw VarlinkError.invalidParameter("limit") }
    let reply = try await reads.read(library.catalog) { reader in
      let plan = try reader.plan(parameters.options ?? FetchOptions())
      let found = try reader.values(of: key, in: plan, prefix: parameters.prefix)
      let shown = found.values.prefix(min(limit, ReplyLimits.maximumValues)).fitting(ReplyLimits.maximumBytes - 512)
      return ValueCounts(
        token: try reader.token().description, values: shown.map(\.text), counts: shown.map(\.count),
        total: found.values.count, assetCount: found.assetCount, absentCount: found.absentCount)
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
    try await reads.sendPages(on: call, holding: live.lists.held) { [catalog = library.catalog] in
      let (token, collections) = try catalog.read { reader in
        (
          try reader.token().description,
          try reader.collections(kinds: kinds, containing: parameters.containingAsset)
        )
      }
      return PagedArray(collections, byteCount: collections.byteCount, pageSize: ReplyLimits.defaultPage) {
        CollectionPage(token: token, collections: Array($0))
      }
    }
  }
}

extension ArraySlice<CountedValues.Value> {
  /// The first of these values, as many as JSON of this size can have.
  fileprivate func fitting(_ byteCount: Int) -> ArraySlice {
    var room = byteCount
    return prefix { value in
      // A control character takes six bytes. The count takes at most 20, and quotes and commas take four.
      room -= value.text.utf8.reduce(24) { $0 + ($1 < 0x20 ? 6 : $1 == 0x22 || $1 == 0x2F || $1 == 0x5C ? 2 : 1) }
      return room >= 0
    }
  }
}
