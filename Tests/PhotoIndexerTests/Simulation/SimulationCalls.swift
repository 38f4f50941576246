import PhotoModel
import PhotoWatch

@testable import PhotoIndexer

// What the library is given, and what clients ask of it.
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
    if let library { await library.setRoots(paths.map { Array($0.utf8) }, ignore: [], removalGrace: .seconds(600)) }
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
    await library.simulateTake(await library.read(ahead: input))
    try await check(isScanAlone: isScanAlone)
    removals.note(suspected: await library.suspectedAssets(), at: clock.bootTime)
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
      if try await library.simulateRescan(Array(path.utf8), confirm: confirm) { adoptedRoots.insert(path) }
    } catch {
      note("  not done: \(error)")
    }
    try await check()
  }

  func perform(_ path: String, isFavorite: Bool? = nil, isHidden: Bool? = nil) async throws {
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
}
