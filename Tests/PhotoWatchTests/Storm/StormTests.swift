// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// PHOTOD_STORM_SECONDS (2) and PHOTOD_STORM_SEEDS (2) set the length and number of the storms, for runs by hand.
@Suite(.serialized, .timeLimit(.minutes(10))) struct StormTests {
  static let seconds = Double(environment("PHOTOD_STORM_SECONDS") ?? "") ?? 2
  static let seeds = UInt64(environment("PHOTOD_STORM_SEEDS") ?? "") ?? 2

  static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  @Test(arguments: 1...seeds) func afterAStormTheModelEqualsTheDisk(seed: UInt64) async throws {
    let disk = try Disk()
    let storm = Storm(root: disk.root, outside: disk.outside)
    await storm.run(seconds: 0.3, threads: 2, seed: seed + 5000)
    let session = try await WatchSession(roots: [disk.root])
    let count = try await storm.run(seconds: Self.seconds, threads: 2, seed: seed) { try await session.sync() }
    let clock = ContinuousClock.now
    try await session.sync()
    let settled = ContinuousClock.now - clock
    session.expectDiskState([disk.root], "seed \(seed)")
    report("storm seed \(seed): \(count) operations, \(session.summary), synced in \(settled)")
    await session.watcher.stop()
  }

  /// First some directories have watches, then there is no inotify instance at all. Moves between polled directories
  /// are seen only by listings, so numbers may change. But nothing is missing, and nothing is superfluous.
  @Test(
    .enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"),
    arguments: 1...seeds, [Namespace.Limit.watches, .instances])
  func afterAStormWithoutEnoughWatchesTheModelEqualsTheDisk(seed: UInt64, limit: Namespace.Limit) async throws {
    let disk = try Disk()
    let storm = Storm(root: disk.root, outside: disk.outside)
    await storm.run(seconds: 0.3, threads: 2, seed: seed + 5000)
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, limit, limit == .watches ? 50 : 0))
    let count = try await storm.run(seconds: Self.seconds, threads: 2, seed: seed) { try await session.sync() }
    let clock = ContinuousClock.now
    try await session.sync()
    let settled = ContinuousClock.now - clock
    session.expectDiskState([disk.root], "seed \(seed)")
    report("storm with few \(limit), seed \(seed): \(count) operations, \(session.summary), synced in \(settled)")
    await session.watcher.stop()
  }

  /// The limit falls and rises all the time.
  @Test(
    .enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"), arguments: 1...seeds)
  func afterAStormUnderAChangingLimitTheModelEqualsTheDisk(seed: UInt64) async throws {
    let disk = try Disk()
    let storm = Storm(root: disk.root, outside: disk.outside)
    await storm.run(seconds: 0.3, threads: 2, seed: seed + 5000)
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
    var random = SeededGenerator(seed: seed)
    let count = try await storm.run(seconds: Self.seconds, threads: 2, seed: seed) {
      try Namespace.set(.watches, Int.random(in: 4...300, using: &random), of: session.watcher.processID)
      try await session.sync()
    }
    try await session.sync()
    session.expectDiskState([disk.root], "seed \(seed)")
    report("storm under a changing limit, seed \(seed): \(count) operations, \(session.summary)")
    await session.watcher.stop()
  }

  @Test(arguments: 1...seeds) func afterAnOverflowTheModelEqualsTheDisk(seed: UInt64) async throws {
    let disk = try Disk()
    let storm = Storm(root: disk.root, outside: disk.outside)
    await storm.run(seconds: 0.3, threads: 2, seed: seed + 5000)
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    async let operations = storm.run(seconds: Self.seconds, threads: 2, seed: seed)
    kill(process, SIGSTOP)
    Disk.makeDirectories(disk.path("d0"))
    for index in 0..<9000 { Disk.write(disk.path("o\(index).jpg"), "x") }
    kill(process, SIGCONT)
    let count = await operations
    let said = try await session.sync()
    #expect(said.contains(.overflow))
    session.expectDiskState([disk.root], "seed \(seed)")
    report("overflow seed \(seed): \(count) operations, \(session.summary)")
    await session.watcher.stop()
  }

  /// Two names alternate, because the kernel merges equal events. photod-watch checks its own backlog
  /// (PHOTOD_WATCH_CHECKS). Each of its looks takes long. Otherwise a fast machine would empty the backlog again and
  /// again, and no handled event would stay in it in any case.
  @Test(.enabled(if: Interposer.isPossible, "cc is not installed"))
  func aFloodOfEventsDoesNotFillTheBacklogWithHandledOnes() async throws {
    let disk = try Disk()
    for thread in 0..<2 { for name in ["a", "b"] { disk.write("\(thread)/\(name).jpg") } }
    let session = try await WatchSession(
      roots: [disk.root], executable: try Interposer.wrapper(disk, Interposer.slowLooks(milliseconds: 10)))
    await withTaskGroup(of: Void.self) { group in
      for thread in 0..<2 {
        let names = ["a", "b"].map { disk.path("\(thread)/\($0).jpg") }
        group.addTask {
          await withCheckedContinuation { continuation in
            Disk.onThread {
              for round in 0..<150_000 { utimensat(AT_FDCWD, names[round % 2], nil, 0) }
              continuation.resume()
            }
          }
        }
      }
    }
    try await session.sync()
    #expect(session.deaths.isEmpty, "\(session.deaths)")
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test(arguments: 1...seeds) func afterAKillTheModelEqualsTheDisk(seed: UInt64) async throws {
    let disk = try Disk()
    let storm = Storm(root: disk.root, outside: disk.outside)
    await storm.run(seconds: 0.3, threads: 2, seed: seed + 5000)
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    async let operations = storm.run(seconds: Self.seconds, threads: 2, seed: seed)
    session.watcher.sync(number: 1 << 40)
    kill(process, SIGKILL)
    while session.deaths.isEmpty { try await session.takeInput() }
    let count = await operations
    try await session.sync()
    #expect(session.model.synced.contains(1 << 40))
    #expect(session.watcher.processID != process)
    session.expectDiskState([disk.root], "seed \(seed)")
    report("kill seed \(seed): \(count) operations, \(session.summary)")
    await session.watcher.stop()
  }
}

/// Prints a figure for a person who runs the tests by hand.
func report(_ line: String) {
  guard getenv("PHOTOD_MEASURE") != nil else { return }
  print("MEASURED", line)
}

extension WatchSession {
  var summary: String {
    var moved = 0
    var movedFiles = 0
    var listings = 0
    var overflows = 0
    for record in records {
      switch record {
      case .directoryMoved: moved += 1
      case .fileMoved: movedFiles += 1
      case .listingStarted: listings += 1
      case .overflow: overflows += 1
      default: break
      }
    }
    return """
      \(records.count) records, \(listings) listings, \(moved) directories and \(movedFiles) files moved, \
      \(overflows) overflows; \(model.files.count) files in \(model.directories.count) directories
      """
  }
}
