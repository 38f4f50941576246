import ChangeDetails
import PhotoLive
import PhotoModel
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

// The checks after each transaction, and those of a settled state.
extension Simulation {
  /// Runs after every transaction.
  ///
  /// - Parameter reported: the files in the records of the transaction.
  func check(isScanAlone: Bool = false, reported: Set<FileIdentity> = []) async throws {
    guard let library, let live, let catalog else { return }
    let newest = live.feed.sequence
    guard newest != sequence || assets.isEmpty else { return }
    let (now, nowFiles, touched, deleted) = try catalog.read { reader in
      let ids = try reader.ids(try reader.plan(FetchOptions(includeHidden: true, includeTrashed: true)))
      let found = try reader.assets(ids).assets
      return (
        Dictionary(uniqueKeysWithValues: found.map { ($0.id, $0) }),
        try ids.reduce(into: [AssetID: FileIdentity]()) { $0[$1] = try reader.file(ofAsset: $1)?.stat.identity },
        try reader.touched(after: sequence, through: newest),
        Set(try reader.persistentChanges(after: sequence, limit: 1000).flatMap(\.deletedAssets))
      )
    }
    try compareStates(now, touched)
    let state = try await library.simulatedState()
    try removals.check(
      before: assets, after: now, files: (files, nowFiles), reported: reported, isScanAlone: isScanAlone,
      roots: ["/pics", "/usb", "/inbox"], time: clock.boot, isAvailable: state.availableRoots.contains)
    let before = assets
    assets = now
    files = nowFiles
    sequence = newest
    note("  commit \(newest): \(now.keys.sorted())")
    for (photo, known) in oracle.untouchable where now[known.id] == nil || deleted.contains(known.id) {
      throw SimulationFailure("\(known.place) (photo \(photo), id \(known.id)) left the library, and nobody touched it")
    }
    for (root, volume) in state.rootVolumes {
      // A root without photos had nothing to lose. An event may have removed its last photo just before.
      let hadPhotos = before.values.contains { asset in
        now[asset.id] != nil && asset.resources.contains { $0.path.hasPrefix(root + "/") }
      }
      if let known = rootVolumes[root], known != volume, !adoptedRoots.contains(root), hadPhotos {
        throw SimulationFailure("\(root) was on \(known) and is taken for the library's on \(volume)")
      }
      rootVolumes[root] = volume
    }
    for index in replicas.indices { try advance(&replicas[index], live, catalog) }
    try CatalogInvariants.check(catalog)
  }

  private func compareStates(_ now: [AssetID: Asset], _ touched: TouchedAssets) throws {
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

  /// Whether the library has the content of another file, and nothing but the content distinguishes the two. On FAT, two
  /// files of equal size and time can have each other's places after a mount: inodes prove nothing there.
  private func isIndistinct(_ photo: Int, _ node: SimulatedDisk.Node, _ asset: Asset, in volume: Int) -> Bool {
    guard disk.volumes[volume].kind == .fat, asset.resources[0].byteCount == node.byteCount else { return false }
    if indistinctPhotos.contains(photo) { return true }
    let hasOther = disk.volumes[volume].nodes.values.contains { other in
      let facts = SimulatedDisk.facts(other)
      return !other.isDirectory && other.byteCount == node.byteCount && other.modificationTime == node.modificationTime
        && facts.camera == asset.camera && facts.keywords == asset.keywords
    }
    if hasOther { indistinctPhotos.insert(photo) }
    return hasOther
  }

  /// Compares the catalog with the disk. If the check is not final, suspect photos may still be in the catalog. Places
  /// that changed since the sync was requested are not checked.
  func compare(isFinal: Bool) async throws {
    guard let library else { return }
    let state = try await library.simulatedState()
    var table: [String: Asset] = [:]
    for asset in assets.values { table[asset.simulatedPath] = asset }
    let placements = disk.placements(roots: roots, rules: rules)
    var visible: [(photo: Int, path: String, id: AssetID)] = []
    let named = disk.namedFiles(in: table)
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
      let files = disk.visibleFiles(root, rules: rules, denied: &denied)
      func isTouched(_ path: String) -> Bool {
        // Since the sync was requested, another folder may have replaced this photo's folder. The new place of the
        // photo's folder is reported later.
        if isFinal { return false }
        if !touchedPlaces.isEmpty && path.contains("/\u{1}parked-") { return true }
        return touchedPlaces.contains("\(key.volume):" + path.dropFirst(key.volume == 0 ? 0 : root.count))
      }
      for (path, entry, key) in files where !isTouched(path) {
        guard let asset = table[path] else {
          if openPhotos.contains(entry.photo) && untoldPhotos.contains(entry.photo) { continue }
          // The file was empty, and was written by a name that the library does not watch.
          if writtenByLinks.contains(key) && !named.contains(key) { continue }
          throw SimulationFailure("\(path) is on the disk, not in the library")
        }
        visible.append((entry.photo, path, asset.id))
        let node = disk.node(key)
        // A write through one name is reported for that name only. It is not reported if that name is gone before the
        // lookup.
        if openPhotos.contains(entry.photo) || writtenByLinks.contains(key) { continue }
        if !isFinal && unsaidPhotos.contains(entry.photo) { continue }
        let facts = SimulatedDisk.facts(node)
        let isEqual =
          asset.resources[0].byteCount == node.byteCount && asset.camera == facts.camera
          && asset.keywords == facts.keywords
        guard isEqual || isIndistinct(entry.photo, node, asset, in: key.volume) else {
          throw SimulationFailure("\(path) is \(node), the library says \(asset)")
        }
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
    try compareWarnings(library.statusStore.status.warnings)
    for (photo, known) in oracle.untouchable {
      guard let path = assets[known.id]?.simulatedPath,
        known.place.hasSuffix(path.dropFirst(path.hasPrefix("/usb") ? 4 : 0))
      else {
        throw SimulationFailure("photo \(photo) of id \(known.id) should be at \(known.place)")
      }
    }
    try wakeClients()
    let unavailable = ["/pics", "/usb", "/inbox"].filter { !state.availableRoots.contains($0) || !roots.contains($0) }
    try oracle.settle(
      visible: visible, placements: placements,
      unavailable: unavailable.flatMap { $0 == "/usb" ? ["1:/", "2:/"] : ["0:\($0)/"] }, open: openPhotos,
      kinds: disk.volumes.map(\.kind), hasUserData: hasUserData)
    removals.settle()
    // A root without photos may change its drive without a commit.
    for root in adoptedRoots { rootVolumes[root] = state.rootVolumes[root] }
    adoptedRoots = []
    unsaidPhotos = []
    note("  settled: \(visible.sorted { $0.path < $1.path }.map { "\($0.path)=\($0.id)" })")
  }

  /// In a settled state, no root is in doubt, and roots that left the configuration are not examined.
  private func compareWarnings(_ warnings: [String]) throws {
    let absent = ["/usb", "/inbox"].filter { !roots.contains($0) }
    for warning in warnings {
      let isOfAbsent = absent.contains { warning.hasPrefix($0) } && !warning.contains("no longer in the configuration")
      if isOfAbsent || warning.contains(" that it had before.") {
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

extension SimulatedDisk {
  /// The files that the library has by one of their names.
  fileprivate func namedFiles(in table: [String: Asset]) -> Set<NodeKey> {
    Set(table.filter(\.value.available).keys.compactMap { resolve($0) })
  }

  /// The files of a root that the library should hold.
  func visibleFiles(_ root: String, rules: NameRules, denied: inout [String]) -> [(
    path: String, entry: Entry, key: NodeKey
  )] {
    var files: [(path: String, entry: Entry, key: NodeKey)] = []
    func walk(_ path: String, _ denied: inout [String]) {
      guard case .success(let key) = open(path) else {
        denied.append(path)
        return
      }
      if node(key).entries[".nomedia"] != nil { return }
      for (name, entry) in node(key).entries.sorted(by: { $0.key < $1.key }) {
        if entry.photo == 0 {
          if !name.hasPrefix("."), !rules.ignores(name, isDirectory: true, in: path) {
            walk(path + "/" + name, &denied)
          }
        } else if SimulatedWatcher.wants(name), !rules.ignores(name, isDirectory: false, in: path) {
          let file = NodeKey(volume: key.volume, inode: entry.inode)
          if node(file).byteCount > 0 { files.append((path + "/" + name, entry, file)) }
        }
      }
    }
    walk(root, &denied)
    return files
  }
}
