// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

/// There is no inotify instance, so everything is polled.
@Suite(.timeLimit(.minutes(10)), .enabled(if: Namespace.isPermitted, "user namespaces are not permitted here"))
struct PollingTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  private func session() async throws -> WatchSession {
    try await WatchSession(roots: [disk.root], executable: try Namespace.wrapper(disk, .instances, 0))
  }

  @Test func withoutAnInstanceTheStatusReportsItAndASyncFindsAllChanges() async throws {
    for index in 0..<20 { disk.write("d\(index)/a.jpg") }
    let session = try await session()
    session.expectDiskState([disk.root])
    #expect(session.lastPolling == .polling(root: 1, reason: .noInstance, polled: 21, directories: 21))
    #expect(session.lastBudget?.instanceError == EMFILE)
    for index in 0..<20 { disk.write("d\(index)/b.jpg") }
    disk.rename("d1", "d2/moved")
    disk.rename("d3/a.jpg", "d4/moved.jpg")
    Disk.removeTree(disk.path("d5"))
    disk.write("new/deep/er/c.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    // A directory that moved keeps its number.
    let moved = try #require(
      session.records.compactMap { record -> DirectoryNumber? in
        if case .directoryFound(let number, _, _, Array("d1".utf8), _) = record { number } else { nil }
      }.first)
    #expect(!session.records.contains { if case .directoryGone(moved, _) = $0 { true } else { false } })
    #expect(session.deaths.isEmpty)
    await session.watcher.stop()
  }

  /// A security module of the kernel may forbid watches of a folder that may be read.
  ///
  /// - Parameter isRoot: whether the folder is a root, or else in one.
  @Test(.enabled(if: Interposer.isPossible, "there is no C compiler"), arguments: [false, true])
  func aFolderThatMayBeReadButNotWatchedIsPolled(isRoot: Bool) async throws {
    for file in ["refused/a.jpg", "refused/sub/b.jpg", "other/c.jpg"] { disk.write(file) }
    let roots = [isRoot ? disk.path("refused") : disk.root]
    let allowed = disk.outside + "/allowed"
    let session = try await WatchSession(
      roots: roots, executable: try Interposer.wrapper(disk, Interposer.refusedWatch(of: "refused", until: allowed)))
    let count: UInt32 = isRoot ? 2 : 4
    session.expectDiskState(roots)
    #expect(session.model.files.count == (isRoot ? 2 : 3) && session.model.unreadablePaths.isEmpty)
    #expect(session.lastPolling == .polling(root: 1, reason: .refused, polled: 1, directories: count))
    disk.write("refused/d.jpg")
    disk.write("refused/sub/e.jpg")
    disk.rename("refused/a.jpg", "refused/f.jpg")
    try await session.sync()
    session.expectDiskState(roots)
    // Each scan asks for the watch again, and an answer that stays the same changes nothing.
    let before = session.records.count
    for complete in [false, true] {
      if complete { Disk.write(allowed, "") }
      let request = session.watcher.rescan(root: 1, directory: nil)
      try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    }
    #expect(!session.records[before...].contains { if case .directoryFound = $0 { true } else { false } })
    #expect(session.lastPolling == .polling(root: 1, reason: .refused, polled: 0, directories: count))
    disk.write("refused/g.jpg")
    try await session.sync()
    session.expectDiskState(roots)
    await session.watcher.stop()
  }

  /// A folder has a watch, and the kernel would not grant it again.
  @Test(.enabled(if: Interposer.isPossible, "there is no C compiler"))
  func aWatchThatWouldNotBeGrantedAgainStays() async throws {
    disk.write("refused/a.jpg")
    let allowed = disk.outside + "/allowed"
    Disk.write(allowed, "")
    let session = try await WatchSession(
      roots: [disk.root],
      executable: try Interposer.wrapper(disk, Interposer.refusedWatch(of: "refused", until: allowed)))
    unlink(allowed)
    let before = session.records.count
    let request = session.watcher.rescan(root: 1, directory: nil)
    try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    disk.write("refused/b.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.lastPolling == nil && session.model.unreadablePaths.isEmpty)
    #expect(!session.records[before...].contains { if case .directoryFound = $0 { true } else { false } })
    await session.watcher.stop()
  }

  /// Without a birth time, a directory in another place may be a new one that got the inode of a deleted one.
  @Test(.enabled(if: Interposer.isPossible, "there is no C compiler"))
  func aDirectoryWithoutABirthTimeIsNotReportedAsMoved() async throws {
    disk.write("d1/sub/a.jpg")
    disk.write("d2/b.jpg")
    let session = try await WatchSession(
      roots: [disk.root], executable: try Interposer.wrapper(disk, Interposer.polledWithoutBirthTimes))
    #expect(session.lastBudget?.instanceError == EMFILE)
    func number(of name: String) throws -> DirectoryNumber {
      try #require(
        session.records.compactMap { record -> DirectoryNumber? in
          guard case .directoryFound(let number, _, _, Array(name.utf8), let identity) = record else { return nil }
          #expect(identity.birthTime == .unknown)
          return number
        }.last)
    }
    let former = try number(of: "d1")
    disk.rename("d1", "d2/moved")
    let said = try await session.sync()
    #expect(!said.contains { if case .directoryMoved = $0 { true } else { false } })
    #expect(said.contains(.directoryGone(number: former, evidence: .scan)))
    #expect(try number(of: "moved") != former)
    session.expectDiskState([disk.root])
    #expect(session.deaths.isEmpty)
    await session.watcher.stop()
  }

  /// A look that finds a directory missing sees nothing below it. Its contents are looked at where the directory turns
  /// up. New directories are looked at last, so here it turns up after the turn of everything in it.
  @Test func aSyncLooksIntoDirectoriesThatMoveDuringItsPass() async throws {
    for index in 0..<5 { disk.write("old/d\(index)/x/y/a.jpg") }
    let session = try await session()
    disk.makeDirectory("new")
    try await session.sync()
    for index in 0..<5 {
      disk.write("old/d\(index)/x/more/deep/b.jpg")
      disk.write("old/d\(index)/x/y/b.jpg")
      disk.rename("old/d\(index)", "new/d\(index)")
    }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// File systems reuse the inode number of a removed directory for the next one.
  @Test(arguments: ["/tmp", "/dev/shm"]) func aDirectoryMadeAnewInItsPlaceIsEntered(place: String) async throws {
    let disk = try Disk(in: place)
    for index in 0..<20 { disk.write("d\(index)/x/a.jpg") }
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, .instances, 0))
    for index in 0..<20 {
      Disk.removeTree(disk.path("d\(index)"))
      disk.write("d\(index)/new/b.jpg")
    }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func changesAreSeenWithoutASync() async throws {
    disk.write("d/a.jpg")
    let session = try await session()
    disk.write("d/b.jpg")
    let added = Array(disk.path("d/b.jpg").utf8)
    try await session.take { _ in session.model.files[added] != nil }
    unlink(disk.path("d/a.jpg"))
    let removed = Array(disk.path("d/a.jpg").utf8)
    try await session.take { _ in session.model.files[removed] == nil }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// Many rounds of the other root pass without a look at the slow one. A sync looks at both. Rounds are ten times as
  /// frequent as usual, so that the test waits less.
  @Test func aRootIsPolledAtMostOnceInItsInterval() async throws {
    for root in ["slow", "fast"] { disk.write("\(root)/d/a.jpg") }
    let session = try await WatchSession(
      roots: [disk.path("slow"), disk.path("fast")],
      executable: try Namespace.wrapper(disk, .instances, 0, variables: "PHOTOD_WATCH_CHECK=200"), pollSeconds: [3_600])
    func seeFast(_ name: String) async throws {
      disk.write("fast/d/\(name)")
      let path = Array(disk.path("fast/d/\(name)").utf8)
      try await session.take { _ in session.model.files[path] != nil }
    }
    // The first rounds include both roots, and the first look at all files takes up to five intervals. New files in the
    // other root are seen in each interval.
    for index in 0..<8 { try await seeFast("\(index).jpg") }
    let added = Array(disk.path("slow/d/b.jpg").utf8)
    disk.write("slow/d/b.jpg")
    for index in 8..<12 { try await seeFast("\(index).jpg") }
    #expect(session.model.files[added] == nil)
    try await session.sync()
    #expect(session.model.files[added] != nil)
    // Without the interval, it is polled as the other root, and it is not scanned for that.
    let scans = session.records.count { if case .scanStarted = $0 { true } else { false } }
    session.watcher.setRoots([
      WatchRoot(number: 1, path: Array(disk.path("slow").utf8)),
      WatchRoot(number: 2, path: Array(disk.path("fast").utf8)),
    ])
    disk.write("slow/d/c.jpg")
    let last = Array(disk.path("slow/d/c.jpg").utf8)
    try await session.take { _ in session.model.files[last] != nil }
    #expect(session.records.count { if case .scanStarted = $0 { true } else { false } } == scans)
    session.expectDiskState([disk.path("slow"), disk.path("fast")])
    await session.watcher.stop()
  }

  /// An edit does not change the directory's times.
  @Test func anEditInPlaceIsFoundBySyncsAndPolls() async throws {
    disk.write("d/a.jpg")
    let session = try await session()
    Disk.edit(disk.path("d/a.jpg"), "edited")
    try await session.sync()
    session.expectDiskState([disk.root])
    Disk.edit(disk.path("d/a.jpg"), "edited once more")
    // The first edit may be reported again before.
    try await session.take { if case .fileFound(_, _, let look, _) = $0 { look.byteCount == 16 } else { false } }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// An unmounted share looks the same. So the brake of photod decides after a scan of the root, not the listing.
  @Test func filesThatAPolledListingMissesAreGoneByScanOnly() async throws {
    for index in 0..<10 { disk.write("d/\(index).jpg") }
    disk.write("e/sub/a.jpg")
    let session = try await session()
    for index in 0..<10 { unlink(disk.path("d/\(index).jpg")) }
    Disk.removeTree(disk.path("e"))
    let said = try await session.sync()
    for record in said {
      switch record {
      case .listingStarted(_, let evidence), .directoryGone(_, let evidence): #expect(evidence == .scan)
      case .fileGone: Issue.record("\(record)")
      default: break
      }
    }
    #expect(said.contains { if case .directoryGone = $0 { true } else { false } })
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// A file that is edited twice within a grain of the clock looks the same. It is reported again after that grain.
  @Test func youngFileIsReportedOnceMore() async throws {
    disk.write("d/a.jpg")
    let session = try await session()
    // The file is young only from here on, whatever the steps before waited for.
    disk.write("d/a.jpg", "young")
    try await session.sync()
    let directory = try #require(session.model.number(ofPath: Array(disk.path("d").utf8)))
    let said = try await session.take(until: isFile)
    guard case .fileFound(directory, _, _, _) = said.last(where: isFile) else {
      Issue.record("\(said)")
      return
    }
    // A listing would be evidence by scan, which does not say that a file was read too early.
    #expect(!said.contains { if case .listingStarted = $0 { true } else { false } })
    await session.watcher.stop()
  }

  @Test func anInotifyInstanceIsUsedOnceItIsAvailable() async throws {
    for index in 0..<20 { disk.write("d\(index)/a.jpg") }
    let session = try await session()
    try Namespace.set(.instances, 10, of: session.watcher.processID)
    try await session.take { $0 == .polling(root: 1, reason: .noInstance, polled: 0, directories: 21) }
    // Changes during the transition are not missed.
    disk.write("d1/b.jpg")
    disk.rename("d2", "d3/moved")
    try await session.waitForWatches(disk.root, (0..<20).map { $0 == 2 ? "d3/moved" : "d\($0)" })
    #expect(session.lastBudget?.instanceError == 0)
    try await session.sync()
    session.expectDiskState([disk.root])
    disk.write("d7/c.jpg")
    let said = try await session.take(until: isFile)
    // An event caused this record, not a listing.
    #expect(!said.contains { if case .listingStarted = $0 { true } else { false } })
    #expect(session.deaths.isEmpty)
    await session.watcher.stop()
  }

  /// A directory that can't be read is reported once, not at every look. Once it can be read, it is. The namespace's
  /// root has no rights to files that belong to nobody there.
  @Test(.enabled(if: geteuid() == 0, "only root can give files away")) func aDirectoryIsReadOnceItBecomesReadable()
    async throws
  {
    disk.write("d/a.jpg")
    disk.write("d/e/b.jpg")
    for path in ["d/e/b.jpg", "d/e"] { chown(disk.path(path), 12345, 12345) }
    chmod(disk.path("d/e"), 0)
    let session = try await session()
    for _ in 0..<3 { try await session.sync() }
    let refusals = session.records.count { if case .unreadable = $0 { true } else { false } }
    #expect(refusals == 1)
    chmod(disk.path("d/e"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    // The same holds for a directory that was read before.
    chmod(disk.path("d/e"), 0)
    disk.write("d/e/c.jpg")
    for _ in 0..<3 { try await session.sync() }
    chmod(disk.path("d/e"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// photod-watch never entered it, so it has no number. photod knows it only by its name.
  @Test(
    .enabled(if: geteuid() == 0, "only root can give files away"), arguments: [Namespace.Limit.instances, .watches])
  func aDirectoryThatWasNeverEnteredIsReportedWhenItLeaves(limit: Namespace.Limit) async throws {
    for name in ["e", "f"] {
      disk.write("d/\(name)/b.jpg")
      for path in ["d/\(name)/b.jpg", "d/\(name)"] { chown(disk.path(path), 12345, 12345) }
      chmod(disk.path("d/\(name)"), 0)
    }
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, limit, limit == .instances ? 0 : 1000))
    func left() -> [[UInt8]] {
      session.records.compactMap { if case .fileGone(_, let name) = $0 { name } else { nil } }
    }
    try await session.sync()
    #expect(left().isEmpty)
    Glibc.rename(disk.path("d/e"), disk.outside + "/e")
    try await session.sync()
    #expect(left() == [Array("e".utf8)])
    // No such record follows for a directory that was entered at last.
    chmod(disk.path("d/f"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    Glibc.rename(disk.path("d/f"), disk.outside + "/f")
    try await session.sync()
    #expect(left() == [Array("e".utf8)])
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }
}
