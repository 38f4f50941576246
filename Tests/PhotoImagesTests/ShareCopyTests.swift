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

  private func demands(_ ids: some Sequence<Int64>, _ delivery: ImageOptions.Delivery) -> [ImageDemand] {
    ids.map { ImageDemand(id: $0, assetID: $0, options: .square(256, delivery)) }
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
