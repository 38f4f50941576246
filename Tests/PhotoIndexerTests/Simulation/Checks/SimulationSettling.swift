import PhotoWatch
import WatchRecords

@testable import PhotoIndexer

// The sync barrier, and the settled state in which all changes are in the library.
extension Simulation {
  func startSync() async throws {
    guard let library, pendingSync == nil else { return }
    let (numbers, continuation) = AsyncStream.makeStream(of: UInt64.self)
    let task = Task {
      try await library.barrier.wait { number in
        continuation.yield(number)
        return [0]
      }
    }
    for await number in numbers {
      watcher.sync(number: number)
      pendingSync = (number, task)
      touchedPlaces = []
      isOtherDisk = false
      break
    }
  }

  func noteSync(_ input: WatchInput) async throws {
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

  func settle() async throws {
    try await start()
    try makeRoom()
    disk.watchLimit = 1000
    watcher.begin()
    let library = library!
    for _ in 0..<40 {
      try await drain()
      // Pending renames are reported, half written files are read again, and suspicions end.
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
}
