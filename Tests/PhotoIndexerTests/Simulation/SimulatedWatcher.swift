import PhotoWatch
import WatchRecords

@testable import PhotoIndexer

/// What photod-watch and the thread that starts it do, step by step, on a simulated disk: its tree of numbered directories,
/// its rules of when an event is said as what, and which graces pass before it believes that something is gone.
///
/// One task drives it and the library; the library calls it only while that task waits for the library, hence unchecked.
final class SimulatedWatcher: WatchSource, @unchecked Sendable {
  /// As photod-watch has them.
  static let goneGrace = 200 * milliseconds
  static let moveGrace = 20 * milliseconds
  static let forcedGrace = 5 * milliseconds
  static let restTime = 500 * milliseconds
  static let checkInterval = 2 * seconds

  struct Node {
    let key: SimulatedDisk.NodeKey
    let identity: FileIdentity
    var parent: DirectoryNumber
    var name: String
    /// Of a top.
    var root: UInt16
    var watch: Int?
    var isDisplaced = false
    var ignoresContents = false
    var isIncomplete = false
    /// Of a directory without a watch: its times when it was listed.
    var listedTimes: [Int64]?
    var wasRecent = false
    /// Names of folders in it that could not be entered.
    var unentered: Set<String> = []
  }

  struct Place: Hashable {
    let directory: DirectoryNumber
    let name: String
  }

  struct Root {
    let path: String
    var top: DirectoryNumber?
    var saidError: Int32?
    var activeScan: Int?
    var waiting: [(request: UInt32, reason: ScanReason, directory: DirectoryNumber?)] = []
  }

  struct Scan {
    let root: UInt16
    let request: UInt32
    var remaining = 0
    var isComplete = true
  }

  struct Request {
    var isDoubtful = false
    var attempts = 0
    var retryAt: Int64 = 0
    var evidence: Evidence
    var scan: Int?
    var isRecursive: Bool
    var stamp: Int
    var postponements = 0
  }

  struct Missing {
    var since: Int64
    var retryAt: Int64 = 0
    var evidence: Evidence
    var stamp: Int
    var isDead = false
  }

  struct Departure {
    let place: Place
    let since: Int64
    let stamp: Int
    var isTouched = false
  }

  struct Fresh {
    var checkAt: Int64
    var byteCount: Int64
    var modificationTime: Int64
    let stamp: Int
  }

  struct Sync {
    let number: UInt64
    var isSeen = false
    var isLost = false
    var stamp = 0
  }

  let disk: SimulatedDisk
  var now: Int64 { disk.clock.bootTime }

  // photod's end.
  private var wantedRoots: [WatchRoot] = []
  private var lastRequest: UInt32 = 0
  private var openRescans: [UInt32: UInt16] = [:]
  private(set) var openSyncs: [UInt64] = []
  private(set) var lastSync: UInt64 = 0
  private(set) var session = 0
  /// Said and not taken by photod yet.
  private(set) var inputs: [WatchInput] = []

  // photod-watch.
  private(set) var isRunning = false
  var roots: [UInt16: Root] = [:]
  var nodes: [DirectoryNumber: Node] = [:]
  var byWatch: [Int: DirectoryNumber] = [:]
  var lastNumber: DirectoryNumber = 0
  var eventCount = 0
  var stamp = 0
  var hasOverflowed = false
  var requests: [DirectoryNumber: Request] = [:]
  var ready: [DirectoryNumber] = []
  var scans: [Int: Scan] = [:]
  var lastScan = 0
  var looks: [(place: Place, onlyCreated: Bool, stamp: Int)] = []
  var fresh: [Place: Fresh] = [:]
  var held: [UInt64: Departure] = [:]
  var missing: [DirectoryNumber: Missing] = [:]
  var syncs: [Sync] = []
  var lastCheck: Int64 = 0
  var refusals: [DirectoryNumber: Int] = [:]

  init(disk: SimulatedDisk) { self.disk = disk }

  // MARK: WatchSource

  func nextInput() async -> WatchInput? { inputs.isEmpty ? nil : inputs.removeFirst() }

  func start() throws { begin() }

  @discardableResult
  func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 {
    lastRequest += 1
    openRescans[lastRequest] = root
    if isRunning { beginRescan(root, directory, lastRequest) }
    return lastRequest
  }

  func sync(number: UInt64) {
    lastSync = number
    openSyncs.append(number)
    if isRunning { beginSync(number) }
  }

  func setRoots(_ roots: [WatchRoot]) {
    let before = Set(wantedRoots)
    let after = Set(roots)
    if isRunning {
      for root in wantedRoots where !after.contains(root) { removeRoot(root.number) }
      for root in roots where !before.contains(root) { addRoot(root) }
    }
    wantedRoots = roots
  }

  func stop() async { end() }

  // MARK: Sessions

  func begin() {
    guard !isRunning else { return }
    isRunning = true
    session += 1
    inputs.append(.started(session: session))
    lastCheck = now
    for root in wantedRoots { addRoot(root) }
    for (request, root) in openRescans.sorted(by: { $0.key < $1.key }) { beginRescan(root, nil, request) }
    for number in openSyncs { beginSync(number) }
  }

  /// It is killed; what it said reaches photod but for its last records.
  func die(losing count: Int) {
    guard isRunning else { return }
    for _ in 0..<count {
      guard case .batch(var records)? = inputs.last else { break }
      // What was lost answered nothing.
      switch records.removeLast() {
      case .synced(let number): openSyncs.append(number)
      default: break
      }
      inputs[inputs.count - 1] = .batch(records)
      if records.isEmpty { inputs.removeLast() }
    }
    end()
    inputs.append(.died(session: session, reason: "killed"))
  }

  private func end() {
    isRunning = false
    disk.dropInstance()
    roots = [:]
    nodes = [:]
    byWatch = [:]
    // Numbers begin anew with each photod-watch.
    lastNumber = 0
    hasOverflowed = false
    requests = [:]
    ready = []
    scans = [:]
    looks = []
    fresh = [:]
    held = [:]
    missing = [:]
    syncs = []
    refusals = [:]
  }

  /// The next input for photod; of a batch at most so many records.
  func take(_ limit: Int) -> WatchInput? {
    guard let first = inputs.first else { return nil }
    guard case .batch(let records) = first, records.count > limit else { return inputs.removeFirst() }
    inputs[0] = .batch(Array(records.dropFirst(limit)))
    return .batch(Array(records.prefix(limit)))
  }

  func say(_ record: WatchRecord) {
    switch record {
    case .synced(let number): openSyncs.removeAll { $0 == number }
    case .scanEnded(_, let request, _): openRescans[request] = nil
    default: break
    }
    if case .batch(let records)? = inputs.last {
      inputs[inputs.count - 1] = .batch(records + [record])
    } else {
      inputs.append(.batch([record]))
    }
  }

  // MARK: A turn

  /// Nothing is left to do, and nothing waits for its time.
  var isIdle: Bool {
    disk.queue.isEmpty && looks.isEmpty && fresh.isEmpty && held.isEmpty && missing.isEmpty && requests.isEmpty
      && scans.isEmpty && syncs.isEmpty && !hasOverflowed && !disk.mountsChanged
  }

  func turn(events: Int, listings: Int) {
    guard isRunning else { return }
    for _ in 0..<events {
      guard !disk.queue.isEmpty else { break }
      handle(disk.queue.removeFirst())
    }
    let isDrained = disk.queue.isEmpty
    if isDrained { flushLooks() }
    for _ in 0..<listings {
      guard let number = ready.popLast() else { break }
      list(number)
    }
    if disk.mountsChanged || now - lastCheck >= Self.checkInterval { check() }
    if isDrained { settle() }
  }

  private func check() {
    lastCheck = now
    disk.mountsChanged = false
    stamp = eventCount
    for number in roots.keys.sorted() {
      if let top = roots[number]?.top {
        switch disk.open(roots[number]!.path) {
        case .failure(let error): loseRoot(number, error.number)
        case .success(let key): if disk.identity(key) != nodes[top]!.identity { loseRoot(number, 116) }
        }
      }
      openRoot(number, reason: .rootReturned)
    }
    pollUnwatched()
  }

  private func settle() {
    let forced = forcedStamp
    expireMoves(forced)
    checkFresh(forced)
    settleMissing(forced)
    retryDoubtful()
    if hasOverflowed {
      for index in syncs.indices where syncs[index].isLost && !syncs[index].isSeen {
        syncs[index].isLost = false
        disk.emitCookie(syncs[index].number)
      }
      hasOverflowed = false
      for number in roots.keys.sorted() where roots[number]!.top != nil {
        guard !roots[number]!.waiting.contains(where: { $0.reason == .overflow }) else { continue }
        startScan(number, 0, .overflow, nil)
      }
    }
    endScans()
    sayDueSyncs()
  }

  // MARK: Events

  private func handle(_ event: SimulatedDisk.KernelEvent) {
    eventCount += 1
    stamp = eventCount
    switch event.kind {
    case .overflow:
      say(.overflow)
      hasOverflowed = true
      for id in scans.keys { scans[id]!.isComplete = false }
      for index in syncs.indices where !syncs[index].isSeen { syncs[index].isLost = true }
      return
    case .cookie:
      for index in syncs.indices where syncs[index].number == event.cookie && !syncs[index].isSeen {
        syncs[index].isSeen = true
        syncs[index].stamp = eventCount
        flushLooks()
        pollUnwatched()
      }
      return
    default: break
    }
    guard let number = byWatch[event.watch] else { return }
    if event.name.isEmpty {
      handleOwn(event, number)
    } else if event.isDirectory {
      handleDirectory(event, number)
    } else {
      handleFile(event, number)
    }
  }

  private func handleOwn(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    let node = nodes[number]!
    if node.parent == 0 {
      if event.kind == .ignored {
        byWatch[event.watch] = nil
        nodes[number]!.watch = nil
      }
      switch event.kind {
      case .ignored, .deleteSelf, .unmount:
        loseRoot(node.root, event.kind == .unmount ? 19 : 2)
        disk.mountsChanged = true
      case .moveSelf: disk.mountsChanged = true
      case .attributes: if node.isIncomplete { doubt(number) }
      default: break
      }
      return
    }
    switch event.kind {
    case .unmount:
      markDead(number, .scan)
      doubt(node.parent)
    case .ignored: markDead(number, .event)
    default: break
    }
  }

  private func markDead(_ number: DirectoryNumber, _ evidence: Evidence) {
    let wasDead = missing[number]?.isDead == true
    markMissing(number, evidence)
    missing[number]!.isDead = true
    if !wasDead { missing[number]!.evidence = evidence }
    if let watch = nodes[number]!.watch {
      byWatch[watch] = nil
      nodes[number]!.watch = nil
    }
  }

  private func handleDirectory(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    guard !nodes[number]!.ignoresContents, !event.name.hasPrefix(".") else { return }
    let child = child(of: number, event.name)
    switch event.kind {
    case .create, .movedTo: enter(number, event.name)
    case .movedFrom:
      // Where folders are polled it may be in one of them.
      let isPolling = nodes.values.contains { $0.watch == nil }
      if let child {
        markMissing(child, isPolling ? .scan : .event)
      } else {
        sayUnenteredGone(event.name, from: number)
      }
    case .delete: if let child { markMissing(child, .event) } else { sayUnenteredGone(event.name, from: number) }
    case .attributes:
      if let child {
        if nodes[child]!.isIncomplete { doubt(child) }
      } else {
        enter(number, event.name)
      }
    default: break
    }
  }

  private func handleFile(_ event: SimulatedDisk.KernelEvent, _ number: DirectoryNumber) {
    if event.name == ".nomedia" {
      if event.kind != .attributes { doubt(number) }
      return
    }
    let isWanted = !nodes[number]!.ignoresContents && Self.wants(event.name)
    let place = Place(directory: number, name: event.name)
    if event.kind == .movedTo {
      arrive(event, place, isWanted)
    } else if isWanted {
      if event.kind == .movedFrom {
        cancelLooks(place)
        touchHeld(place)
        held[event.cookie] = Departure(place: place, since: now, stamp: stamp)
      } else {
        note(place, onlyCreated: event.kind == .create)
      }
    }
  }

  static func wants(_ name: String) -> Bool { !name.hasPrefix(".") && name.hasSuffix(".jpg") }

  // MARK: Moves

  @discardableResult
  private func touchHeld(_ place: Place) -> Bool {
    // Of several departures from one place the last counts.
    guard let cookie = held.filter({ $0.value.place == place }).max(by: { $0.value.stamp < $1.value.stamp })?.key else {
      return false
    }
    held[cookie]!.isTouched = true
    return true
  }

  private func arrive(_ event: SimulatedDisk.KernelEvent, _ place: Place, _ isWanted: Bool) {
    guard let departure = held.removeValue(forKey: event.cookie) else {
      if isWanted { note(place, onlyCreated: false) }
      return
    }
    guard isWanted, isWatched(departure.place) else {
      return note(isWanted ? place : departure.place, onlyCreated: false)
    }
    cancelLooks(place)
    var stat: FileStat?
    if case .success(let seen?)? = look(place) { stat = seen.stat }
    say(
      .fileMoved(
        from: departure.place.directory, fromName: Array(departure.place.name.utf8), to: place.directory,
        toName: Array(place.name.utf8), stat: stat))
    touchHeld(place)
    if departure.isTouched { note(departure.place, onlyCreated: false) }
  }

  private func expireMoves(_ forced: Int) {
    for (cookie, departure) in held.sorted(by: { $0.value.stamp < $1.value.stamp }) {
      let grace = departure.stamp <= forced ? Self.forcedGrace : Self.moveGrace
      guard now - departure.since >= grace else { continue }
      held[cookie] = nil
      stamp = departure.stamp
      note(departure.place, onlyCreated: false)
    }
    stamp = eventCount
    flushLooks()
  }

  // MARK: Looks

  func note(_ place: Place, onlyCreated: Bool) {
    if touchHeld(place) { return }
    if !onlyCreated { fresh[place] = nil }
    if let index = looks.firstIndex(where: { $0.place == place }) {
      if !onlyCreated { looks[index].onlyCreated = false }
    } else {
      looks.append((place, onlyCreated, stamp))
    }
  }

  private func cancelLooks(_ place: Place) {
    looks.removeAll { $0.place == place }
    fresh[place] = nil
  }

  private func flushLooks() {
    let entries = looks
    looks = []
    for entry in entries {
      stamp = entry.stamp
      sayTruth(entry.place, onlyCreated: entry.onlyCreated)
    }
    stamp = eventCount
  }

  /// Success without a value: something else than a regular file stands there.
  private func look(_ place: Place) -> Result<(stat: FileStat, links: Int)?, SimulatedError>? {
    switch open(place.directory) {
    case .failure:
      doubt(place.directory)
      return nil
    case .success(let key):
      guard let entry = disk.node(key).entries[place.name] else { return .failure(.absent) }
      guard entry.photo != 0 else { return .success(nil) }
      let file = SimulatedDisk.NodeKey(volume: key.volume, inode: entry.inode)
      return .success((disk.fileStat(file), disk.node(file).linkCount))
    }
  }

  private func isWatched(_ place: Place) -> Bool { nodes[place.directory].map { !$0.ignoresContents } ?? false }

  private func sayTruth(_ place: Place, onlyCreated: Bool) {
    guard isWatched(place), let look = look(place) else { return }
    switch look {
    case .success(let seen?):
      if onlyCreated, seen.links == 1 {
        fresh[place] = Fresh(
          checkAt: now + Self.restTime, byteCount: seen.stat.byteCount, modificationTime: seen.stat.modificationTime,
          stamp: stamp)
      } else {
        say(.fileFound(directory: place.directory, name: Array(place.name.utf8), stat: seen.stat))
      }
    case .success(nil), .failure:
      if !onlyCreated { say(.fileGone(directory: place.directory, name: Array(place.name.utf8))) }
    }
  }

  private func checkFresh(_ forced: Int) {
    for (place, entry) in fresh.sorted(by: { ($0.value.stamp, $0.key.name) < ($1.value.stamp, $1.key.name) })
    where entry.checkAt <= now || entry.stamp <= forced {
      fresh[place] = nil
      guard isWatched(place), case .success(let seen?)? = look(place), seen.stat.byteCount > 0 else { continue }
      if (seen.stat.byteCount, seen.stat.modificationTime) == (entry.byteCount, entry.modificationTime)
        || entry.stamp <= forced
      {
        say(.fileFound(directory: place.directory, name: Array(place.name.utf8), stat: seen.stat))
      } else {
        fresh[place] = Fresh(
          checkAt: now + Self.restTime, byteCount: seen.stat.byteCount, modificationTime: seen.stat.modificationTime,
          stamp: entry.stamp)
      }
    }
  }

  // MARK: Syncs

  private func beginSync(_ number: UInt64) {
    syncs.append(Sync(number: number))
    disk.emitCookie(number)
  }

  private var forcedStamp: Int { syncs.filter(\.isSeen).map(\.stamp).max() ?? 0 }

  private func sayDueSyncs() {
    guard forcedStamp > 0, !hasOverflowed, scans.isEmpty else { return }
    flushLooks()
    let waiting =
      held.values.map(\.stamp) + missing.values.map(\.stamp) + fresh.values.map(\.stamp) + requests.values.map(\.stamp)
    let oldest = waiting.min() ?? Int.max
    for sync in syncs where sync.isSeen && sync.stamp < oldest { say(.synced(number: sync.number)) }
    syncs.removeAll { $0.isSeen && $0.stamp < oldest }
  }

  // MARK: Roots

  private func addRoot(_ root: WatchRoot) {
    stamp = eventCount
    removeRoot(root.number)
    roots[root.number] = Root(path: String(decoding: root.path, as: UTF8.self))
    openRoot(root.number, reason: .start)
  }

  private func openRoot(_ number: UInt16, reason: ScanReason) {
    guard let root = roots[number], root.top == nil else { return }
    let key: SimulatedDisk.NodeKey
    switch disk.open(root.path) {
    case .failure(let error): return stayOffline(number, error.number)
    case .success(let opened): key = opened
    }
    let watch = disk.addWatch(key)
    if let watch, byWatch[watch] != nil { return stayOffline(number, 17) }
    lastNumber += 1
    let top = lastNumber
    nodes[top] = Node(key: key, identity: disk.identity(key), parent: 0, name: "", root: number, watch: watch)
    if let watch { byWatch[watch] = top }
    roots[number]!.top = top
    roots[number]!.saidError = nil
    say(
      .directoryFound(number: top, parent: 0, root: number, name: Array(root.path.utf8), identity: disk.identity(key)))
    startScan(number, 0, reason, nil)
  }

  private func stayOffline(_ number: UInt16, _ error: Int32) {
    guard roots[number]!.saidError != error else { return }
    roots[number]!.saidError = error
    say(.rootOffline(root: number, errorNumber: error))
  }

  func loseRoot(_ number: UInt16, _ error: Int32) {
    guard let top = roots[number]?.top else { return }
    forget(top)
    roots[number]!.top = nil
    endAllScans(number)
    stayOffline(number, error)
  }

  private func removeRoot(_ number: UInt16) {
    guard let root = roots[number] else { return }
    if let top = root.top { forget(top) }
    endAllScans(number)
    roots[number] = nil
  }

  private func beginRescan(_ number: UInt16, _ directory: DirectoryNumber?, _ request: UInt32) {
    guard roots[number]?.top != nil else {
      say(.scanStarted(root: number, request: request, reason: .rescan))
      say(.scanEnded(root: number, request: request, complete: false))
      return
    }
    startScan(number, request, .rescan, directory)
  }

  // MARK: Scans

  private func startScan(_ number: UInt16, _ request: UInt32, _ reason: ScanReason, _ directory: DirectoryNumber?) {
    guard let top = roots[number]?.top, roots[number]!.activeScan == nil else {
      roots[number]?.waiting.append((request, reason, directory))
      return
    }
    lastScan += 1
    scans[lastScan] = Scan(root: number, request: request)
    roots[number]!.activeScan = lastScan
    say(.scanStarted(root: number, request: request, reason: reason))
    if let start = directory.map({ subtree(top).contains($0) ? $0 : nil }) ?? top {
      requestListing(start, .scan, scan: lastScan, isRecursive: true)
    } else {
      scans[lastScan]!.isComplete = false
    }
  }

  private func activeScan(_ number: DirectoryNumber) -> Int? { roots[root(of: number)]?.activeScan }

  private func endScans() {
    let waiting = Set(missing.filter { $0.value.evidence == .scan }.map { root(of: $0.key) })
    for (id, scan) in scans.sorted(by: { $0.key < $1.key }) where scan.remaining == 0 && !waiting.contains(scan.root) {
      scans[id] = nil
      roots[scan.root]!.activeScan = nil
      say(.scanEnded(root: scan.root, request: scan.request, complete: scan.isComplete))
      guard let order = roots[scan.root]!.waiting.first else { continue }
      roots[scan.root]!.waiting.removeFirst()
      startScan(scan.root, order.request, order.reason, order.directory)
    }
  }

  private func endAllScans(_ number: UInt16) {
    guard let root = roots[number] else { return }
    roots[number]!.waiting = []
    if let id = root.activeScan, let scan = scans.removeValue(forKey: id) {
      roots[number]!.activeScan = nil
      say(.scanEnded(root: number, request: scan.request, complete: false))
    }
    for order in root.waiting where order.request != 0 {
      say(.scanStarted(root: number, request: order.request, reason: order.reason))
      say(.scanEnded(root: number, request: order.request, complete: false))
    }
  }
}
