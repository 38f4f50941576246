import PhotoWatch
import WatchRecords

@testable import PhotoIndexer

/// Simulates photod-watch and the thread that starts it, step by step, on a simulated disk. This includes its tree of
/// numbered directories, its rules for turning events into records, and the graces before it reports that a file is
/// gone.
///
/// One task drives it and the library. The library calls it only while that task waits for the library, hence
/// unchecked.
final class SimulatedWatcher: SingleLaneSource, @unchecked Sendable {
  /// The graces of photod-watch.
  static let goneGrace = 200 * milliseconds
  static let moveGrace = 20 * milliseconds
  static let forcedGrace = 5 * milliseconds
  static let restTime = 500 * milliseconds
  static let checkInterval = 2 * seconds

  let disk: SimulatedDisk
  var now: Int64 { disk.clock.boot }

  // The state on photod's side.
  var wantedRoots: [WatchRoot] = []
  var wantedPatterns: [[UInt8]] = []
  private var lastRequest: UInt32 = 0
  var openRescans: [UInt32: UInt16] = [:]
  var openSyncs: [UInt64] = []
  private(set) var lastSync: UInt64 = 0
  var session = 0
  /// Inputs that photod has not taken yet.
  var inputs: [WatchInput] = []

  // The state of photod-watch.
  var rules = NameRules()
  var isRunning = false
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
  var looks: [(place: Place, onlyCreated: Bool, event: FileEvent, stamp: Int)] = []
  var fresh: [Place: Fresh] = [:]
  var held: [UInt64: Departure] = [:]
  /// The last rename, unless it ended an exchange.
  var lastRename: Rename?
  /// How many of the queued events the watcher has read in this turn, and not handled yet.
  var unhandled = 0
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

  @discardableResult
  func sync(number: UInt64) -> Set<Int> {
    lastSync = number
    openSyncs.append(number)
    if isRunning { beginSync(number) }
    return [0]
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

  func setIgnoredPatterns(_ patterns: [[UInt8]]) {
    guard patterns != wantedPatterns else { return }
    wantedPatterns = patterns
    if isRunning { setRules() }
  }

  func stop() async { end() }

  // MARK: A turn

  /// No work is left, and nothing waits for a time.
  var isIdle: Bool {
    disk.queue.isEmpty && looks.isEmpty && fresh.isEmpty && held.isEmpty && missing.isEmpty && requests.isEmpty
      && scans.isEmpty && syncs.isEmpty && !hasOverflowed && !disk.mountsChanged
  }

  func turn(events: Int, listings: Int) {
    guard isRunning else { return }
    for index in 0..<events {
      guard !disk.queue.isEmpty else { break }
      unhandled = events - index - 1
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
    sendDueSyncs()
  }
}
