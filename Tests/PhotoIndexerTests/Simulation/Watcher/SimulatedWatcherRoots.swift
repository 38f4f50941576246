import PhotoWatch
import WatchRecords

// Roots and their scans.
extension SimulatedWatcher {
  func addRoot(_ root: WatchRoot) {
    stamp = eventCount
    removeRoot(root.number)
    roots[root.number] = Root(path: SimulatedName.text(root.path))
    openRoot(root.number, reason: .start)
  }

  func openRoot(_ number: UInt16, reason: ScanReason) {
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
    roots[number]!.reportedError = nil
    send(
      .directoryFound(
        number: top, parent: 0, root: number, name: SimulatedName.bytes(root.path), identity: disk.identity(key)))
    startScan(number, 0, reason, nil)
  }

  private func stayOffline(_ number: UInt16, _ error: Int32) {
    guard roots[number]!.reportedError != error else { return }
    roots[number]!.reportedError = error
    send(.rootOffline(root: number, errorNumber: error))
  }

  func loseRoot(_ number: UInt16, _ error: Int32) {
    guard let top = roots[number]?.top else { return }
    forget(top)
    roots[number]!.top = nil
    endAllScans(number)
    stayOffline(number, error)
  }

  func removeRoot(_ number: UInt16) {
    guard let root = roots[number] else { return }
    if let top = root.top { forget(top) }
    endAllScans(number)
    roots[number] = nil
  }

  func beginRescan(_ number: UInt16, _ directory: DirectoryNumber?, _ request: UInt32) {
    guard roots[number]?.top != nil else {
      send(.scanStarted(root: number, request: request, reason: .rescan))
      send(.scanEnded(root: number, request: request, complete: false))
      return
    }
    startScan(number, request, .rescan, directory)
  }

  func startScan(_ number: UInt16, _ request: UInt32, _ reason: ScanReason, _ directory: DirectoryNumber?) {
    guard let top = roots[number]?.top, roots[number]!.activeScan == nil else {
      roots[number]?.waiting.append((request, reason, directory))
      return
    }
    lastScan += 1
    scans[lastScan] = Scan(root: number, request: request)
    roots[number]!.activeScan = lastScan
    send(.scanStarted(root: number, request: request, reason: reason))
    if let start = directory.map({ subtree(top).contains($0) ? $0 : nil }) ?? top {
      requestListing(start, .scan, scan: lastScan, isRecursive: true)
    } else {
      scans[lastScan]!.isComplete = false
    }
  }

  func activeScan(_ number: DirectoryNumber) -> Int? { roots[root(of: number)]?.activeScan }

  func endScans() {
    let waiting = Set(missing.filter { $0.value.attempts == 0 }.keys.map { root(of: $0) })
    for (id, scan) in scans.sorted(by: { $0.key < $1.key }) where scan.remaining == 0 && !waiting.contains(scan.root) {
      scans[id] = nil
      roots[scan.root]!.activeScan = nil
      send(.scanEnded(root: scan.root, request: scan.request, complete: scan.isComplete))
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
      send(.scanEnded(root: number, request: scan.request, complete: false))
    }
    for order in root.waiting where order.request != 0 {
      send(.scanStarted(root: number, request: order.request, reason: order.reason))
      send(.scanEnded(root: number, request: order.request, complete: false))
    }
  }
}
