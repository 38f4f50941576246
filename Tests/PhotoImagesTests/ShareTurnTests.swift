import PhotoModel
import TestTools
import Testing

@testable import PhotoImages

/// A share that does not answer holds up no picture of another drive.
struct ShareTurnTests {
  /// More than the results that may wait for a session.
  private static let share: ClosedRange<AssetID> = 1...100
  private static let local: ClosedRange<AssetID> = 101...120

  private func fixture() throws -> EngineFixture {
    let fixture = try EngineFixture(workers: 2)
    fixture.assets.add(1...120)
    fixture.assets.moveToShare(Self.share)
    return fixture
  }

  private func demands(_ ids: some Sequence<AssetID>, _ options: ImageOptions = .thumbnail) -> [ImageDemand] {
    ids.map { ImageDemand(id: $0, assetID: $0, options: options) }
  }

  @Test func requestsForOtherDrivesAreServedWhileAShareDoesNotAnswer() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands(1...120))
    let results = try await fixture.results(of: session, finals: 20)
    #expect(results.map(\.requestID).sorted() == Self.local.map(\.rawValue))
    #expect(fixture.assets.blockedCount == 1)
    fixture.assets.answerFromShare()
    let late = try await fixture.results(of: session, finals: 100)
    #expect(late.map(\.requestID).sorted() == Self.share.map(\.rawValue))
    try await fixture.waitUntilIdle()
  }

  @Test func embeddedPicturesOfOtherDrivesComeWhileAShareDoesNotAnswer() async throws {
    let fixture = try fixture()
    fixture.maker.state.withLock { $0.embedded = Set((1...120).map { "\($0).jpg" }) }
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands(1...120, .square(256, .opportunistic)))
    let results = try await fixture.results(of: session, finals: 20)
    for id in Self.local {
      #expect(results.filter { $0.requestID == id.rawValue }.map(\.isFinal) == [false, true])
    }
    #expect(fixture.assets.blockedCount == 2, "one thread of each lane")
    fixture.assets.answerFromShare()
    let late = try await fixture.results(of: session, finals: 100)
    #expect(late.filter(\.isFinal).map(\.requestID).sorted() == Self.share.map(\.rawValue))
  }

  @Test func cancelledRequestsForAShareCauseNoWorkWhenItAnswers() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands(Self.share))
    try await eventually("a thread waits for the share") { fixture.assets.blockedCount == 1 }
    #expect(await session.cancel(nil).count == 100)
    fixture.assets.answerFromShare()
    try await fixture.waitUntilIdle()
    #expect(fixture.assets.copied.isEmpty && fixture.maker.rendered.isEmpty)
    #expect(session.takeResults().isEmpty)
  }

  @Test func cachingOfOtherDrivesGoesOnWhileAShareDoesNotAnswer() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.startCaching(
      assetIDs: Array(1...120), frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await fixture.waitForRendering(20)
    #expect(Set(fixture.maker.renderedNames) == Set(Self.local.map { "\($0).jpg" }))
    fixture.assets.answerFromShare()
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.count == 120)
  }

  @Test func cachingGoesOnWhileARequestForAShareHangs() async throws {
    let fixture = try fixture()
    let session = try fixture.session()
    fixture.assets.blockShare()
    try session.request(demands([1], .square(256, .opportunistic)))
    try await eventually("the request waits for the share") { fixture.assets.blockedCount == 1 }
    try session.startCaching(
      assetIDs: Array(Self.local), frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await fixture.waitForRendering(20)
    #expect(!fixture.engine.shared.withLock { ImageEngine.hasRequests($0) }, "shared thumbnails can be made")
    fixture.assets.answerFromShare()
    #expect(try await fixture.results(of: session, finals: 1).last?.requestID == 1)
  }
}
