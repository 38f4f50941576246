import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Synchronization
import Varlink

// The daemon itself.
extension LibraryService {
  private struct StatusReply: Encodable { let status: LibraryStatus }

  func status(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else {
      try await call.reply(StatusReply(status: try currentStatus(countsAge: .zero).status))
      return
    }
    var version = library.board.feed.sequence
    var sent: LibraryStatus?
    while true {
      // Who did not read for a while is told what is so now, and nothing else.
      try await call.drained()
      // Who waits for it to be live sees what is there then.
      let isLive = sent?.state != .live && library.board.status.state == .live
      let (status, recountAt) = try currentStatus(countsAge: isLive ? .zero : .seconds(1))
      if status != sent { try await call.replyContinuing(StatusReply(status: status)) }
      sent = status
      // At most ten times a second.
      try await Task.sleep(for: .milliseconds(100))
      guard let next = await nextVersion(after: version, until: recountAt) else {
        try Task.checkCancellation()
        throw library.ended
      }
      version = next
    }
  }

  /// The newest version of the status once it is above `version`, or at that time `version` itself; nil at the end.
  private func nextVersion(after version: Int64, until time: ContinuousClock.Instant?) async -> Int64? {
    let feed = library.board.feed
    guard let time else { return await feed.next(after: version) }
    return await withTaskGroup(of: Int64?.self) { group in
      group.addTask { await feed.next(after: version) }
      group.addTask {
        do { try await Task.sleep(until: time, clock: .continuous) } catch { return nil }
        return version
      }
      defer { group.cancelAll() }
      return await group.next() ?? nil
    }
  }

  /// - Parameter countsAge: how old the counts of the roots may be.
  /// - Returns: also when to ask again because they are not of the newest commit.
  private func currentStatus(countsAge: Duration) throws -> (
    status: LibraryStatus, recountAt: ContinuousClock.Instant?
  ) {
    var status = library.board.status
    let (counts, recountAt) = try rootCounts.counts(at: library.feed.sequence, maximumAge: countsAge)
    for index in status.roots.indices {
      guard let count = counts[status.roots[index].path] else { continue }
      status.roots[index].assetCount = count.assets
      status.roots[index].directoryCount = count.directories
    }
    status.observerCount = observers.withLock { $0 }
    status.connectionCount = connections.connectionCount
    return (status, recountAt)
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
      let heldBack: Int?
    }
    let parameters = try call.parameters(Parameters.self)
    let result = try await library.rescan(
      path: try parameters.path.map(absolutePath), dryRun: parameters.dryRun ?? false,
      confirm: parameters.confirm ?? false)
    try await call.reply(
      Reply(
        inserted: result.inserted, updated: result.updated, removed: result.removed,
        heldBack: result.heldBack > 0 ? result.heldBack : nil))
  }

  private func absolutePath(_ text: String) throws -> [UInt8] {
    var path = FilePath.bytes(text)
    guard path.first == UInt8(ascii: "/"), !path.contains(0) else { throw VarlinkError.invalidParameter("path") }
    while path.count > 1 && path.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}

/// What is under each root, counted no more often than who asks needs it: it takes a walk over the library.
final class RootCountCache: Sendable {
  typealias Counts = [String: (assets: Int, directories: Int)]

  private struct State {
    var counts: Counts = [:]
    var sequence: Int64 = -1
    var countedAt: ContinuousClock.Instant?
  }

  private let catalog: Catalog
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  init(catalog: Catalog, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
    self.catalog = catalog
    self.now = now
  }

  /// - Parameter maximumAge: counts of an older commit are good enough for so long.
  /// - Returns: the counts, by the root's path; and when they are of an older commit, until when they are kept.
  func counts(at sequence: Int64, maximumAge: Duration) throws -> (Counts, dueAt: ContinuousClock.Instant?) {
    try state.withLock { state in
      if state.sequence >= sequence { return (state.counts, nil) }
      let time = now()
      if let countedAt = state.countedAt, time - countedAt < maximumAge {
        return (state.counts, countedAt + maximumAge)
      }
      let (newest, rows) = try catalog.read { (try $0.sequence(), try $0.rootCounts()) }
      state.counts = [:]
      for row in rows { state.counts[FilePath.text(row.path)] = (row.assets, row.directories) }
      state.sequence = newest
      state.countedAt = time
      return (state.counts, nil)
    }
  }
}
