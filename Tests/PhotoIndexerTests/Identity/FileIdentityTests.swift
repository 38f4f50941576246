import PhotoCatalog
import PhotoModel
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Decides which files are the same photo.
@Suite struct FileIdentityTests {
  @Test func knownFileIsNotReadAgain() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    #expect(try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat)).insertedAssets.count == 1)
    fixture.disk.pass(10)
    try fixture.restart()
    let reads = fixture.disk.readCount
    #expect(try fixture.scan([("a.jpg", stat)]).isEmpty)
    #expect(fixture.disk.readCount == reads)
  }

  @Test func renameKeepsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]
    fixture.disk.pass(10)
    let record = try fixture.apply(Fixture.moved("a.jpg", to: "b.jpg", fixture.disk.move("/p/a.jpg", "/p/b.jpg")))
    #expect(try fixture.paths() == ["/p/b.jpg": id!])
    #expect(record.updatedAssets == [id!: .path] && record.insertedAssets.isEmpty && record.deletedAssets.isEmpty)
  }

  @Test func renameSeenInTwoHalvesKeepsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]
    let stat = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    let record = try fixture.apply(Fixture.gone("a.jpg"), Fixture.file("b.jpg", stat))
    #expect(try fixture.paths() == ["/p/b.jpg": id!])
    #expect(record.deletedAssets.isEmpty)
  }

  @Test func renameChainKeepsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    let stat = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    try fixture.apply(Fixture.moved("a.jpg", to: "b.jpg", nil), Fixture.moved("b.jpg", to: "c.jpg", stat))
    #expect(try fixture.paths() == ["/p/c.jpg": id!])
  }

  /// The listing shows the folder as it was at the beginning. A batch may end in the middle of the listing.
  @Test func photoReplacedWhileItsFolderIsListedIsThere() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    let old = try fixture.paths()["/p/a.jpg"]
    try fixture.restart()
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      Fixture.gone("a.jpg"))
    #expect(try fixture.paths().isEmpty)
    try fixture.apply(
      Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 0, complete: true))
    #expect(try fixture.paths().keys.sorted() == ["/p/a.jpg"])
    #expect(try fixture.paths()["/p/a.jpg"] != old)
  }

  @Test func fileNamedTwiceInOneListingIsOnePhoto() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    #expect(try fixture.scan([("a.jpg", stat), ("a.jpg", stat)]).insertedAssets.count == 1)
    try fixture.restart()
    #expect(try fixture.scan([("a.jpg", stat), ("a.jpg", stat)]).isEmpty)
    #expect(try fixture.paths().count == 1)
  }

  @Test func atomicSaveChangesTheAsset() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]!
    fixture.disk.pass(100)
    fixture.disk.write("/p/.tmp", camera: "X200")
    let record = try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/p/.tmp", "/p/a.jpg")))
    #expect(record.updatedAssets == [id: [.content, .metadata]] && record.deletedAssets.isEmpty)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200")
  }

  @Test func savedFileThatIsRenamedBeforeItIsReadHasNewContent() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("new.jpg", fixture.disk.write("/p/new.jpg", bytes: 200)))
    fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let stat = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    let record = try fixture.apply(
      Fixture.moved("new.jpg", to: "a.jpg", nil), Fixture.moved("a.jpg", to: "b.jpg", stat))
    #expect(record.updatedAssets[id] == [.content, .path])
    let larger = try fixture.catalog.read { try $0.ids(try $0.plan(FetchOptions(predicate: "byteCount == 200"))) }
    #expect(larger == [id])
  }

  /// If a program saves twice, its second temporary file has the path of the first one.
  @Test func newFileWhereASavedOneWasIsAnAssetOfItsOwn() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", camera: "X200")))
    let saved = fixture.disk.move("/p/b.jpg", "/p/a.jpg")
    let second = fixture.disk.write("/p/b.jpg", camera: "X300")
    fixture.disk.setKeywords(["k"], of: "/p/b.jpg")
    let record = try fixture.scan([("a.jpg", saved), ("b.jpg", second)])
    #expect(try fixture.paths()["/p/a.jpg"] == id)
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "X300")
    #expect(record.deletedAssets.isDisjoint(with: record.updatedAssets.keys))
  }

  @Test func fileThatReturnsInTheNextBatchIsAnAsset() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    fixture.disk.pass(100)
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"), .listingStarted(number: 1, evidence: .event))
    let record = try fixture.apply(
      Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")), .listingEnded(number: 1, complete: true))
    #expect(try fixture.paths().keys.sorted() == ["/p/a.jpg"])
    #expect(record.insertedAssets.count == 1 && record.updatedAssets.isEmpty)
  }

  @Test func youngAssetRenamedOverAnotherIsASave() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]!
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("new.jpg", fixture.disk.write("/p/new.jpg", camera: "X200")))
    let record = try fixture.apply(Fixture.moved("new.jpg", to: "a.jpg", fixture.disk.move("/p/new.jpg", "/p/a.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(record.updatedAssets[id]?.contains(.content) == true)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200")
  }

  @Test func settledAssetRenamedOverAnotherKeepsItsOwnIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")),
      Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg")))
    let before = try fixture.paths()
    fixture.disk.pass(100)
    let record = try fixture.apply(Fixture.moved("b.jpg", to: "a.jpg", fixture.disk.move("/p/b.jpg", "/p/a.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": before["/p/b.jpg"]!])
    #expect(record.deletedAssets == [before["/p/a.jpg"]!])
  }

  @Test func hardLinkIsAnAssetOfItsOwn() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.link("/p/a.jpg", "/p/b.jpg")))
    #expect(try fixture.paths().count == 2)
  }

  @Test func inodeOfADeletedPhotoMakesANewAsset() throws {
    let fixture = try ReconcilerFixture()
    let old = fixture.disk.write("/p/a.jpg")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", old))
    let id = try fixture.paths()["/p/a.jpg"]!
    fixture.disk.remove("/p/a.jpg")
    var new = fixture.disk.write("/p/b.jpg")
    new.identity.inode = old.identity.inode
    new.identity.birthTime = old.identity.birthTime
    new.identity.birthTime += 5
    let record = try fixture.apply(Fixture.gone("a.jpg"), Fixture.file("b.jpg", new))
    #expect(record.deletedAssets == [id] && record.insertedAssets.count == 1)
  }

  // MARK: Renamed while nobody looked

  /// Settled files, and the name of each after photod was down. A listing returns them in any order.
  @Test(arguments: [
    ["a.jpg": "z.jpg"], ["a.jpg": "b.jpg", "b.jpg": "a.jpg"],
    ["a.jpg": "b.jpg", "b.jpg": "c.jpg", "c.jpg": "a.jpg"], ["a.jpg": "b.jpg", "b.jpg": "c.jpg", "c.jpg": "d.jpg"],
  ])
  func filesRenamedWhilePhotodWasDownKeepTheirIdentifiers(names: [String: String]) throws {
    for keepsBirth in [true, false] {
      for isReversed in [false, true] {
        let fixture = try ReconcilerFixture(grace: .seconds(600))
        let olds = ["a.jpg", "b.jpg", "c.jpg"]
        try fixture.scan(
          olds.map { ($0, fixture.disk.write("/p/" + $0, camera: $0, keepsBirth: keepsBirth)) })
        let before = try fixture.paths()
        for id in before.values { try fixture.give(id) }
        fixture.disk.pass(1_000)
        for (old, _) in names { fixture.disk.move("/p/" + old, "/p/" + old + ".moving") }
        for (old, new) in names { fixture.disk.move("/p/" + old + ".moving", "/p/" + new) }
        try fixture.restart()
        let found = olds.map { names[$0] ?? $0 }.sorted().map {
          ($0, fixture.disk.stat(Fixture.bytes("/p/" + $0))!)
        }
        let record = try fixture.scan(isReversed ? found.reversed() : found)
        let after = try fixture.paths()
        for old in olds { #expect(after["/p/" + (names[old] ?? old)] == before["/p/" + old]) }
        #expect(record.insertedAssets.isEmpty && record.deletedAssets.isEmpty)
        #expect(record.updatedAssets.values.allSatisfy { $0 == .path } && record.updatedAssets.count == names.count)
        for (path, id) in after {
          let asset = try fixture.asset(path)
          #expect(
            asset.isFavorite && asset.id == id
              && asset.camera?.model == olds.first { names[$0] ?? $0 == path.dropFirst(3) })
        }
      }
    }
  }

  @Test func replacedPhotoLeavesATombstone() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")),
      Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg")))
    let before = try fixture.paths()
    fixture.disk.pass(100)
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    try fixture.apply(Fixture.moved("b.jpg", to: "a.jpg", fixture.disk.move("/p/b.jpg", "/p/a.jpg")))
    try fixture.apply(Fixture.file("old.jpg", fixture.disk.move("/backup/a.jpg", "/p/old.jpg")))
    #expect(try fixture.paths() == ["/p/a.jpg": before["/p/b.jpg"]!, "/p/old.jpg": before["/p/a.jpg"]!])
  }

  /// A file that was saved beside a photo and renamed over it is the photo. The file's short-lived asset leaves no
  /// tombstone.
  @Test func savedFileLeavesNoTombstone() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    fixture.disk.pass(100)
    try fixture.apply(Fixture.file("new.jpg", fixture.disk.write("/p/new.jpg")))
    try fixture.apply(Fixture.moved("new.jpg", to: "a.jpg", fixture.disk.move("/p/new.jpg", "/p/a.jpg")))
    #expect(try fixture.catalog.read { try $0.tombstoneCount() } == 0)
  }

  // MARK: Facts from the name

  @Test(arguments: [true, false]) func renameToAScreenshotsNameHasItReadAgain(isLookedAt: Bool) throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    fixture.disk.pass(100)
    let reads = fixture.disk.readCount
    let name = "Screenshot from 2024.jpg"
    let stat = fixture.disk.move("/p/a.jpg", "/p/" + name)
    try fixture.apply(Fixture.moved("a.jpg", to: name, isLookedAt ? stat : nil), .synced(number: 1))
    #expect(fixture.disk.readCount == reads + 1)
    fixture.disk.pass(100)
    try fixture.apply(Fixture.moved(name, to: "b.JPG", fixture.disk.move("/p/" + name, "/p/b.JPG")))
    #expect(fixture.disk.readCount == reads + 2)
    fixture.disk.pass(100)
    try fixture.apply(Fixture.moved("b.JPG", to: "c.jpeg", fixture.disk.move("/p/b.JPG", "/p/c.jpeg")))
    #expect(fixture.disk.readCount == reads + 2)
  }

  // MARK: Several names

  @Test func contentWrittenThroughOneNameIsSeenUnderTheOther() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.link("/p/a.jpg", "/p/b.jpg")))
    let ids = Set(try fixture.paths().values)
    fixture.disk.pass(100)
    let stat = fixture.disk.write("/p/a.jpg", camera: "X200", bytes: 300)
    _ = fixture.disk.link("/p/a.jpg", "/p/b.jpg")
    let record = try fixture.apply(Fixture.file("a.jpg", stat))
    #expect(Set(record.updatedAssets.keys) == ids)
    #expect(
      try fixture.asset("/p/b.jpg").camera?.model == "X200" && fixture.asset("/p/b.jpg").resources[0].byteCount == 300)
    #expect(try fixture.scan([("a.jpg", stat), ("b.jpg", stat)]).isEmpty)
  }

  // MARK: An older photod's catalog

  @Test(arguments: [true, false]) func upgradeFillsInFingerprintsAndAnnouncesNothing(keepsInodes: Bool) throws {
    let fixture = try ReconcilerFixture()
    var files = ["a.jpg", "b.jpg"].map { ($0, fixture.disk.write("/p/" + $0)) }
    try fixture.scan(files)
    fixture.disk.pass(3_600)
    try fixture.upgrade(from: .identity)
    if !keepsInodes {
      // The inodes change as on FAT, which has new ones at each mount.
      for index in files.indices {
        files[index].1.identity.inode += 500
        fixture.disk.setIdentity(files[index].1.identity, of: "/p/" + files[index].0)
      }
    }
    let before = try fixture.catalog.read { try $0.sequence() }
    let reads = fixture.disk.readCount
    #expect(try fixture.scan(files).isEmpty)
    #expect(fixture.disk.readCount == reads + 2)
    #expect(try fixture.catalog.read { try $0.sequence() } == before)
    for (path, id) in try fixture.paths() {
      let row = try fixture.catalog.read { try $0.file(ofAsset: id) }
      #expect(row?.marks.fingerprint == fixture.disk.content(of: path) && row?.readTime != .unknown)
    }
    #expect(try fixture.scan(files).isEmpty && fixture.disk.readCount == reads + 2)
  }

  @Test func emptyFileIsNoAsset() throws {
    let fixture = try ReconcilerFixture()
    #expect(
      try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: 0)))
        .insertedAssets.isEmpty)
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    #expect(try fixture.paths().count == 1)
  }

  @Test func photoThatIsEmptyForAMomentKeepsItsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try fixture.paths()["/p/a.jpg"]!
    fixture.disk.pass(10)
    #expect(try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: 0))).isEmpty)
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", camera: "X9")), .synced(number: 1))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    fixture.disk.pass(10)
    let record = try fixture.apply(
      Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: 0)), .synced(number: 2))
    #expect(record.deletedAssets == [id])
  }

  @Test func changedInodesOfAnUnchangedFileAreNoChange() throws {
    let fixture = try ReconcilerFixture()
    var stat = fixture.disk.write("/p/a.jpg")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    fixture.disk.pass(10)
    let reads = fixture.disk.readCount
    stat.identity.inode += 500
    stat.identity.birthTime += 500
    #expect(try fixture.scan([("a.jpg", stat)]).isEmpty)
    #expect(fixture.disk.readCount == reads)
  }

  @Test func farDatesAreNoTrap() throws {
    let fixture = try ReconcilerFixture()
    var stat = fixture.disk.write("/p/a.jpg", failure: "damaged")
    stat.modificationTime = FileTime(nanoseconds: .max)
    stat.changeTime = FileTime(nanoseconds: .min)
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    stat.changeTime = FileTime(nanoseconds: .max)
    try fixture.apply(Fixture.file("a.jpg", stat), .synced(number: 1))
    #expect(try fixture.paths().count == 1)
  }

  @Test func damagedFileIsKeptAndReadAgainWhileYoung() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", failure: "it ends too soon")))
    #expect(try fixture.catalog.read { try $0.counts().failed } == 1)
    let id = try fixture.paths()["/p/a.jpg"]!
    #expect(fixture.reconciler.retries[id]?.isPending == false)
    fixture.disk.write("/p/a.jpg", camera: "X300")
    let record = try fixture.catalog.write { writer in
      var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.readAgain([id], in: &batch)
      return batch.record
    }
    #expect(record.updatedAssets[id]?.contains(.metadata) == true)
    #expect(fixture.reconciler.retries[id] == nil)
  }

  @Test func aDamagedFileIsUnreadableSinceItWasWritten() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg", failure: "it ends too soon")
    fixture.disk.pass(3)
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    func since() throws -> PhotoDate? {
      try fixture.catalog.read { try $0.failedAssets(limit: 2) }.map(UnreadableEntry.init).first?.since
    }
    let first = try since()
    #expect(first == PhotoDate(WallTime(nanoseconds: stat.changeTime.nanoseconds)))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    for delay in [5, 10, 20, 40, 40] as [Int64] {
      fixture.disk.pass(delay)
      try fixture.catalog.write { writer in
        var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
        try fixture.reconciler.readAgain([id], in: &batch)
      }
      #expect(try since() == first)
    }
    // A file that was damaged long before photod read it has the time of that reading.
    let old = fixture.disk.write("/p/old.jpg", failure: "it ends too soon")
    fixture.disk.pass(1_000)
    try fixture.apply(Fixture.file("old.jpg", old))
    let entries = try fixture.catalog.read { try $0.failedAssets(limit: 2) }.map(UnreadableEntry.init)
    #expect(entries.last?.since == PhotoDate(fixture.disk.wallTime))
  }

  /// The retries go on for a file of any age, because the disk failed and not the file.
  @Test func fileThatTheDiskFailsInIsTriedAgainUntilItCanBeRead() throws {
    let fixture = try ReconcilerFixture()
    let known = fixture.disk.write("/p/a.jpg", camera: "X100")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", known))
    let changed = fixture.disk.write("/p/a.jpg", camera: "X200")
    let new = fixture.disk.write("/p/b.jpg", camera: "X300")
    fixture.disk.pass(1000)
    fixture.disk.failure = "can't be opened: Input/output error"
    try fixture.apply(Fixture.file("a.jpg", changed), Fixture.file("b.jpg", new))
    let ids = try fixture.paths()
    let (a, b) = (try #require(ids["/p/a.jpg"]), try #require(ids["/p/b.jpg"]))
    func content(_ id: AssetID) throws -> AssetContent? { try fixture.catalog.read { try $0.content(of: id) } }
    // The metadata that was known stays meanwhile.
    #expect(try content(a)?.camera?.model == "X100")
    #expect(try content(b)?.failure == "can't be opened: Input/output error")
    for id in [a, b] {
      #expect(fixture.reconciler.retries[id]?.failure?.reason == "can't be opened: Input/output error")
      #expect(fixture.reconciler.retries[id]?.isPending == false)
    }
    var waits: [Int64] = []
    for _ in 0..<12 {
      let due = try #require(fixture.reconciler.retries[a]).at
      fixture.disk.pass((due - fixture.disk.bootTime).components.seconds + 1)
      try readAgain([a, b], fixture)
      waits.append(try #require(fixture.reconciler.retries[a]).delay.components.seconds)
    }
    #expect(waits == [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 3600])
    fixture.disk.failure = nil
    try readAgain([a, b], fixture)
    #expect(try content(a)?.camera?.model == "X200")
    #expect(try content(b)?.camera?.model == "X300" && content(b)?.failure == nil)
    #expect(fixture.reconciler.retries.isEmpty)
  }

  /// After a restart, photod knows only that the file was not read.
  @Test func fileThatTheDiskFailedInIsReadByTheNextScan() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg", camera: "X100")
    fixture.disk.pass(1000)
    fixture.disk.failure = "its content can't be read: Input/output error"
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.failure = nil
    fixture.reconciler.retries = ReadRetries()
    _ = try fixture.scan([("a.jpg", stat)])
    #expect(try fixture.catalog.read { try $0.content(of: id) }?.camera?.model == "X100")
  }

  private func readAgain(_ ids: [AssetID], _ fixture: ReconcilerFixture) throws {
    _ = try fixture.catalog.write { writer in
      var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.readAgain(ids, in: &batch)
      return batch.record
    }
  }

  @Test func fileThatMovedWhileItWasReadIsReadAtTheBarrier() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/x/a.jpg")
    // The directory's new name is not known yet, so reading by the old path fails.
    try fixture.apply(Fixture.top, Fixture.found(2, "old", inode: 20))
    try fixture.apply(Fixture.file("a.jpg", in: 2, stat))
    let id = try fixture.paths()["/p/old/a.jpg"]!
    #expect(fixture.reconciler.retries[id]?.isPending == true)
    let record = try fixture.apply(
      .directoryMoved(number: 2, parent: 1, name: Fixture.bytes("x")), .synced(number: 1))
    #expect(try fixture.asset("/p/x/a.jpg").camera?.model == "X100")
    #expect(record.updatedAssets[id]?.contains(.metadata) == true)
    #expect(fixture.reconciler.retries.isEmpty)
  }
}
