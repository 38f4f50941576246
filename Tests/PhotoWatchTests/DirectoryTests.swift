// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

@Suite(.timeLimit(.minutes(10))) struct DirectoryTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  @Test func renamingADirectoryOfThousandIsOneRecord() async throws {
    for index in 0..<1000 { disk.makeDirectory("album/sub\(index)") }
    disk.write("album/sub7/a.jpg")
    let session = try await WatchSession(roots: [disk.root])
    disk.rename("album", "renamed")
    let said = try await session.sync()
    #expect(said.count == 2)
    guard case .directoryMoved(_, _, let name) = said.first else {
      Issue.record("\(said)")
      return
    }
    #expect(name == Array("renamed".utf8))
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func filesWrittenRightAfterMkdirAreFound() async throws {
    let session = try await WatchSession(roots: [disk.root])
    for round in 0..<50 {
      for index in 0..<10 { disk.write("r\(round)/a/b/c\(index)/d/\(index).jpg") }
    }
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 500)
    await session.watcher.stop()
  }

  @Test func aDirectoryThatLeavesIsReportedBeforeASyncIsAnswered() async throws {
    disk.write("a/b/c.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let number = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    Glibc.rename(disk.path("a"), disk.outside + "/a")
    let said = try await session.sync()
    #expect(said.contains(.directoryGone(number: number, evidence: .event)))
    session.expectDiskState([disk.root])
    // Its watches are gone as well, so nothing that happens there is reported.
    Disk.write(disk.outside + "/a/b/d.jpg", "x")
    let later = try await session.sync()
    #expect(later.count == 1)
    await session.watcher.stop()
  }

  @Test func aDirectoryThatComesBackIsNew() async throws {
    disk.write("a/b/c.jpg")
    let session = try await WatchSession(roots: [disk.root])
    Glibc.rename(disk.path("a"), disk.outside + "/a")
    try await session.sync()
    Disk.write(disk.outside + "/a/b/d.jpg", "x")
    Glibc.rename(disk.outside + "/a", disk.path("back"))
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  @Test func exchangedDirectoriesKeepTheirNumbers() async throws {
    disk.write("a/one.jpg")
    disk.write("b/two.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let a = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    let b = try #require(session.model.number(ofPath: Array(disk.path("b").utf8)))
    try disk.exchange("a", "b")
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.number(ofPath: Array(disk.path("a").utf8)) == b)
    #expect(session.model.number(ofPath: Array(disk.path("b").utf8)) == a)
    await session.watcher.stop()
  }

  /// A forbidden directory can't be watched or looked at under its new name.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"),
    arguments: [["b"], ["a", "b"]])
  func exchangedDirectoriesKeepTheirNumbersThoughTheyAreForbidden(forbidden: [String]) async throws {
    disk.write("a/one.jpg")
    disk.write("b/two.jpg")
    let session = try await forbiddingSession()
    for name in forbidden { chmod(disk.path(name), 0) }
    try await session.sync()
    let a = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    let b = try #require(session.model.number(ofPath: Array(disk.path("b").utf8)))
    try disk.exchange("a", "b")
    try await session.sync()
    #expect(session.model.number(ofPath: Array(disk.path("a").utf8)) == b)
    #expect(session.model.number(ofPath: Array(disk.path("b").utf8)) == a)
    for name in ["a", "b"] { chmod(disk.path(name), 0o755) }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The queue overflows between the two halves of the rename, so only the scan finds the directory.
  @Test func aDirectoryWhoseArrivalIsLostIsNotGone() async throws {
    // The scan takes longer than a directory may be missing. Thousands of directories are made sooner in memory.
    let disk = try Disk(in: "/dev/shm")
    for index in 0..<5_000 { Disk.makeDirectories(disk.path("d\(index)")) }
    disk.write("from/sub/one.jpg")
    for name in ["a.jpg", "b.jpg"] { disk.write(name) }
    Disk.makeDirectories(disk.path("z/z"))
    let session = try await WatchSession(roots: [disk.root])
    let number = try #require(session.model.number(ofPath: Array(disk.path("from").utf8)))
    let process = try #require(session.watcher.processID)
    let limit = try #require(Int(Disk.read("/proc/sys/fs/inotify/max_queued_events")?.dropLast() ?? ""))
    kill(process, SIGSTOP)
    // Two names alternate, because the kernel merges equal events.
    for round in 0..<limit - 1 { utimensat(AT_FDCWD, disk.path(round % 2 == 0 ? "a.jpg" : "b.jpg"), nil, 0) }
    disk.rename("from", "z/z/to")
    kill(process, SIGCONT)
    let said = try await session.sync()
    #expect(said.contains(.overflow))
    #expect(session.model.number(ofPath: Array(disk.path("z/z/to").utf8)) == number)
    #expect(!said.contains { if case .directoryGone = $0 { true } else { false } })
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aDirectoryMovesBetweenRoots() async throws {
    disk.write("a/one.jpg")
    let session = try await WatchSession(roots: [disk.root, disk.outside])
    Glibc.rename(disk.path("a"), disk.outside + "/a")
    let said = try await session.sync()
    #expect(said.count == 2)
    session.expectDiskState([disk.root, disk.outside])
    await session.watcher.stop()
  }

  @Test func aRemovedTreeIsGone() async throws {
    for index in 0..<100 { disk.write("a/b\(index)/c/\(index).jpg") }
    let session = try await WatchSession(roots: [disk.root])
    Disk.removeTree(disk.path("a"))
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.directories.count == 1)
    await session.watcher.stop()
  }

  @Test func hiddenAndIgnoredDirectoriesAreNotEntered() async throws {
    disk.write(".hidden/a.jpg")
    disk.write("@eaDir/a.jpg")
    disk.write("seen/a.jpg")
    let session = try await WatchSession(roots: [disk.root], ignoring: ["@eaDir"])
    #expect(session.model.files.count == 1)
    disk.write(".later/a.jpg")
    disk.write("seen/@eaDir/a.jpg")
    let said = try await session.sync()
    #expect(said.count == 1)
    // A directory renamed to a hidden name is gone. Renamed back, it is found again.
    disk.rename("seen", ".seen")
    try await session.sync()
    #expect(session.model.files.isEmpty)
    disk.rename(".seen", "seen")
    try await session.sync()
    #expect(session.model.files.count == 1)
    await session.watcher.stop()
  }

  @Test func aMarkerExcludesItsDirectoryUntilItIsRemoved() async throws {
    for marker in [".nomedia", ".trackerignore"] {
      disk.write("a/b/one.jpg")
      disk.write("a/two.jpg")
      disk.write("a/\(marker)", "")
      let session = try await WatchSession(roots: [disk.root])
      #expect(session.model.files.isEmpty)
      unlink(disk.path("a/\(marker)"))
      try await session.sync()
      session.expectDiskState([disk.root])
      #expect(session.model.files.count == 2)
      disk.write("a/\(marker)", "")
      try await session.sync()
      #expect(session.model.files.isEmpty)
      #expect(session.model.directories.count == 2)
      disk.write("a/c/three.jpg")
      let said = try await session.sync()
      #expect(said.count == 1)
      await session.watcher.stop()
      Disk.removeTree(disk.path("a"))
    }
  }

  @Test func aCacheTagCountsOnlyWithItsSignature() async throws {
    disk.write("fake/one.jpg")
    disk.write("fake/CACHEDIR.TAG", "nothing")
    disk.write("cache/one.jpg")
    disk.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# a cache")
    let session = try await WatchSession(roots: [disk.root])
    #expect(session.model.files.keys.map { String(decoding: $0, as: UTF8.self) } == [disk.path("fake/one.jpg")])
    await session.watcher.stop()
  }

  @Test func pathsBeyondPathMaxAreWatched() async throws {
    let name = String(repeating: "n", count: 250)
    var directory = open(disk.root, O_RDONLY | O_DIRECTORY)
    for _ in 0..<40 {
      #expect(mkdirat(directory, name, 0o755) == 0)
      let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
      close(directory)
      directory = next
    }
    let session = try await WatchSession(roots: [disk.root])
    #expect(session.model.directories.count == 41)
    let file = openat(directory, "deep.jpg", O_WRONLY | O_CREAT, 0o644)
    #expect(write(file, "x", 1) == 1)
    close(file)
    try await session.sync()
    #expect(session.model.files.count == 1)
    #expect(session.model.violations.isEmpty)
    unlinkat(directory, "deep.jpg", 0)
    close(directory)
    // Paths longer than PATH_MAX can't be removed by name, so the levels are removed one by one.
    #expect(removeDeep(disk.root, name))
    try await session.sync()
    #expect(session.model.directories.count == 1)
    await session.watcher.stop()
  }

  private func removeDeep(_ root: String, _ name: String) -> Bool {
    for depth in stride(from: 39, through: 0, by: -1) {
      var directory = open(root, O_RDONLY | O_DIRECTORY)
      for _ in 0..<depth {
        let next = openat(directory, name, O_RDONLY | O_DIRECTORY)
        close(directory)
        directory = next
      }
      defer { close(directory) }
      guard unlinkat(directory, name, AT_REMOVEDIR) == 0 else { return false }
    }
    return true
  }

  @Test func anUnreadableDirectoryIsReportedAndIsReadOnceItCanBe() async throws {
    try #require(disk.makeUnreadable("a"))
    let session = try await WatchSession(roots: [disk.root])
    if geteuid() != 0 {
      #expect(session.records.contains { if case .unreadable(_, _, EACCES) = $0 { true } else { false } })
      chmod(disk.path("a"), 0o755)
      try await session.sync()
    }
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 1)
    await session.watcher.stop()
  }

  /// The namespace's root user has no rights in what belongs to another user there.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"), arguments: [0o000, 0o600])
  func aWatchedDirectoryThatBecomesForbiddenIsReportedOnce(mode: mode_t) async throws {
    disk.write("d/e/a.jpg")
    for path in ["d/e/a.jpg", "d/e"] { chown(disk.path(path), 12345, 12345) }
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
    func refusals() -> Int {
      session.records.count { if case .unreadable(_, _, EACCES) = $0 { true } else { false } }
    }
    // Other attributes say nothing.
    Disk.age(disk.path("d/e"), seconds: 60)
    try await session.sync()
    #expect(refusals() == 0)
    chmod(disk.path("d/e"), mode)
    try await session.sync()
    #expect(refusals() == 1)
    disk.write("d/e/b.jpg")
    chmod(disk.path("d/e"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  /// A permission that changes outside of the roots causes no event of the folder's name.
  @Test(.enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"))
  func aForbiddenDirectoryThatCanBeReadAtANewNameIsListed() async throws {
    disk.write("d/e/a.jpg")
    for path in ["d/e/a.jpg", "d/e"] { chown(disk.path(path), 12345, 12345) }
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
    chmod(disk.path("d/e"), 0)
    try await session.sync()
    disk.write("d/e/b.jpg")
    try await session.sync()
    let number = try #require(session.model.number(ofPath: Array(disk.path("d/e").utf8)))
    #expect(rename(disk.path("d/e"), disk.outside + "/e") == 0)
    chmod(disk.outside + "/e", 0o755)
    #expect(rename(disk.outside + "/e", disk.path("d/f")) == 0)
    try await session.sync()
    #expect(session.model.number(ofPath: Array(disk.path("d/f").utf8)) == number, "it was renamed")
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  /// The directory is moved into another one, which is forbidden before photod-watch reads the events.
  @Test(.enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"))
  func aDirectoryThatMovesIntoAForbiddenOneIsNotGone() async throws {
    disk.write("a/one.jpg")
    disk.write("p/two.jpg")
    let session = try await forbiddingSession()
    let number = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    disk.rename("a", "p/b")
    chmod(disk.path("p"), 0)
    kill(process, SIGCONT)
    try await session.sync()
    #expect(session.model.number(ofPath: Array(disk.path("p/b").utf8)) == number)
    chmod(disk.path("p"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  /// A directory leaves, and another one that is forbidden gets its name.
  @Test(.enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"))
  func aForbiddenDirectoryInThePlaceOfAnotherIsNotTakenForIt() async throws {
    disk.write("a/one.jpg")
    let session = try await forbiddingSession()
    #expect(rename(disk.path("a"), disk.outside + "/a") == 0)
    mkdir(disk.path("a"), 0)
    chown(disk.path("a"), 12345, 12345)
    try await session.sync()
    #expect(session.model.files.isEmpty)
    #expect(session.records.contains { if case .unreadable(_, Array("a".utf8), EACCES) = $0 { true } else { false } })
    chmod(disk.path("a"), 0o755)
    disk.write("a/two.jpg")
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 1)
    await session.watcher.stop()
  }

  /// The directory is forbidden and leaves its name, all before photod-watch reads the events. Another forbidden directory
  /// gets that name, or the directory is renamed again.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"), arguments: [true, false])
  func aForbiddenDirectoryThatIsRenamedUnseenIsNotGone(isReplaced: Bool) async throws {
    disk.write("a/one.jpg")
    let session = try await forbiddingSession()
    let number = try #require(session.model.number(ofPath: Array(disk.path("a").utf8)))
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    chmod(disk.path("a"), 0)
    if isReplaced {
      disk.rename("a", "c")
      mkdir(disk.path("a"), 0)
      chown(disk.path("a"), 12345, 12345)
    } else {
      disk.rename("a", "b")
      disk.rename("b", "c")
    }
    kill(process, SIGCONT)
    let said = try await session.sync()
    #expect(session.model.number(ofPath: Array(disk.path("c").utf8)) == number)
    #expect(!said.contains { if case .directoryGone = $0 { true } else { false } })
    for name in ["a", "c"] { chmod(disk.path(name), 0o755) }
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// photod-watch as the root user of a namespace. That user has no rights in what belongs to another user there.
  /// The event of the rename proves that the folder has left, although its old place can't be looked at.
  ///
  /// - Parameter isScanning: whether a scan waits for the decision, too.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"), arguments: [false, true])
  func aDirectoryThatLeavesAForbiddenOneIsGone(isScanning: Bool) async throws {
    disk.write("a/b/one.jpg")
    disk.write("a/two.jpg")
    let session = try await forbiddingSession()
    let b = try #require(session.model.number(ofPath: Array(disk.path("a/b").utf8)))
    chmod(disk.path("a"), 0)
    Glibc.rename(disk.path("a/b"), disk.outside + "/b")
    if isScanning { session.watcher.rescan(root: 1, directory: nil) }
    let said = try await session.sync()
    #expect(said.contains(.directoryGone(number: b, evidence: .event)))
    chmod(disk.path("a"), 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  private func forbiddingSession() async throws -> WatchSession {
    system("chown -R 12345:12345 '\(disk.root)'")
    return try await WatchSession(roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
  }

  /// Its names can be listed, but not looked at. A program that works in a folder below it can still change that folder.
  @Test(
    .enabled(if: geteuid() == 0 && Namespace.isPermitted, "only root can give files away"),
    arguments: [[], ["a/b.jpg"], ["a/c/b.jpg"], ["a/b.jpg", "d.jpg"]])
  func changesBelowARootThatWasForbiddenAreFoundOnceItIsNot(files: [String]) async throws {
    for file in files { disk.write(file) }
    system("chown -R 12345:12345 '\(disk.root)'")
    let session = try await WatchSession(
      roots: [disk.root], executable: try Namespace.wrapper(disk, .watches, 1000))
    chmod(disk.root, 0o444)
    try await session.sync()
    let top = try #require(session.model.number(ofPath: Array(disk.root.utf8)))
    #expect(session.records.contains(.unreadable(directory: top, name: [], errorNumber: EACCES)))
    disk.write("a/new.jpg")
    disk.write("a/c/new.jpg")
    try await session.sync()
    chmod(disk.root, 0o755)
    try await session.sync()
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }
}

extension Disk {
  fileprivate func makeUnreadable(_ name: String) -> Bool {
    write("\(name)/one.jpg")
    return chmod(path(name), 0) == 0
  }
}
