import Foundation
import Logging
import PhotoModel
import PhotoWatch
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// One run: a library with a real catalog, over a disk, a kernel and a photod-watch in memory, one step after the other.
final class Simulation {
  let clock = SimulatedClock()
  let disk: SimulatedDisk
  private(set) var watcher: SimulatedWatcher
  private(set) var library: Library?
  private var catalog: Catalog?
  private let folder: String
  private var boot = 1
  private var roots = ["/pics", "/usb"]
  private var oracle = SimulationOracle()
  private var removals = RemovalOracle()
  /// Photos that are half written, with a program that has them open.
  private var openPhotos: Set<Int> = []
  /// Of those, which were made so and when: photod reads them again while they are young, unless it has forgotten.
  private var bornOpen: [Int: Int64] = [:]
  /// Of which no event told that they are whole: time brings it, not a sync.
  private var unsaidPhotos: Set<Int> = []
  /// Which drive each root is on; only a person's word changes that.
  private var rootVolumes: [String: String] = [:]
  /// Roots that a person has said are on another drive now; until that is found out they may be on either.
  private var adoptedRoots: Set<String> = []
  private var favorites: [Int64: Bool] = [:]
  private var hidden: [Int64: Bool] = [:]
  private var assets: [Int64: Asset] = [:]
  private var sequence: Int64 = 0
  private var epoch: Int64 = 0
  private var replicas: [Replica] = []
  private var pendingSync: (number: UInt64, task: Task<Void, any Error>)?
  /// Where something was done since the sync was asked, and whether drives or roots came or went.
  private var touchedPlaces: Set<String> = []
  private var isOtherDisk = false
  private var placements: [Int: SimulationOracle.Placement] = [:]
  /// Writing to the catalog fails now and then.
  private var isFull = false
  private(set) var trace: [String] = []
  let keepsTrace: Bool

  private struct Replica {
    let options: FetchOptions
    var plan: FetchPlan
    var ids: [Int64]
    var sequence: Int64
  }

  init(kinds: (main: SimulatedDisk.Kind, usb: SimulatedDisk.Kind), template: String, keepsTrace: Bool) throws {
    self.keepsTrace = keepsTrace
    disk = SimulatedDisk(clock: clock)
    watcher = SimulatedWatcher(disk: disk)
    folder = SimulationFiles.folder + "/photod-simulation-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: template, toPath: folder + "/catalog.sqlite")
    _ = disk.mount(disk.addVolume(kinds.main), at: "")
    for path in ["/pics", "/usb", "/inbox", "/outside"] { _ = disk.makeDirectory(path) }
    let usb = disk.addVolume(kinds.usb)
    clock.pass(seconds)
    let other = disk.addVolume(kinds.usb)
    _ = disk.mount(other, at: "/usb")
    for name in ["a.jpg", "b.jpg"] { _ = disk.write("/usb/" + name, isDone: true) }
    _ = disk.unmount("/usb")
    clock.pass(seconds)
    _ = disk.mount(usb, at: "/usb")
  }

  deinit {
    catalog = nil
    do { try FileManager.default.removeItem(atPath: folder) } catch { print("\(folder) stays: \(error)") }
  }

  /// Ends what is still waited for.
  func close() async { do { try await end(orderly: false) } catch { note("not closed: \(error)") } }

  /// - Throws: ``SimulationFailure``, or what a call threw that must not.
  func run(_ step: SimulatedStep) async throws {
    note("\(step)")
    clock.pass(5 * milliseconds)
    switch step {
    case .pass(let count): clock.pass(Int64(count) * milliseconds)
    case .setClock(let days):
      clock.set(by: Int64(days) * 86_400 * seconds)
      if days >= SimulationOracle.lifetimeInDays { oracle.expire() }
    case .watch(let events, let listings): watcher.turn(events: events, listings: listings)
    case .take(let count, let records): try await take(count, records: records)
    case .due: try await due()
    case .overflow:
      disk.overflow()
      oracle.isLossy = true
    case .watchLimit(let limit):
      disk.watchLimit = limit
      oracle.isLossy = true
    case .watcherDies(let count):
      watcher.die(losing: count)
      oracle.isLossy = true
    case .watcherStarts: if library != nil { watcher.begin() }
    case .failWrites(let each): try failWrites(each)
    case .makeRoom: try makeRoom()
    case .kill: try await end(orderly: false)
    case .reboot:
      try await end(orderly: false)
      reboot()
    case .stop: try await end(orderly: true)
    case .start: try await start()
    case .sync: try await startSync()
    case .settle: try await settle()
    case .favorite(let path, let isOn): try await perform(path, isFavorite: isOn)
    case .hide(let path, let isOn): try await perform(path, isHidden: isOn)
    case .roots(let paths): try await setRoots(paths)
    case .rescan(let path, let confirm): try await rescan(path, confirm: confirm)
    default: change(step)
    }
  }

  private func note(_ line: @autoclosure () -> String) { if keepsTrace { trace.append(line()) } }

  // MARK: The disk

  private func change(_ step: SimulatedStep) {
    var isFolder = false
    let isDone: Bool
    switch step {
    case .makeDirectory(let path):
      isDone = disk.makeDirectory(path)
      isFolder = true
    case .create(let path):
      isDone = disk.create(path)
    case .begin(let path):
      let isNew = disk.entry(path) == nil
      isDone = disk.write(path, isDone: false)
      if isDone, let entry = disk.entry(path) {
        openPhotos.insert(entry.photo)
        bornOpen[entry.photo] = isNew ? clock.bootTime : nil
      }
    case .finish(let path):
      let photo = disk.entry(path)?.photo ?? 0
      let isYoung = bornOpen[photo].map { clock.bootTime - $0 < 20 * seconds } ?? false
      isDone = isYoung && disk.finish(path)
      if isDone {
        openPhotos.remove(photo)
        unsaidPhotos.insert(photo)
      }
      bornOpen[photo] = nil
    case .write(let path):
      isDone = disk.write(path, isDone: true)
      if isDone, let entry = disk.entry(path) { openPhotos.remove(entry.photo) }
      isFolder = path.hasSuffix(".nomedia")
    case .touch(let path): isDone = disk.touch(path)
    case .save(let path, let beside): isDone = disk.save(path, beside: beside)
    case .rename(let path, let to):
      isFolder = disk.entry(path)?.photo == 0
      isDone = disk.rename(path, to)
    case .exchange(let path, let with):
      isFolder = disk.entry(path)?.photo == 0 || disk.entry(with)?.photo == 0
      isDone = disk.exchange(path, with)
    case .copy(let path, let to):
      isFolder = disk.entry(path)?.photo == 0
      isDone = disk.copy(path, to)
    case .link(let path, let to): isDone = disk.link(path, to)
    case .remove(let path):
      isFolder = disk.entry(path)?.photo == 0 || path.hasSuffix(".nomedia")
      isDone = disk.remove(path)
    case .deny(let path):
      isDone = disk.setReadable(path, false)
      isFolder = true
    case .allow(let path):
      isDone = disk.setReadable(path, true)
      isFolder = true
    case .unmount(let path):
      if let volume = disk.mounts[path] { oracle.remounted.insert(volume) }
      isDone = disk.unmount(path)
      isOtherDisk = true
      oracle.isLossy = true
    case .mount(let volume, let path):
      isDone = disk.mount(volume, at: path)
      isOtherDisk = true
      oracle.remounted.insert(volume)
      oracle.isLossy = true
    default: return
    }
    guard isDone else { return note("  (not done)") }
    if isFolder { oracle.hasFolderChanges = true }
    notePlacements()
  }

  private func notePlacements() {
    let now = disk.placements(roots: roots)
    for photo in Set(now.keys).union(placements.keys) where now[photo] != placements[photo] {
      for placement in [placements[photo], now[photo]] { if let placement { touchedPlaces.insert(placement.place) } }
    }
    placements = now
    oracle.note(now)
  }

  private func reboot() {
    boot += 1
    for (path, volume) in disk.mounts.sorted(by: { $0.key < $1.key }) where path != "" {
      _ = disk.unmount(path)
      _ = disk.mount(volume, at: path)
      oracle.remounted.insert(volume)
    }
    isOtherDisk = true
    notePlacements()
  }

  // MARK: photod

  private func start() async throws {
    guard library == nil else { return }
    let catalog = try Catalog(path: folder + "/catalog.sqlite", bootID: "boot \(boot)")
    self.catalog = catalog
    watcher = SimulatedWatcher(disk: disk)
    let library = try Library(
      catalog: catalog, watcher: watcher, files: disk, clock: clock,
      configuration: .init(roots: roots.map { Array($0.utf8) }, version: "0"), logger: Self.logger)
    self.library = library
    if catalog.epoch != epoch { replicas = [] }
    epoch = catalog.epoch
    try makeReplicas(catalog, library)
    try await library.adoptRoots()
    watcher.begin()
    try await check()
  }

  private static let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }

  private func end(orderly: Bool) async throws {
    guard let library else { return }
    oracle.isLossy = true
    bornOpen = [:]
    library.stopWaiting()
    if let sync = pendingSync { _ = await sync.task.result }
    pendingSync = nil
    await watcher.stop()
    self.library = nil
    if orderly { try catalog?.close() }
    catalog = nil
    isFull = false
  }

  private func setRoots(_ paths: [String]) async throws {
    let before = roots
    roots = paths
    isOtherDisk = true
    for path in ["/pics", "/usb", "/inbox"] where before.contains(path) != paths.contains(path) {
      let volume = path == "/usb" ? 1 : 0
      oracle.isLossy = true
      oracle.hide(volume: volume, below: path == "/usb" ? "" : path)
    }
    if let library { await library.setRoots(paths.map { Array($0.utf8) }, ignore: [], removalGrace: .seconds(600)) }
    try await check()
  }

  private func take(_ count: Int, records: Int) async throws {
    guard let library else { return }
    for _ in 0..<count {
      guard let input = watcher.take(records) else { return }
      guard case .batch(let records) = input else {
        removals.beginSession()
        try await take(input, by: library, isScanAlone: false)
        continue
      }
      for part in RemovalOracle.parts(records) {
        try await take(.batch(part), by: library, isScanAlone: removals.isScanAlone(part))
      }
    }
  }

  private func take(_ input: WatchInput, by library: Library, isScanAlone: Bool) async throws {
    note("  \(input)")
    await library.simulateTake(await library.read(ahead: input))
    try await check(isScanAlone: isScanAlone)
    removals.note(suspected: await library.suspectedAssets(), at: clock.bootTime)
    try await noteSync(input)
  }

  private func due() async throws {
    guard let library else { return }
    await library.simulateDue()
    try await check()
    if let sync = pendingSync, watcher.lastSync > sync.number { pendingSync!.number = watcher.lastSync }
  }

  private static let faults = [
    ("asset", "INSERT"), ("resource", "INSERT"), ("resource", "UPDATE"), ("resource", "DELETE"),
    ("directory", "INSERT"),
    ("directory", "UPDATE"), ("history", "INSERT"),
  ]

  /// From now on every n-th row that is written fails, with its transaction.
  private func failWrites(_ each: Int) throws {
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

  private func makeRoom() throws {
    guard let catalog, isFull else { return }
    isFull = false
    try catalog.write { writer in
      for (table, verb) in Self.faults {
        try RawStatement(writer.database, uncached: "DROP TRIGGER fault_\(table)_\(verb)").run()
      }
      try RawStatement(writer.database, uncached: "DROP TABLE temp.fault").run()
    }
  }

  private func rescan(_ path: String, confirm: Bool) async throws {
    guard let library else { return }
    if confirm {
      removals.confirm(path)
      isOtherDisk = true
      oracle.isLossy = true
      oracle.disturb(volume: path == "/usb" ? 1 : 0)
      if path == "/usb" { oracle.disturb(volume: 2) }
      rootVolumes[path] = nil
    }
    do {
      if try await library.simulateRescan(Array(path.utf8), confirm: confirm) { adoptedRoots.insert(path) }
    } catch {
      note("  not done: \(error)")
    }
    try await check()
  }

  private func perform(_ path: String, isFavorite: Bool? = nil, isHidden: Bool? = nil) async throws {
    guard let library, let id = assets.values.first(where: { $0.resources.first?.path == path })?.id else { return }
    do {
      _ = try await library.perform(
        [ChangeRequest(editAsset: .init(ids: [id], isFavorite: isFavorite, isHidden: isHidden))], clientName: "person")
    } catch {
      note("  not performed: \(error)")
      return
    }
    if let isFavorite { favorites[id] = isFavorite }
    if let isHidden { hidden[id] = isHidden }
    try await check()
  }

  // MARK: The barrier

  private func startSync() async throws {
    guard let library, pendingSync == nil else { return }
    let (numbers, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let task = Task { try await library.barrier.wait { continuation.yield($0) } }
    for await number in numbers {
      watcher.sync(number: number)
      pendingSync = (number, task)
      touchedPlaces = []
      isOtherDisk = false
      break
    }
  }

  private func noteSync(_ input: WatchInput) async throws {
    guard let library, let sync = pendingSync, case .batch(let records) = input,
      records.contains(.synced(number: sync.number)), try await library.simulatedState().isWorking
    else { return }
    if watcher.lastSync > sync.number {
      pendingSync!.number = watcher.lastSync
      return
    }
    try await sync.task.value
    pendingSync = nil
    note("  synced")
    if !isOtherDisk, disk.watchLimit > 100 { try await compare(isFinal: false) }
  }

  // MARK: Settling

  private func settle() async throws {
    try await start()
    try makeRoom()
    disk.watchLimit = 1000
    watcher.begin()
    let library = library!
    for _ in 0..<40 {
      try await drain()
      // What was in the air is told; what is half written is read again; suspicions end.
      clock.pass(2100 * milliseconds)
      watcher.turn(events: 1000, listings: 1000)
      try await drain()
      try await startSync()
      try await drain()
      try await due()
      try await drain()
      let state = try await library.simulatedState()
      if state.isQuiet, pendingSync == nil, watcher.inputs.isEmpty, watcher.isIdle {
        if state.hasUnread {
          clock.pass(61 * seconds)
          try await due()
          try await drain()
        }
        try await compare(isFinal: true)
        return
      }
      clock.pass(state.hasSuspects ? 601 * seconds : 61 * seconds)
      try await due()
    }
    throw SimulationFailure("it does not come to rest: \(try await library.simulatedState())")
  }

  private func drain() async throws {
    for _ in 0..<200 {
      watcher.turn(events: 1000, listings: 1000)
      clock.pass(30 * milliseconds)
      try await take(1000, records: 1000)
      if watcher.isIdle && watcher.inputs.isEmpty { return }
      clock.pass(30 * milliseconds)
    }
    throw SimulationFailure(
      "photod-watch does not come to rest: requests \(watcher.requests) scans \(watcher.scans) missing \(watcher.missing) syncs \(watcher.syncs)"
    )
  }

  // MARK: Checks

  /// After every transaction.
  private func check(isScanAlone: Bool = false) async throws {
    guard let library, let catalog else { return }
    let newest = library.feed.sequence
    guard newest != sequence || assets.isEmpty else { return }
    let (now, touched, deleted) = try catalog.read { reader in
      let ids = try reader.ids(try reader.plan(FetchOptions(includeHidden: true, includeTrashed: true)))
      let found = try reader.assets(ids).assets
      return (
        Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) }),
        try reader.touched(after: sequence, through: newest),
        Set(try reader.persistentChanges(after: sequence, limit: 1000).flatMap(\.deletedAssets))
      )
    }
    try compareStates(now, touched)
    let state = try await library.simulatedState()
    try removals.check(
      before: assets, after: now, isScanAlone: isScanAlone, roots: ["/pics", "/usb", "/inbox"], time: clock.bootTime,
      isAvailable: state.availableRoots.contains)
    assets = now
    sequence = newest
    note("  commit \(newest): \(now.keys.sorted())")
    for (photo, known) in oracle.untouchable where now[known.id] == nil || deleted.contains(known.id) {
      throw SimulationFailure("\(known.place) (photo \(photo), id \(known.id)) left the library, and nobody touched it")
    }
    for (root, volume) in state.rootVolumes {
      if let known = rootVolumes[root], known != volume, adoptedRoots.remove(root) == nil {
        throw SimulationFailure("\(root) was on \(known) and is taken for the library's on \(volume)")
      }
      rootVolumes[root] = volume
    }
    for index in replicas.indices { try advance(&replicas[index], library, catalog) }
    try CatalogInvariants.check(catalog)
  }

  private func compareStates(_ now: [Int64: Asset], _ touched: TouchedAssets) throws {
    if let id = touched.deleted.first(where: { now[$0] != nil }) {
      throw SimulationFailure("asset \(id) is there and history says that it left")
    }
    for id in Set(assets.keys).union(now.keys).sorted() {
      let (before, after) = (assets[id], now[id])
      if before == after { continue }
      guard let fields = touched.fields[id] else {
        throw SimulationFailure("asset \(id) differs and history does not say so: \(before as Any) \(after as Any)")
      }
      guard let before, let after else {
        if after == nil, !touched.deleted.contains(id) { throw SimulationFailure("asset \(id) left unsaid") }
        continue
      }
      var expected: ChangedFields = []
      if before.resources.first?.path != after.resources.first?.path { expected.insert(.path) }
      if before.isFavorite != after.isFavorite { expected.insert(.favorite) }
      if before.isHidden != after.isHidden { expected.insert(.hidden) }
      if before.available != after.available { expected.insert(.availability) }
      if before.keywords != after.keywords { expected.insert(.keywords) }
      if before.camera != after.camera { expected.insert(.metadata) }
      if !expected.isSubset(of: fields) && !touched.deleted.contains(id) {
        throw SimulationFailure("asset \(id) differs in \(expected.names), history says \(fields.names)")
      }
    }
    for (id, asset) in now {
      guard asset.isFavorite == favorites[id] ?? false, asset.isHidden == hidden[id] ?? false else {
        throw SimulationFailure("what a person said of asset \(id) is lost: \(asset)")
      }
    }
  }

  private func makeReplicas(_ catalog: Catalog, _ library: Library) throws {
    let options = [
      FetchOptions(), FetchOptions(collection: "smart:favorites", includeHidden: true),
      FetchOptions(
        predicate: "camera.model CONTAINS '1'", sortDescriptors: [SortDescriptor(key: "filename", ascending: true)],
        excludeUnavailable: true),
    ]
    let old = replicas
    replicas = try options.map { option in
      let plan = try catalog.read { try $0.plan(option) }
      if let known = old.first(where: { $0.options == option }) {
        return Replica(options: option, plan: plan, ids: known.ids, sequence: known.sequence)
      }
      let list = try library.lists.current(plan)
      return Replica(options: option, plan: plan, ids: list.ids, sequence: list.sequence)
    }
  }

  /// As a client that observes: what it has and the difference are what a fresh fetch gives.
  private func advance(_ replica: inout Replica, _ library: Library, _ catalog: Catalog) throws {
    let list = try library.lists.current(replica.plan)
    guard list.sequence > replica.sequence else { return }
    let (touched, fresh) = try catalog.read { reader in
      (try reader.touched(after: replica.sequence, through: list.sequence), try reader.ids(replica.plan))
    }
    if let details = FetchResultChangeDetails.full(from: replica.ids, to: list.ids, touched: touched) {
      replica.ids = try details.applied(to: replica.ids)
    }
    replica.sequence = list.sequence
    guard replica.ids == fresh, ListDigest(of: fresh).description == list.digest else {
      throw SimulationFailure("a list of \(replica.options) is \(replica.ids), and fetched \(fresh)")
    }
  }

  /// The catalog is what is on the disk. Before it is final, what is under suspicion may still be there, and of places in
  /// which something was done since the sync was asked nothing is said.
  private func compare(isFinal: Bool) async throws {
    guard let library else { return }
    let state = try await library.simulatedState()
    var table: [String: Asset] = [:]
    for asset in assets.values { table[asset.resources[0].path] = asset }
    let placements = disk.placements(roots: roots)
    var visible: [(photo: Int, path: String, id: Int64)] = []
    for root in roots {
      guard case .success(let key) = disk.open(root) else {
        try expectAvailable(root, table, false)
        continue
      }
      guard disk.volumes[key.volume].identity == state.rootVolumes[root] else {
        try expectAvailable(root, table, false)
        continue
      }
      try expectAvailable(root, table, true)
      var denied: [String] = []
      let files = disk.visibleFiles(root, denied: &denied)
      func isTouched(_ path: String) -> Bool {
        !isFinal && touchedPlaces.contains("\(key.volume):" + path.dropFirst(root == "/usb" ? root.count : 0))
      }
      for (path, entry, key) in files where !isTouched(path) {
        guard let asset = table[path] else { throw SimulationFailure("\(path) is on the disk, not in the library") }
        visible.append((entry.photo, path, asset.id))
        let node = disk.node(key)
        if openPhotos.contains(entry.photo) || node.linkCount > 1 { continue }
        if !isFinal && unsaidPhotos.contains(entry.photo) { continue }
        let facts = SimulatedDisk.facts(node)
        guard asset.resources[0].byteCount == node.byteCount, asset.camera == facts.camera,
          asset.keywords == facts.keywords
        else { throw SimulationFailure("\(path) is \(node), the library says \(asset)") }
      }
      if !isFinal && (state.hasSuspects || !state.isQuiet) { continue }
      let there = Set(files.map(\.path))
      for path in table.keys.sorted()
      where path.hasPrefix(root + "/") && !there.contains(path) && !isTouched(path)
        && !denied.contains(where: { path.hasPrefix($0 + "/") })
      {
        throw SimulationFailure("\(path) is in the library, not on the disk")
      }
    }
    guard isFinal else { return }
    try compareWarnings(library.board.status.warnings)
    for (photo, known) in oracle.untouchable {
      guard let path = assets[known.id]?.resources[0].path,
        known.place.hasSuffix(path.dropFirst(path.hasPrefix("/usb") ? 4 : 0))
      else {
        throw SimulationFailure("photo \(photo) of id \(known.id) should be at \(known.place)")
      }
    }
    try oracle.settle(visible: visible, placements: placements, kinds: disk.volumes.map(\.kind))
    removals.settle()
    adoptedRoots = []
    unsaidPhotos = []
    note("  settled: \(visible.sorted { $0.path < $1.path }.map { "\($0.path)=\($0.id)" })")
  }

  /// All is settled: no root is in doubt, and nobody looks at one that is configured no longer.
  private func compareWarnings(_ warnings: [String]) throws {
    let absent = ["/usb", "/inbox"].filter { !roots.contains($0) }
    for warning in warnings {
      let isOfAbsent = absent.contains { warning.hasPrefix($0) } && !warning.contains("configured no longer")
      if isOfAbsent || warning.contains("are missing from") {
        throw SimulationFailure("all is settled, and a warning says: \(warning)")
      }
    }
  }

  private func expectAvailable(_ root: String, _ table: [String: Asset], _ isAvailable: Bool) throws {
    for (path, asset) in table where path.hasPrefix(root + "/") && asset.available != isAvailable {
      throw SimulationFailure("\(path) is said to be \(asset.available ? "available" : "unavailable")")
    }
  }
}

/// Where catalogs of simulations are: in memory if there is such a place.
enum SimulationFiles {
  static let folder = FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
}

extension SimulatedDisk {
  /// What the library should hold of a root.
  func visibleFiles(_ root: String, denied: inout [String]) -> [(path: String, entry: Entry, key: NodeKey)] {
    var files: [(path: String, entry: Entry, key: NodeKey)] = []
    func walk(_ path: String, _ denied: inout [String]) {
      guard case .success(let key) = open(path) else {
        denied.append(path)
        return
      }
      if node(key).entries[".nomedia"] != nil { return }
      for (name, entry) in node(key).entries.sorted(by: { $0.key < $1.key }) {
        if entry.photo == 0 {
          if !name.hasPrefix(".") { walk(path + "/" + name, &denied) }
        } else if SimulatedWatcher.wants(name) {
          let file = NodeKey(volume: key.volume, inode: entry.inode)
          if node(file).byteCount > 0 { files.append((path + "/" + name, entry, file)) }
        }
      }
    }
    walk(root, &denied)
    return files
  }
}

struct SimulatedState {
  var isWorking: Bool
  var isQuiet: Bool
  var hasSuspects: Bool
  /// Files that can't be reached; each is tried once a minute.
  var hasUnread: Bool
  var rootVolumes: [String: String]
  var availableRoots: Set<String>
}

extension Library {
  /// The brake holds from four missing photos on.
  private func lowerBrake() { reconciler.policy.count = RemovalOracle.count }

  /// All that a scan missed and that stays for the time being.
  func suspectedAssets() -> Set<Int64> {
    var found: Set<Int64> = []
    for suspect in reconciler.suspects.values {
      found.formUnion(suspect.files)
      for directory in suspect.directories where reconciler.tree.contains(directory) {
        for inner in reconciler.tree.subtree(of: directory) {
          do { found.formUnion(try catalog.read { try $0.files(in: inner).map(\.assetID) }) } catch { continue }
        }
      }
    }
    return found
  }

  func simulateTake(_ input: ReadAhead.Input) {
    lowerBrake()
    take(input)
  }

  func simulateDue() {
    lowerBrake()
    doWhatIsDue()
  }

  /// - Returns: whether the root is taken for the library's on whatever drive it is now.
  func simulateRescan(_ path: [UInt8], confirm: Bool) async throws -> Bool {
    guard let rootID = reconciler.tree.rootPaths.first(where: { $0.value == path })?.key else { return false }
    if confirm && reconciler.foreignRoots.contains(rootID) {
      reconciler.adoptedRoots.insert(rootID)
      watchAnew(rootID)
      return true
    }
    if confirm && reconciler.unconfiguredRoots.contains(rootID) {
      // It waits for nothing.
      _ = try await rescan(path: path, dryRun: false, confirm: true)
      return false
    }
    guard let root = reconciler.rootIDs.first(where: { $0.value == rootID })?.key else { return false }
    let request = watcher.rescan(root: root, directory: nil)
    if confirm { reconciler.confirmedRequests.insert(request) }
    return false
  }

  func simulatedState() throws -> SimulatedState {
    let volumes = try catalog.read { reader in
      var volumes: [Int64: String] = [:]
      let select = try RawStatement(reader.database, "SELECT id, identity FROM volume")
      try select.forEachRow { volumes[select.int64(0)] = select.text(1) }
      return volumes
    }
    var rootVolumes: [String: String] = [:]
    for (rootID, path) in reconciler.tree.rootPaths {
      guard let top = reconciler.tree.top(ofRoot: rootID) else { continue }
      rootVolumes[String(decoding: path, as: UTF8.self)] = volumes[reconciler.tree.row(top).volumeID]
    }
    return SimulatedState(
      isWorking: startsOverAt == nil,
      isQuiet: startsOverAt == nil && doubtfulRoots.isEmpty && activeSuspects.isEmpty && reconciler.suspects.isEmpty
        && reconciler.scans.isEmpty && reconciler.unread.values.allSatisfy { $0.delay >= 60 * seconds },
      hasSuspects: !reconciler.suspects.isEmpty, hasUnread: !reconciler.unread.isEmpty,
      rootVolumes: rootVolumes,
      availableRoots: Set(
        reconciler.tree.rootPaths.filter { reconciler.availability[$0.key] == true }.map {
          String(decoding: $0.value, as: UTF8.self)
        }))
  }
}
