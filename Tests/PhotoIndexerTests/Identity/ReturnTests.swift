import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A deleted photo that comes back keeps its identity.
@Suite struct ReturnTests {
  /// A favorite and its copy. The favorite is deleted, and then the catalog is lost. The copy does not become the
  /// favorite. A file that comes later does.
  @Test func copyOfADeletedFavoriteStaysItselfAfterTheLossOfTheCatalog() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", content: 5)),
      Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", content: 5)))
    let ids = try fixture.paths()
    let favorite = try #require(ids["/p/b.jpg"])
    try fixture.catalog.write(durable: true) { writer in
      _ = try writer.perform([.editAssets([favorite], AssetEdit(isFavorite: true))])
      try writer.append(origin: "client:test", date: fixture.disk.wallTime)
    }
    fixture.disk.pass(100)
    fixture.disk.remove("/p/b.jpg")
    try fixture.apply(Fixture.gone("b.jpg"))
    fixture.disk.pass(100)
    try fixture.loseCatalog()
    try fixture.scan(fixture.disk.files(in: "/p"))
    #expect(try !fixture.asset("/p/a.jpg").isFavorite)
    try fixture.apply(Fixture.file("c.jpg", fixture.disk.write("/p/c.jpg", content: 5)))
    #expect(try fixture.paths()["/p/c.jpg"] == favorite && fixture.asset("/p/c.jpg").isFavorite)
    #expect(try !fixture.asset("/p/a.jpg").isFavorite)
  }

  /// The favorite was moved out of the library with its folder, which keeps the times of the file. After the loss of the
  /// catalog, the folder is moved back under another name.
  @Test func deletedFavoriteThatIsMovedBackAfterTheLossOfTheCatalogIsTheSame() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", content: 5)))
    let favorite = try #require(try fixture.paths()["/p/b.jpg"])
    try fixture.catalog.write(durable: true) { writer in
      _ = try writer.perform([.editAssets([favorite], AssetEdit(isFavorite: true))])
      try writer.append(origin: "client:test", date: fixture.disk.wallTime)
    }
    fixture.disk.pass(100)
    try fixture.apply(Fixture.gone("b.jpg"))
    fixture.disk.pass(100)
    try fixture.loseCatalog()
    try fixture.scan([])
    fixture.disk.moveFolder("/p", "/p/e")
    let back = try #require(fixture.disk.files(in: "/p/e").first)
    try fixture.apply(
      Fixture.found(2, "e", inode: 2), .listingStarted(number: 2, evidence: .event),
      Fixture.file(back.name, in: 2, back.stat), .listingEnded(number: 2, complete: true))
    #expect(try fixture.paths() == ["/p/e/b.jpg": favorite])
  }

  /// /p/a.jpg: a settled favorite in an album. 100 seconds pass.
  private func favorite(keepsBirth: Bool = true) throws -> (ReconcilerFixture, id: AssetID, album: CollectionID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", keepsBirth: keepsBirth)))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let album = try fixture.give(id)
    fixture.disk.pass(100)
    return (fixture, id, album)
  }

  /// A favorite in an album, which was found a moment after it was created.
  private func youngFavorite() throws -> (ReconcilerFixture, id: AssetID, album: CollectionID) {
    let fixture = try ReconcilerFixture()
    // The clock of this disk has a resolution below one second.
    fixture.disk.write("/elsewhere/first.jpg")
    fixture.disk.write("/p/a.jpg")
    fixture.disk.pass(1)
    let seen = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", seen))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let album = try fixture.give(id)
    return (fixture, id, album)
  }

  private func expectItsOwn(_ fixture: ReconcilerFixture, _ id: AssetID, at path: String, album: CollectionID) throws {
    let asset = try fixture.asset(path)
    #expect(asset.id == id && asset.isFavorite)
    #expect(try fixture.members(of: album) == [id])
    #expect(try fixture.catalog.read { try $0.tombstone(of: id) } == nil)
  }

  @Test func fileMovedOutOfAllRootsAndBackIsTheSamePhoto() throws {
    let (fixture, id, album) = try favorite()
    let added = try fixture.asset("/p/a.jpg").addedDate
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    #expect(try fixture.apply(Fixture.gone("a.jpg")).deletedAssets == [id])
    try fixture.age(days: 29)
    let back = fixture.disk.move("/elsewhere/a.jpg", "/p/b.jpg")
    let record = try fixture.apply(Fixture.file("b.jpg", back))
    #expect(record.insertedAssets == [id] && record.deletedAssets.isEmpty && record.updatedAssets.isEmpty)
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
    #expect(try fixture.asset("/p/b.jpg").addedDate == added)
  }

  /// The file moves while it is read. Another file takes its place before it is read there. The metadata at its new
  /// place differs from the old metadata, although it is the same file and was deleted and back within one batch.
  @Test func returnedFileThatWasUnreadableChangesContentAndMetadata() throws {
    let (fixture, id, album) = try favorite()
    try fixture.apply(Fixture.file("other.jpg", fixture.disk.write("/p/other.jpg", bytes: 300)))
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(100)
    let back = fixture.disk.move("/elsewhere/a.jpg", "/p/b.jpg")
    let there = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    let isBack = try fixture.apply(Fixture.file("b.jpg", back))
    #expect(try isBack.insertedAssets == [id] && fixture.asset("/p/b.jpg").camera == nil)
    let other = fixture.disk.move("/p/other.jpg", "/p/b.jpg")
    let record = try fixture.apply(Fixture.moved("other.jpg", to: "b.jpg", other), Fixture.file("c.jpg", there))
    try expectItsOwn(fixture, id, at: "/p/c.jpg", album: album)
    #expect(try fixture.asset("/p/c.jpg").camera != nil)
    #expect(record.updatedAssets[id]?.contains([.path, .metadata]) == true, "\(record)")
  }

  @Test func fileMovedOutAndEditedThereIsTheSamePhoto() throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.write("/elsewhere/a.jpg", camera: "X200", bytes: 300)
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")))
    try expectItsOwn(fixture, id, at: "/p/a.jpg", album: album)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200")
  }

  @Test func copyFromABackupIsTheSamePhoto() throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    try fixture.restart()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")))
    try expectItsOwn(fixture, id, at: "/p/a.jpg", album: album)
  }

  @Test func afterThirtyDaysItIsANewPhoto() throws {
    let (fixture, id, _) = try favorite()
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    try fixture.age(days: 30)
    fixture.disk.pass(1)
    let record = try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")))
    #expect(record.insertedAssets.count == 1 && !record.insertedAssets.contains(id))
    #expect(try fixture.asset("/p/a.jpg").isFavorite == false)
    // The tombstone was removed in this commit.
    #expect(try fixture.catalog.read { try $0.tombstoneCount() } == 0)
  }

  @Test func expiredTombstonesAreRemovedOnceADayAtMost() throws {
    let (fixture, _, _) = try favorite()
    let files = (0..<3).map { "\($0).jpg" }
    for file in files { try fixture.apply(Fixture.file(file, fixture.disk.write("/p/" + file))) }
    fixture.disk.pass(1_000)
    func count() throws -> Int { try fixture.catalog.read { try $0.tombstoneCount() } }
    func remove(_ file: String) throws {
      fixture.disk.remove("/p/" + file)
      try fixture.apply(Fixture.gone(file))
    }
    try remove(files[0])
    fixture.disk.pass(86_400 - 10)
    try remove(files[1])
    #expect(try count() == 2)
    try fixture.age(days: 29)
    fixture.disk.pass(20)
    // The first tombstone is 30 days old.
    try remove(files[2])
    #expect(try count() == 2)
    // The second one is 30 days old by now, and the last check was less than a day ago.
    fixture.disk.pass(86_400 - 10)
    try remove("a.jpg")
    #expect(try count() == 3)
    fixture.disk.pass(20)
    try fixture.apply(Fixture.file("new.jpg", fixture.disk.write("/p/new.jpg")))
    #expect(try count() == 2)
  }

  @Test func returnOfACopyPrefersItsPathThenItsNameThenTheLastDeleted() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.found(2, "x", inode: 20))
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
      try fixture.apply(Fixture.file(name, fixture.disk.write("/p/" + name, content: 77)))
    }
    let ids = try fixture.paths()
    fixture.disk.pass(7200)
    for name in ["a.jpg", "c.jpg", "b.jpg"] {
      fixture.disk.remove("/p/" + name)
      try fixture.apply(Fixture.gone(name))
      fixture.disk.pass(10)
    }
    // In folder x, a.jpg has the name of a deleted photo, and other.jpg does not.
    try fixture.apply(
      Fixture.file("c.jpg", fixture.disk.write("/p/c.jpg", content: 77)),
      Fixture.file("a.jpg", in: 2, fixture.disk.write("/p/x/a.jpg", content: 77)),
      Fixture.file("other.jpg", in: 2, fixture.disk.write("/p/x/other.jpg", content: 77)),
      Fixture.file("more.jpg", in: 2, fixture.disk.write("/p/x/more.jpg", content: 77)))
    let after = try fixture.paths()
    #expect(after["/p/c.jpg"] == ids["/p/c.jpg"] && after["/p/x/a.jpg"] == ids["/p/a.jpg"])
    #expect(after["/p/x/other.jpg"] == ids["/p/b.jpg"])
    #expect(try #require(after["/p/x/more.jpg"]) > ids.values.max() ?? 0)
    #expect(Set(after.values).count == 4)
  }

  @Test func ofSeveralDeletedCopiesTheLastComesBack() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top)
    for name in ["a.jpg", "b.jpg"] {
      try fixture.apply(Fixture.file(name, fixture.disk.write("/p/" + name, content: 77)))
    }
    let b = try fixture.paths()["/p/b.jpg"]
    fixture.disk.pass(7200)
    for name in ["b.jpg", "a.jpg"].reversed() {
      fixture.disk.remove("/p/" + name)
      try fixture.apply(Fixture.gone(name))
      fixture.disk.pass(10)
    }
    try fixture.apply(Fixture.file("z.jpg", fixture.disk.write("/p/z.jpg", content: 77)))
    #expect(try fixture.paths() == ["/p/z.jpg": try #require(b)])
  }

  @Test(arguments: [true, false]) func inodeOfADeletedPhotoMakesANewPhoto(keepsBirth: Bool) throws {
    let (fixture, id, _) = try favorite(keepsBirth: keepsBirth)
    let old = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(1)
    fixture.disk.reuse(inode: old.identity.inode)
    let new = fixture.disk.write("/p/b.jpg", keepsBirth: keepsBirth)
    #expect(new.identity.inode == old.identity.inode)
    let record = try fixture.apply(Fixture.file("b.jpg", new))
    #expect(record.insertedAssets.count == 1 && !record.insertedAssets.contains(id))
  }

  /// ext4 gives a freed inode to the next file at once, and its times have a resolution of some milliseconds.
  @Test func inodeAndBirthTimeOfAPhotoThatHardlyWasMakeANewPhoto() throws {
    let fixture = try ReconcilerFixture()
    let old = fixture.disk.write("/p/a.jpg")
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", old))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.reuse(inode: old.identity.inode)
    fixture.disk.write("/p/b.jpg", bytes: 200)
    fixture.disk.setBirth(old.identity.birthTime.nanoseconds, of: "/p/b.jpg")
    let new = try #require(fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    let together = try fixture.apply(Fixture.gone("a.jpg"), Fixture.file("b.jpg", new))
    #expect(together.deletedAssets == [id] && together.insertedAssets.count == 1)

    fixture.disk.remove("/p/b.jpg")
    let b = try #require(try fixture.paths()["/p/b.jpg"])
    try fixture.apply(Fixture.gone("b.jpg"))
    fixture.disk.reuse(inode: old.identity.inode)
    fixture.disk.write("/p/c.jpg", bytes: 300)
    fixture.disk.setBirth(old.identity.birthTime.nanoseconds, of: "/p/c.jpg")
    let last = try fixture.apply(Fixture.file("c.jpg", try #require(fixture.disk.stat(Fixture.bytes("/p/c.jpg")))))
    #expect(last.insertedAssets.count == 1 && last.insertedAssets.isDisjoint(with: [id, b]))
  }

  /// If a file was seen after the tick in which it was created, no other file has its inode and birth time. This holds
  /// for young files, too.
  @Test(arguments: [true, false]) func youngPhotoThatWasEditedOutsideTheRootsIsTheSamePhoto(isBuried: Bool) throws {
    let (fixture, id, album) = try youngFavorite()
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    if isBuried { #expect(try fixture.apply(Fixture.gone("a.jpg")).deletedAssets == [id]) }
    let edited = fixture.disk.write("/p/b.jpg", camera: "X200", bytes: 300)
    #expect(fixture.disk.time - edited.identity.birthTime.nanoseconds < 2_000_000_000)
    try fixture.apply(Fixture.file("b.jpg", edited))
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "X200")
  }

  @Test func youngPhotoThatWasRemovedBeforeItsEditWasReadIsTheSamePhoto() throws {
    let (fixture, id, album) = try youngFavorite()
    let edited = fixture.disk.write("/p/a.jpg", bytes: 200)
    fixture.disk.move("/p/a.jpg", "/p/hidden")
    try fixture.apply(Fixture.file("a.jpg", edited))
    #expect(fixture.reconciler.retries[id] != nil)
    #expect(try fixture.apply(Fixture.gone("a.jpg")).deletedAssets == [id])
    fixture.disk.write("/p/hidden", bytes: 300)
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.move("/p/hidden", "/p/b.jpg")))
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
  }

  @Test func fileThatIsTheSameByInodeAndContentOnAnotherVolumeIsFoundByContent() throws {
    let (fixture, id, album) = try favorite()
    try fixture.addSecondRoot()
    fixture.disk.copy("/p/a.jpg", "/elsewhere/a.jpg", device: 2)
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    let stat = fixture.disk.move("/elsewhere/a.jpg", "/q/a.jpg")
    #expect(try fixture.apply(Fixture.file("a.jpg", in: 60, stat)).insertedAssets == [id])
    try expectItsOwn(fixture, id, at: "/q/a.jpg", album: album)
  }

  @Test func photoThatWasEmptyWhenTheBarrierCameIsTheSame() throws {
    let (fixture, id, album) = try favorite()
    let empty = fixture.disk.write("/p/a.jpg", bytes: 0)
    #expect(try fixture.apply(Fixture.file("a.jpg", empty), .synced(number: 1)).deletedAssets == [id])
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", camera: "X200")))
    try expectItsOwn(fixture, id, at: "/p/a.jpg", album: album)
  }

  /// A large file comes back slowly. It becomes a photo before it is complete.
  @Test(arguments: [60, 700]) func fileWhoseContentIsKnownLaterIsTheDeletedOneWhileItIsYoung(seconds: Int64) throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    let half = fixture.disk.write("/p/a.jpg", bytes: 10, failure: "it ends too soon")
    try fixture.apply(Fixture.file("a.jpg", half))
    let young = try #require(try fixture.paths()["/p/a.jpg"])
    #expect(young != id)
    fixture.disk.pass(seconds)
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")
    fixture.disk.setIdentity(half.identity, of: "/p/a.jpg")
    let record = try fixture.apply(
      Fixture.file("a.jpg", try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))))
    if seconds < 600 {
      #expect(record.insertedAssets == [id] && record.deletedAssets == [young])
      try expectItsOwn(fixture, id, at: "/p/a.jpg", album: album)
    } else {
      #expect(record.insertedAssets.isEmpty && record.updatedAssets[young] != nil)
    }
  }

  @Test func youngFavoriteKeepsItsIdentifier() throws {
    let (fixture, id, _) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    let half = fixture.disk.write("/p/a.jpg", bytes: 10)
    try fixture.apply(Fixture.file("a.jpg", half))
    let young = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(young)
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")
    fixture.disk.setIdentity(half.identity, of: "/p/a.jpg")
    try fixture.apply(Fixture.file("a.jpg", try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))))
    #expect(try fixture.paths() == ["/p/a.jpg": young] && young != id)
  }

  @Test func fileThatCouldNotBeReadWhenItCameBackIsTheDeletedOneOnceItIs() throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    // The file has moved when photod reads it.
    let stat = fixture.disk.copy("/backup/a.jpg", "/p/b.jpg")
    fixture.disk.move("/p/b.jpg", "/p/hidden")
    try fixture.apply(Fixture.file("b.jpg", stat))
    #expect(try fixture.paths()["/p/b.jpg"] != id)
    fixture.disk.move("/p/hidden", "/p/b.jpg")
    try fixture.apply(.synced(number: 1))
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
    #expect(fixture.reconciler.retries.isEmpty)
  }

  /// The file is read between two batches of a listing that finds it. It may have got new permissions before.
  @Test(arguments: [true, false]) func fileThatIsReadDuringAListingIsTheDeletedOne(isChanged: Bool) throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    var stat = fixture.disk.copy("/backup/a.jpg", "/p/b.jpg")
    try fixture.apply(all: [Fixture.file("b.jpg", stat)], contents: [0: .late])
    #expect(try fixture.paths()["/p/b.jpg"] != id)
    fixture.disk.pass(1)
    if isChanged { stat = fixture.disk.edit("/p/b.jpg", editsContent: false) }
    try fixture.apply(.listingStarted(number: 1, evidence: .event))
    fixture.disk.pass(6)
    try fixture.readAgain()
    try fixture.apply(Fixture.file("b.jpg", stat), .listingEnded(number: 1, complete: true))
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
    #expect(fixture.reconciler.retries.isEmpty)
  }

  @Test func userDataOfALostCatalogIsFoundByPath() throws {
    let fixture = try ReconcilerFixture()
    try fixture.catalog.write { writer in
      try writer.insertTombstone(
        Tombstone(
          assetID: 4711, deletedDate: nil, path: Fixture.bytes("/p/a.jpg"), addedDate: .init(microseconds: 5),
          data: AssetUserData(isFavorite: true)))
    }
    try fixture.restart()
    fixture.disk.pass(400 * 86_400)
    let record = try fixture.scan([
      ("a.jpg", fixture.disk.write("/p/a.jpg")), ("b.jpg", fixture.disk.write("/p/b.jpg")),
    ])
    #expect(record.insertedAssets == [4711, 4712])
    #expect(try fixture.asset("/p/a.jpg").isFavorite && fixture.asset("/p/a.jpg").id == 4711)
  }

  /// If a photo was deleted by an event, its path alone does not find it again.
  @Test func newPhotoAtThePathOfADeletedOneIsNew() throws {
    let (fixture, id, _) = try favorite()
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(60)
    let record = try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    #expect(record.insertedAssets.count == 1 && !record.insertedAssets.contains(id))
  }

  @Test func folderThatComesBackHasItsPhotos() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.found(2, "x", inode: 20))
    for number in 0..<50 {
      try fixture.apply(Fixture.file("\(number).jpg", in: 2, fixture.disk.write("/p/x/\(number).jpg")))
    }
    let before = try fixture.paths()
    for id in before.values {
      try fixture.catalog.write { try $0.setUserData(of: id, isFavorite: nil, isHidden: id.rawValue % 2 == 0) }
    }
    fixture.disk.pass(1_000)
    fixture.disk.moveFolder("/p/x", "/trash/x")
    #expect(try fixture.apply(.directoryGone(number: 2, evidence: .event)).deletedAssets.count == 50)
    fixture.disk.pass(1_000)
    fixture.disk.moveFolder("/trash/x", "/p/x")
    try fixture.apply(Fixture.found(3, "x", inode: 20))
    for number in 0..<50 {
      let stat = try #require(fixture.disk.stat(Fixture.bytes("/p/x/\(number).jpg")))
      try fixture.apply(Fixture.file("\(number).jpg", in: 3, stat))
    }
    let after = try fixture.catalog.read { reader in
      let options = FetchOptions(includeHidden: true)
      return try reader.assets(try reader.ids(try reader.plan(options))).assets
    }
    #expect(Dictionary(uniqueKeysWithValues: after.map { ($0.resources[0].path, $0.id) }) == before)
    #expect(after.allSatisfy { $0.isHidden == ($0.id.rawValue % 2 == 0) })
  }

  // MARK: The record of a commit

  @Test func deletedAndBackInOneCommitIsAnUpdate() throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/p/b.jpg")
    fixture.disk.remove("/p/a.jpg")
    let stat = try #require(fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    // The synced barrier between the two records decides that the photo is gone.
    let record = try fixture.apply(Fixture.gone("a.jpg"), .synced(number: 1), Fixture.file("b.jpg", stat))
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty && record.updatedAssets == [id: .path])
    try expectItsOwn(fixture, id, at: "/p/b.jpg", album: album)
  }

  @Test func recordOfACommitHasOnlyTheDifferencesAtItsEnd() {
    var record = CommitRecord()
    record.delete(asset: 1)
    record.insert(asset: 1, orUpdate: .path)
    #expect(record.updatedAssets == [1: .path] && record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
    record.update(asset: 1, .content)
    #expect(record.updatedAssets == [1: [.path, .content]])
    record.delete(asset: 1)
    #expect(record.deletedAssets == [1] && record.updatedAssets.isEmpty)
    record.insert(asset: 2)
    record.delete(asset: 2)
    #expect(record.deletedAssets == [1] && record.insertedAssets.isEmpty)
    // An observer of commits never saw the photo leave. Earlier changes in the commit still count.
    record.insert(asset: 1, orUpdate: [])
    #expect(record.updatedAssets == [1: [.path, .content]] && record.deletedAssets.isEmpty)
  }

  @Test func historyOfAReturnedPhotoHasNoDeletion() throws {
    let (fixture, id, _) = try favorite()
    let start = try fixture.catalog.read { try $0.sequence() }
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    let gone = try fixture.catalog.read { try $0.sequence() }
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")))
    let back = try fixture.catalog.read { try $0.sequence() }
    let touched = try fixture.catalog.read { try $0.touched(after: start, through: back) }
    #expect(touched.deleted.isEmpty && touched.fields[id]?.contains(.path) == true)
    #expect(try fixture.catalog.read { try $0.touched(after: start, through: gone) }.deleted == [id])
    #expect(try fixture.catalog.read { try $0.touched(after: gone, through: back) }.fields == [id: []])
    let changes = try fixture.catalog.read { try $0.persistentChanges(after: start, limit: 10) }
    #expect(changes.map(\.deletedAssets) == [[id], []] && changes.map(\.insertedAssets) == [[], [id]])
  }

  /// Until then only the file's place is known, however long that takes.
  @Test(arguments: [60, 86_400] as [Int64]) func fileThatCanBeReadOnlyLaterIsTheDeletedPhoto(seconds: Int64) throws {
    let (fixture, id, album) = try favorite()
    fixture.disk.copy("/p/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.failure = "its content can't be read: Input/output error"
    let back = fixture.disk.copy("/backup/a.jpg", "/p/a.jpg")
    try fixture.apply(Fixture.file("a.jpg", back))
    let provisional = try #require(try fixture.paths()["/p/a.jpg"])
    #expect(provisional != id)
    fixture.disk.pass(seconds)
    fixture.disk.failure = nil
    let record = try fixture.scan([("a.jpg", back)])
    #expect(record.deletedAssets == [provisional] && record.insertedAssets == [id])
    try expectItsOwn(fixture, id, at: "/p/a.jpg", album: album)
  }

  // MARK: Many pages of one scanner

  /// Deletes pages that share size, beginning and modification time: those of `first`, then n others, then those of `last`.
  /// The pages of `first` and `last` have one content and one name. Then that page is put back in another place.
  ///
  /// - Returns: the ids before, and the id of the page that was put back.
  private func restorePage(
    first: [String], others: Int, last: [String]
  ) throws -> (ids: [String: AssetID], restored: AssetID) {
    let fixture = try ReconcilerFixture()
    let others = (0..<others).map { "/p/\($0).tif" }
    for path in first + last { fixture.disk.write(path, bytes: 5_000_000, content: 77, beginning: 7) }
    for path in others { fixture.disk.write(path, bytes: 5_000_000, beginning: 7) }
    fixture.disk.setTimes(1_600_000_000_000_000_000, of: first + others + last)
    try fixture.apply(Fixture.top, Fixture.found(2, "one", inode: 20), Fixture.found(3, "two", inode: 21))
    func place(_ path: String) -> (name: String, directory: DirectoryNumber) {
      let parts = path.split(separator: "/")
      return (String(parts.last!), parts.count == 2 ? 1 : parts[1] == "one" ? 2 : 3)
    }
    try fixture.apply(
      all: (first + others + last).map {
        Fixture.file(place($0).name, in: place($0).directory, fixture.disk.stat(Fixture.bytes($0))!)
      })
    let ids = try fixture.paths()
    fixture.disk.copy(try #require((first + last).first), "/backup/page.tif")
    for paths in [first, others, last] where !paths.isEmpty {
      fixture.disk.pass(7_200)
      for path in paths { fixture.disk.remove(path) }
      try fixture.apply(all: paths.map { Fixture.gone(place($0).name, in: place($0).directory) })
    }
    fixture.disk.pass(86_400)
    try fixture.apply(Fixture.file("page.tif", fixture.disk.copy("/backup/page.tif", "/p/page.tif")))
    return (ids, try #require(try fixture.paths()["/p/page.tif"]))
  }

  /// A page is found by its name among all of one time. Beyond 256, nothing shows that it is the only one.
  @Test(arguments: [(0, true), (100, true), (300, false)]) func pageIsFoundAmongManyOfOneTime(
    others: Int, isFound: Bool
  ) throws {
    let (ids, restored) = try restorePage(first: ["/p/one/page.tif"], others: others, last: [])
    #expect((restored == ids["/p/one/page.tif"]) == isFound)
  }

  /// Two deleted pages are alike, so neither is proven to be the page that was put back. One was deleted long before.
  @Test(arguments: [0, 100]) func pageThatTwoDeletedOnesMayBeIsNew(others: Int) throws {
    let (ids, restored) = try restorePage(first: ["/p/one/page.tif"], others: others, last: ["/p/two/page.tif"])
    #expect(!ids.values.contains(restored))
  }
}
