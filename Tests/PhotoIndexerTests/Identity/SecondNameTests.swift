import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A record of CREATE reports a known file under another name, and the file has left its first name. Only a later record
/// of the first name shows whether the file was moved. If that record is lost, inode and birth time decide.
@Suite struct SecondNameTests {
  /// /p/a.jpg: a settled favorite, which is older than the library. Then /p/b.jpg is created, and /p/a.jpg is renamed over
  /// it.
  private func renamedOverANewFile() throws -> (ReconcilerFixture, id: AssetID, stat: FileStat) {
    let fixture = try ReconcilerFixture()
    let old = fixture.disk.write("/p/a.jpg")
    fixture.disk.pass(100)
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", old))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(100)
    fixture.disk.write("/p/b.jpg")
    return (fixture, id, fixture.disk.move("/p/a.jpg", "/p/b.jpg"))
  }

  /// photod-watch reads CREATE, and looks only after the rename.
  private func created(_ name: String, _ stat: FileStat, _ fixture: ReconcilerFixture) -> WatchRecord {
    .fileFound(
      directory: 1, name: Fixture.bytes(name), stat: stat,
      event: FileEvent(time: fixture.disk.time, isWritten: true, naming: .created))
  }

  private func started(_ reason: ScanReason = .overflow) -> WatchRecord {
    .scanStarted(root: 1, request: 0, reason: reason)
  }

  private func listing(_ files: (String, FileStat)...) -> [WatchRecord] {
    [.listingStarted(number: 1, evidence: .scan)] + files.map { Fixture.file($0.0, $0.1) }
      + [.listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true)]
  }

  @Test func photoThatIsRenamedOverANewFileKeepsItsIdThoughTheRenameIsLost() throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    try fixture.apply(.overflow, created("b.jpg", stat, fixture))
    try fixture.apply(all: [started()] + listing(("b.jpg", stat)))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
    #expect(try fixture.asset("/p/b.jpg").isFavorite)
  }

  /// A sync makes photod-watch report the new file before it reads that events were lost.
  @Test(arguments: [0, 3_600] as [Int64])
  func photoKeepsItsIdThoughTheLossIsReportedLater(seconds: Int64) throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    try fixture.apply(created("b.jpg", stat, fixture))
    try fixture.apply(.overflow, started())
    fixture.disk.pass(seconds)
    try fixture.apply(all: listing(("b.jpg", stat)))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
    #expect(try fixture.asset("/p/b.jpg").isFavorite)
  }

  /// photod is killed before it takes in the rename.
  @Test func photoKeepsItsIdThoughPhotodEndsBeforeTheRename() throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    try fixture.apply(created("b.jpg", stat, fixture))
    try fixture.restart()
    fixture.disk.pass(3_600)
    try fixture.apply(all: [started(.start), Fixture.top] + listing(("b.jpg", stat)))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
    #expect(try fixture.asset("/p/b.jpg").isFavorite)
  }

  /// Some programs move a file by a second name and remove the first one. The photo never lacks what was read of it.
  @Test func photoThatIsMovedByASecondNameKeepsItsIdAndContent() throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    try fixture.apply(created("b.jpg", stat, fixture))
    let record = try fixture.apply(Fixture.gone("a.jpg"))
    #expect(try fixture.paths() == ["/p/b.jpg": id] && record.updatedAssets == [id: .path])
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "X100")
  }

  /// No record of the first name comes until the sync.
  @Test func secondNameHasItsContentAfterASync() throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    fixture.disk.write("/p/a.jpg", bytes: 200)
    try fixture.apply(created("b.jpg", stat, fixture), .synced(number: 1))
    #expect(try fixture.paths()["/p/a.jpg"] == id && fixture.paths().count == 2)
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "X100")
  }

  /// The second name is a photo of its own as soon as it has user data.
  @Test func secondNameWithUserDataStaysItself() throws {
    let (fixture, id, stat) = try renamedOverANewFile()
    try fixture.apply(created("b.jpg", stat, fixture))
    let second = try #require(try fixture.paths()["/p/b.jpg"])
    try fixture.give(second)
    let record = try fixture.apply(all: [.overflow, started()] + listing(("b.jpg", stat)))
    #expect(try fixture.paths() == ["/p/b.jpg": second] && record.deletedAssets == [id])
  }

  /// Both names were in the library, so both are photos. One of them is removed while photod is down.
  @Test func knownSecondNameDoesNotReplaceTheFirst() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    try fixture.apply(created("b.jpg", fixture.disk.link("/p/a.jpg", "/p/b.jpg"), fixture))
    let ids = try fixture.paths()
    #expect(ids.count == 2)
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(all: [.overflow, started()] + listing(("b.jpg", stat)))
    #expect(try fixture.paths() == ["/p/b.jpg": ids["/p/b.jpg"]!])
  }

  /// A scan has found both names. Long after it, the first one becomes a favorite, is saved or not, and is deleted.
  @Test(arguments: [true, false]) func secondNameOfAnEarlierScanDoesNotReplaceTheFirst(isSaved: Bool) throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat), ("b.jpg", fixture.disk.link("/p/a.jpg", "/p/b.jpg"))])
    let ids = try fixture.paths()
    let first = try #require(ids["/p/a.jpg"])
    try fixture.give(first)
    fixture.disk.pass(100)
    if isSaved {
      fixture.disk.write("/p/.new", camera: "X200")
      try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/p/.new", "/p/a.jpg")))
      fixture.disk.pass(100)
    }
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    #expect(try fixture.paths() == ["/p/b.jpg": ids["/p/b.jpg"]!])
    #expect(try !fixture.asset("/p/b.jpg").isFavorite)
    #expect(try fixture.catalog.read { try $0.tombstone(of: first) } != nil)
  }

  /// Both names are removed while the scan that found the second one is under way.
  @Test func aScanThatMissesBothNamesRemovesBoth() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    fixture.disk.pass(100)
    let second = fixture.disk.link("/p/a.jpg", "/p/b.jpg")
    try fixture.apply(
      started(), .listingStarted(number: 1, evidence: .scan), Fixture.file("a.jpg", second),
      Fixture.file("b.jpg", second), .listingEnded(number: 1, complete: true))
    for name in ["a.jpg", "b.jpg"] { fixture.disk.remove("/p/" + name) }
    try fixture.apply(all: listing())
    #expect(try fixture.paths().isEmpty)
  }

  /// The photos of a folder are moved to a new one on a share, which does not say what is at their former places. They are
  /// so many that a second scan would have to miss them, too, if they were gone.
  @Test(arguments: [150, 149]) func photosOfAMissedFolderKeepTheirIds(count: Int) throws {
    let share = SilentShare()
    let fixture = try ReconcilerFixture(grace: .seconds(600), files: share)
    let names = (0..<150).map { "\($0).jpg" }
    let staying = share.disk.write("/p/stays.jpg", keepsBirth: false)
    var listing: [WatchRecord] = [.listingStarted(number: 2, evidence: .scan)]
    for name in names {
      listing.append(Fixture.file(name, in: 2, share.disk.write("/p/old/" + name, keepsBirth: false)))
    }
    try fixture.apply(
      all: [Fixture.top, Fixture.file("stays.jpg", staying), Fixture.found(2, "old", inode: 50)] + listing
        + [.listingEnded(number: 2, complete: true)])
    let ids = try fixture.paths()
    share.disk.pass(100)
    try fixture.restart()
    let moved = names.prefix(count)
    let files = moved.map { ($0, share.disk.move("/p/old/" + $0, "/p/new/" + $0)) }
    for name in names.dropFirst(moved.count) { share.disk.remove("/p/old/" + name) }
    share.isSilent = true
    try fixture.apply(
      all: [
        started(.start), Fixture.top, .listingStarted(number: 1, evidence: .scan), Fixture.file("stays.jpg", staying),
        .listingEnded(number: 1, complete: true), Fixture.found(3, "new", inode: 60),
        .listingStarted(number: 3, evidence: .scan),
      ] + files.map { Fixture.file($0.0, in: 3, $0.1) } + [
        .listingEnded(number: 3, complete: true), .scanEnded(root: 1, request: 0, complete: true),
      ])
    share.isSilent = false
    let paths = try fixture.paths()
    #expect(moved.allSatisfy { paths["/p/new/" + $0] == ids["/p/old/" + $0] } && paths.count == count + 1)
  }

  /// A folder is missed in which a drive was mounted. The photos on the drive are not missed, although another root shows
  /// one of them by a second name. The library can't look at the first name.
  @Test func photoOnADriveInAMissedFolderKeepsItsPlace() throws {
    let share = SilentShare()
    let fixture = try ReconcilerFixture(disk: share.disk, files: share)
    let staying = share.disk.write("/p/old/stays.jpg", keepsBirth: false)
    let first = share.disk.write("/p/old/drive/a.jpg", device: 2, keepsBirth: false)
    try fixture.apply(
      Fixture.top, Fixture.found(2, "old", inode: 50),
      .directoryFound(
        number: 3, parent: 2, root: 1, name: Fixture.bytes("drive"),
        identity: FileIdentity(device: 2, inode: 70, birthTime: 70)),
      Fixture.file("stays.jpg", in: 2, staying), Fixture.file("a.jpg", in: 3, first))
    try fixture.addSecondRoot()
    let id = try #require(try fixture.paths()["/p/old/drive/a.jpg"])
    try fixture.give(id)
    share.disk.pass(100)
    try fixture.restart()
    let second = share.disk.link("/p/old/drive/a.jpg", "/q/b.jpg")
    share.isSilent = true
    try fixture.apply(
      started(.start), .scanStarted(root: 2, request: 0, reason: .start), Fixture.top,
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      .directoryFound(
        number: 60, parent: 0, root: 2, name: Fixture.bytes("/q"),
        identity: FileIdentity(device: 2, inode: 1, birthTime: 1)),
      .listingStarted(number: 60, evidence: .scan), Fixture.file("b.jpg", in: 60, second),
      .listingEnded(number: 60, complete: true), .scanEnded(root: 2, request: 0, complete: true),
      .scanEnded(root: 1, request: 0, complete: true))
    let paths = try fixture.paths()
    #expect(Set(paths.keys) == ["/p/old/drive/a.jpg", "/q/b.jpg"] && paths["/p/old/drive/a.jpg"] == id)
  }

  /// The photo gets a second name and is saved. The record of the save is not lost, so the second name is no move.
  @Test func photoThatGetsASecondNameAndIsSavedKeepsItsId() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.pass(100)
    let linked = fixture.disk.link("/p/a.jpg", "/p/b.jpg")
    fixture.disk.write("/p/a.new")
    let saved = fixture.disk.move("/p/a.new", "/p/a.jpg")
    try fixture.apply(created("b.jpg", linked, fixture))
    try fixture.apply(Fixture.file("a.jpg", saved))
    #expect(try fixture.paths()["/p/a.jpg"] == id && fixture.paths().count == 2)
    try fixture.apply(all: [.overflow, started()] + listing(("a.jpg", saved), ("b.jpg", linked)))
    #expect(try fixture.paths()["/p/a.jpg"] == id && fixture.paths().count == 2)
  }

  /// Files with many names that are looked up one after the other.
  ///
  /// - Returns: how many entries were looked at to remove the old ones.
  private func pruned(_ count: Int) throws -> Int {
    let fixture = try ReconcilerFixture()
    var records = [Fixture.top]
    for file in 0..<count {
      let stat = fixture.disk.write("/p/\(file)-0.jpg")
      records.append(Fixture.file("\(file)-0.jpg", stat))
      for name in 1...LinkedFiles.many {
        records.append(
          Fixture.file("\(file)-\(name).jpg", fixture.disk.link("/p/\(file)-0.jpg", "/p/\(file)-\(name).jpg")))
      }
    }
    try fixture.apply(all: records)
    return try fixture.catalog.read { reader in
      var links = LinkedFiles()
      for file in 0..<count {
        let inode = try #require(fixture.disk.stat(Fixture.bytes("/p/\(file)-0.jpg"))).identity.inode
        let uptime = MonotonicTime(nanoseconds: Int64(file) * 100_000_000)
        #expect(try links.unseenRows(inode: inode, uptime: uptime, in: reader).count == LinkedFiles.many + 1)
        links.noteSeen(inode: inode, but: [])
        #expect(try links.unseenRows(inode: inode, uptime: uptime, in: reader).isEmpty)
      }
      return links.prunedCount
    }
  }

  @Test func lookupsOfTwiceAsManyFilesWithManyNamesAreTwiceTheWork() throws {
    let (once, twice) = (try pruned(60), try pruned(120))
    #expect(once > 0 && once <= 2 * 60 && twice <= 2 * 120, "\(once), then \(twice)")
  }
}
