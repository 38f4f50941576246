// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

extension FolderWatch {
  /// Whether there is a directory to list, and its scan need not wait for photod.
  var canList: Bool {
    guard let next = walk.next else { return false }
    return !(scans.pace.mustWait && isPaced(next))
  }

  private func isPaced(_ node: NodeReference) -> Bool {
    guard tree.isAlive(node), let request = walk[node.index] else { return false }
    return isPaced(request)
  }

  /// Whether only scans that clients requested wait for a listing.
  func isPaced(_ request: ListingRequest) -> Bool {
    !request.scanIDs.isEmpty && request.scanIDs.allSatisfy { scans.running[$0]?.reason == .rescan }
  }

  func startScan(_ order: ScanOrder, of number: UInt16) {
    guard let root = roots[number], let top = root.top, root.activeScan == nil else {
      roots[number]?.waitingScans.append(order)
      return
    }
    scans.last += 1
    scans.running[scans.last] = Scan(root: number, request: order.request, reason: order.reason)
    roots[number]?.activeScan = scans.last
    report(.scanStarted(root: number, request: order.request, reason: order.reason))
    var start: NodeIndex? = top
    if let directory = order.directory { start = tree.subtree(top).first { tree[$0].number == directory } }
    if let start {
      requestListing(start, evidence: .scan, scanIDs: [scans.last], recursive: true)
    } else {
      scans.running[scans.last]?.complete = false
    }
  }

  func rescan(_ number: UInt16, directory: DirectoryNumber?, request: UInt32) {
    guard roots[number]?.top != nil else {
      report(.scanStarted(root: number, request: request, reason: .rescan))
      report(.scanEnded(root: number, request: request, complete: false))
      return
    }
    startScan(ScanOrder(request: request, reason: .rescan, directory: directory), of: number)
  }

  /// The running scan of the root to which the directory belongs. A directory that turns up here must be listed by it.
  /// Otherwise a directory could escape the scan by moving to a place that the scan has passed.
  func activeScan(of index: NodeIndex) -> UInt32? { roots[tree.root(index)]?.activeScan }

  /// The same as a set.
  func activeScans(of index: NodeIndex) -> Set<UInt32> { activeScan(of: index).map { [$0] } ?? [] }

  /// Ends the scans that are done. First, every directory that a scan missed must be decided. A directory that an event
  /// took away must be decided, too: it may come back at once, and the scan has not seen its contents.
  func endScans() {
    guard !scans.running.isEmpty else { return }
    let waiting = Set(unsettled.missing.filter { $0.value.attempts == 0 }.map { tree.root($0.key) })
    for (id, scan) in scans.running.sorted(by: { $0.key < $1.key })
    where scan.remaining == 0 && !waiting.contains(scan.root) {
      end(id, scan)
    }
  }

  private func end(_ id: UInt32, _ scan: Scan) {
    scans.running[id] = nil
    roots[scan.root]?.activeScan = nil
    reportPolling(nil)
    report(.scanEnded(root: scan.root, request: scan.request, complete: scan.complete))
    guard let order = roots[scan.root]?.waitingScans.first else { return }
    roots[scan.root]?.waitingScans.removeFirst()
    startScan(order, of: scan.root)
  }

  /// Ends all scans of a root that is gone, so that every requester gets its end.
  func endAllScans(of number: UInt16) {
    guard let root = roots[number] else { return }
    roots[number]?.waitingScans = []
    if let id = root.activeScan, let scan = scans.running[id] {
      scans.running[id] = nil
      roots[number]?.activeScan = nil
      report(.scanEnded(root: number, request: scan.request, complete: false))
    }
    for order in root.waitingScans where order.request != 0 {
      report(.scanStarted(root: number, request: order.request, reason: order.reason))
      report(.scanEnded(root: number, request: order.request, complete: false))
    }
  }

  /// Scans all roots after an overflow.
  func scanAfterOverflow() {
    events.progress.hasOverflowed = false
    for number in roots.keys.sorted() where roots[number]?.top != nil {
      guard roots[number]?.waitingScans.contains(where: { $0.reason == .overflow }) == false else { continue }
      startScan(ScanOrder(request: 0, reason: .overflow, directory: nil), of: number)
    }
  }
}
