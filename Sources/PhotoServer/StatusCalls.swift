import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Synchronization
import Varlink

// The daemon itself.
extension LibraryService {
  private struct StatusReply: Encodable { let status: LibraryStatus }

  func status(_ call: VarlinkServiceCall) async throws {
    var version = library.board.feed.sequence
    guard call.wantsMore else {
      try await call.reply(StatusReply(status: try currentStatus()))
      return
    }
    while true {
      try await call.replyContinuing(StatusReply(status: try currentStatus()))
      // At most ten times a second.
      try await Task.sleep(for: .milliseconds(100))
      guard let next = await library.board.feed.next(after: version) else {
        try Task.checkCancellation()
        throw ContractError.unavailable("photod is stopping.")
      }
      version = next
    }
  }

  private func currentStatus() throws -> LibraryStatus {
    var status = library.board.status
    let counts = try rootCounts.counts(at: library.feed.sequence)
    for index in status.roots.indices {
      guard let count = counts[status.roots[index].path] else { continue }
      status.roots[index].assetCount = count.assets
      status.roots[index].directoryCount = count.directories
    }
    status.observerCount = observers.withLock { $0 }
    status.connectionCount = connectionCount
    return status
  }

  func explain(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let path: String }
    struct Reply: Encodable {
      let state: String
      let reason: String
      let assetID: Int64?
    }
    let path = try absolutePath(try call.parameters(Parameters.self).path)
    let explanation = try await library.explain(path: path)
    try await call.reply(
      Reply(state: explanation.state, reason: explanation.reason, assetID: explanation.assetID))
  }

  func rescan(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable {
      let path: String?
      let dryRun: Bool?
      let confirm: Bool?
    }
    struct Reply: Encodable {
      let inserted: Int
      let updated: Int
      let removed: Int
    }
    let parameters = try call.parameters(Parameters.self)
    let result = try await library.rescan(
      path: try parameters.path.map(absolutePath), dryRun: parameters.dryRun ?? false,
      confirm: parameters.confirm ?? false)
    try await call.reply(Reply(inserted: result.inserted, updated: result.updated, removed: result.removed))
  }

  private func absolutePath(_ text: String) throws -> [UInt8] {
    var path = FilePath.bytes(text)
    guard path.first == UInt8(ascii: "/"), !path.contains(0) else { throw VarlinkError.invalidParameter("path") }
    while path.count > 1 && path.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}

/// What is under each root, counted at most once a second: it takes a walk over the library.
final class RootCountCache: Sendable {
  private struct State {
    var counts: [String: (assets: Int, directories: Int)] = [:]
    var sequence: Int64 = -1
    var countedAt: ContinuousClock.Instant?
  }

  private let catalog: Catalog
  private let state = Mutex(State())

  init(catalog: Catalog) { self.catalog = catalog }

  func counts(at sequence: Int64) throws -> [String: (assets: Int, directories: Int)] {
    try state.withLock { state in
      let isYoung = state.countedAt.map { ContinuousClock.now - $0 < .milliseconds(100) } ?? false
      if state.sequence == sequence || isYoung { return state.counts }
      let rows = try catalog.read { try $0.rootCounts() }
      state.counts = [:]
      for row in rows { state.counts[FilePath.text(row.path)] = (row.assets, row.directories) }
      state.sequence = sequence
      state.countedAt = .now
      return state.counts
    }
  }
}
