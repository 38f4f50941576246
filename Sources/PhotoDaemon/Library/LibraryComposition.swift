import Dispatch
import Glibc
import Logging
import PhotoCatalog
import PhotoExtract
import PhotoImages
import PhotoIndexer
import PhotoLive
import PhotoModel
import PhotoServer
import PhotoWatch
import Varlink
import WorkerProcess

// The composition root: the only place that makes the parts of a library and hands them to each other.

extension DaemonParts {
  /// The library itself, and the stand-in that explains why there is none.
  package static let library = {
    var parts = DaemonParts(
      openLibrary: { configuration, logger in try ServingLibrary.open(configuration, nil, logger, startsEarly: true) },
      openDegraded: { reasons, logger in DegradedLibrary(reasons: reasons, logger) })
    parts.openLibrary = { configuration, progress, isTriedAgain, logger in
      try await onThreadOfItsOwn {
        try ServingLibrary.open(configuration, nil, logger, startsEarly: !isTriedAgain) { try progress.note($0) }
      }
    }
    parts.reopenLibrary = { configuration, reason, logger in
      try await onThreadOfItsOwn { try ServingLibrary.open(configuration, reason, logger, startsEarly: false) }
    }
    return parts
  }()
}

/// Runs blocking work outside of the tasks' pool, which may have only one thread. The stand-in and a stop need that
/// thread.
private func onThreadOfItsOwn<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  try await withCheckedThrowingContinuation { continuation in
    DispatchQueue(label: "photod.opening").async { continuation.resume(with: Result { try body() }) }
  }
}

extension ServingLibrary {
  /// Opens the library. If the first reads find that the catalog is damaged, it is verified and rebuilt.
  ///
  /// - Parameters:
  ///   - reason: why the library was closed before; nil if this daemon has not had it open.
  ///   - startsEarly: whether photod-watch walks the roots while the catalog is opened. A degraded daemon tries to open the
  ///     catalog every two seconds, and the disks of the roots must not work each time.
  static func open(
    _ configuration: Configuration, _ reason: ReopenReason?, _ logger: Logger, startsEarly: Bool,
    onProgress: @escaping @Sendable (CatalogUpgradeProgress) throws -> Void = { _ in }
  ) throws -> ServingLibrary {
    let (watcher, roots) = makeWatcher(configuration, logger)
    do {
      let extractor = try makeExtractor(logger, startsEarly: startsEarly)
      if startsEarly { try watcher.start() }
      let library = try naming(configuration.catalog) {
        do {
          return try compose(configuration, watcher, roots, extractor, reason, logger, onProgress)
        } catch  where reason != .damaged && Catalog.isDamage(error) {
          logger.error("catalog damaged", metadata: ["error": "\(error)"])
          return try compose(configuration, watcher, roots, extractor, .damaged, logger, onProgress)
        }
      }
      if !startsEarly { try watcher.start() }
      return library
    } catch {
      watcher.endSoon()
      throw error
    }
  }

  /// Makes the watcher before the catalog is opened, so that photod-watch can walk the roots meanwhile. Its records wait
  /// until the library runs.
  ///
  /// - Returns: the watcher, and the roots with the numbers that it has them under.
  private static func makeWatcher(
    _ configuration: Configuration, _ logger: Logger
  ) -> (WatcherGroup, [WatchRoot]) {
    let watcher = WatcherGroup(
      configuration: .init(
        roots: [], extensions: WatchRules.extensions, ignoredDirectoryNames: WatchRules.ignoredDirectoryNames,
        ignoredPatterns: configuration.ignore.map { Array($0.utf8) }),
      logger: logger)
    let roots = zip(1..., configuration.roots).map { number, root in
      WatchRoot(number: number, path: FilePath.bytes(root), pollSeconds: configuration.pollSeconds[root] ?? 0)
    }
    watcher.setRoots(roots)
    return (watcher, roots)
  }

  /// Makes the readers of metadata, and starts the processes that the first scan needs.
  private static func makeExtractor(_ logger: Logger, startsEarly: Bool) throws -> Extractor {
    let readerCount = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
    let extractor = Extractor(
      executable: try HelperProgram.extract.find(), readerCount: readerCount, logger: logger)
    if startsEarly { DispatchQueue.global().async { extractor.prepare(readerCount) } }
    return extractor
  }

  /// Adds the path of the catalog to errors that name no file, such as those of SQLite.
  static func naming<Opened>(_ catalog: String, _ open: () throws -> Opened) throws -> Opened {
    do { return try open() } catch {
      if let error = error as? PhotoError, error.code != "catalogDamaged" { throw error }
      if error is StartError || error is CancellationError || Catalog.namesItsFile(error) { throw error }
      if Catalog.isFull(error) {
        throw StartError(
          .inputOutput, "there is no room for the catalog \(catalog) (\(error))", remedy: "Make room on its disk.")
      }
      throw StartError(
        .inputOutput, "the catalog \(catalog) can't be read (\(error))",
        remedy:
          "Check its disk (`dmesg`). If you move the catalog away, photod makes a new one at its start, with your favorites, albums and edits from the journal beside it."
      )
    }
  }

  private static func compose(
    _ configuration: Configuration, _ watcher: WatcherGroup, _ roots: [WatchRoot], _ extractor: Extractor,
    _ reason: ReopenReason?, _ logger: Logger, _ onProgress: @escaping @Sendable (CatalogUpgradeProgress) throws -> Void
  ) throws -> ServingLibrary {
    // If the folder can't be made, the catalog reports that.
    if let folder = configuration.stateFolder { _ = Result { try PrivateDirectory.make(folder) } }
    let catalog = try Catalog(
      path: configuration.catalog, isSuspect: reason == .damaged, stateFolder: configuration.stateFolder,
      onProgress: onProgress)
    let live = try LiveLibrary(catalog: catalog)
    let library = try Library(
      catalog: catalog, commits: live, watcher: watcher, extractor: extractor,
      configuration: .init(
        roots: configuration.roots.map { FilePath.bytes($0) },
        innerRoots: configuration.innerRoots.map { FilePath.bytes($0) }, watchedRoots: roots,
        ignore: configuration.ignore.map { Array($0.utf8) }, removalGrace: configuration.removalGrace,
        pollSeconds: configuration.pollSecondsByPath, version: Daemon.version), logger: logger)
    library.statusStore.report(configuration.warnings.map { .configuration($0) }, by: .configuration)
    let reopenReasons = AsyncStream.makeStream(of: ReopenReason.self, bufferingPolicy: .bufferingNewest(1))
    let backups = BackupService(catalog: catalog, statusStore: library.statusStore, logger: logger) {
      reopenReasons.continuation.yield($0)
    }
    let interface = LibraryService(library: library, live: live, logger: logger)
    let assets = CatalogImageAssets(catalog: catalog, copies: configuration.imageCache + "/temporary") {
      watcher.access(to: $0)
    }
    let engine = ImageEngine(
      configuration: ImageConfiguration(
        cacheDirectory: configuration.imageCache, library: catalog.uuid,
        maximumBytes: configuration.imageCacheSize,
        sharedThumbnails: configuration.thumbnailFolder.map {
          SharedThumbnailConfiguration(
            folder: $0, isWriting: configuration.sharesThumbnails, version: Daemon.version)
        }, logger: logger), assets: assets)
    let manage = ManageService(
      connections: interface.connections, events: library.events, library: library,
      heldLists: live.lists.held, backups: backups, engine: engine, threads: interface.threads,
      libraryTurns: interface.libraryTurns)
    let images = ImageService(
      engine: engine, assets: assets, catalog: catalog, connections: interface.connections, threads: interface.threads
    ) { library.ended }
    return ServingLibrary(
      catalog: catalog, watcher: watcher, extractor: extractor, library: library, backups: backups, engine: engine,
      updates: ImageUpdates(engine: engine, live: live, logger: logger),
      service: .photod([interface, manage, images], logger: logger),
      reopenReasons: reopenReasons, logger: logger)
  }
}
