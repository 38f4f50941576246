// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

@Suite(.timeLimit(.minutes(10))) struct RootTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  private func isOffline(_ record: WatchRecord) -> Bool { if case .rootOffline = record { true } else { false } }

  private func isReturnScanEnd(_ record: WatchRecord) -> Bool {
    if case .scanEnded(_, _, true) = record { true } else { false }
  }

  @Test func aMissingRootIsOfflineAndComesBack() async throws {
    let root = disk.path("later")
    let session = try await WatchSession(roots: [root])
    #expect(session.records.contains(.rootOffline(root: 1, errorNumber: ENOENT)))
    disk.write("later/a.jpg")
    let said = try await session.take(until: isReturnScanEnd)
    #expect(said.contains(.scanStarted(root: 1, request: 0, reason: .rootReturned)))
    session.expectDiskState([root])
    await session.watcher.stop()
  }

  @Test func aRenamedRootIsOfflineWithoutRemovals() async throws {
    let root = disk.path("photos")
    disk.write("photos/a/one.jpg")
    let session = try await WatchSession(roots: [root])
    disk.rename("photos", "elsewhere")
    let said = try await session.take(until: isOffline)
    #expect(!said.contains { if case .directoryGone = $0 { true } else { false } })
    #expect(session.model.directories.isEmpty)
    disk.rename("elsewhere", "photos")
    try await session.take(until: isReturnScanEnd)
    session.expectDiskState([root])
    #expect(session.model.violations.isEmpty)
    await session.watcher.stop()
  }

  /// Every deletion is reported by an event before the root is offline, however soon the root is removed.
  @Test(arguments: 0..<10) func deletionsBeforeARootsOwnAreReported(round: Int) async throws {
    let root = disk.path("photos")
    for name in ["1", "2", "3", "4", "a/5", "a/6", "a/b/7", "c/8"] { disk.write("photos/\(name).jpg") }
    let session = try await WatchSession(roots: [root])
    system("rm -r '\(root)'")
    let said = try await session.take(until: isOffline)
    var files = Set(["1", "2", "3", "4"].map { Array("\($0).jpg".utf8) })
    var folders: Set<DirectoryNumber> = []
    for record in said {
      if case .fileGone(_, let name) = record { files.remove(name) }
      if case .directoryGone(let number, .event) = record { folders.insert(number) }
    }
    #expect(files.isEmpty, "\(said)")
    #expect(folders.count >= 2, "\(said)")
    await session.watcher.stop()
  }

  @Test func anotherDirectoryInARootsPlaceIsScanned() async throws {
    let root = disk.path("photos")
    disk.write("photos/a/one.jpg")
    disk.write("others/b/two.jpg")
    let session = try await WatchSession(roots: [root])
    disk.rename("photos", "elsewhere")
    disk.rename("others", "photos")
    try await session.take(until: isReturnScanEnd)
    session.expectDiskState([root])
    await session.watcher.stop()
  }

  @Test func anAncestorThatIsRenamedIsNoticed() async throws {
    let root = disk.path("mnt/photos")
    disk.write("mnt/photos/a/one.jpg")
    let session = try await WatchSession(roots: [root])
    disk.rename("mnt", "other")
    try await session.take(until: isOffline)
    disk.write("mnt/photos/b/two.jpg")
    try await session.take(until: isReturnScanEnd)
    session.expectDiskState([root])
    await session.watcher.stop()
  }

  @Test func aRescanListsEveryDirectoryAgainAndEndsWithItsNumber() async throws {
    disk.write("a/one.jpg")
    disk.write("b/two.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let before = session.model.directories.keys.sorted()
    let request = session.watcher.rescan(root: 1, directory: nil)
    let said = try await session.take { $0 == .scanEnded(root: 1, request: request, complete: true) }
    #expect(said.count { if case .listingStarted(_, .scan) = $0 { true } else { false } } == 3)
    #expect(session.model.directories.keys.sorted() == before)

    let a = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    let partial = session.watcher.rescan(root: 1, directory: a)
    let less = try await session.take { $0 == .scanEnded(root: 1, request: partial, complete: true) }
    #expect(less.count { if case .listingStarted = $0 { true } else { false } } == 1)

    let nowhere = session.watcher.rescan(root: 9, directory: nil)
    try await session.take { $0 == .scanEnded(root: 9, request: nowhere, complete: false) }
    await session.watcher.stop()
  }

  @Test func rootsAreAddedAndRemovedByOrders() async throws {
    disk.write("a/one.jpg")
    disk.write("b/two.jpg")
    let session = try await WatchSession(roots: [disk.path("a")])
    session.watcher.setRoots([WatchRoot(number: 2, path: Array(disk.path("b").utf8))])
    try await session.sync()
    disk.write("a/later.jpg")
    disk.write("b/later.jpg")
    let said = try await session.sync()
    #expect(said.count == 2)
    await session.watcher.stop()
  }

  @Test func aRootWithinARootIsOffline() async throws {
    disk.write("a/one.jpg")
    let session = try await WatchSession(roots: [disk.root, disk.path("a")])
    #expect(session.records.contains { if case .rootOffline(2, _) = $0 { true } else { false } })
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aRootMovedIntoARootBecomesItsDirectory() async throws {
    disk.write("photos/a/one.jpg")
    let session = try await WatchSession(roots: [disk.path("photos"), disk.outside])
    Glibc.rename(disk.path("photos"), disk.outside + "/photos")
    try await session.take(until: isOffline)
    try await session.sync()
    session.expectDiskState([disk.outside])
    await session.watcher.stop()
  }
}
