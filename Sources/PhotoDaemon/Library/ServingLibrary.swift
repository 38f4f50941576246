import Dispatch
import Logging
import PhotoCatalog
import PhotoExtract
import PhotoImages
import PhotoIndexer
import PhotoModel
import PhotoServer
import PhotoWatch
import Synchronization
import Varlink

/// The parts of an open library while it serves: catalog, watcher, library, backups and service of one configuration.
final class ServingLibrary: RunningLibrary {
  let statusLines: AsyncStream<String>
  let reopenReasons: AsyncStream<ReopenReason>
  private let lines: AsyncStream<String>.Continuation
  private let reasons: AsyncStream<ReopenReason>.Continuation
  private let catalog: Catalog
  private let backups: BackupService
  private let watcher: WatcherGroup
  private let extractor: Extractor
  private let library: Library
  private let engine: ImageEngine
  private let updates: ImageUpdates
  private let service: VarlinkService
  /// The group has a member while the engine ends.
  private let engineEnd = DispatchGroup()
  /// How long ``serve(on:)`` waits for the engine. Nil until the end of the engine was ordered.
  private let engineDeadline = Mutex<DispatchTime?>(nil)
  private let logger: Logger

  /// - Parameter watcher: it has been started, and has the roots.
  /// - Parameter reopenReasons: the stream to which `backups` sends.
  init(
    catalog: Catalog, watcher: WatcherGroup, extractor: Extractor, library: Library, backups: BackupService,
    engine: ImageEngine, updates: ImageUpdates, service: VarlinkService,
    reopenReasons: (stream: AsyncStream<ReopenReason>, continuation: AsyncStream<ReopenReason>.Continuation),
    logger: Logger
  ) {
    self.catalog = catalog
    self.watcher = watcher
    self.extractor = extractor
    self.library = library
    self.backups = backups
    self.engine = engine
    self.updates = updates
    self.service = service
    (self.reopenReasons, reasons) = reopenReasons
    (statusLines, lines) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    self.logger = logger
  }

  func serve(on descriptor: Int32) async throws {
    do {
      for message in try catalog.notices() { logger.error("catalog", metadata: ["notice": "\(message)"]) }
    } catch  where Catalog.isDamage(error) {
      // The catalog has reported the damage itself, and is opened again.
    }
    await backups.showNotices()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { await self.followStatus() }
      group.addTask { await self.backups.keep() }
      group.addTask { await self.updates.follow() }
      group.addTask { for await why in self.catalog.damage { await self.backups.catalogFailed(why) } }
      group.addTask {
        // If the library can't go on, the service ends too.
        defer { self.endStreams() }
        await self.library.run()
      }
      try await service.serve(listeningDescriptor: descriptor)
      await watcher.stop()
      extractor.end()
      group.cancelAll()
    }
    await waitForEngine()
    do {
      try catalog.close()
    } catch  where Catalog.isDamage(error) || Catalog.isFull(error) || catalog.isFrozen {
      // The next opening detects that the catalog was not closed in order.
      logger.notice("catalog not closed", metadata: ["error": "\(error)"])
    }
  }

  func move(to descriptor: Int32) async throws -> Bool { try await service.move(to: descriptor) }

  func reload(_ configuration: Configuration) async throws {
    library.statusStore.report(configuration.warnings.map { .configuration($0) }, by: .configuration)
    engine.setSharing(configuration.sharesThumbnails)
    engine.setMaximumBytes(configuration.imageCacheSize)
    await library.setRoots(
      configuration.roots.map { FilePath.bytes($0) }, innerRoots: configuration.innerRoots.map { FilePath.bytes($0) },
      ignore: configuration.ignore.map { Array($0.utf8) }, removalGrace: configuration.removalGrace,
      pollSeconds: configuration.pollSecondsByPath)
  }

  func whenAlive(_ proven: @escaping @Sendable () -> Void) { library.whenAlive(proven) }

  var idleTime: Duration { service.load.idleTime }
  func announceReopening() { library.events.isReopened.store(true, ordering: .releasing) }
  func drain() async { await service.drain() }

  func stop() async {
    endStreams()
    // The watcher stops without delay. The signal that ends photod may end photod-watch too, and that is no failure
    // then.
    await watcher.stop()
    extractor.end()
  }

  private func endStreams() {
    library.stopWaiting()
    // Its streams end at once. It waits up to a second for threads whose disk is slow, which the service must not.
    engineDeadline.withLock { $0 = $0 ?? .now() + Self.engineEndLimit }
    DispatchQueue(label: "photod.pictures.end").async(group: engineEnd) { [engine] in engine.shutDown() }
    service.shutDown()
    lines.finish()
    reasons.finish()
  }

  /// How long the end of the engine may take. It takes 1.25 s if a disk is slow, and longer if a disk does not answer.
  /// The service ends meanwhile, so photod stops within two seconds.
  private static let engineEndLimit = DispatchTimeInterval.milliseconds(1500)

  /// Waits until the engine has ended, but not beyond its deadline. If photod ended before, pictures of deleted photos
  /// would stay until the next start. If the library is opened again, the next engine uses the same folder.
  private func waitForEngine() async {
    guard let deadline = engineDeadline.withLock({ $0 }) else { return }
    await withCheckedContinuation { continuation in
      DispatchQueue(label: "photod.pictures.wait").async { [engineEnd] in
        _ = engineEnd.wait(timeout: deadline)
        continuation.resume()
      }
    }
  }

  /// Sends each change of the status to `systemctl status`, and logs when the library becomes live.
  private func followStatus() async {
    var version: Int64 = -1
    var wasLive = false
    while let next = await library.statusStore.feed.next(after: version) {
      version = next
      let status = library.statusStore.status
      lines.yield(statusLine(status))
      if status.state == .live, !wasLive {
        logger.notice(
          "live",
          metadata: [
            "assets": "\(status.assetCount)", "folders": "\(status.roots.count)", "failed": "\(status.failedCount)",
          ])
      }
      wasLive = status.state == .live
      // This limits the lines to four a second. Each line has the newest status.
      do { try await Task.sleep(for: .milliseconds(250)) } catch { return }
    }
  }
}
