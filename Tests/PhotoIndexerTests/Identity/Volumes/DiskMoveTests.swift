import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A move to another disk is a copy and, minutes later, the removal of the original.
@Suite struct DiskMoveTests {
  /// Root 1 with settled files, and root 2 on another disk.
  private func twoDisks(_ names: String...) throws -> (ReconcilerFixture, ids: [String: AssetID]) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top)
    for name in names { try fixture.apply(Fixture.file(name, fixture.disk.write("/p/" + name))) }
    try fixture.addSecondRoot()
    fixture.disk.pass(86_400)
    return (fixture, try fixture.paths())
  }

  private func copy(_ name: String, to other: String, _ fixture: ReconcilerFixture) throws {
    let stat = fixture.disk.copy("/p/" + name, "/q/" + other, device: 2)
    try fixture.apply(Fixture.file(other, in: 60, stat))
  }

  @discardableResult
  private func delete(_ name: String, _ fixture: ReconcilerFixture) throws -> CommitRecord {
    fixture.disk.remove("/p/" + name)
    return try fixture.apply(Fixture.gone(name))
  }

  @Test(arguments: [false, true]) func copyOfARemovedOriginalGetsItsIdentifier(isRestarted: Bool) throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    let id = try #require(ids["/p/a.jpg"])
    let album = try fixture.give(id)
    try copy("a.jpg", to: "b.jpg", fixture)
    let young = try #require(try fixture.paths()["/q/b.jpg"])
    #expect(young != id)
    fixture.disk.pass(3_000)
    if isRestarted {
      try fixture.restart()
      try fixture.apply(Fixture.top)
    }
    let record = try delete("a.jpg", fixture)
    #expect(record.deletedAssets == [young] && record.updatedAssets == [id: .path] && record.insertedAssets.isEmpty)
    let asset = try fixture.asset("/q/b.jpg")
    #expect(asset.id == id && asset.isFavorite)
    #expect(try fixture.members(of: album) == [id])
    #expect(try fixture.catalog.read { try $0.tombstoneCount() } == 0)
    #expect(
      try fixture.catalog.read { try $0.file(ofAsset: id)?.inode }
        == fixture.disk.stat(Fixture.bytes("/q/b.jpg"))?.identity.inode)
  }

  /// The copy is dated before the save.
  @Test func savedPhotoIsMovedAfterTheClockWasSetBack() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    fixture.disk.pass(5 * 86_400)
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", camera: "edited")))
    fixture.disk.pass(-3 * 86_400)
    try copy("a.jpg", to: "b.jpg", fixture)
    fixture.disk.pass(10)
    try delete("a.jpg", fixture)
    #expect(try fixture.paths() == ["/q/b.jpg": try #require(ids["/p/a.jpg"])])
  }

  @Test func copyWhoseOriginalStaysIsAPhotoOfItsOwn() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    try copy("a.jpg", to: "a.jpg", fixture)
    let paths = try fixture.paths()
    #expect(paths["/p/a.jpg"] == ids["/p/a.jpg"] && paths["/q/a.jpg"] != nil)
    fixture.disk.pass(3_700)
    #expect(try delete("a.jpg", fixture).deletedAssets == [try #require(ids["/p/a.jpg"])])
    #expect(try fixture.paths() == ["/q/a.jpg": try #require(paths["/q/a.jpg"])])
  }

  @Test func favoriteCopyKeepsItsOwnIdentifier() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    let id = try #require(ids["/p/a.jpg"])
    try copy("a.jpg", to: "a.jpg", fixture)
    let young = try #require(try fixture.paths()["/q/a.jpg"])
    try fixture.give(young)
    #expect(try delete("a.jpg", fixture).deletedAssets == [id])
    #expect(try fixture.paths() == ["/q/a.jpg": young])
  }

  @Test func copyWithTheNameOfTheOriginalIsItsSuccessor() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    try copy("a.jpg", to: "x.jpg", fixture)
    try copy("a.jpg", to: "a.jpg", fixture)
    let x = try fixture.paths()["/q/x.jpg"]
    try delete("a.jpg", fixture)
    #expect(try fixture.paths() == ["/q/a.jpg": try #require(ids["/p/a.jpg"]), "/q/x.jpg": try #require(x)])
  }

  /// There are two originals with the same content, and a copy of each.
  @Test func twoDeletedOriginalsOfOneContentHaveTwoSuccessors() throws {
    let (fixture, _) = try twoDisks()
    for name in ["a.jpg", "b.jpg"] {
      try fixture.apply(Fixture.file(name, fixture.disk.write("/p/" + name, content: 99)))
    }
    let ids = try fixture.paths()
    fixture.disk.pass(86_400)
    for name in ["a.jpg", "b.jpg"] { try copy(name, to: name, fixture) }
    for name in ["b.jpg", "a.jpg"] { try delete(name, fixture) }
    #expect(
      try fixture.paths() == ["/q/a.jpg": try #require(ids["/p/a.jpg"]), "/q/b.jpg": try #require(ids["/p/b.jpg"])])
  }

  // MARK: Deleted twins

  /// /p/a.jpg and a copy of it, a day later.
  private func twins(_ twin: String, bytes: Int64) throws -> (ReconcilerFixture, id: AssetID, twin: AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.found(2, "x", inode: 20), Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: bytes))
    )
    fixture.disk.pass(86_400)
    try fixture.apply(found(twin, fixture.disk.copy("/p/a.jpg", twin)))
    try fixture.addSecondRoot()
    fixture.disk.pass(86_400)
    let paths = try fixture.paths()
    return (fixture, try #require(paths["/p/a.jpg"]), try #require(paths[twin]))
  }

  private func found(_ path: String, _ stat: FileStat) -> WatchRecord {
    path.hasPrefix("/p/x/")
      ? Fixture.file(String(path.dropFirst(5)), in: 2, stat) : Fixture.file(String(path.dropFirst(3)), stat)
  }

  /// The copy also has the content of a deleted photo. It may not become that photo, because then the favorite would
  /// end.
  @Test(arguments: ["/p/b.jpg", "/p/x/a.jpg"], [100, 10_000_000] as [Int64])
  func copyOfADeletedFavoriteGetsItsIdentifier(twin path: String, bytes: Int64) throws {
    let (fixture, id, twin) = try twins(path, bytes: bytes)
    let album = try fixture.give(id)
    fixture.disk.remove(path)
    try fixture.apply(path.hasPrefix("/p/x/") ? Fixture.gone("a.jpg", in: 2) : Fixture.gone("b.jpg"))
    fixture.disk.pass(86_400)
    try copy("a.jpg", to: "a.jpg", fixture)
    #expect(try fixture.paths()["/q/a.jpg"] != twin)
    fixture.disk.pass(60)
    try delete("a.jpg", fixture)
    #expect(try fixture.paths() == ["/q/a.jpg": id] && fixture.asset("/q/a.jpg").isFavorite)
    #expect(try fixture.members(of: album) == [id])
  }

  /// The other twin is still there, but farther away.
  @Test func deletedFavoriteThatReturnsKeepsItsIdentifierBesideACopy() throws {
    let (fixture, id, twin) = try twins("/p/b.jpg", bytes: 100)
    try fixture.give(twin)
    fixture.disk.copy("/p/b.jpg", "/backup/b.jpg")
    try delete("b.jpg", fixture)
    fixture.disk.pass(86_400)
    try fixture.apply(Fixture.file("b.jpg", in: 60, fixture.disk.copy("/backup/b.jpg", "/q/b.jpg", device: 2)))
    #expect(try fixture.paths() == ["/p/a.jpg": id, "/q/b.jpg": twin] && fixture.asset("/q/b.jpg").isFavorite)
  }

  /// Both favorites are put back into another folder. The return of the first must not prevent that of the second.
  @Test func equalFavoritesThatReturnTogetherKeepTheirIdentifiers() throws {
    let (fixture, id, twin) = try twins("/p/b.jpg", bytes: 100)
    for favorite in [id, twin] { try fixture.give(favorite) }
    for name in ["a.jpg", "b.jpg"] { fixture.disk.copy("/p/" + name, "/backup/" + name) }
    for name in ["a.jpg", "b.jpg"] { try delete(name, fixture) }
    fixture.disk.pass(86_400)
    for name in ["a.jpg", "b.jpg"] {
      let stat = fixture.disk.copy("/backup/" + name, "/q/" + name, device: 2)
      try fixture.apply(Fixture.file(name, in: 60, stat))
    }
    #expect(try fixture.paths() == ["/q/a.jpg": id, "/q/b.jpg": twin])
  }

  /// Both photos are new to the library, and neither was created while the library watched.
  @Test func secondOfTwoEqualPhotosOfAFirstScanKeepsItsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    let a = fixture.disk.write("/p/a.jpg", content: 99)
    let b = fixture.disk.write("/p/b.jpg", content: 99)
    fixture.disk.pass(100)
    try fixture.scan([("a.jpg", a), ("b.jpg", b)])
    let ids = try fixture.paths()
    fixture.disk.pass(100)
    #expect(try delete("a.jpg", fixture).deletedAssets == [try #require(ids["/p/a.jpg"])])
    #expect(try fixture.paths() == ["/p/b.jpg": try #require(ids["/p/b.jpg"])])
  }

  /// A rename updates the change time of an old copy and may give it the original's name. It is no copy of the original
  /// even so.
  @Test(arguments: [true, false]) func oldCopyThatWasRenamedKeepsItsOwnIdentifier(keepsBirth: Bool) throws {
    let fixture = try ReconcilerFixture()
    let a = fixture.disk.write("/p/a.jpg", content: 77, keepsBirth: keepsBirth)
    let b = fixture.disk.write("/p/b.jpg", content: 77, keepsBirth: keepsBirth)
    fixture.disk.pass(100)
    try fixture.scan([("a.jpg", a), ("b.jpg", b)])
    let ids = try fixture.paths()
    fixture.disk.pass(60)
    try fixture.apply(Fixture.moved("b.jpg", to: "c.jpg", fixture.disk.move("/p/b.jpg", "/p/c.jpg")))
    fixture.disk.remove("/p/a.jpg")
    let record = try fixture.apply(Fixture.gone("a.jpg"))
    #expect(record.deletedAssets == [try #require(ids["/p/a.jpg"])] && record.updatedAssets.isEmpty)
    #expect(try fixture.paths() == ["/p/c.jpg": try #require(ids["/p/b.jpg"])])
  }

  @Test func copyThatIsItselfGoneIsNoSuccessor() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    try copy("a.jpg", to: "a.jpg", fixture)
    let young = try #require(try fixture.paths()["/q/a.jpg"])
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.remove("/q/a.jpg")
    let record = try fixture.apply(Fixture.gone("a.jpg"), Fixture.gone("a.jpg", in: 60))
    #expect(record.deletedAssets == [try #require(ids["/p/a.jpg"]), young])
    #expect(try fixture.paths().isEmpty)
  }

  @Test func copyThatWasFoundHalfWrittenIsTheSuccessor() throws {
    let (fixture, ids) = try twoDisks("a.jpg")
    let half = fixture.disk.write("/q/a.jpg", bytes: 10, device: 2)
    try fixture.apply(Fixture.file("a.jpg", in: 60, half))
    fixture.disk.remove("/q/a.jpg")
    fixture.disk.copy("/p/a.jpg", "/q/a.jpg", device: 2)
    fixture.disk.setIdentity(half.identity, of: "/q/a.jpg")
    try fixture.apply(Fixture.file("a.jpg", in: 60, try #require(fixture.disk.stat(Fixture.bytes("/q/a.jpg")))))
    try delete("a.jpg", fixture)
    #expect(try fixture.paths() == ["/q/a.jpg": try #require(ids["/p/a.jpg"])])
  }

  @Test func treeMovedToAnotherDiskKeepsItsPhotos() throws {
    let (fixture, _) = try twoDisks()
    try fixture.apply(Fixture.found(2, "x", inode: 20))
    for number in 0..<60 {
      try fixture.apply(Fixture.file("\(number).jpg", in: 2, fixture.disk.write("/p/x/\(number).jpg")))
    }
    let before = try fixture.paths()
    fixture.disk.pass(86_400)
    try fixture.apply(
      .directoryFound(
        number: 61, parent: 60, root: 2, name: Fixture.bytes("x"),
        identity: FileIdentity(device: 2, inode: 2, birthTime: 1)))
    for number in 0..<60 {
      let stat = fixture.disk.copy("/p/x/\(number).jpg", "/q/x/\(number).jpg", device: 2)
      try fixture.apply(Fixture.file("\(number).jpg", in: 61, stat))
      fixture.disk.pass(10)
    }
    for number in 0..<60 { fixture.disk.remove("/p/x/\(number).jpg") }
    let reads = fixture.disk.readCount
    let record = try fixture.apply(.directoryGone(number: 2, evidence: .event))
    #expect(record.updatedAssets.count == 60 && record.deletedAssets.count == 60 && fixture.disk.readCount == reads)
    let after = try fixture.paths()
    #expect(after == Dictionary(uniqueKeysWithValues: before.map { ("/q" + $0.key.dropFirst(2), $0.value) }))
  }

  /// Two scans find the move after photod was down: first the copies, and at the end the missing originals.
  @Test func moveToAnotherDiskWhilePhotodWasDownKeepsTheIdentifier() throws {
    let (fixture, ids) = try twoDisks("a.jpg", "b.jpg")
    let b = try #require(fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    let stat = fixture.disk.copy("/p/a.jpg", "/q/a.jpg", device: 2)
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.pass(600)
    fixture.reconciler.beginSession()
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), .scanStarted(root: 2, request: 0, reason: .start),
      Fixture.top, .listingStarted(number: 1, evidence: .scan), Fixture.file("b.jpg", b),
      .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true),
      .directoryFound(
        number: 60, parent: 0, root: 2, name: Fixture.bytes("/q"),
        identity: FileIdentity(device: 2, inode: 1, birthTime: 1)),
      .listingStarted(number: 60, evidence: .scan), Fixture.file("a.jpg", in: 60, stat),
      .listingEnded(number: 60, complete: true), .scanEnded(root: 2, request: 0, complete: true))
    #expect(
      try fixture.paths() == ["/q/a.jpg": try #require(ids["/p/a.jpg"]), "/p/b.jpg": try #require(ids["/p/b.jpg"])])
  }

  // MARK: The list of new files

  private func row(_ id: AssetID, content: UInt64 = 5) -> FileRow {
    FileRow(
      assetID: id, directoryID: 1, name: Fixture.bytes("a.jpg"), byteCount: 1, modificationTime: 1, changeTime: 1,
      inode: 1, birthTime: 1, readTime: 1, marks: ContentMarks(fingerprint: content))
  }

  private func originals(_ row: FileRow, _ end: WallTime) -> [RecentInsertions.Originals] {
    [RecentInsertions.Originals(keys: .init(row), made: end, end: end)]
  }

  private func add(
    _ row: FileRow, to recent: inout RecentInsertions, fileTime: WallTime = 1, time: WallTime, originalsEnd: WallTime
  ) {
    recent.add(row.assetID, fileTime: fileTime, time: time, originals: originals(row, originalsEnd))
  }

  private func found(
    _ recent: inout RecentInsertions, _ row: FileRow, addedAt added: WallTime = 0, at time: WallTime,
    in fixture: ReconcilerFixture
  ) throws -> [AssetID] {
    try fixture.catalog.write { writer in
      let keys = [RecentInsertions.Keys(row)]
      guard try recent.hasCandidates(for: keys, time: time, in: writer, originals: { originals($0, $1) }) else {
        return []
      }
      var found: [AssetID] = []
      recent.forEach(RecentInsertions.Keys(row).all[0], ofOriginalAddedAt: added, in: writer, uptime: .boot) { id in
        found.append(id)
        return .passedOver
      }
      return found
    }
  }

  @Test func oldFileIsNoRecentInsertion() throws {
    let fixture = try ReconcilerFixture()
    var recent = RecentInsertions(isNew: true)
    let hour = RecentInsertions.lifetime.wholeNanoseconds
    func time(_ nanoseconds: Int64) -> WallTime { WallTime(nanoseconds: nanoseconds) }
    add(row(1), to: &recent, fileTime: 10, time: time(10 + hour), originalsEnd: time(10 + hour))
    add(row(2), to: &recent, fileTime: time(11 + hour), time: time(10 + hour), originalsEnd: time(10 + hour))
    add(row(3), to: &recent, fileTime: time(12 + hour), time: time(12 + hour), originalsEnd: time(12 + hour))
    add(row(2), to: &recent, fileTime: time(13 + hour), time: time(13 + hour), originalsEnd: time(13 + hour))
    #expect(try found(&recent, row(9), at: time(20 + hour), in: fixture) == [2, 3])
    #expect(try found(&recent, row(9), at: time(12 + 2 * hour), in: fixture) == [2])
    #expect(try found(&recent, row(9), at: time(13 + 2 * hour), in: fixture).isEmpty)
  }

  @Test func onlyTheNewestAreKept() throws {
    let fixture = try ReconcilerFixture()
    var recent = RecentInsertions(isNew: true)
    let count = 2 * RecentInsertions.limit + 1
    for id in 1...count { add(row(AssetID(id), content: UInt64(id)), to: &recent, time: 1, originalsEnd: 1) }
    #expect(try found(&recent, row(0, content: 1), at: 1, in: fixture).isEmpty)
    #expect(try found(&recent, row(0, content: UInt64(count)), at: 1, in: fixture) == [AssetID(count)])
  }

  /// Every minute a file comes and leaves, and an old one leaves, for example in a folder of downloads.
  @Test func assetsThatLeftAreNotKept() {
    func play(_ count: Int64) -> (kept: Int, pruned: Int) {
      var recent = RecentInsertions(isNew: true)
      for id in 1...count {
        let time = WallTime(seconds: id * 60)
        add(row(AssetID(id)), to: &recent, fileTime: time, time: time, originalsEnd: time)
        recent.remove(AssetID(id), time: time + .nanoseconds(1))
        recent.remove(AssetID(1_000_000 + id), time: time + .nanoseconds(1))
      }
      return (recent.keptCount, recent.prunedCount)
    }
    let (once, twice) = (play(20_000), play(40_000))
    #expect(twice.kept <= 1_000 && once.kept <= 1_000, "\(once.kept), then \(twice.kept)")
    #expect(once.pruned > 0 && Double(twice.pruned) < 2.2 * Double(once.pruned), "\(once.pruned), then \(twice.pruned)")
  }

  /// Pruning keeps the other new files.
  @Test func newFilesAreFoundAfterManyRemovals() throws {
    let fixture = try ReconcilerFixture()
    var recent = RecentInsertions(isNew: true)
    add(row(1), to: &recent, time: 1, originalsEnd: 1)
    add(row(2), to: &recent, time: 1, originalsEnd: 1)
    recent.remove(2, time: 1)
    for id in AssetID(1_000)..<1_200 { recent.remove(id, time: 1) }
    #expect(recent.keptCount < 100)
    #expect(try found(&recent, row(9), at: 1, in: fixture) == [1])
  }

  /// A file that was on its disk before the first scan is no copy of one that an earlier commit of that scan added.
  @Test func fileThatWasMadeBeforeAnotherCameIsNoCopyOfIt() throws {
    let fixture = try ReconcilerFixture()
    var recent = RecentInsertions(isNew: true)
    // The second of them was made last.
    add(row(1), to: &recent, time: 10, originalsEnd: 2)
    add(row(2), to: &recent, time: 20, originalsEnd: 9)
    add(row(3), to: &recent, time: 30, originalsEnd: 4)
    #expect(try found(&recent, row(9), addedAt: 1, at: 30, in: fixture) == [1, 3, 2])
    #expect(try found(&recent, row(9), addedAt: 4, at: 30, in: fixture) == [2])
    #expect(try found(&recent, row(9), addedAt: 9, at: 30, in: fixture).isEmpty)
  }

  @Test func unfitCandidateIsExaminedAgainTwoSecondsLaterOrIfARecordShowsItsFile() throws {
    let fixture = try ReconcilerFixture()
    var recent = RecentInsertions(isNew: true)
    for id in 1...3 {
      add(row(AssetID(id)), to: &recent, time: 1, originalsEnd: WallTime(nanoseconds: Int64(id)))
    }
    func examined(at seconds: Int64) throws -> [AssetID] {
      try fixture.catalog.write { writer in
        _ = try recent.hasCandidates(for: [.init(row(9))], time: 1, in: writer, originals: { originals($0, $1) })
        var examined: [AssetID] = []
        for _ in 0..<2 {
          recent.forEach(
            RecentInsertions.Keys(row(9)).all[0], ofOriginalAddedAt: 0, in: writer,
            uptime: MonotonicTime(nanoseconds: seconds * 1_000_000_000)
          ) {
            examined.append($0)
            return .unfit
          }
        }
        return examined
      }
    }
    #expect(try examined(at: 10) == [1, 2, 3])
    #expect(try examined(at: 11).isEmpty)
    recent.noteThere(2)
    recent.noteThere(4)
    #expect(try examined(at: 11) == [2])
    #expect(try examined(at: 12) == [1, 2, 3])
    recent.noteThere(3)
    recent.noteThere(1)
    #expect(try examined(at: 13) == [1, 3])
    recent.forgetUnfit()
    #expect(try examined(at: 13) == [1, 2, 3])
  }

  // MARK: Many equal files

  /// Inserts equal files and removes them within the hour.
  ///
  /// - Returns: how many candidates for a copy were examined in all.
  private func work(_ count: Int, removedTogether: Bool, insertedTogether: Bool, bytes: Int64) throws -> Int {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top)
    let names = (0..<count).map { "\($0).jpg" }
    func apply(_ records: [WatchRecord], together: Bool) throws {
      for part in together ? [records] : records.map({ [$0] }) { try fixture.apply(all: part) }
    }
    for part in insertedTogether ? [names] : names.map({ [$0] }) {
      let files = part.map { Fixture.file($0, fixture.disk.write("/p/" + $0, bytes: bytes, content: 7)) }
      try fixture.apply(all: files)
      fixture.disk.pass(1)
    }
    fixture.disk.pass(10)
    let before = fixture.reconciler.remembered.examinedCount
    if removedTogether { for name in names { fixture.disk.remove("/p/" + name) } }
    for part in removedTogether ? [names] : names.map({ [$0] }) {
      for name in part { fixture.disk.remove("/p/" + name) }
      try fixture.apply(all: part.map { Fixture.gone($0) })
    }
    #expect(try fixture.paths().isEmpty)
    return fixture.reconciler.remembered.examinedCount - before
  }

  @Test(
    arguments: [(true, true), (true, false), (false, true), (false, false)], [100, 1_000_000] as [Int64])
  func removingTwiceAsManyEqualFilesIsTwiceTheWork(together: (removed: Bool, inserted: Bool), bytes: Int64) throws {
    let (removed, inserted) = together
    let once = try work(60, removedTogether: removed, insertedTogether: inserted, bytes: bytes)
    let twice = try work(120, removedTogether: removed, insertedTogether: inserted, bytes: bytes)
    #expect(twice <= 2 * once + 10, "\(once), then \(twice)")
    #expect(once <= 60 * 4)
  }
}
