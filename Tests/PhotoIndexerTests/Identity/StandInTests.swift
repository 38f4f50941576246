import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// photod-watch looks at a renamed file later than the rename. So a record may name another file than the one that the
/// library knew by the old name. That file stands in for the known one until it is certain where the known one is.
@Suite struct StandInTests {
  /// /p/a.jpg: a settled favorite. 100 seconds pass.
  private func favorite() throws -> (ReconcilerFixture, id: AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(100)
    return (fixture, id)
  }

  private func found(_ name: String, _ stat: FileStat, at time: Int64 = 0, isWritten: Bool = false) -> WatchRecord {
    .fileFound(
      directory: 1, name: Fixture.bytes(name), stat: stat, event: FileEvent(time: time, isWritten: isWritten))
  }

  private func moved(
    _ from: String, to: String, _ stat: FileStat?, at time: Int64 = 0, isWritten: Bool = false
  ) -> WatchRecord {
    .fileMoved(
      from: 1, fromName: Fixture.bytes(from), to: 1, toName: Fixture.bytes(to), stat: stat,
      event: FileEvent(time: time, isWritten: isWritten))
  }

  /// /p/a.jpg, a settled favorite, and /p/b.jpg, which came a moment ago.
  private func favoriteAndNewFile() throws -> (ReconcilerFixture, a: AssetID, b: AssetID) {
    let (fixture, a) = try favorite()
    try fixture.apply(found("b.jpg", fixture.disk.write("/p/b.jpg", camera: "B")))
    return (fixture, a, try #require(try fixture.paths()["/p/b.jpg"]))
  }

  /// A file replaces the new one and is renamed over the favorite. photod-watch sees only the rename.
  @Test func fileThatWasRenamedOverAPhotoIsReadByASync() throws {
    let (fixture, a, _) = try favoriteAndNewFile()
    fixture.disk.remove("/p/b.jpg")
    fixture.disk.write("/p/b.jpg", camera: "C")
    try fixture.apply(moved("b.jpg", to: "a.jpg", fixture.disk.move("/p/b.jpg", "/p/a.jpg"), at: fixture.disk.time))
    try fixture.apply(.synced(number: 1))
    #expect(try fixture.paths() == ["/p/a.jpg": a])
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "C")
  }

  /// The same, and the new file turns up in another place afterwards.
  @Test func fileThatWasRenamedOverAPhotoStaysIfTheOtherTurnsUp() throws {
    let (fixture, a, _) = try favoriteAndNewFile()
    let elsewhere = fixture.disk.move("/p/b.jpg", "/p/x.jpg")
    fixture.disk.write("/p/b.jpg", camera: "C")
    try fixture.apply(moved("b.jpg", to: "a.jpg", fixture.disk.move("/p/b.jpg", "/p/a.jpg"), at: fixture.disk.time))
    // Now its inode and birth time prove what it is.
    fixture.disk.pass(3)
    try fixture.apply(found("x.jpg", elsewhere))
    try fixture.apply(.synced(number: 1))
    #expect(Set(try fixture.paths().keys) == ["/p/a.jpg", "/p/x.jpg"])
    #expect(try fixture.paths()["/p/a.jpg"] == a && fixture.asset("/p/a.jpg").camera?.model == "C")
    #expect(try fixture.asset("/p/x.jpg").camera?.model == "B")
  }

  /// The new file left its name before the rename, and that was reported. So another file was renamed.
  @Test func fileThatWasReportedGoneIsNotTheOneThatIsRenamed() throws {
    let (fixture, a, b) = try favoriteAndNewFile()
    let elsewhere = fixture.disk.move("/p/b.jpg", "/p/x.jpg")
    fixture.disk.write("/p/b.jpg", camera: "C")
    let stat = fixture.disk.move("/p/b.jpg", "/p/a.jpg")
    try fixture.apply(
      Fixture.gone("b.jpg"), moved("b.jpg", to: "a.jpg", stat, at: fixture.disk.time), found("x.jpg", elsewhere))
    try fixture.apply(.synced(number: 1))
    #expect(try fixture.paths() == ["/p/a.jpg": a, "/p/x.jpg": b])
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "C" && fixture.asset("/p/a.jpg").isFavorite)
  }

  /// /p/c.jpg: a file that was renamed, after it had replaced the file that the library knew by its old name.
  private func renamedStandIn(reusesInode: Bool = false) throws -> (ReconcilerFixture, id: AssetID, FileStat) {
    let (fixture, _, b) = try favoriteAndNewFile()
    if reusesInode {
      fixture.disk.reuse(inode: try #require(fixture.disk.stat(Fixture.bytes("/p/b.jpg"))).identity.inode)
    }
    fixture.disk.remove("/p/b.jpg")
    fixture.disk.write("/p/b.jpg", camera: "C")
    let stat = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    return (fixture, b, stat)
  }

  /// ext4 gives the inode of a removed file to the next one.
  @Test(arguments: [true, false]) func fileThatReplacedAnotherAndWasRenamedHasItsBirthTime(reusesInode: Bool) throws {
    let (fixture, b, stat) = try renamedStandIn(reusesInode: reusesInode)
    try fixture.apply(moved("b.jpg", to: "c.jpg", stat, at: fixture.disk.time), .synced(number: 1))
    let row = try fixture.catalog.read { try $0.file(ofAsset: b) }
    #expect(try #require(row).hasIdentity(of: stat))
    #expect(try fixture.asset("/p/c.jpg").camera?.model == "C")
  }

  /// A scan of a share can't find the known file.
  @Test(arguments: [true, false]) func fileThatReplacedAnotherIsReadDuringAScanOfAShare(isShare: Bool) throws {
    let (fixture, _, stat) = try renamedStandIn()
    if isShare { fixture.disk.setVolume("nfs:server:/photos", of: 2) }
    try fixture.addSecondRoot()
    try fixture.apply(
      .scanStarted(root: 2, request: 0, reason: .start), moved("b.jpg", to: "c.jpg", stat, at: fixture.disk.time),
      .synced(number: 1))
    #expect(try fixture.asset("/p/c.jpg").camera?.model == (isShare ? "C" : "B"))
  }

  /// The scan of the drive has ended, and found another file in the place of a photo.
  @Test(arguments: [true, false]) func heldFileIsDecidedDuringAScanOfAShare(isShare: Bool) throws {
    let (fixture, id) = try favorite()
    if isShare { fixture.disk.setVolume("nfs:server:/photos", of: 2) }
    try fixture.addSecondRoot()
    fixture.disk.remove("/p/a.jpg")
    let saved = fixture.disk.write("/p/a.jpg", camera: "C")
    try fixture.apply(.scanStarted(root: 2, request: 0, reason: .start))
    try fixture.scan([("a.jpg", saved)])
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(try fixture.asset("/p/a.jpg").camera?.model == (isShare ? "C" : "X100"))
    try fixture.apply(.scanEnded(root: 2, request: 0, complete: true))
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "C")
  }

  /// A scan of a share lists a file system that is mounted below it. It may find a known file in a later folder.
  @Test func heldFileOfAMountBelowAShareWaitsForTheScan() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume("nfs:server:/x", of: 1)
    fixture.disk.setVolume("nfs:server:/x/sub", of: 2)
    func folder(_ number: DirectoryNumber, _ name: String) -> WatchRecord {
      .directoryFound(
        number: number, parent: 1, root: 1, name: Fixture.bytes(name),
        identity: FileIdentity(device: 2, inode: UInt64(number), birthTime: Int64(number)))
    }
    func listing(_ number: DirectoryNumber, _ files: [WatchRecord]) -> [WatchRecord] {
      [.listingStarted(number: number, evidence: .scan)] + files + [.listingEnded(number: number, complete: true)]
    }
    let known = fixture.disk.write("/p/A/x.jpg", device: 2)
    try fixture.apply(Fixture.top, folder(2, "A"), folder(3, "B"), Fixture.file("x.jpg", in: 2, known))
    let id = try #require(try fixture.paths()["/p/A/x.jpg"])
    fixture.disk.pass(100)
    let elsewhere = fixture.disk.move("/p/A/x.jpg", "/p/B/y.jpg")
    let new = fixture.disk.write("/p/A/x.jpg", camera: "C", device: 2)
    try fixture.restart()
    try fixture.apply(
      all: [.scanStarted(root: 1, request: 0, reason: .start), Fixture.top] + listing(1, []) + [folder(2, "A")]
        + listing(2, [Fixture.file("x.jpg", in: 2, new)]) + [folder(3, "B")]
        + listing(3, [Fixture.file("y.jpg", in: 3, elsewhere)]) + [.scanEnded(root: 1, request: 0, complete: true)])
    #expect(try fixture.paths()["/p/B/y.jpg"] == id && fixture.paths().count == 2)
  }

  /// A scan finds the photo that was taken for the renamed one, in the place of yet another photo.
  @Test func fileThatWasRenamedStaysIfAScanFindsTheOtherInTheEnd() throws {
    let fixture = try ReconcilerFixture()
    let (b, y) = (fixture.disk.write("/p/b.jpg", camera: "B"), fixture.disk.write("/p/d/y.jpg", camera: "Y"))
    try fixture.apply(
      Fixture.top, Fixture.file("b.jpg", b), Fixture.found(2, "d", inode: 2), Fixture.file("y.jpg", in: 2, y))
    let ids = try fixture.paths()
    fixture.disk.pass(100)
    try fixture.restart()
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      Fixture.file("b.jpg", b), .listingEnded(number: 1, complete: true))
    let elsewhere = fixture.disk.move("/p/b.jpg", "/p/d/y.jpg")
    fixture.disk.write("/p/b.jpg", camera: "C")
    let renamed = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    try fixture.apply(
      moved("b.jpg", to: "c.jpg", renamed, at: fixture.disk.time),
      Fixture.found(2, "d", inode: 2), .listingStarted(number: 2, evidence: .scan),
      Fixture.file("y.jpg", in: 2, elsewhere), .listingEnded(number: 2, complete: true),
      .scanEnded(root: 1, request: 0, complete: true), .synced(number: 1))
    #expect(Set(try fixture.paths().keys) == ["/p/c.jpg", "/p/d/y.jpg"])
    #expect(try fixture.paths()["/p/d/y.jpg"] == ids["/p/b.jpg"])
    #expect(try fixture.asset("/p/c.jpg").camera?.model == "C")
  }

  // MARK: A known file that turns up later

  /// The favorite /p/a.jpg is moved to the new folder /p/d. Another file is written to /p/a.jpg, and renamed to /p/c.jpg.
  /// photod-watch has not listed the folder yet.
  private func favoriteInANewFolder() throws -> (ReconcilerFixture, id: AssetID, moved: FileStat, standIn: FileStat) {
    let (fixture, id) = try favorite()
    let known = fixture.disk.move("/p/a.jpg", "/p/d/x.jpg")
    fixture.disk.write("/p/a.jpg", camera: "C")
    let stat = fixture.disk.move("/p/a.jpg", "/p/c.jpg")
    return (fixture, id, known, stat)
  }

  private func listFolder(_ known: FileStat) -> [WatchRecord] {
    [
      Fixture.found(2, "d", inode: 2), .listingStarted(number: 2, evidence: .event),
      Fixture.file("x.jpg", in: 2, known), .listingEnded(number: 2, complete: true), .synced(number: 2),
    ]
  }

  private func expectFavorite(_ id: AssetID, in fixture: ReconcilerFixture) throws {
    #expect(Set(try fixture.paths().keys) == ["/p/c.jpg", "/p/d/x.jpg"])
    #expect(try fixture.paths()["/p/d/x.jpg"] == id && fixture.asset("/p/d/x.jpg").isFavorite)
    #expect(try fixture.asset("/p/c.jpg").camera?.model == "C")
  }

  /// The answer of another photod-watch to a sync says nothing about this folder.
  @Test func favoriteIsFoundInANewFolderThoughAnotherLaneAnswersASync() throws {
    let (fixture, id, known, standIn) = try favoriteInANewFolder()
    try fixture.apply(moved("a.jpg", to: "c.jpg", standIn, at: fixture.disk.time))
    fixture.reconciler.listings.turn(to: 1, of: [2])
    try fixture.apply(.synced(number: 1))
    fixture.reconciler.listings.turn(to: 0, of: [1])
    try fixture.apply(all: listFolder(known))
    try expectFavorite(id, in: fixture)
  }

  /// The records wait for seconds, or the reading of another file ends meanwhile.
  @Test func favoriteIsFoundInANewFolderThoughFilesAreReadAgainBefore() throws {
    let (fixture, id, known, standIn) = try favoriteInANewFolder()
    try fixture.apply(moved("a.jpg", to: "c.jpg", standIn, at: fixture.disk.time))
    fixture.disk.pass(6)
    try fixture.readAgain()
    try fixture.apply(all: listFolder(known))
    try expectFavorite(id, in: fixture)
  }

  /// An event reports the other file before the folder is listed.
  @Test func favoriteIsFoundInANewFolderThoughTheOtherFileIsReportedBefore() throws {
    let (fixture, id, known, standIn) = try favoriteInANewFolder()
    try fixture.apply(moved("a.jpg", to: "c.jpg", standIn, at: fixture.disk.time), found("c.jpg", standIn))
    try fixture.apply(all: listFolder(known))
    try expectFavorite(id, in: fixture)
  }

  /// The favorite leaves the library by the name at which photod-watch saw the other file.
  @Test(arguments: [true, false]) func standInStaysIfTheKnownFileLeaves(isOutside: Bool) throws {
    let (fixture, id) = try favorite()
    let known = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    fixture.disk.move("/p/a.jpg", isOutside ? "/outside/e.jpg" : "/p/e.jpg")
    let standIn = fixture.disk.write("/p/c.jpg", camera: "C")
    try fixture.apply(moved("a.jpg", to: "c.jpg", standIn, at: fixture.disk.time))
    try fixture.apply(
      isOutside
        ? .fileMoved(from: 1, fromName: Fixture.bytes("c.jpg"), to: 9, toName: Fixture.bytes("e.jpg"), stat: known)
        : moved("c.jpg", to: "e.jpg", known), .synced(number: 1))
    let paths = try fixture.paths()
    #expect(Set(paths.keys) == (isOutside ? ["/p/c.jpg"] : ["/p/c.jpg", "/p/e.jpg"]))
    #expect(paths["/p/c.jpg"] != id && paths["/p/e.jpg"] == (isOutside ? nil : id))
    #expect(try fixture.asset("/p/c.jpg").camera?.model == "C")
  }

  /// The sync was asked for before the rename, so it says nothing about the records that follow. The next one does.
  @Test func anEarlierSyncDecidesNothing() throws {
    let (fixture, id, known, standIn) = try favoriteInANewFolder()
    fixture.reconciler.syncs.last = 1
    try fixture.apply(moved("a.jpg", to: "c.jpg", standIn, at: fixture.disk.time), .synced(number: 1))
    try fixture.apply(all: listFolder(known))
    try expectFavorite(id, in: fixture)
  }

  /// The library asks for a sync because of another file.
  @Test func emptyPhotoWaitsForItsTimeThoughTheLibrarySyncs() throws {
    let (fixture, id) = try favorite()
    fixture.hasSyncCallers = false
    try fixture.apply(found("a.jpg", fixture.disk.write("/p/a.jpg", bytes: 0)), .synced(number: 1))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    fixture.disk.pass(6)
    try fixture.apply(.synced(number: 1))
    #expect(try fixture.paths().isEmpty)
  }

  // MARK: A known file that was removed

  /// The favorite is renamed twice and removed, and another file gets the first of the new names, all before
  /// photod-watch looks.
  @Test func standInOfARemovedPhotoIsANewPhoto() throws {
    let (fixture, id) = try favorite()
    fixture.disk.remove("/p/a.jpg")
    let new = fixture.disk.write("/p/c.jpg", camera: "C")
    try fixture.apply(
      moved("a.jpg", to: "c.jpg", new, at: fixture.disk.time), moved("c.jpg", to: "e.jpg", nil), Fixture.gone("e.jpg"),
      found("c.jpg", new, at: fixture.disk.time), .synced(number: 1))
    let paths = try fixture.paths()
    #expect(paths.keys.sorted() == ["/p/c.jpg"] && paths["/p/c.jpg"] != id)
    #expect(try !fixture.asset("/p/c.jpg").isFavorite)
  }

  /// The favorite is renamed twice, and another file is saved over it. A third file has its first new name.
  @Test func photoThatIsRenamedTwiceAndSavedKeepsItsId() throws {
    let (fixture, id) = try favorite()
    fixture.disk.remove("/p/a.jpg")
    let other = fixture.disk.write("/p/b.jpg", camera: "B")
    let saved = fixture.disk.write("/p/c.jpg", camera: "C")
    let time = fixture.disk.time
    try fixture.apply(
      moved("a.jpg", to: "b.jpg", other, at: time), moved("b.jpg", to: "c.jpg", saved, at: time),
      found("b.jpg", other, at: time), found("c.jpg", saved, at: time), .synced(number: 1))
    #expect(try Set(fixture.paths().keys) == ["/p/b.jpg", "/p/c.jpg"] && fixture.paths()["/p/c.jpg"] == id)
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "B" && fixture.asset("/p/c.jpg").camera?.model == "C")
  }

  /// The new file has the inode of the removed one, as usual on ext4.
  @Test func newFileWithTheInodeOfARemovedPhotoIsANewPhoto() throws {
    let (fixture, id) = try favorite()
    let inode = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg"))).identity.inode
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.reuse(inode: inode)
    let new = fixture.disk.write("/p/a.jpg", camera: "C", bytes: 200)
    try fixture.apply(
      moved("a.jpg", to: "t.jpg", nil), Fixture.gone("t.jpg"), found("a.jpg", new, at: fixture.disk.time),
      .synced(number: 1))
    let paths = try fixture.paths()
    #expect(paths.keys.sorted() == ["/p/a.jpg"] && paths["/p/a.jpg"] != id)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "C")
  }
}
