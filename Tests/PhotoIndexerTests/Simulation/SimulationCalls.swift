import PhotoModel
import PhotoWatch
import WatchRecords

@testable import PhotoIndexer

// The inputs of the library, and the requests of clients.
extension Simulation {
  func setRoots(_ paths: [String]) async throws {
    let before = roots
    roots = paths
    isOtherDisk = true
    for path in ["/pics", "/usb", "/inbox"] where before.contains(path) != paths.contains(path) {
      let volume = path == "/usb" ? 1 : 0
      oracle.isLossy = true
      oracle.hide(volume: volume, below: path == "/usb" ? "" : path)
    }
    try await configure()
  }

  /// Files that a pattern ignores are hidden from now on. Files that no pattern ignores any more are visible.
  func setIgnored(_ patterns: [String]) async throws {
    rules = WatchRules.nameRules(ignoring: patterns.map(SimulatedName.bytes))
    isOtherDisk = true
    oracle.hasFolderChanges = true
    notePlacements()
    try await configure()
  }

  private func configure() async throws {
    await library?.setRoots(
      roots.map(SimulatedName.bytes), ignore: rules.patterns.map(\.text), removalGrace: .seconds(600))
    try await check()
  }

  func take(_ count: Int, records: Int) async throws {
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

  func take(_ input: WatchInput, by library: Library, isScanAlone: Bool) async throws {
    note("  \(input)")
    if !library.answersAtOnce(input, ofLane: 0) {
      await library.simulateTake(await library.read(ahead: input))
      library.progress.end()
    }
    var reported: Set<FileIdentity> = []
    if case .batch(let records) = input { reported = RemovalOracle.files(in: records) }
    try await check(isScanAlone: isScanAlone, reported: reported)
    removals.note(suspected: await library.suspectedAssets(), at: clock.boot)
    removals.note(excluded: await library.excludedAssets())
    try await noteSync(input)
  }

  func due() async throws {
    guard let library else { return }
    await library.simulateDue()
    try await check()
    if let sync = pendingSync, watcher.lastSync > sync.number { pendingSync!.number = watcher.lastSync }
  }

  func rescan(_ path: String, confirm: Bool) async throws {
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
      if try await library.simulateRescan(SimulatedName.bytes(path), confirm: confirm) { adoptedRoots.insert(path) }
    } catch {
      note("  not done: \(error)")
    }
    try await check()
  }

  func hasUserData(_ id: AssetID) -> Bool { favorites[id] ?? false || hidden[id] ?? false }

  func perform(_ path: String, isFavorite: Bool? = nil, isHidden: Bool? = nil) async throws {
    guard let library, let id = assets.values.first(where: { $0.simulatedPath == path })?.id else { return }
    do {
      _ = try await library.perform(
        [.editAssets([id], AssetEdit(isFavorite: isFavorite, isHidden: isHidden))], clientName: "person")
    } catch {
      note("  not performed: \(error)")
      return
    }
    if let isFavorite { favorites[id] = isFavorite }
    if let isHidden { hidden[id] = isHidden }
    if let entry = disk.entry(path) {
      oracle.noteUserData(of: entry.photo, id, isGiven: hasUserData(id)) { assets[$0] != nil }
    }
    try await check()
  }
}
