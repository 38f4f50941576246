// SPDX-License-Identifier: GPL-2.0-or-later

import WatchRecords

/// A scan that is ordered, or follows from something.
struct ScanOrder {
  /// 0 when nobody asked.
  var request: UInt32
  var reason: ScanReason
  /// nil for the whole root.
  var directory: DirectoryNumber?
}

/// A scan that runs; a root has at most one.
struct Scan {
  var root: UInt16
  var request: UInt32
  /// Listings that it still waits for.
  var remaining = 0
  var complete = true
}

extension FolderWatch {
  func startScan(_ order: ScanOrder, of number: UInt16) {
    guard let root = roots[number], let top = root.top, root.activeScan == nil else {
      roots[number]?.waitingScans.append(order)
      return
    }
    lastScan += 1
    scans[lastScan] = Scan(root: number, request: order.request)
    roots[number]?.activeScan = lastScan
    say(.scanStarted(root: number, request: order.request, reason: order.reason))
    var start: NodeIndex? = top
    if let directory = order.directory { start = tree.subtree(top).first { tree[$0].number == directory } }
    if let start {
      requestListing(start, evidence: .scan, scan: lastScan, recursive: true)
    } else {
      scans[lastScan]?.complete = false
    }
  }

  func rescan(_ number: UInt16, directory: DirectoryNumber?, request: UInt32) {
    guard roots[number]?.top != nil else {
      say(.scanStarted(root: number, request: request, reason: .rescan))
      say(.scanEnded(root: number, request: request, complete: false))
      return
    }
    startScan(ScanOrder(request: request, reason: .rescan, directory: directory), of: number)
  }

  /// The scan that a directory which turns up here belongs to: what a scan has not seen yet must not slip past it by
  /// moving to where it was already.
  func activeScan(of index: NodeIndex) -> UInt32? { roots[tree.root(index)]?.activeScan }

  /// Ends what is done; where each directory is that a scan missed is settled before. One that an event took away may be
  /// back in a moment, and the scan has not seen what is in it.
  func endScans() {
    guard !scans.isEmpty else { return }
    let waiting = Set(missing.filter { $0.value.attempts == 0 }.map { tree.root($0.key) })
    for (id, scan) in scans.sorted(by: { $0.key < $1.key }) where scan.remaining == 0 && !waiting.contains(scan.root) {
      end(id, scan)
    }
  }

  private func end(_ id: UInt32, _ scan: Scan) {
    scans[id] = nil
    roots[scan.root]?.activeScan = nil
    sayPolling(nil)
    say(.scanEnded(root: scan.root, request: scan.request, complete: scan.complete))
    guard let order = roots[scan.root]?.waitingScans.first else { return }
    roots[scan.root]?.waitingScans.removeFirst()
    startScan(order, of: scan.root)
  }

  /// The root is not there any more: whoever waits for a scan of it gets an end.
  func endAllScans(of number: UInt16) {
    guard let root = roots[number] else { return }
    roots[number]?.waitingScans = []
    if let id = root.activeScan, let scan = scans[id] {
      scans[id] = nil
      roots[number]?.activeScan = nil
      say(.scanEnded(root: number, request: scan.request, complete: false))
    }
    for order in root.waitingScans where order.request != 0 {
      say(.scanStarted(root: number, request: order.request, reason: order.reason))
      say(.scanEnded(root: number, request: order.request, complete: false))
    }
  }

  /// Scans all roots after an overflow.
  func scanAfterOverflow() {
    overflowed = false
    for number in roots.keys.sorted() where roots[number]?.top != nil {
      guard roots[number]?.waitingScans.contains(where: { $0.reason == .overflow }) == false else { continue }
      startScan(ScanOrder(request: 0, reason: .overflow, directory: nil), of: number)
    }
  }
}
