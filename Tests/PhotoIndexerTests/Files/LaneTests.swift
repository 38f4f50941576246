import PhotoModel
import PhotoWatch
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Records of several photod-watch processes, in turns.
@Suite struct LaneTests {
  @Test func listingsOfTwoLanesDoNotMix() throws {
    let fixture = try ReconcilerFixture()
    try fixture.addSecondRoot()
    let (a, b) = (fixture.disk.write("/p/a.jpg"), fixture.disk.write("/p/b.jpg"))
    let c = fixture.disk.write("/q/c.jpg", device: 2)
    try fixture.scan([("a.jpg", a), ("b.jpg", b)])
    try fixture.apply(
      .scanStarted(root: 2, request: 0, reason: .start), .listingStarted(number: 60, evidence: .scan),
      .fileFound(directory: 60, name: Array("c.jpg".utf8), stat: c), .listingEnded(number: 60, complete: true),
      .scanEnded(root: 2, request: 0, complete: true))
    let ids = try fixture.paths()

    // Each batch of a lane ends in the middle of its listing; b.jpg and c.jpg are gone.
    fixture.reconciler.listings.turn(to: 0)
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .rescan), .listingStarted(number: 1, evidence: .scan))
    fixture.reconciler.listings.turn(to: 3)
    try fixture.apply(
      .scanStarted(root: 2, request: 0, reason: .rescan), .listingStarted(number: 60, evidence: .scan))
    fixture.reconciler.listings.turn(to: 0)
    try fixture.apply(Fixture.file("a.jpg", a), .listingEnded(number: 1, complete: true))
    fixture.reconciler.listings.turn(to: 3)
    fixture.disk.remove("/p/b.jpg")
    fixture.disk.remove("/q/c.jpg")
    try fixture.apply(.listingEnded(number: 60, complete: true), .scanEnded(root: 2, request: 0, complete: true))
    #expect(try fixture.paths() == ids, "a scan is under way still")
    fixture.reconciler.listings.turn(to: 0)
    let record = try fixture.apply(.scanEnded(root: 1, request: 0, complete: true))
    #expect(Set(record.deletedAssets) == [ids["/p/b.jpg"]!, ids["/q/c.jpg"]!])
    #expect(try fixture.paths() == ["/p/a.jpg": ids["/p/a.jpg"]!])
  }

  @Test func freshWatcherVoidsTheNumbersOfItsOwnRootsOnly() throws {
    let fixture = try ReconcilerFixture()
    try fixture.addSecondRoot()
    try fixture.apply(Fixture.top)
    fixture.reconciler.listings.turn(to: 1)
    try fixture.apply(.scanStarted(root: 2, request: 0, reason: .start))
    fixture.reconciler.beginSession(of: [2])
    #expect(fixture.reconciler.tree.directory(number: 1) != nil)
    #expect(fixture.reconciler.tree.directory(number: 60) == nil)
    #expect(!fixture.reconciler.scans.areUnderWay)
  }

  /// A share that goes offline does not delay the decision about scans of other roots.
  @Test func scanIsDecidedWhenTheConcurrentLaneGoesOffline() throws {
    let fixture = try ReconcilerFixture()
    try fixture.addSecondRoot()
    let a = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", a)])
    fixture.disk.remove("/p/a.jpg")
    fixture.reconciler.listings.turn(to: 1)
    try fixture.apply(.scanStarted(root: 2, request: 0, reason: .start))
    fixture.reconciler.listings.turn(to: 0)
    try fixture.scan([])
    #expect(try fixture.paths().count == 1)
    fixture.reconciler.listings.turn(to: 1)
    try fixture.apply(.rootOffline(root: 2, errorNumber: 110))
    #expect(try fixture.paths().isEmpty)
  }
}

/// A share that does not answer proves nothing about its files.
@Suite struct UnknownFileTests {
  @Test func newFileGetsNoIdentifierFromAShareThatDoesNotAnswer() throws {
    let share = SilentShare()
    let fixture = try ReconcilerFixture(files: share)
    let a = share.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", a)])
    let ids = try fixture.paths()
    // The records look like a rename, because the same inode is in another place. The old place can't be examined.
    let b = share.disk.link("/p/a.jpg", "/p/b.jpg")
    share.isSilent = true
    try fixture.apply(Fixture.file("b.jpg", b))
    #expect(try fixture.paths()["/p/a.jpg"] == ids["/p/a.jpg"])
    share.isSilent = false
    try fixture.apply(Fixture.file("a.jpg", a), Fixture.file("b.jpg", b))
    #expect(try fixture.paths()["/p/a.jpg"] == ids["/p/a.jpg"] && fixture.paths().count == 2)
  }
}
