import Testing
import WatchRecords

@testable import PhotoIndexer

/// The events that the ring keeps, and those that the reconciler reports to it.
struct EventTests {
  // MARK: The ring

  @Test func aRingKeepsTheLastEventsAndCountsTheOthers() {
    let ring = EventRing(capacity: 3)
    #expect(ring.events(after: 0, limit: 10).events.isEmpty)
    for session in 1...5 { ring.append(.watcherStarted(session: session)) }
    let (events, missed) = ring.events(after: 0, limit: 10)
    #expect(events.map(\.number) == [3, 4, 5])
    #expect(missed == 2)
    #expect(
      events.map(\.detail) == ["3rd", "4th", "5th"].map { "photod-watch started for the \($0) time" })
  }

  @Test func countOfOneIsInTheSingular() {
    let ring = EventRing(capacity: 9)
    for session in [1, 11, 21, 112] { ring.append(.watcherStarted(session: session)) }
    ring.append(
      .committed(
        sequence: 1, origin: "mount", .init(inserted: 0, updated: 0, deleted: 0, folders: 1, roots: 1)))
    #expect(
      ring.events(after: 0, limit: 10).events.map(\.detail)
        == ["1st", "11th", "21st", "112th"].map { "photod-watch started for the \($0) time" }
        + ["1 by mount: 1 folder renamed, 1 root online or offline"])
  }

  @Test func aReaderContinuesWhereItEnded() {
    let ring = EventRing(capacity: 4)
    for session in 1...6 { ring.append(.watcherStarted(session: session)) }
    #expect(ring.events(after: 3, limit: 2).events.map(\.number) == [4, 5])
    #expect(ring.events(after: 3, limit: .max).missed == 0)
    #expect(ring.events(after: 6, limit: 10).events.isEmpty)
    #expect(ring.events(after: 6, limit: 10).missed == 0)
    for _ in 1...10 { ring.append(.overflow) }
    let (events, missed) = ring.events(after: 6, limit: 10)
    #expect(events.map(\.number) == [13, 14, 15, 16])
    #expect(missed == 6)
  }

  @Test func followersAreWokenByTheAnnouncementOnly() async {
    let ring = EventRing(capacity: 4)
    ring.append(.overflow)
    #expect(ring.feed.sequence == 0)
    ring.append(.overflow)
    ring.announce()
    #expect(await ring.feed.next(after: 0) == 2)
    ring.feed.finish()
    #expect(await ring.feed.next(after: 2) == nil)
  }

  // MARK: The story

  private func eventTexts(_ fixture: ReconcilerFixture, after number: Int64 = 0) -> [String] {
    fixture.reconciler.events.ring.events(after: number, limit: .max).events.map { event in
      var line = "\(event.source) \(event.kind)"
      if let path = event.fromPath { line += " \(path) →" }
      if let path = event.path { line += " \(path)" }
      return line + ": " + event.detail
    }
  }

  private func last(_ fixture: ReconcilerFixture) -> Int64 {
    fixture.reconciler.events.ring.events(after: 0, limit: .max).events.last?.number ?? 0
  }

  @Test func eventsOfAScanNameFoldersIfPhotosChanged() throws {
    let fixture = try ReconcilerFixture()
    let files = (1...50).map { index -> (String, FileStat) in
      ("\(index).jpg", fixture.disk.write("/p/\(index).jpg"))
    }
    try fixture.scan(files)
    #expect(
      eventTexts(fixture) == [
        "watch scanStarted /p: the first scan of this photod-watch",
        "watch listed /p: 50 files, 50 new (scan)",
      ])
    let before = last(fixture)
    try fixture.scan(files)
    #expect(eventTexts(fixture, after: before) == ["watch scanStarted /p: the first scan of this photod-watch"])
  }

  @Test func eventsIncludeARenameAndItsDecision() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat)])
    let before = last(fixture)
    let moved = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    try fixture.apply(ReconcilerFixture.moved("a.jpg", to: "b.jpg", moved))
    #expect(
      eventTexts(fixture, after: before) == [
        "watch fileMoved /p/a.jpg → /p/b.jpg: moved",
        "library renamed /p/a.jpg → /p/b.jpg: the same photo in another place",
      ])
  }

  @Test func aTouchThatChangesNothingIsIgnoredWithTheReason() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat)])
    let before = last(fixture)
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.apply(ReconcilerFixture.file("a.jpg", stat))
    let events = fixture.reconciler.events.ring.events(after: before, limit: .max).events
    #expect(events.map(\.kind) == [.fileSeen, .ignored])
    #expect(events.map(\.assetID) == [nil, id])
    #expect(events[1].detail.hasPrefix("nothing to do: "))
  }

  @Test func removalEventHasThePath() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    let before = last(fixture)
    try fixture.apply(ReconcilerFixture.gone("a.jpg"))
    #expect(
      eventTexts(fixture, after: before) == [
        "watch fileGone /p/a.jpg: removed, or replaced by something else than a file",
        "library removed /p/a.jpg: removed from the library",
      ])
  }

  @Test func aRemovedFolderIsOneEvent() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([])
    try fixture.apply(ReconcilerFixture.found(2, "d", inode: 20))
    let files = (1...30).map { index in
      ReconcilerFixture.file(
        "\(index).jpg", in: 2, fixture.disk.write("/p/d/\(index).jpg"))
    }
    for file in files { try fixture.apply(file) }
    let before = last(fixture)
    try fixture.apply(.directoryMoved(number: 2, parent: 1, name: ReconcilerFixture.bytes("e")))
    try fixture.apply(.directoryGone(number: 2, evidence: .event))
    #expect(
      eventTexts(fixture, after: before) == [
        "watch folderMoved /p/d → /p/e: the folder moved with its content",
        "library renamed /p/d → /p/e: the same folder in another place",
        "watch folderGone /p/e: the folder was removed with its content",
        "library removed /p/e: removed from the library with 30 assets",
      ])
  }

  @Test func eventsIncludeOverflowsAndUnreadableFolders() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([])
    let before = last(fixture)
    try fixture.apply(.overflow, .unreadable(directory: 1, name: ReconcilerFixture.bytes("x"), errorNumber: 13))
    #expect(
      eventTexts(fixture, after: before) == [
        "watch overflow: the kernel's queue overflowed and events were lost; all folders are scanned",
        "watch unreadable /p/x: can't be read: Permission denied",
      ])
  }

  @Test func anEventHasThePathOfItsFolderAtThatTime() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([])
    try fixture.apply(ReconcilerFixture.found(2, "d", inode: 20))
    try fixture.apply(ReconcilerFixture.file("a.jpg", in: 2, fixture.disk.write("/p/d/a.jpg")))
    try fixture.apply(.directoryMoved(number: 2, parent: 1, name: ReconcilerFixture.bytes("e")))
    try fixture.apply(ReconcilerFixture.file("b.jpg", in: 2, fixture.disk.write("/p/e/b.jpg")))
    let inserted = fixture.reconciler.events.ring.events(after: 0, limit: .max).events.filter { $0.kind == .inserted }
    #expect(inserted.map(\.path) == ["/p/d/a.jpg", "/p/e/b.jpg"])
  }

  @Test func aRootThatIsTheFileSystemsRootHasNoDoubleSlash() {
    let name = ReconcilerFixture.bytes("a.jpg")
    #expect(EventPlace(directory: [UInt8(ascii: "/")], name: name).path == "/a.jpg")
    #expect(EventPlace(directory: ReconcilerFixture.bytes("/p"), name: []).path == "/p")
    #expect(EventPlace(directory: ReconcilerFixture.bytes("/p"), name: [0xFF]).path == "file:///p/%FF")
  }
}
