// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// Few watches, limited by a separate user namespace. Without permission for one, these tests are skipped. photod-watch
/// takes 37 of 50 watches, which is three quarters. It uses 35 for directories, one for the sync cookies, and one to
/// recognise directories.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"))
struct LimitTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  private func session(watches: Int) async throws -> WatchSession {
    try await WatchSession(roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, watches))
  }

  @Test func directoriesWithoutAWatchAreCountedListedAndPolled() async throws {
    for index in 0..<100 { disk.write("d\(index)/a.jpg") }
    let session = try await session(watches: 50)
    session.expectDiskState([disk.root])
    #expect(session.lastPolling == .polling(root: 1, reason: .watchLimit, polled: 66, directories: 101))
    let budget = try #require(session.lastBudget)
    #expect(budget == WatchBudget(watched: 35, allowed: 37, limit: 50, isNamespaceLimit: true))
    for index in 0..<100 { disk.write("d\(index)/b.jpg") }
    disk.write("d99/new/c.jpg")
    disk.rename("d98", "moved")
    try await session.sync()
    session.expectDiskState([disk.root])
    for index in 0..<97 { Disk.removeTree(disk.path("d\(index)")) }
    try await session.sync()
    session.expectDiskState([disk.root])
    // Watches are free again, so directories without one get one.
    try await session.take { $0 == .polling(root: 1, reason: .watchLimit, polled: 0, directories: 5) }
    disk.write("d99/d.jpg")
    try await session.take { if case .fileFound = $0 { true } else { false } }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func watchesStayWithinTheirShare() async throws {
    for index in 0..<60 { disk.write("d\(index)/a.jpg") }
    let session = try await session(watches: 50)
    #expect(try Namespace.watchCount(of: session.watcher.processID) == 36)
    for index in 60..<90 { disk.write("d\(index)/a.jpg") }
    try await session.sync()
    #expect(try Namespace.watchCount(of: session.watcher.processID) == 36)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func watchesAreGivenUpWhenTheLimitFalls() async throws {
    for index in 0..<60 {
      disk.write("d\(index)/a.jpg")
      Disk.age(disk.path("d\(index)"), seconds: 10_000 + index)
    }
    let session = try await session(watches: 200)
    #expect(session.lastPolling == nil)
    try Namespace.set(.watches, 40, of: session.watcher.processID)
    // Its share is 30 watches, which leaves 28 for directories including the root.
    try await session.take { $0 == .polling(root: 1, reason: .watchLimit, polled: 33, directories: 61) }
    #expect(try Namespace.watchCount(of: session.watcher.processID) == 29)
    // The directories that changed last have kept their watches. Changes there are reported without polling.
    for index in 0..<27 { disk.write("d\(index)/b.jpg") }
    var found = 0
    while found < 27 { found += try await session.take(until: isFile).count(where: isFile) }
    for index in 0..<60 { disk.write("d\(index)/c.jpg") }
    try await session.sync()
    session.expectDiskState([disk.root])
    try Namespace.set(.watches, 200, of: session.watcher.processID)
    try await session.take { $0 == .polling(root: 1, reason: .watchLimit, polled: 0, directories: 61) }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func nothingIsMissedWhileWatchesAreGivenUp() async throws {
    for index in 0..<60 { disk.write("d\(index)/a.jpg") }
    let session = try await session(watches: 200)
    let process = session.watcher.processID
    for round in 0..<6 {
      try Namespace.set(.watches, round.isMultiple(of: 2) ? 20 : 200, of: process)
      for step in 0..<40 {
        disk.write("d\((round * 7 + step) % 60)/r\(round)-\(step).jpg")
        disk.rename("d\((step * 3) % 60)/r\(round)-\(step - 1).jpg", "d\((step * 5) % 60)/m\(round)-\(step).jpg")
      }
      try await session.sync()
      session.expectDiskState([disk.root], "round \(round)")
    }
    await session.watcher.stop()
  }

  /// Another program of the user holds 14 of 20 watches. Fewer are free than the share of 15.
  @Test func watchesOfOtherProgramsAreNotUsed() async throws {
    for index in 0..<20 { disk.write("d\(index)/a.jpg") }
    let other = try Disk()
    for index in 0..<20 { other.write("d\(index)/a.jpg") }
    let first = try await WatchSession(
      roots: [other.root], executable: try Namespace.wrapper(other, .watches, 20))
    #expect(try Namespace.watchCount(of: first.watcher.processID) == 14)
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, joining: first.watcher.processID))
    session.expectDiskState([disk.root])
    let budget = try #require(session.lastBudget)
    #expect(budget.isRefused && budget.allowed == 15 && budget.watched == 5)
    for index in 0..<20 { disk.write("d\(index)/b.jpg") }
    disk.rename("d1", "d2/moved")
    try await session.sync()
    session.expectDiskState([disk.root])
    await first.watcher.stop()
    // These watches are free now. Watches that other programs release are found when photod-watch asks for them again.
    try await session.take { if case .polling(1, .watchLimit, 8, 21) = $0 { true } else { false } }
    await session.watcher.stop()
  }

  /// The limit is reached before photod-watch has any watch, so not even the sync cookies can be watched.
  @Test func withoutAnyWatchASyncFindsAll() async throws {
    for index in 0..<20 { disk.write("d\(index)/a.jpg") }
    let session = try await session(watches: 0)
    #expect(session.lastPolling == .polling(root: 1, reason: .watchLimit, polled: 21, directories: 21))
    for index in 0..<20 { disk.write("d\(index)/sub/b.jpg") }
    disk.rename("d3", "d4/moved")
    try await session.sync()
    session.expectDiskState([disk.root])
    try Namespace.set(.watches, 200, of: session.watcher.processID)
    try await session.take { $0 == .polling(root: 1, reason: .watchLimit, polled: 0, directories: 41) }
    disk.write("d5/c.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// Only the watch of the directory itself reports its permissions. There are 8 watches, 4 of them for directories.
  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func aWatchedDirectoryInAPolledOneIsReadOnceItBecomesReadable() async throws {
    for name in ["d0", "d1", "p/d2/e"] { disk.write("\(name)/a.jpg") }
    Disk.age(disk.path("p"), seconds: 10_000)
    Disk.age(disk.path("d1"), seconds: 5_000)
    system("chown -R 12345:12345 '\(disk.path("p/d2"))'")
    let session = try await session(watches: 8)
    try await session.waitForWatches(disk.root, ["d0", "p/d2", "p/d2/e"])
    try await session.sync()
    func refusals() -> Int {
      session.records.count { if case .unreadable(_, _, EACCES) = $0 { true } else { false } }
    }
    #expect(refusals() == 0)
    chmod(disk.path("p/d2"), 0)
    try await session.sync()
    #expect(refusals() == 1)
    let request = session.watcher.rescan(root: 1, directory: nil)
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    disk.write("p/d2/b.jpg")
    disk.write("p/d2/e/b.jpg")
    try await session.sync()
    chmod(disk.path("p/d2"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The events of the watched directory can't be followed while the polled one above it can't be read.
  @Test(.enabled(if: geteuid() == 0, "only root can give files away"))
  func everythingBelowAPolledDirectoryIsReadOnceItBecomesReadable() async throws {
    for name in ["d0", "d1", "p/d2/e"] { disk.write("\(name)/a.jpg") }
    for name in ["p", "p/d2"] { Disk.age(disk.path(name), seconds: 10_000) }
    system("chown -R 12345:12345 '\(disk.path("p/d2"))'")
    let session = try await session(watches: 8)
    try await session.waitForWatches(disk.root, ["d0", "d1", "p/d2/e"])
    chmod(disk.path("p/d2"), 0)
    try await session.sync()
    disk.write("p/d2/e/b.jpg")
    try await session.sync()
    chmod(disk.path("p/d2"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  // MARK: The directories that have watches

  @Test func theDirectoriesThatChangedLastHaveTheWatches() async throws {
    // The walk finds them in another order.
    for index in 0..<60 {
      disk.write("d\(index)/a.jpg")
      Disk.age(disk.path("d\(index)"), seconds: 100 * (60 - index))
    }
    let session = try await session(watches: 50)
    try await session.waitForWatches(disk.root, (26..<60).map { "d\($0)" })
    await session.watcher.stop()
  }

  @Test func aPolledDirectoryThatChangesTakesTheWatchOfAQuietOne() async throws {
    for index in 0..<60 {
      disk.write("d\(index)/a.jpg")
      Disk.age(disk.path("d\(index)"), seconds: 1000 * (60 - index))
    }
    let session = try await session(watches: 50)
    try await session.waitForWatches(disk.root, (26..<60).map { "d\($0)" })
    disk.write("d3/b.jpg")
    try await session.waitForWatches(disk.root, ["d3"] + (27..<60).map { "d\($0)" })
    // d3 is watched now and d26 is polled. No change of either is missed.
    disk.write("d3/c.jpg")
    disk.write("d26/c.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// A scan finds the change, so that polling finds none.
  @Test func aPolledDirectoryWhoseChangeAScanFindsTakesTheWatchOfAQuietOne() async throws {
    for index in 0..<60 {
      disk.write("d\(index)/a.jpg")
      Disk.age(disk.path("d\(index)"), seconds: 1000 * (60 - index))
    }
    let session = try await session(watches: 50)
    try await session.waitForWatches(disk.root, (26..<60).map { "d\($0)" })
    try await session.sync()
    disk.write("d3/b.jpg")
    session.watcher.rescan(root: 1, directory: nil)
    try await session.waitForWatches(disk.root, ["d3"] + (27..<60).map { "d\($0)" })
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// All watched directories changed recently, so watches must not go to and fro. Changes in polled directories are
  /// reported after a look, so each round is another chance for that.
  @Test func watchesDoNotAlternateBetweenDirectories() async throws {
    for index in 0..<60 { disk.write("d\(index)/a.jpg") }
    let session = try await session(watches: 50)
    let before = try Namespace.watches(of: session.watcher.processID)
    #expect(before.count == 36)
    for round in 0..<3 {
      for index in 0..<60 { disk.write("d\(index)/\(round).jpg") }
      var found: Set<DirectoryNumber> = []
      while found.count < 60 {
        for case .fileFound(let directory, let name, _, _) in try await session.take(until: isFile) {
          if name == Array("\(round).jpg".utf8) { found.insert(directory) }
        }
      }
    }
    #expect(try Namespace.watches(of: session.watcher.processID) == before)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }
}

func isFile(_ record: WatchRecord) -> Bool { if case .fileFound = record { true } else { false } }
