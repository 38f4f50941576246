import Testing
import WatchRecords

@testable import PhotoIndexer

/// Files that a person ignores leave without the brake. All others stay.
@Suite struct IgnoredTests {
  private typealias Fixture = ReconcilerFixture

  /// 150 photos in the top and 150 in folder 2 (`Exports`), with a removal grace of ten minutes.
  private func full() throws -> (ReconcilerFixture, [(String, FileStat)]) {
    let fixture = try Fixture(grace: .seconds(600))
    let top = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    let inside = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/Exports/\($0).jpg")) }
    try fixture.apply(Fixture.top, .listingStarted(number: 1, evidence: .scan))
    for file in top { try fixture.apply(Fixture.file(file.0, file.1)) }
    try fixture.apply(.listingEnded(number: 1, complete: true), Fixture.found(2, "Exports", inode: 2))
    for file in inside { try fixture.apply(Fixture.file(file.0, in: 2, file.1)) }
    #expect(try fixture.paths().count == 300)
    return (fixture, top)
  }

  @Test func photosOfAnIgnoredFolderAreRemovedDuringASuspicion() throws {
    let (fixture, top) = try full()
    // A new photod-watch with new rules reports only that the folder is ignored.
    fixture.reconciler.beginSession()
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      .ignored(directory: 1, name: Fixture.bytes("Exports")))
    for file in top { try fixture.apply(Fixture.file(file.0, file.1)) }
    let ended = try fixture.apply(
      .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    // The folder might have had another name. So it leaves only now.
    #expect(ended.deletedAssets.count == 150)
    #expect(try fixture.paths().count == 150)
    #expect(!fixture.reconciler.roots.hasSuspects)
  }

  @Test func onlyIgnoredPhotosAreRemoved() throws {
    let (fixture, _) = try full()
    fixture.reconciler.beginSession()
    // The scan finds nothing else, which looks like an unmounted drive.
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .rules), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      .ignored(directory: 1, name: Fixture.bytes("7.jpg")), .ignored(directory: 1, name: Fixture.bytes("none.jpg")),
      .ignored(directory: 9, name: Fixture.bytes("8.jpg")), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 0, complete: true))
    #expect(record.deletedAssets.count == 1)
    let left = try fixture.paths()
    #expect(left.count == 299 && left["/p/7.jpg"] == nil)
    #expect(fixture.reconciler.roots.hasSuspects)
  }

  @Test func aMarkerEmptiesItsFolderThoughTheBrakeIsOn() throws {
    let (fixture, _) = try full()
    fixture.reconciler.beginSession()
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      .ignored(directory: 1, name: []), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 0, complete: true))
    #expect(record.deletedAssets.count == 300)
    #expect(!fixture.reconciler.roots.hasSuspects)
  }

  /// The folder has a number. So it is not the ignored folder, or photod-watch is about to report it as gone.
  @Test func aFolderThatIsKnownByNumberStays() throws {
    let (fixture, _) = try full()
    try fixture.apply(.ignored(directory: 1, name: Fixture.bytes("Exports")))
    #expect(try fixture.paths().count == 300)
    try fixture.apply(.directoryGone(number: 2, evidence: .event))
    #expect(try fixture.paths().count == 150)
  }

  @Test func photoThatLeavesAnIgnoredFolderKeepsItsIdentifier() throws {
    let fixture = try Fixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat)])
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let moved = fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    // The old name is ignored by now and the new one is not. One batch reports both.
    try fixture.apply(.ignored(directory: 1, name: Fixture.bytes("a.jpg")), Fixture.file("b.jpg", moved))
    #expect(try fixture.paths() == ["/p/b.jpg": id])
  }
}
