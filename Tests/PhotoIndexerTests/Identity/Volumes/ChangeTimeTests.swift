import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// On FAT the change time is the modification time. So it does not show that a program set the time back after a write.
@Suite struct ChangeTimeTests {
  /// FAT with two drivers: one reports birth times, and one reports none.
  enum Kind: CaseIterable {
    case withBirth, withoutBirth
  }

  /// The new content of a photo.
  enum Edit: CaseIterable {
    /// The metadata differs.
    case metadata
    /// The metadata and all bytes that are read for it are the same.
    case quiet
  }

  private static let bytes: Int64 = 5_000_000

  /// /p/a.jpg: a favorite that a scan found, so that it has no sample.
  private func photo(_ kind: Kind) throws -> (ReconcilerFixture, id: AssetID, FileStat) {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume(kind == .withBirth ? "uuid:1A2B-3C4D" : "fuse:/dev/sdb1", of: 1)
    let stat = fixture.disk.write("/p/a.jpg", bytes: Self.bytes, beginning: 7, keepsBirth: kind == .withBirth)
    fixture.disk.pass(100)
    try fixture.scan([("a.jpg", stat)])
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(100)
    return (fixture, id, stat)
  }

  private func found(_ stat: FileStat, isWritten: Bool = false) -> WatchRecord {
    .fileFound(directory: 1, name: Fixture.bytes("a.jpg"), stat: stat, event: FileEvent(time: 0, isWritten: isWritten))
  }

  /// A program writes a temporary file, gives it the photo's time, and renames it over the photo.
  private func save(_ edit: Edit, _ kind: Kind, as old: FileStat, on disk: MemoryDisk) -> FileStat {
    var stat = disk.write(
      "/p/a.jpg.tmp", camera: edit == .metadata ? "X200" : "X100", bytes: Self.bytes, beginning: 7,
      keepsBirth: kind == .withBirth)
    (stat.modificationTime, stat.changeTime) = (old.modificationTime, old.changeTime)
    disk.remove("/p/a.jpg")
    disk.move("/p/a.jpg.tmp", "/p/a.jpg")
    disk.setStat(stat, of: "/p/a.jpg")
    disk.pass(100)
    return stat
  }

  private func expectChange(_ record: CommitRecord, _ edit: Edit, of id: AssetID, in fixture: ReconcilerFixture) throws
  {
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(record.updatedAssets[id]?.contains(.content) == true)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == (edit == .metadata ? "X200" : "X100"))
    let row = try #require(try fixture.catalog.read { try $0.file(ofAsset: id) })
    #expect(!row.isInDoubt && row.readTime != .unknown)
  }

  @Test(arguments: Kind.allCases, Edit.allCases)
  func fileThatIsSavedOverThePhotoIsRead(kind: Kind, edit: Edit) throws {
    let (fixture, id, old) = try photo(kind)
    let stat = save(edit, kind, as: old, on: fixture.disk)
    try expectChange(try fixture.apply(found(stat)), edit, of: id, in: fixture)
  }

  /// Only the birth time shows that this is another file.
  @Test(arguments: Edit.allCases)
  func fileThatWasSavedOverThePhotoWhilePhotodWasDownIsRead(edit: Edit) throws {
    let (fixture, id, old) = try photo(.withBirth)
    let stat = save(edit, .withBirth, as: old, on: fixture.disk)
    try fixture.restart()
    try expectChange(try fixture.scan([("a.jpg", stat)]), edit, of: id, in: fixture)
  }

  @Test(arguments: Kind.allCases)
  func photoThatIsEditedInPlaceIsRead(kind: Kind) throws {
    let (fixture, id, stat) = try photo(kind)
    fixture.disk.edit("/p/a.jpg")
    fixture.disk.setStat(stat, of: "/p/a.jpg")
    try expectChange(try fixture.apply(found(stat, isWritten: true)), .quiet, of: id, in: fixture)
  }

  /// Otherwise it would be read while the library waits.
  @Test func photoThatIsEditedInPlaceIsReadAhead() async throws {
    let (fixture, _, stat) = try photo(.withBirth)
    let ahead = try ReadAhead(
      catalog: fixture.catalog, files: fixture.disk, knownInodes: KnownInodes(catalog: fixture.catalog))
    for isWritten in [false, true] {
      let input = await ahead.read(.batch([Fixture.top, found(stat, isWritten: isWritten)]))
      #expect(input.contents.count == (isWritten ? 1 : 0))
    }
  }

  /// The file has its old size and time again when photod looks.
  @Test(arguments: Kind.allCases, [false, true])
  func photoThatWasEmptyForAMomentIsRead(kind: Kind, isScanned: Bool) throws {
    let (fixture, id, stat) = try photo(kind)
    var empty = stat
    empty.byteCount = 0
    try fixture.apply(found(empty))
    fixture.disk.edit("/p/a.jpg")
    fixture.disk.setStat(stat, of: "/p/a.jpg")
    fixture.disk.pass(1)
    let record = isScanned ? try fixture.scan([("a.jpg", stat)]) : try fixture.apply(found(stat))
    try expectChange(record, .quiet, of: id, in: fixture)
  }

  @Test(arguments: Kind.allCases)
  func photoThatNoProgramWroteIsNotRead(kind: Kind) throws {
    let (fixture, _, stat) = try photo(kind)
    let reads = fixture.disk.readCount
    #expect(try fixture.apply(found(stat)).isEmpty)
    try fixture.restart()
    #expect(try fixture.scan([("a.jpg", stat)]).isEmpty)
    #expect(fixture.disk.readCount == reads)
  }
}
