import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Programs save a photo in place, or write a new file and rename it over the photo.
@Suite struct SaveTests {
  /// /p/a.jpg: a settled favorite. 100 seconds pass.
  private func favorite(keepsBirth: Bool = true, bytes: Int64 = 100) throws -> (ReconcilerFixture, id: AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", bytes: bytes, keepsBirth: keepsBirth)))
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

  // MARK: Saves in place

  /// Only a part of a large file is read, so there is no hash of the whole file.
  private let largeFile: Int64 = 10_000_000

  @Test func writeThatChangesNothingIsNoChange() throws {
    let (fixture, _) = try favorite()
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    #expect(try fixture.apply(found("a.jpg", stat, isWritten: true)).isEmpty)
  }

  @Test func editThatKeepsSizeAndModificationTimeIsAChange() throws {
    let (fixture, id) = try favorite(bytes: largeFile)
    // All the bytes that were read are as before. The edit is farther behind.
    let before = try fixture.revision(id)
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    #expect(try fixture.apply(found("a.jpg", stat, isWritten: true)).updatedAssets == [id: .content])
    let after = try fixture.revision(id)
    #expect(after != before, "a picture of the old content is not shown")
    #expect(try fixture.apply(found("a.jpg", stat, isWritten: true)).isEmpty)
    #expect(try fixture.revision(id) == after)
  }

  @Test func newPermissionsAreNoChange() throws {
    let (fixture, id) = try favorite()
    let stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
    let before = try fixture.revision(id)
    #expect(try fixture.apply(found("a.jpg", stat)).isEmpty)
    #expect(try fixture.scan([("a.jpg", fixture.disk.edit("/p/a.jpg", editsContent: false))]).isEmpty)
    #expect(try fixture.revision(id) == before)
  }

  @Test func editWhilePhotodWasDownIsFoundByItsContent() throws {
    let (fixture, id) = try favorite()
    let stat = fixture.disk.edit("/p/a.jpg")
    try fixture.restart()
    #expect(try fixture.scan([("a.jpg", stat)]).updatedAssets == [id: .content])
  }

  /// A program edits a large file behind the part that photod reads, and sets its time back (`exiv2 -k`). Only files whose old
  /// content was sampled are sampled for this.
  @Test(arguments: [true, false], [true, false])
  func editBehindTheBeginningWhilePhotodWasDownIsFoundByItsSample(isEdited: Bool, wasSampled: Bool) throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg", bytes: largeFile, beginning: 7)
    if wasSampled {
      try fixture.apply(Fixture.top, Fixture.file("a.jpg", stat))
    } else {
      try fixture.scan([("a.jpg", stat)])
    }
    fixture.disk.pass(1_000)
    let edited = fixture.disk.edit("/p/a.jpg", editsContent: isEdited)
    try fixture.restart()
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let record = try fixture.scan([("a.jpg", edited)])
    #expect(record.updatedAssets == (isEdited && wasSampled ? [id: .content] : [:]))
    #expect((fixture.disk.proofBytes.sampled > 0) == wasSampled)
    #expect(try fixture.scan([("a.jpg", edited)]).isEmpty)
  }

  @Test func editOfAFileThatWasRenamedAsWellIsAChange() throws {
    let (fixture, id) = try favorite()
    fixture.disk.edit("/p/a.jpg")
    let told = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    #expect(
      try fixture.apply(moved("a.jpg", to: "b.jpg", told, isWritten: true)).updatedAssets == [id: [.path, .content]])
    fixture.disk.pass(100)
    fixture.disk.edit("/p/b.jpg")
    let untold = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    try fixture.restart()
    #expect(try fixture.scan([("c.jpg", untold)]).updatedAssets == [id: [.path, .content]])
  }

  @Test func editRightAfterARenameIsAChange() throws {
    let (fixture, id) = try favorite(bytes: largeFile)
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    // photod-watch looks at the rename after the edit, and reports the edit after the rename.
    let stat = fixture.disk.edit("/p/b.jpg", editsContent: false)
    #expect(try fixture.apply(moved("a.jpg", to: "b.jpg", stat)).updatedAssets == [id: .path])
    #expect(try fixture.apply(found("b.jpg", stat, isWritten: true)).updatedAssets == [id: .content])
  }

  // MARK: Saves by a new file

  @Test(arguments: [1, 20, 7_200] as [Int64]) func saveIsRecognisedHoweverLateItIsHandled(seconds: Int64) throws {
    let (fixture, id) = try favorite()
    let new = fixture.disk.write("/p/new.jpg", camera: "X200")
    try fixture.apply(found("new.jpg", new, at: fixture.disk.time))
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let time = fixture.disk.time
    fixture.disk.pass(seconds)
    let record = try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: time))
    #expect(try fixture.paths() == ["/p/a.jpg": id] && fixture.asset("/p/a.jpg").camera?.model == "X200")
    #expect(record.updatedAssets[id]?.contains(.content) == true)
  }

  /// photod is started again between the two halves of a save.
  @Test(arguments: [true, false]) func saveIsRecognisedAcrossARestart(keepsBirth: Bool) throws {
    let (fixture, id) = try favorite(keepsBirth: keepsBirth)
    try fixture.apply(found("new.jpg", fixture.disk.write("/p/new.jpg", keepsBirth: keepsBirth), at: fixture.disk.time))
    try fixture.restart()
    let files = ["a.jpg", "new.jpg"].map { ($0, fixture.disk.stat(Fixture.bytes("/p/" + $0))!) }
    try fixture.scan(files)
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": id] && fixture.asset("/p/a.jpg").isFavorite)
  }

  @Test func saveIsRecognisedAfterALaterTouchOrRemoval() throws {
    for hasLeft in [false, true] {
      let (fixture, id) = try favorite()
      try fixture.apply(found("new.jpg", fixture.disk.write("/p/new.jpg"), at: fixture.disk.time))
      var stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
      let time = fixture.disk.time
      fixture.disk.pass(20)
      stat = fixture.disk.edit("/p/a.jpg", editsContent: false)
      try fixture.apply(moved("new.jpg", to: "a.jpg", hasLeft ? nil : stat, at: time))
      #expect(try fixture.paths() == ["/p/a.jpg": id])
    }
  }

  /// The content of the photo is not known, so only its place shows which photo it is. photod-watch looks at the rename
  /// after the save.
  @Test(arguments: [true, false], [true, false])
  func photoThatWasNeverReadKeepsItsIdIfItIsRenamedAndSaved(keepsBirth: Bool, isReported: Bool) throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.failure = "reading it failed: Input/output error"
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg", keepsBirth: keepsBirth)))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.failure = nil
    fixture.disk.pass(10)
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    fixture.disk.write("/p/new.part", camera: "X200", bytes: 200, keepsBirth: keepsBirth)
    let saved = fixture.disk.move("/p/new.part", "/p/b.jpg")
    var record = try fixture.apply(moved("a.jpg", to: "b.jpg", saved, at: fixture.disk.time))
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
    if isReported { try fixture.apply(found("b.jpg", saved, at: fixture.disk.time)) }
    record = try fixture.apply(.synced(number: 1))
    #expect(try fixture.paths() == ["/p/b.jpg": id] && fixture.asset("/p/b.jpg").camera?.model == "X200")
  }

  /// A program saves a and then b through one temporary name. photod-watch first looks at that name when it has the file of
  /// b, and looks at a after that.
  @Test(arguments: [true, false]) func photosThatAreSavedThroughOneNameGetTheirOwnContent(isBlind: Bool) throws {
    let (fixture, a) = try favorite()
    try fixture.apply(found("b.jpg", fixture.disk.write("/p/b.jpg")))
    let b = try #require(try fixture.paths()["/p/b.jpg"])
    fixture.disk.pass(100)
    fixture.disk.write("/p/new.jpg", camera: "X200", bytes: 200)
    let savedA = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let next = fixture.disk.write("/p/new.jpg", camera: "X300", bytes: 300)
    try fixture.apply(found("new.jpg", next, at: fixture.disk.time, isWritten: true))
    let savedB = fixture.disk.move("/p/new.jpg", "/p/b.jpg")
    let time = fixture.disk.time
    if isBlind { try fixture.apply(.overflow) }
    try fixture.apply(moved("new.jpg", to: "a.jpg", savedA, at: time))
    if isBlind {
      try fixture.scan([("a.jpg", savedA), ("b.jpg", savedB)])
    } else {
      try fixture.apply(moved("new.jpg", to: "b.jpg", savedB, at: time))
    }
    #expect(try fixture.paths() == ["/p/a.jpg": a, "/p/b.jpg": b] && fixture.asset("/p/a.jpg").isFavorite)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200" && fixture.asset("/p/b.jpg").camera?.model == "X300")
  }

  /// A deleted favorite comes back under a name that only a file without known content had.
  @Test func deletedPhotoThatReturnsOverAnUnreadOneKeepsItsIdentifier() throws {
    let (fixture, id) = try favorite()
    let a = fixture.disk.move("/p/a.jpg", "/trash/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.failure = "reading it failed: Input/output error"
    try fixture.apply(found("b.jpg", fixture.disk.write("/p/b.jpg")))
    fixture.disk.failure = nil
    fixture.disk.remove("/p/b.jpg")
    fixture.disk.move("/trash/a.jpg", "/p/b.jpg")
    let back = fixture.disk.move("/p/b.jpg", "/p/c.jpg")
    #expect(back.identity == a.identity)
    try fixture.apply(moved("b.jpg", to: "c.jpg", back, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/c.jpg": id] && fixture.asset("/p/c.jpg").isFavorite)
  }

  @Test func fileThatWasBornLongAgoIsAPhotoOfItsOwnThoughItWasJustFound() throws {
    let (fixture, id) = try favorite()
    fixture.disk.write("/p/old.jpg")
    fixture.disk.pass(100)
    try fixture.apply(found("old.jpg", try #require(fixture.disk.stat(Fixture.bytes("/p/old.jpg")))))
    let old = try #require(try fixture.paths()["/p/old.jpg"])
    let stat = fixture.disk.move("/p/old.jpg", "/p/a.jpg")
    let record = try fixture.apply(moved("old.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": old] && record.deletedAssets == [id])
  }

  /// The photo is old. Its file is young, because it was saved.
  @Test func savedPhotoThatIsRenamedOverAnotherIsAPhotoOfItsOwn() throws {
    let (fixture, id) = try favorite()
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg")))
    let b = try #require(try fixture.paths()["/p/b.jpg"])
    fixture.disk.pass(100)
    fixture.disk.write("/p/.new")
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.move("/p/.new", "/p/b.jpg")))
    let stat = fixture.disk.move("/p/b.jpg", "/p/a.jpg")
    let record = try fixture.apply(moved("b.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": b] && record.deletedAssets == [id])
  }

  @Test func newFavoriteIsAPhotoOfItsOwn() throws {
    let (fixture, id) = try favorite()
    try fixture.apply(found("new.jpg", fixture.disk.write("/p/new.jpg"), at: fixture.disk.time))
    let new = try #require(try fixture.paths()["/p/new.jpg"])
    try fixture.give(new)
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let record = try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": new] && record.deletedAssets == [id])
  }

  /// If there are no birth times, the times at which photod-watch read the two events replace birth and rename.
  @Test(arguments: [true, false]) func withoutBirthTimesTheEventsAreCompared(isSave: Bool) throws {
    let (fixture, id) = try favorite(keepsBirth: false)
    let new = fixture.disk.write("/p/new.jpg", keepsBirth: false)
    let seen = fixture.disk.time
    fixture.disk.pass(5)
    try fixture.apply(found("new.jpg", new, at: seen))
    let newID = try #require(try fixture.paths()["/p/new.jpg"])
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    fixture.disk.pass(5)
    try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: seen + (isSave ? 360_000_000 : 2_100_000_000)))
    #expect(try fixture.paths() == ["/p/a.jpg": isSave ? id : newID])
  }

  /// The saved file can't be read, and has another name when it can.
  @Test func savedPhotoThatWasNotReadYetIsFoundByItsInode() throws {
    let (fixture, id) = try favorite()
    fixture.disk.failure = "reading it failed: Input/output error"
    fixture.disk.write("/p/.new", camera: "X200")
    try fixture.apply(found("a.jpg", fixture.disk.move("/p/.new", "/p/a.jpg"), at: fixture.disk.time))
    fixture.disk.failure = nil
    fixture.disk.pass(100)
    try fixture.apply(found("b.jpg", fixture.disk.move("/p/a.jpg", "/p/b.jpg")), Fixture.gone("a.jpg"))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
    #expect(try fixture.asset("/p/b.jpg").camera?.model == "X200" && fixture.asset("/p/b.jpg").isFavorite)
  }

  /// The photo was renamed before, and that event was lost. So the saved file is a new photo.
  @Test(arguments: [true, false]) func photoThatWasRenamedUnseenIsNotSavedByTheNextFile(isRenamed: Bool) throws {
    let (fixture, id) = try favorite()
    if isRenamed { fixture.disk.move("/p/a.jpg", "/p/a-old.jpg") }
    try fixture.apply(.overflow)
    try fixture.apply(found("new.jpg", fixture.disk.write("/p/new.jpg", camera: "X200"), at: fixture.disk.time))
    let saved = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(moved("new.jpg", to: "a.jpg", saved, at: fixture.disk.time))
    try fixture.scan(fixture.disk.files(in: "/p"))
    #expect(try fixture.paths()[isRenamed ? "/p/a-old.jpg" : "/p/a.jpg"] == id)
    #expect(try fixture.paths().count == (isRenamed ? 2 : 1))
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200")
    #expect(try fixture.asset("/p/a.jpg").isFavorite == !isRenamed)
  }

  // MARK: Saves by a new file with the bytes of a deleted photo

  /// The saved file gets a second name in the same commit, by which the deleted photo comes back. Clients know the photo
  /// by the name of the file that was saved.
  @Test func photoThatComesBackAsTheSecondNameOfASavedFileHasANewPath() throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto()
    try fixture.apply(found("new.jpg", writeDeletedContent(fixture), at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": id, "/p/new.jpg": deleted])
    let saved = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let second = fixture.disk.link("/p/a.jpg", "/p/x/x.jpg")
    let record = try fixture.apply(
      moved("new.jpg", to: "a.jpg", saved, at: fixture.disk.time), Fixture.file("x.jpg", in: 2, second))
    #expect(try fixture.paths() == ["/p/a.jpg": id, "/p/x/x.jpg": deleted])
    #expect(record.updatedAssets[deleted]?.contains(.path) == true && record.deletedAssets.isEmpty)
  }

  private static let deletedContent: UInt64 = 4711

  /// Like ``favorite(keepsBirth:bytes:)``, with /p/x/x.jpg, which is another favorite in an album and is deleted.
  private func favoriteAndDeletedPhoto(
    keepsBirth: Bool = true, isTold: Bool = true
  ) throws -> (ReconcilerFixture, id: AssetID, deleted: AssetID) {
    let (fixture, id) = try favorite(keepsBirth: keepsBirth)
    let stat = fixture.disk.write("/p/x/x.jpg", content: Self.deletedContent, keepsBirth: keepsBirth)
    try fixture.apply(Fixture.found(2, "x", inode: 20), Fixture.file("x.jpg", in: 2, stat))
    let deleted = try #require(try fixture.paths()["/p/x/x.jpg"])
    try fixture.give(deleted)
    fixture.disk.pass(100)
    fixture.disk.remove("/p/x/x.jpg")
    if isTold {
      try fixture.apply(Fixture.gone("x.jpg", in: 2))
      fixture.disk.pass(100)
    }
    return (fixture, id, deleted)
  }

  private func writeDeletedContent(_ fixture: ReconcilerFixture, keepsBirth: Bool = true) -> FileStat {
    fixture.disk.write("/p/new.jpg", camera: "X200", content: Self.deletedContent, keepsBirth: keepsBirth)
  }

  /// The saved photo has its id, its user data and new content. The deleted photo is deleted. If its bytes come back, it
  /// has its id and its user data again.
  private func expectSaved(_ fixture: ReconcilerFixture, _ id: AssetID, deleted: AssetID) throws {
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    let asset = try fixture.asset("/p/a.jpg")
    #expect(asset.isFavorite && asset.camera?.model == "X200")
    let back = fixture.disk.write("/p/y.jpg", content: Self.deletedContent)
    fixture.disk.pass(100)
    try fixture.apply(found("y.jpg", back, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": id, "/p/y.jpg": deleted] && fixture.asset("/p/y.jpg").isFavorite)
  }

  @Test(arguments: [true, false])
  func saveThroughAFileWithTheBytesOfADeletedPhotoKeepsThePhoto(keepsBirth: Bool) throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto(keepsBirth: keepsBirth)
    let tombstone = try #require(try fixture.catalog.read { try $0.tombstone(of: deleted) })
    let new = writeDeletedContent(fixture, keepsBirth: keepsBirth)
    #expect(try fixture.apply(found("new.jpg", new, at: fixture.disk.time)).insertedAssets == [deleted])
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let time = fixture.disk.time
    fixture.disk.pass(20)
    let record = try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: time))
    #expect(record.deletedAssets == [deleted] && record.insertedAssets.isEmpty)
    #expect(record.updatedAssets[id]?.contains(.content) == true && record.updatedAssets.count == 1)
    #expect(try fixture.catalog.read { try $0.tombstone(of: deleted) } == tombstone)
    try expectSaved(fixture, id, deleted: deleted)
  }

  @Test func saveInOneBatchDoesNotReturnTheDeletedPhoto() throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto()
    let new = writeDeletedContent(fixture)
    let (time, uptime) = (fixture.disk.wallTime, fixture.disk.bootTime)
    let record = try fixture.catalog.write { writer in
      let reconciler = fixture.reconciler
      var batch = Batch(writer: writer, time: time, uptime: uptime)
      try reconciler.fileFound(Place(directoryID: 1, name: Fixture.bytes("new.jpg")), new, reading: nil, in: &batch)
      let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
      try reconciler.fileMoved(
        from: Place(directoryID: 1, name: Fixture.bytes("new.jpg")),
        to: Place(directoryID: 1, name: Fixture.bytes("a.jpg")), stat, reading: nil, in: &batch)
      return batch.record
    }
    #expect(record.insertedAssets.isEmpty && record.deletedAssets.isEmpty && Array(record.updatedAssets.keys) == [id])
    try expectSaved(fixture, id, deleted: deleted)
  }

  /// One batch reports the removal and the new file. photod takes that file for a copy that `mv` made.
  @Test(arguments: [true, false])
  func saveThroughAFileThatWasTakenForADeletedPhotoKeepsThePhoto(keepsBirth: Bool) throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto(keepsBirth: keepsBirth, isTold: false)
    let new = writeDeletedContent(fixture, keepsBirth: keepsBirth)
    try fixture.apply(Fixture.gone("x.jpg", in: 2), found("new.jpg", new, at: fixture.disk.time))
    #expect(try fixture.paths()["/p/new.jpg"] == deleted)
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    let record = try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(record.deletedAssets == [deleted] && record.updatedAssets[id]?.contains(.content) == true)
    let tombstone = try #require(try fixture.catalog.read { try $0.tombstone(of: deleted) })
    #expect(tombstone.path == Fixture.bytes("/p/x/x.jpg") && tombstone.inode != stat.identity.inode)
    try expectSaved(fixture, id, deleted: deleted)
  }

  /// The first half of the file is not yet the photo's content.
  @Test func saveThroughAFileThatBecameADeletedPhotoLaterKeepsThePhoto() throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto()
    let half = fixture.disk.write("/p/new.jpg", bytes: 10, failure: "it ends too soon")
    try fixture.apply(found("new.jpg", half, at: fixture.disk.time))
    let whole = writeDeletedContent(fixture)
    #expect(try fixture.apply(found("new.jpg", whole, at: fixture.disk.time)).insertedAssets == [deleted])
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    try expectSaved(fixture, id, deleted: deleted)
  }

  @Test func saveThatAScanFindsKeepsThePhotoToo() throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto()
    try fixture.apply(found("new.jpg", writeDeletedContent(fixture), at: fixture.disk.time))
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    fixture.disk.pass(20)
    try fixture.scan([("a.jpg", stat)])
    try expectSaved(fixture, id, deleted: deleted)
  }

  /// The library took in the file, and then that it has left its name. The record of its rename over the photo was lost.
  @Test(arguments: [1, 100]) func saveWhoseSecondHalfIsLostKeepsThePhoto(seconds: Int64) throws {
    let (fixture, id) = try favorite()
    let new = fixture.disk.write("/p/new.jpg")
    try fixture.apply(found("new.jpg", new, at: fixture.disk.time, isWritten: true))
    fixture.disk.pass(seconds)
    let other = try #require(try fixture.paths()["/p/new.jpg"])
    let saved = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(.overflow, .scanStarted(root: 1, request: 0, reason: .overflow))
    try fixture.apply(Fixture.gone("new.jpg"))
    try fixture.apply(
      .listingStarted(number: 1, evidence: .scan), Fixture.file("a.jpg", saved),
      .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    // A file that is older than two seconds is a photo of its own.
    #expect(try fixture.paths() == ["/p/a.jpg": seconds < 2 ? id : other])
    #expect(try fixture.asset("/p/a.jpg").isFavorite == (seconds < 2))
    #expect(try fixture.catalog.read { try $0.tombstone(of: other) } == nil)
  }

  @Test(arguments: [true, false]) func photoThatIsBackForAWhileIsAPhotoOfItsOwn(isSameFile: Bool) throws {
    let (fixture, _, deleted) = try favoriteAndDeletedPhoto()
    try fixture.apply(found("new.jpg", writeDeletedContent(fixture), at: fixture.disk.time))
    fixture.disk.pass(3)
    if isSameFile {
      // The file leaves the library and comes back a moment before the rename.
      fixture.disk.move("/p/new.jpg", "/elsewhere/new.jpg")
      try fixture.apply(Fixture.gone("new.jpg"))
      try fixture.apply(
        found("new.jpg", fixture.disk.move("/elsewhere/new.jpg", "/p/new.jpg"), at: fixture.disk.time))
    }
    let stat = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(moved("new.jpg", to: "a.jpg", stat, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": deleted])
  }

  @Test func fileWithTheBytesOfADeletedPhotoThatIsExchangedStaysThatPhoto() throws {
    let (fixture, id, deleted) = try favoriteAndDeletedPhoto()
    try fixture.apply(found("new.jpg", writeDeletedContent(fixture), at: fixture.disk.time))
    fixture.disk.exchange("/p/new.jpg", "/p/a.jpg")
    let saved = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    let old = try #require(fixture.disk.stat(Fixture.bytes("/p/new.jpg")))
    try fixture.apply(
      moved("new.jpg", to: "a.jpg", saved, at: fixture.disk.time),
      moved("a.jpg", to: "new.jpg", old, at: fixture.disk.time))
    #expect(try fixture.paths() == ["/p/a.jpg": deleted, "/p/new.jpg": id])
  }

  // MARK: Seen too early

  /// Two favorites, /p/a.jpg and /p/b.jpg. 100 seconds pass.
  private func twoFavorites() throws -> (ReconcilerFixture, a: AssetID, b: AssetID) {
    let (fixture, a) = try favorite()
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", bytes: 200)))
    let b = try #require(try fixture.paths()["/p/b.jpg"])
    try fixture.give(b)
    fixture.disk.pass(100)
    return (fixture, a, b)
  }

  /// photod-watch looks after all changes, so that each record has the stat of the last file.
  @Test(arguments: [true, false])
  func photoThatIsRenamedOverASavedOneAndSavedKeepsItsIdentifier(isRenamedOver: Bool) throws {
    let (fixture, a, b) = try twoFavorites()
    if isRenamedOver {
      fixture.disk.write("/p/new.jpg", bytes: 300)
      fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    } else {
      fixture.disk.write("/p/a.jpg", bytes: 300)
    }
    fixture.disk.move("/p/b.jpg", "/p/a.jpg")
    fixture.disk.write("/p/new.part", bytes: 400)
    let saved = fixture.disk.move("/p/new.part", "/p/a.jpg")
    let record = try fixture.apply(
      isRenamedOver ? moved("new.jpg", to: "a.jpg", saved, isWritten: true) : found("a.jpg", saved, isWritten: true),
      moved("b.jpg", to: "a.jpg", saved), found("a.jpg", saved, isWritten: true))
    #expect(try fixture.paths() == ["/p/a.jpg": b])
    #expect(record.deletedAssets == [a] && record.insertedAssets.isEmpty)
    try fixture.apply(.synced(number: 1))
    #expect(try fixture.asset("/p/a.jpg").resources[0].byteCount == 400 && fixture.asset("/p/a.jpg").isFavorite)
  }

  /// The saved photo leaves its place and comes back to it. Another file is there in between.
  @Test func savedPhotoThatIsBackInItsPlaceKeepsItsIdentifier() throws {
    let (fixture, a, b) = try twoFavorites()
    fixture.disk.write("/p/new.jpg", bytes: 300)
    let saved = fixture.disk.move("/p/new.jpg", "/p/a.jpg")
    try fixture.apply(moved("new.jpg", to: "a.jpg", saved, isWritten: true))
    fixture.disk.move("/p/a.jpg", "/p/c.jpg")
    fixture.disk.move("/p/b.jpg", "/p/a.jpg")
    let other = fixture.disk.move("/p/a.jpg", "/p/d.jpg")
    let back = fixture.disk.move("/p/c.jpg", "/p/a.jpg")
    try fixture.apply(
      moved("a.jpg", to: "c.jpg", nil), moved("b.jpg", to: "a.jpg", back), moved("a.jpg", to: "d.jpg", other),
      moved("c.jpg", to: "a.jpg", back))
    #expect(try fixture.paths() == ["/p/a.jpg": a, "/p/d.jpg": b])
  }

  /// The write is reported first. When photod-watch looks, the photo has left and a new file has its name.
  @Test func photoThatIsWrittenAndRenamedKeepsItsIdentifierFromTheFileThatFollowsIt() throws {
    let (fixture, id) = try favorite()
    fixture.disk.write("/p/a.jpg", bytes: 300)
    let stat = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    let new = fixture.disk.write("/p/a.jpg", bytes: 400)
    try fixture.apply(found("a.jpg", new, isWritten: true), moved("a.jpg", to: "b.jpg", stat))
    #expect(try fixture.paths()["/p/b.jpg"] == id && fixture.paths().count == 2)
    #expect(try fixture.asset("/p/b.jpg").isFavorite && !fixture.asset("/p/a.jpg").isFavorite)
  }
}
