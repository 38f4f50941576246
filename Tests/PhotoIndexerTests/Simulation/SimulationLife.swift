import Logging
import PhotoLive

@testable import PhotoCatalog
@testable import PhotoIndexer

// The start and the end of photod, and failed writes of the catalog.
extension Simulation {
  func reboot() {
    boot += 1
    for (path, volume) in disk.mounts.sorted(by: { $0.key < $1.key }) where path != "" {
      _ = disk.unmount(path)
      _ = disk.mount(volume, at: path)
      oracle.remounted.insert(volume)
    }
    isOtherDisk = true
    notePlacements()
  }

  func start() async throws {
    guard library == nil else { return }
    let catalog = try Catalog(path: folder + "/catalog.sqlite", bootID: "boot \(boot)")
    self.catalog = catalog
    watcher = SimulatedWatcher(disk: disk)
    let live = try LiveLibrary(catalog: catalog, now: { [clock] in clock.instant })
    self.live = live
    let library = try Library(
      catalog: catalog, commits: live, watcher: watcher, files: disk, clock: clock, power: PowerSupply(folder: "/none"),
      configuration: .init(
        roots: roots.map(SimulatedName.bytes), ignore: rules.patterns.map(\.text), version: "0"), logger: Self.logger)
    self.library = library
    if catalog.epoch != epoch { (replicas, sleepers) = ([], []) }
    epoch = catalog.epoch
    try makeReplicas(catalog, live)
    try await library.adoptRoots()
    watcher.begin()
    try await check()
  }

  private static let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }

  func end(orderly: Bool) async throws {
    guard let library else { return }
    oracle.isLossy = true
    bornOpen = [:]
    library.stopWaiting()
    if let sync = pendingSync { _ = await sync.task.result }
    pendingSync = nil
    await watcher.stop()
    (self.library, live) = (nil, nil)
    if orderly { try catalog?.close() }
    catalog = nil
    isFull = false
  }

  private static let faults = [
    ("asset", "INSERT"), ("resource", "INSERT"), ("resource", "UPDATE"), ("resource", "DELETE"),
    ("directory", "INSERT"),
    ("directory", "UPDATE"), ("history", "INSERT"),
  ]

  /// From now on every n-th write of a row fails, with its transaction.
  func failWrites(_ each: Int) throws {
    guard let catalog, library != nil, !isFull else { return }
    oracle.isLossy = true
    isFull = true
    bornOpen = [:]
    try catalog.write { writer in
      try RawStatement(writer.database, uncached: "CREATE TEMP TABLE fault AS SELECT 0 AS written").run()
      for (table, verb) in Self.faults {
        try RawStatement(
          writer.database,
          uncached: """
            CREATE TEMP TRIGGER fault_\(table)_\(verb) BEFORE \(verb) ON main.\(table) BEGIN
              UPDATE fault SET written = written + 1;
              SELECT RAISE(ABORT, 'the disk is full') FROM fault WHERE written % \(each) = 0;
            END
            """
        ).run()
      }
    }
  }

  func makeRoom() throws {
    guard let catalog, isFull else { return }
    isFull = false
    try catalog.write { writer in
      for (table, verb) in Self.faults {
        try RawStatement(writer.database, uncached: "DROP TRIGGER fault_\(table)_\(verb)").run()
      }
      try RawStatement(writer.database, uncached: "DROP TABLE temp.fault").run()
    }
  }
}
