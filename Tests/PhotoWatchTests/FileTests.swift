// SPDX-License-Identifier: Apache-2.0

import Glibc
import PhotoTestSupport
import PhotoWatch
import Testing
import WatchRecords

@Suite(.timeLimit(.minutes(10))) struct FileTests {
  let disk: Disk

  init() throws { disk = try Disk() }

  @Test func firstScanFindsEverything() async throws {
    for index in 0..<50 { disk.write("a\(index % 7)/b\(index % 3)/\(index).jpg") }
    disk.write("a1/.hidden.jpg")
    disk.write("a1/notes.txt")
    disk.write("a1/UPPER.JPG")
    let session = try await WatchSession(roots: [disk.root])
    #expect(session.model.files.count == 51)
    #expect(session.model.violations.isEmpty)
    let scans = session.records.filter { if case .scanStarted = $0 { true } else { false } }
    #expect(scans == [.scanStarted(root: 1, request: 0, reason: .start)])
    await session.watcher.stop()
  }

  /// The time of an event is that of its reading. A file that is still open is reported half a second after its last
  /// change, so the time of the report is another one.
  @Test func anEventHasTheTimeAtWhichItWasRead() async throws {
    let session = try await WatchSession(roots: [disk.root])
    // On a slow machine, the open file may be reported first. Then its times do not differ enough to prove anything.
    for attempt in 0..<20 {
      let (slow, quick) = ("slow\(attempt).jpg", "quick\(attempt).jpg")
      let start = Self.realTime()
      let file = open(disk.path(slow), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(file >= 0)
      defer { close(file) }
      try #require(write(file, "a", 1) == 1)
      disk.write(quick)
      // The kernel keeps the order of the events, so the first one of the open file has been read by then.
      let said = try await session.take { Self.event(of: quick, in: $0) != nil }
      let wasRead = Self.realTime()
      if said.contains(where: { Self.event(of: slow, in: $0) != nil }) { continue }
      // The file is looked at again later, because it has grown.
      try #require(write(file, "b", 1) == 1)
      let later = try await session.take { Self.event(of: slow, in: $0) != nil }
      let event = try #require(later.compactMap { Self.event(of: slow, in: $0) }.first)
      #expect(event.time >= start && event.time <= wasRead && event.naming == .created)
      await session.watcher.stop()
      return
    }
    Issue.record("the open file was always reported first")
  }

  private static func event(of name: String, in record: WatchRecord) -> FileEvent? {
    if case .fileFound(_, Array(name.utf8), _, let event) = record { event } else { nil }
  }

  /// The wall clock.
  private static func realTime() -> FileTime {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    return FileTime(nanoseconds: Int64(now.tv_sec) * 1_000_000_000 + Int64(now.tv_nsec))
  }

  @Test func aRenameIsOneMove() async throws {
    disk.write("a/one.jpg")
    disk.makeDirectory("b")
    let session = try await WatchSession(roots: [disk.root])
    disk.rename("a/one.jpg", "b/two.jpg")
    let said = try await session.sync()
    #expect(said.count == 2)
    guard case .fileMoved(_, let from, _, let to, let stat, _) = said.first else {
      Issue.record("\(said)")
      return
    }
    #expect(from == Array("one.jpg".utf8) && to == Array("two.jpg".utf8) && stat?.byteCount == 1)
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func aRenameBetweenRootsIsOneMove() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root, disk.outside])
    Glibc.rename(disk.path("a.jpg"), disk.outside + "/b.jpg")
    let said = try await session.sync()
    #expect(said.count == 2)
    guard case .fileMoved = said.first else {
      Issue.record("\(said)")
      return
    }
    session.expectDiskState([disk.root, disk.outside])
    await session.watcher.stop()
  }

  @Test func aFileRenamedAwayAndOneCreatedAtItsOldNameAreTwoFiles() async throws {
    disk.write("a.jpg", "old")
    let session = try await WatchSession(roots: [disk.root])
    disk.rename("a.jpg", "b.jpg")
    disk.write("a.jpg", "newer")
    let said = try await session.sync()
    #expect(said.count { if case .fileMoved = $0 { true } else { false } } == 1)
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  @Test func aFileThatLeavesIsGone() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root])
    Glibc.rename(disk.path("a.jpg"), disk.outside + "/a.jpg")
    let said = try await session.sync()
    let top = try #require(session.model.number(ofPath: Array(disk.root.utf8)))
    #expect(said.first == .fileGone(directory: top, name: Array("a.jpg".utf8)))
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// The kernel reports an exchange of two names as two renames, one directly after the other.
  @Test func halvesOfAnExchangeAreMarked() async throws {
    disk.write("a.jpg")
    disk.write("b/c.jpg")
    disk.write("d.jpg")
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    // photod-watch then reads all events at once, so that it knows the second half when it reports the first.
    kill(process, SIGSTOP)
    try disk.exchange("a.jpg", "b/c.jpg")
    try disk.exchange("d.jpg", "a.jpg")
    kill(process, SIGCONT)
    let namings = Self.namings(of: try await session.sync())
    #expect(namings == [.firstOfExchange, .secondOfExchange, .firstOfExchange, .secondOfExchange])
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  /// Other renames between the two names are no exchange.
  @Test func renamesThereAndBackAreNoExchange() async throws {
    for name in ["a.jpg", "c.jpg", "e.jpg"] { disk.write(name) }
    let session = try await WatchSession(roots: [disk.root])
    let process = try #require(session.watcher.processID)
    kill(process, SIGSTOP)
    // An event of any file between them.
    disk.rename("a.jpg", "b.jpg")
    chmod(disk.path("c.jpg"), 0o600)
    disk.rename("b.jpg", "a.jpg")
    // A rename that is not watched between them.
    disk.rename("c.jpg", "d.jpg")
    Disk.write(disk.outside + "/one", "")
    Glibc.rename(disk.outside + "/one", disk.outside + "/two")
    disk.rename("d.jpg", "c.jpg")
    // A third name.
    disk.rename("e.jpg", "f.jpg")
    disk.rename("f.jpg", "h.jpg")
    kill(process, SIGCONT)
    let namings = Self.namings(of: try await session.sync())
    #expect(namings == Array(repeating: .renamed, count: 6))
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  private static func namings(of records: [WatchRecord]) -> [FileEvent.Naming] {
    records.compactMap { if case .fileMoved(_, _, _, _, _, let event) = $0 { event.naming } else { nil } }
  }

  @Test func atomicSaveIsOneRecord() async throws {
    disk.write("a.jpg", "old")
    let session = try await WatchSession(roots: [disk.root])
    disk.write(".a.jpg.tmp", "newer")
    disk.rename(".a.jpg.tmp", "a.jpg")
    let said = try await session.sync()
    #expect(said.count == 2)
    guard case .fileFound(_, _, let stat, let event) = said.first else {
      Issue.record("\(said)")
      return
    }
    #expect(stat.byteCount == 5)
    #expect(event.naming == .renamed)
    await session.watcher.stop()
  }

  /// A file that stays unchanged for half a second while it is open is reported as it is. So a slow attempt is
  /// repeated.
  @Test func aWrittenFileIsReportedOnce() async throws {
    let session = try await WatchSession(roots: [disk.root])
    for attempt in 0..<20 {
      let begun = ContinuousClock.now
      let file = open(disk.path("\(attempt).jpg"), O_WRONLY | O_CREAT, 0o644)
      #expect(write(file, "half", 4) == 4)
      // A directory event that follows CREATE proves that CREATE was read while the file is open.
      disk.makeDirectory("later\(attempt)")
      let before = try await session.take { if case .directoryFound = $0 { true } else { false } }
      #expect(write(file, "whole", 5) == 5)
      close(file)
      let written = try await session.take { if case .fileFound = $0 { true } else { false } }
      let after = try await session.sync()
      guard ContinuousClock.now - begun < .milliseconds(400) else { continue }
      let said = (before + written + after).count { if case .fileFound = $0 { true } else { false } }
      #expect(said == 1)
      session.expectDiskState([disk.root])
      await session.watcher.stop()
      return
    }
    Issue.record("twenty times this took longer than 0.4 s")
  }

  @Test func syncReportsFilesThatAreBeingWritten() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let file = open(disk.path("a.jpg"), O_WRONLY | O_CREAT, 0o644)
    #expect(write(file, "half", 4) == 4)
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 1)
    close(file)
    await session.watcher.stop()
  }

  @Test func hardLinksAreSeparateFiles() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root])
    #expect(link(disk.path("a.jpg"), disk.path("b.jpg")) == 0)
    #expect(symlink(disk.path("a.jpg"), disk.path("c.jpg")) == 0)
    let said = try await session.take { if case .fileFound = $0 { true } else { false } }
    let namings = said.compactMap { if case .fileFound(_, _, _, let event) = $0 { event.naming } else { nil } }
    #expect(namings == [.created])
    try await session.sync()
    #expect(session.model.files.count == 2)
    await session.watcher.stop()
  }

  @Test func aNamelessFileThatIsLinkedIsFound() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let file = open(disk.root, 0o20200000 | O_RDWR, 0o644)  // O_TMPFILE
    try #require(file >= 0)
    #expect(write(file, "x", 1) == 1)
    #expect(linkat(AT_FDCWD, "/proc/self/fd/\(file)", AT_FDCWD, disk.path("a.jpg"), AT_SYMLINK_FOLLOW) == 0)
    close(file)
    try await session.take { if case .fileFound = $0 { true } else { false } }
    session.expectDiskState([disk.root])
    await session.watcher.stop()
  }

  @Test func touchingAFileReportsIt() async throws {
    disk.write("a.jpg")
    let session = try await WatchSession(roots: [disk.root])
    chmod(disk.path("a.jpg"), 0o600)
    let said = try await session.sync()
    #expect(said.count == 2)
    await session.watcher.stop()
  }

  @Test func namesMayContainAnyBytes() async throws {
    let session = try await WatchSession(roots: [disk.root])
    let longest = [UInt8](repeating: 0xFF, count: 251) + Array(".jpg".utf8)
    let names: [[UInt8]] = [longest, [0xC3, 0x28] + Array(".jpg".utf8), Array("new\nline.jpg".utf8)]
    for name in names {
      let path = Array(disk.root.utf8) + [0x2F] + name
      let file = Disk.withCString(path) { open($0, O_WRONLY | O_CREAT, 0o644) }
      #expect(write(file, "x", 1) == 1)
      close(file)
    }
    try await session.sync()
    session.expectDiskState([disk.root])
    #expect(session.model.files.count == 3)
    await session.watcher.stop()
  }
}
