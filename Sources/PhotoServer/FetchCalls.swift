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

  private struct FetchReply: Encodable {
    let token: String
    let total: Int
    let offset: Int
    let assets: [Asset]
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
      let (token, total, assets) = try library.catalog.read { reader in
        var pages = try FetchPages(try reader.plan(options), from: offset, reader)
        let part = try pages.next(page, reader)
        return (try reader.token().description, pages.total, try reader.assets(part).assets)
      }
      let (reply, _) = try ReplyLimits.page(assets[...]) {
        FetchReply(token: token, total: total, offset: offset, assets: Array($0))
      }
      try await call.reply(encoded: reply)
      return
    }

    // The snapshot is gone by the time of the last page, which may be read whenever.
    let last = try await sendAllButLast(of: options, from: offset, page: max(1, page), on: call)
    try await call.reply(encoded: last)
  }

  /// - Returns: the last page.
  private func sendAllButLast(of options: FetchOptions, from offset: Int, page: Int, on call: VarlinkServiceCall)
    async throws -> VarlinkEncoded
  {
    let snapshot = try library.catalog.snapshot()
    var (token, pages) = try snapshot.read { reader in
      (try reader.token().description, try FetchPages(try reader.plan(options), from: offset, reader))
    }
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = min(offset, pages.total)
    // Assets that were read, and for which a reply had no room.
    var rest: [Asset] = []
    while true {
      if rest.count < page {
        rest += try snapshot.read { try $0.assets(try pages.next(page - rest.count, $0)).assets }
      }
      let (reply, taken) = try ReplyLimits.page(rest[...]) {
        FetchReply(token: token, total: pages.total, offset: position, assets: Array($0))
      }
      position += taken
      rest.removeFirst(taken)
      if position >= pages.total || taken == 0 { return reply }
      try await sendPage(reply, on: call)
    }
  }

  private struct FetchIDsReply: Encodable {
    let token: String
    let total: Int
    let offset: Int
    let ids: [Int64]
  }

  func fetchIDs(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let options: FetchOptions? }
    let options = try call.parameters(Parameters.self).options ?? FetchOptions()
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    let (token, ids) = try library.catalog.read { (try $0.token().description, try $0.ids(try $0.plan(options))) }
    connections.beginStream(call, .init(options: options.summary, token: token))
    var position = 0
    while true {
      let part = Array(ids[position...].prefix(ReplyLimits.idsPerPage))
      let reply = try VarlinkEncoded(
        encoding: FetchIDsReply(token: token, total: ids.count, offset: position, ids: part))
      position += part.count
      guard position < ids.count else { return try await call.reply(encoded: reply) }
      try await sendPage(reply, on: call)
    }
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
    struct Reply: Encodable {
      let token: String
      let assets: [Asset]
      let missing: [Int64]
    }
    let ids = try call.parameters(Parameters.self).ids
    guard ids.count <= ReplyLimits.maximumIDsPerCall else { throw VarlinkError.invalidParameter("ids") }
    let (token, assets, missing) = try library.catalog.read { reader in
      let (assets, missing) = try reader.assets(ids)
      return (try reader.token().description, assets, missing)
    }
    let (reply, _) = try ReplyLimits.page(assets[...]) {
      Reply(token: token, assets: Array($0), missing: missing)
    }
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
