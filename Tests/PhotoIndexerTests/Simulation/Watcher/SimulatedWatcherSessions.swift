import PhotoWatch
import WatchRecords

@testable import PhotoIndexer

// The start and the end of photod-watch, and its output.
extension SimulatedWatcher {
  func begin() {
    guard !isRunning else { return }
    isRunning = true
    session += 1
    inputs.append(.started(session: session))
    lastCheck = now
    rules = WatchRules.nameRules(ignoring: wantedPatterns)
    for root in wantedRoots { addRoot(root) }
    for (request, root) in openRescans.sorted(by: { $0.key < $1.key }) { beginRescan(root, nil, request) }
    for number in openSyncs { beginSync(number) }
  }

  /// photod-watch is killed. Its output reaches photod except for the last records.
  func die(losing count: Int) {
    guard isRunning else { return }
    for _ in 0..<count {
      guard case .batch(var records)? = inputs.last else { break }
      // The answers in the lost records were not given.
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

  func end() {
    isRunning = false
    disk.dropInstance()
    roots = [:]
    nodes = [:]
    byWatch = [:]
    // The numbers begin anew with each photod-watch.
    lastNumber = 0
    hasOverflowed = false
    lastRename = nil
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

  /// The next input for photod, with at most this many records of a batch.
  func take(_ limit: Int) -> WatchInput? {
    guard let first = inputs.first else { return nil }
    guard case .batch(let records) = first, records.count > limit else { return inputs.removeFirst() }
    inputs[0] = .batch(Array(records.dropFirst(limit)))
    return .batch(Array(records.prefix(limit)))
  }

  func send(_ record: WatchRecord) {
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
}
