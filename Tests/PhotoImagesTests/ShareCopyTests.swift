import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// The copies of files on shares: how many are made, and how long they stay.
struct ShareCopyTests {
  private func fixture(workers: Int = 1) throws -> EngineFixture {
    let fixture = try EngineFixture(workers: workers)
    fixture.assets.add(1...100)
    fixture.assets.moveToShare(1...100)
    fixture.maker.state.withLock { $0.embedded = Set((1...100).map { "\($0).jpg" }) }
    return fixture
  }

  private func demands(_ ids: some Sequence<AssetID>, _ delivery: ImageOptions.Delivery) -> [ImageDemand] {
    ids.map { ImageDemand(id: $0, assetID: $0, options: .square(256, delivery)) }
  }

  /// Requests pictures of assets, one after another. Two threads that copy at the same time would take turns.
  private func request(
    _ ids: some Sequence<AssetID>, in session: ImageSession, _ fixture: EngineFixture
  ) async throws {
    for id in ids {
      try session.request(demands([id], .opportunistic))
      try await eventually("the immediate lane is done") { fixture.earlyCount == 0 }
    }
  }

  private func waitingCopies(_ fixture: EngineFixture) -> Int { fixture.engine.shared.withLock { $0.copies.count } }

  @Test func theEmbeddedAndTheFinalPictureComeFromOneCopy() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    try session.request(demands(1...1, .opportunistic))
    let results = try await fixture.results(of: session, finals: 1)
    #expect(results.map(\.isFinal) == [false, true] && results.map(\.longerSide) == [160, 256])
    #expect(fixture.assets.copied == ["1.jpg"])
    try await eventually("the copy is closed") { fixture.assets.openCopyCount == 0 }
  }

  @Test func aCopyWithoutAnEmbeddedPictureIsUsedAsWell() async throws {
    let fixture = try fixture()
    fixture.maker.state.withLock { $0.embedded = [] }
    let session = try fixture.session()
    for (number, delivery) in [ImageOptions.Delivery.opportunistic, .fast].enumerated() {
      let id = AssetID(number) + 1
      #expect(try await fixture.picture(id, .square(256, delivery), in: session, as: id).longerSide == 256)
      #expect(fixture.assets.copied.count == number + 1)
    }
    try await eventually("the copies are closed") { fixture.assets.openCopyCount == 0 }
  }

  @Test func noFileIsCopiedTwiceHoweverManyWait() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.maker.hold()
    try session.request(demands(1...40, .opportunistic))
    try await eventually("the immediate lane is done") { fixture.earlyCount == 0 }
    // One more may be a copy that is decoded.
    #expect(waitingCopies(fixture) <= WaitingCopies.maximumCount)
    #expect(fixture.assets.openCopyCount <= WaitingCopies.maximumCount + 1)
    fixture.maker.release()
    _ = try await fixture.results(of: session, finals: 40)
    #expect(fixture.assets.copied.count == 40 && Set(fixture.assets.copied).count == 40)
    try await eventually("the copies are closed") { fixture.assets.openCopyCount == 0 }
  }

  @Test(arguments: [false, true]) func copiesOfCancelledRequestsAreClosed(isClosed: Bool) async throws {
    let fixture = try fixture()
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    fixture.maker.hold()
    // It has the only thread for rendering.
    try other.request(demands([100], .highQuality))
    try await fixture.waitForRendering(1)
    try await request(1...3, in: session, fixture)
    #expect(waitingCopies(fixture) == 3)
    if isClosed { session.close() } else { #expect(await session.cancel(nil) == [1, 2, 3]) }
    #expect(waitingCopies(fixture) == 0 && fixture.assets.openCopyCount == 1)
    fixture.maker.release()
    _ = try await fixture.results(of: other, finals: 1)
  }

  /// The copy belongs to the former content.
  @Test func aCopyOfAnotherRevisionIsNotUsed() async throws {
    let fixture = try fixture()
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    fixture.maker.hold()
    try other.request(demands([100], .highQuality))
    try await fixture.waitForRendering(1)
    try session.request(demands(1...1, .opportunistic))
    try await eventually("a copy waits") { waitingCopies(fixture) == 1 }
    fixture.assets.change(1) { $0.revision = "r2" }
    fixture.maker.release()
    let results = try await fixture.results(of: session, finals: 1)
    #expect(results.last?.picture?.revision == "r2")
    #expect(fixture.assets.copied.filter { $0 == "1.jpg" }.count == 2)
    try await eventually("the copies are closed") { fixture.assets.openCopyCount == 0 }
  }

  /// The requests of a client that does not read would keep other clients from embedded pictures.
  @Test func copiesDoNotWaitForEver() async throws {
    let fixture = try fixture()
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    fixture.maker.hold()
    try other.request(demands([100], .highQuality))
    try await fixture.waitForRendering(1)
    try await request(1...20, in: session, fixture)
    #expect(waitingCopies(fixture) == WaitingCopies.maximumCount)
    fixture.clock.advance(WaitingCopies.longestTime + 1)
    let third = try fixture.session("c")
    try third.request(demands([50], .opportunistic))
    try await eventually("an embedded picture") { third.takeResults().first?.longerSide == 160 }
    fixture.maker.release()
    _ = try await fixture.results(of: third, finals: 1)
  }

  @Test func aCopyEndsWhenItsRequestsWereCancelled() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands(1...1, .highQuality))
    try await eventually("the file is copied") { fixture.assets.blockedCount == 1 }
    #expect(await session.cancel(nil) == [1])
    fixture.assets.answerFromShare()
    try await fixture.waitUntilIdle()
    #expect(fixture.assets.copied.isEmpty && fixture.maker.rendered.isEmpty)
    try session.request([ImageDemand(id: 2, assetID: 1, options: .thumbnail)])
    #expect(try await fixture.results(of: session, finals: 1).last?.longerSide == 256)
  }

  @Test func aCopyForACancelledRequestGoesOnIfACachingSetHoldsIt() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands(1...1, .highQuality))
    try await eventually("the file is copied") { fixture.assets.blockedCount == 1 }
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    #expect(await session.cancel(nil) == [1])
    fixture.assets.answerFromShare()
    try await fixture.waitUntilIdle()
    #expect(fixture.assets.copied == ["1.jpg"] && fixture.keptFiles.count == 1)
  }

  @Test(arguments: [false, true]) func aCopyForACachingSetEndsWithTheSet(isClosed: Bool) async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await eventually("the file is copied") { fixture.assets.blockedCount == 1 }
    if isClosed { session.close() } else { try session.stopCachingAll() }
    fixture.assets.answerFromShare()
    try await fixture.waitUntilIdle()
    #expect(fixture.assets.copied.isEmpty && fixture.maker.rendered.isEmpty)
    let other = try fixture.session("b")
    #expect(try await fixture.picture(1, in: other, as: 1).longerSide == 256)
  }
}
