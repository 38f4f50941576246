import PhotoModel
import TestTools
import Testing

@testable import PhotoImages

/// The memory of photod does not grow with the number of pictures.
struct HeldMemoryTests {
  /// The elements of all collections in a value, at any depth. Those of its objects do not count. It finds the members by
  /// reflection, so it also counts those of a collection that is added later.
  private static func elementCount(_ value: Any) -> Int {
    let mirror = Mirror(reflecting: value)
    let own: Int
    switch mirror.displayStyle {
    case .class: return 0
    case .collection, .set, .dictionary: own = mirror.children.count
    default: own = 0
    }
    return mirror.children.reduce(own) { $0 + elementCount($1.value) }
  }

  private static func elementCount(_ fixture: EngineFixture) -> Int {
    fixture.engine.shared.withLock { elementCount($0) } + fixture.engine.store.state.withLock { elementCount($0) }
  }

  /// Makes pictures of these assets for a session.
  private static func makePictures(_ ids: ClosedRange<Int>, _ session: ImageSession, _ fixture: EngineFixture)
    async throws
  {
    for first in stride(from: ids.lowerBound, through: ids.upperBound, by: 500) {
      let numbers = first...min(first + 499, ids.upperBound)
      try session.request(numbers.map { ImageDemand(id: $0, assetID: AssetID(Int64($0)), options: .thumbnail) })
      let results = try await fixture.results(of: session, finals: numbers.count)
      #expect(results.count { $0.path != nil } == numbers.count)
    }
    try await fixture.waitUntilIdle()
  }

  /// Lets all times end for which photod keeps something.
  private static func letTimePass(_ fixture: EngineFixture) {
    fixture.clock.advance(3 * RecentlySent.time)
    fixture.engine.store.tidy()
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func tenThousandPicturesLeaveNothingInMemory() async throws {
    let fixture = try EngineFixture(workers: 2)
    fixture.assets.add(1...10_000)
    let session = try fixture.session()
    try await Self.makePictures(1...100, session, fixture)
    Self.letTimePass(fixture)
    let before = Self.elementCount(fixture)
    try await Self.makePictures(101...10_000, session, fixture)
    #expect(fixture.maker.rendered.count == 10_000)
    // The paths that were sent stay readable for a minute, so photod must know them.
    #expect(Self.elementCount(fixture) >= before + 9_900)
    Self.letTimePass(fixture)
    // Each of the four queues may keep 64 numbers of requests that have ended.
    #expect(Self.elementCount(fixture) <= before + 4 * 64)
  }
}
