import Dispatch
import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Synchronization
import Varlink

// Calls about the daemon itself.
extension LibraryService {
  func status(_ call: VarlinkServiceCall) async throws {
    guard call.wantsMore else {
      try await call.reply(StatusReply(status: try await currentStatus(call, countsAge: .zero).status))
      return
    }
    var version = library.statusStore.feed.sequence
    var sent: LibraryStatus?
    while true {
      // A client that did not read for a while gets only the present status.
      try await call.drained()
      // A client that waits for the library to be live gets the counts of that moment.
      let isLive = sent?.state != .live && library.statusStore.status.state == .live
      let (status, recountAt) = try await currentStatus(call, countsAge: isLive ? .zero : .seconds(1))
      if status != sent { try await call.replyContinuing(StatusReply(status: status)) }
      sent = status
      // This limits the replies to ten a second.
      try await Task.sleep(for: .milliseconds(100))
      guard let next = await nextVersion(after: version, until: recountAt) else {
        try Task.checkCancellation()
        throw library.ended
      }
      version = next
    }
  }

  /// The newest version of the status once it is above `version`. At `time`, it returns `version` itself; at the end,
  /// nil.
  private func nextVersion(after version: Int64, until time: ContinuousClock.Instant?) async -> Int64? {
    let feed = library.statusStore.feed
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

  /// - Parameter countsAge: the maximum age of the roots' counts.
  /// - Returns: the status, and when to count again if the counts are older than the newest commit.
  private func currentStatus(_ call: VarlinkServiceCall, countsAge: Duration) async throws -> (
    status: LibraryStatus, recountAt: ContinuousClock.Instant?
  ) {
    var status = library.statusStore.status
    let (counts, recountAt) = try await rootCounts.counts(at: live.feed.sequence, maximumAge: countsAge)
    for index in status.roots.indices {
      guard let count = counts[status.roots[index].path] else { continue }
      status.roots[index].assetCount = count.assets
      status.roots[index].directoryCount = count.directories
    }
    status.observerCount = observers.withLock { $0 }
    status.connectionCount = call.service.connectionCount
    return (status, recountAt)
  }

  func explain(_ call: VarlinkServiceCall) async throws {
    let path = try absolutePath(try await reads(call).parameters(call, ExplainRequest.self).path)
    let explanation = try await libraryTurns.run(for: call.peer) { try await library.explain(path: path) }
    try await call.reply(
      PathExplanation(state: explanation.state, reason: explanation.reason, assetID: explanation.assetID))
  }

  func rescan(_ call: VarlinkServiceCall) async throws {
    let parameters = try await reads(call).parameters(call, RescanRequest.self)
    let path = try parameters.path.map(absolutePath)
    let begun = try await libraryTurns.run(for: call.peer) {
      try await library.beginRescan(
        path: path, dryRun: parameters.dryRun ?? false, confirm: parameters.confirm ?? false)
    }
    let result = try await library.finish(begun)
    try await call.reply(
      RescanResult(
        inserted: result.inserted, updated: result.updated, removed: result.removed,
        heldBack: result.heldBack > 0 ? result.heldBack : nil,
        removedExamples: result.removedExamples.isEmpty ? nil : result.removedExamples.map { FilePath.text($0) }))
  }

  func synchronize(_ call: VarlinkServiceCall) async throws {
    let seconds =
      try call.shortParameters(SynchronizeRequest.self).timeoutSeconds ?? Double(RequestLimits.defaultTimeoutSeconds)
    guard seconds >= 0, seconds <= Double(RequestLimits.maximumTimeoutSeconds) else {
      throw VarlinkError.invalidParameter("timeoutSeconds")
    }
    let token = try await library.synchronize(timeout: .milliseconds(Int(seconds * 1000)))
    try await call.reply(TokenReply(token: token.description))
  }

  private func absolutePath(_ text: String) throws -> [UInt8] {
    var path = FilePath.bytes(text)
    guard path.first == UInt8(ascii: "/"), !path.contains(0), path.count <= RequestLimits.maximumPathBytes else {
      throw VarlinkError.invalidParameter("path")
    }
    while path.count > 1 && path.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}
