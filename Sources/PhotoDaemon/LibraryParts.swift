import Logging
import PhotoCatalog
import PhotoIndexer
import PhotoModel
import PhotoServer
import PhotoWatch
import Synchronization
import Varlink

extension DaemonParts {
  /// The library itself, and what says why there is none.
  package static let library = {
    var parts = DaemonParts(
      openLibrary: { configuration, logger in try ServingLibrary.open(configuration, nil, logger) },
      openDegraded: { reasons, logger in DegradedLibrary(reasons: reasons, logger) })
    parts.reopenLibrary = { configuration, reason, logger in
      try ServingLibrary.open(configuration, reason, logger)
    }
    return parts
  }()
}

/// Catalog, watcher, library and service of one configuration.
final class ServingLibrary: RunningLibrary {
  let statusLines: AsyncStream<String>
  let reopenReasons: AsyncStream<ReopenReason>
  private let lines: AsyncStream<String>.Continuation
  private let reasons: AsyncStream<ReopenReason>.Continuation
  private let catalog: Catalog
  private let keeper: LibraryKeeper
  private let watcher: Watcher
  private let library: Library
  private let service: VarlinkService
  private let logger: Logger

  /// Where the catalog opens and turns out to be damaged by what is read of it first, it is verified and made anew.
  ///
  /// - Parameter reason: why it was closed before, where this daemon had it open already.
  static func open(
    _ configuration: Configuration, _ reason: ReopenReason?, _ logger: Logger
  ) throws -> ServingLibrary {
    try naming(configuration.catalog) {
      do {
        return try ServingLibrary(configuration, reason, logger)
      } catch  where reason != .damaged && Catalog.isDamage(error) {
        logger.error("catalog damaged", metadata: ["error": "\(error)"])
        return try ServingLibrary(configuration, .damaged, logger)
      }
    }
  }

  /// What SQLite, or a look into the catalog, says names no file: a person is told which it is about.
  static func naming<Opened>(_ catalog: String, _ open: () throws -> Opened) throws -> Opened {
    do { return try open() } catch {
      if let error = error as? PhotoError, error.code != "catalogDamaged" { throw error }
      if error is StartError || Catalog.namesItsFile(error) { throw error }
      if Catalog.isFull(error) {
        throw StartError(
          .inputOutput, "there is no room for the catalog \(catalog) (\(error))", remedy: "Make some on its disk.")
      }
      throw StartError(
        .inputOutput, "the catalog \(catalog) can't be read (\(error))",
        remedy:
          "Look at its disk (dmesg). Moved away, it is made anew when photod starts: what you typed comes back from the journal beside it."
      )
    }
  }

  private init(_ configuration: Configuration, _ reason: ReopenReason?, _ logger: Logger) throws {
    self.logger = logger
    catalog = try Catalog(path: configuration.catalog, isSuspect: reason == .damaged)
    watcher = Watcher(
      configuration: .init(
        roots: [], extensions: WatchRules.extensions, ignoredDirectoryNames: WatchRules.ignoredDirectoryNames,
        ignoredPatterns: configuration.ignore.map { Array($0.utf8) }),
      logger: logger)
    library = try Library(
      catalog: catalog, watcher: watcher,
      configuration: .init(
        roots: configuration.roots.map { FilePath.bytes($0) }, ignore: configuration.ignore.map { Array($0.utf8) },
        removalGrace: configuration.removalGrace, version: Daemon.version), logger: logger)
    (reopenReasons, reasons) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    keeper = LibraryKeeper(catalog: catalog, board: library.board, logger: logger) { [reasons] in reasons.yield($0) }
    let interface = LibraryService(library: library, logger: logger)
    service = VarlinkService(
      identity: .init(
        vendor: "photod", product: "photod", version: Daemon.version, url: "https://github.com/photod/photod"),
      interfaces: [
        interface,
        ManageService(
          connections: interface.connections, events: library.events, library: library, keeping: keeper),
      ],
      limits: .leavingFiles(),
      onEvent: { [counted = RepeatedMessages.counted(logger)] in serviceEvent($0, counted) })
    interface.connections.watch(service)
    (statusLines, lines) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    library.board.warn(all: configuration.warnings)
  }

  func serve(on descriptor: Int32) async throws {
    do {
      for message in try catalog.notices() { logger.error("catalog", metadata: ["notice": "\(message)"]) }
    } catch  where Catalog.isDamage(error) {
      // The catalog has said so itself, and is opened anew.
    }
    await keeper.showNotices()
    try watcher.start()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.followStatus() }
      group.addTask { await self.keeper.keep() }
      group.addTask { for await why in self.catalog.damage { await self.keeper.catalogFailed(why) } }
      group.addTask {
        // A library that can't go on takes the service with it.
        defer { self.endStreams() }
        await self.library.run()
      }
      try await service.serve(listeningDescriptor: descriptor)
      await watcher.stop()
      group.cancelAll()
    }
    do {
      try catalog.close()
    } catch  where Catalog.isDamage(error) || Catalog.isFull(error) || catalog.isFrozen {
      // Another takes its place; that it was not closed in order is known to the next opening.
      logger.notice("catalog not closed", metadata: ["error": "\(error)"])
    }
  }

  func reload(_ configuration: Configuration) async throws {
    library.board.warn(all: configuration.warnings)
    await library.setRoots(
      configuration.roots.map { FilePath.bytes($0) }, ignore: configuration.ignore.map { Array($0.utf8) },
      removalGrace: configuration.removalGrace)
  }

  func proveAlive() async -> Bool {
    await library.proveAlive()
    return true
  }

  var idleTime: Duration { service.load.idleTime }
  func announceReopening() { library.events.isReopened.store(true, ordering: .releasing) }
  func drain() async { await service.drain() }

  func stop() async {
    endStreams()
    // At once: what ends photod may end photod-watch too, and that is no fault then.
    await watcher.stop()
  }

  private func endStreams() {
    library.stopWaiting()
    service.shutDown()
    lines.finish()
    reasons.finish()
  }

  /// What `systemctl status` shows, and what becomes of a scan for the log.
  private func followStatus() async {
    var version: Int64 = -1
    var wasLive = false
    while let next = await library.board.feed.next(after: version) {
      version = next
      let status = library.board.status
      lines.yield(statusLine(status))
      if status.state == .live, !wasLive {
        logger.notice(
          "live",
          metadata: [
            "assets": "\(status.assetCount)", "folders": "\(status.roots.count)", "failed": "\(status.failedCount)",
          ])
      }
      wasLive = status.state == .live
      // A few a second at most; the newest is what counts.
      do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
    }
  }
}

/// `live: 204 photos, 1 folder`, and what is wrong.
func statusLine(_ status: LibraryStatus) -> String {
  func count(_ number: Int, _ word: String) -> String { "\(number) \(word)\(number == 1 ? "" : "s")" }
  var line = "\(status.state): \(count(status.assetCount, "photo")), \(count(status.roots.count, "folder"))"
  if let progress = status.progress { line += ", \(count(progress.done, "file")) seen" }
  if status.failedCount > 0 { line += ", \(status.failedCount) unreadable" }
  if let first = status.warnings.first { line += "; \(count(status.warnings.count, "warning")): \(first)" }
  return line
}

extension VarlinkService {
  /// Takes no more connections and lets those there are finish: until there has been no call for a moment, in which one
  /// that was on its way would have come.
  fileprivate func drain() async {
    stopAccepting()
    let end = ContinuousClock.now + .seconds(1)
    // Once in any case: a connection that is being taken, or a call that is in the kernel, is counted only after.
    repeat {
      do { try await Task.sleep(for: .milliseconds(20)) } catch { return }
    } while connectionCount > 0 && load.idleTime < .milliseconds(100) && ContinuousClock.now < end
  }
}

/// - Parameter logger: One that counts: clients decide how often this is called.
private func serviceEvent(_ event: VarlinkService.Event, _ logger: Logger) {
  switch event {
  case .refused(let refusal, let uid, let pid):
    logger.warning(
      "connection refused",
      metadata: ["why": "\(refusal)", "uid": "\(uid.map(String.init) ?? "?")", "pid": "\(pid.map(String.init) ?? "?")"])
  case .malformed(let peer, let reason):
    logger.info("malformed message", metadata: ["pid": "\(peer.pid)", "reason": "\(reason)"])
  case .failed(let peer, let method, let error):
    logger.critical("call failed", metadata: ["method": "\(method)", "pid": "\(peer.pid)", "error": "\(error)"])
  case .acceptFailed(let error): logger.error("accept failed", metadata: ["error": "\(error)"])
  case .accepted, .idle, .closed: break
  }
}

/// Answers `Status` with the reasons, and everything else with `LibraryUnavailable`.
final class DegradedLibrary: RunningLibrary {
  let statusLines: AsyncStream<String>
  private let lines: AsyncStream<String>.Continuation
  private let service: VarlinkService
  /// Nothing happens here, but who follows it is told when it ends.
  private let events = EventRing()

  init(reasons: [String], _ logger: Logger) {
    (statusLines, lines) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    let connections = ConnectionBoard()
    service = VarlinkService(
      identity: .init(
        vendor: "photod", product: "photod", version: Daemon.version, url: "https://github.com/photod/photod"),
      interfaces: [
        DegradedService(reasons: reasons, version: Daemon.version),
        ManageService(connections: connections, events: events),
      ],
      onEvent: { [counted = RepeatedMessages.counted(logger)] in serviceEvent($0, counted) })
    connections.watch(service)
    lines.yield("degraded: \(reasons.first ?? "")")
  }

  func serve(on descriptor: Int32) async throws { try await service.serve(listeningDescriptor: descriptor) }
  func reload(_ configuration: Configuration) async throws {}
  func proveAlive() async -> Bool { true }
  var idleTime: Duration { service.load.idleTime }
  func announceReopening() { events.isReopened.store(true, ordering: .releasing) }
  func drain() async { await service.drain() }

  func stop() async {
    events.feed.finish()
    service.shutDown()
    lines.finish()
  }
}
