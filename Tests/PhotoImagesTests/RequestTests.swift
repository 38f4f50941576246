import Dispatch
import Foundation
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// The promises about requests, cancellations and turns.
struct RequestTests {
  private func demands(_ ids: some Sequence<AssetID>, _ options: ImageOptions = .thumbnail) -> [ImageDemand] {
    ids.map { ImageDemand(id: $0, assetID: $0, options: options) }
  }

  @Test func eachRequestGetsOneFinalResult() async throws {
    let fixture = try EngineFixture(workers: 2)
    fixture.assets.add(1...300)
    let session = try fixture.session()
    try session.request(demands(1...310))
    let results = try await fixture.results(of: session, finals: 310)
    #expect(results.map(\.requestID).sorted() == Array(1...310))
    #expect(results.filter { $0.failure == .noSuchAsset }.map(\.requestID).sorted() == Array(301...310))
    try await fixture.waitUntilIdle()
    #expect(session.takeResults().isEmpty)
    #expect(fixture.engine.statistics().made == 300)
  }

  @Test func immediatePicturesAreExpectedWhileASessionIsOpen() throws {
    let fixture = try EngineFixture()
    var isReady: Bool { fixture.maker.state.withLock { $0.isReady } }
    let script = try fixture.engine.openSession(
      client: ImageClient(process: "script"), wantsData: true, isPrivate: true)
    #expect(!isReady, "MakeImages gives no immediate pictures")
    let (first, second) = (try fixture.session(), try fixture.session())
    #expect(isReady)
    first.close()
    script.close()
    #expect(isReady)
    second.close()
    #expect(!isReady)
  }

  @Test func onlyThePictureThatAWorkerHeldIsFinishedAfterACancellation() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1000)
    fixture.maker.hold()
    let session = try fixture.session()
    try session.request(demands(1...1000))
    try await fixture.waitForRendering(1)
    #expect(await session.cancel(nil).count == 1000)
    fixture.maker.release()
    try await fixture.waitUntilIdle()
    #expect(fixture.maker.rendered.count == 1)
    #expect(session.takeResults().isEmpty)
    let statistics = fixture.engine.statistics()
    #expect(statistics.made == 1 && statistics.undelivered == 1)
    #expect(fixture.keptFiles.count == 1, "the picture is kept")
  }

  @Test func resultsThatWaitAreCancelledToo() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...3)
    let session = try fixture.session()
    try session.request(demands(1...3))
    try await fixture.waitUntilIdle()
    #expect(await session.cancel([2, 7, 2]) == [2])
    #expect(session.takeResults().map(\.requestID) == [1, 3])
    #expect(await session.cancel(nil) == [], "the final results were sent")
    #expect(fixture.engine.statistics().undelivered == 1)
  }

  @Test func aCancellationReturnsAfterTheResultsThatWereTakenAreOnTheStream() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...3)
    let session = try fixture.session()
    try session.request(demands([1]))
    try await fixture.waitUntilIdle()
    let events = Events()
    let (stream, mayPut) = AsyncStream.makeStream(of: Void.self)
    let (started, isPutting) = AsyncStream.makeStream(of: Void.self)
    let sender = Task {
      await session.sendResults { results in
        isPutting.finish()
        for await _ in stream {}
        events.add("sent \(results.map(\.requestID))")
      }
    }
    for await _ in started {}
    let canceller = Task {
      let cancelled = await session.cancel(nil)
      events.add("cancelled \(cancelled)")
    }
    // Without the wait, the cancellation would be over by the time that another request is made.
    _ = try await fixture.picture(2, in: try fixture.session("other"), as: 1)
    mayPut.finish()
    await canceller.value
    #expect(await sender.value)
    #expect(events.all == ["sent [1]", "cancelled []"])
  }

  @Test func idsMustAscend() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...3)
    let session = try fixture.session()
    try session.request(demands([5]))
    #expect(throws: ImageRequestError.duplicateRequest(5)) { try session.request(demands([6, 5])) }
    #expect(throws: ImageRequestError.duplicateRequest(4)) { try session.request(demands([4])) }
    try session.request(demands([6]))
    let results = try await fixture.results(of: session, finals: 2)
    #expect(results.map(\.requestID).sorted() == [5, 6], "none of a refused call was accepted")
  }

  @Test func limitsAreEnforced() throws {
    let fixture = try EngineFixture()
    fixture.maker.hold()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    #expect(throws: ImageRequestError.tooManyRequests(limit: 1000)) { try session.request(demands(1...1001)) }
    for call in 0..<10 {
      try session.request((1...1000).map { ImageDemand(id: call * 1000 + $0, assetID: 1, options: .thumbnail) })
    }
    #expect(throws: ImageRequestError.tooManyRequests(limit: 10_000)) { try session.request(demands([10_001])) }
    #expect(throws: ImageRequestError.tooManyRequests(limit: 50_000)) {
      try session.startCaching(
        assetIDs: Array(1...50_001), frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    }
    for _ in 1..<16 { _ = try fixture.session() }
    #expect(throws: ImageRequestError.tooManySessions(limit: 16)) { try fixture.session() }
    for number in 0..<240 { _ = try fixture.session("p\(number / 16)") }
    #expect(throws: ImageRequestError.tooManySessions(limit: 256)) { try fixture.session("another") }
  }

  @Test func sessionIsFoundByItsNameThroughItsListenerOnly() throws {
    let fixture = try EngineFixture()
    let session = try fixture.session()
    #expect(session.name.count == 32)
    #expect(try fixture.engine.session(session.name, client: ImageClient(process: "other")) === session)
    #expect(throws: ImageRequestError.noSuchSession) {
      try fixture.engine.session(session.name, client: ImageClient(process: "viewer", listener: "public"))
    }
    session.close()
    #expect(session.isEnded)
    #expect(throws: ImageRequestError.noSuchSession) {
      try fixture.engine.session(session.name, client: ImageClient(process: "viewer"))
    }
    #expect(throws: ImageRequestError.noSuchSession) { try session.request(demands([1])) }
  }

  @Test func turnsGoBetweenProcessesAndThenTheirSessions() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...100)
    fixture.maker.hold()
    let (one, other, second) = (try fixture.session("a"), try fixture.session("b"), try fixture.session("a"))
    try one.request(demands(1...4))
    try await fixture.waitForRendering(1)
    try second.request(demands(11...13))
    try other.request(demands(21...23))
    try await eventually("all wait for rendering") {
      fixture.engine.shared.withLock { $0.rendering.waitingCount } == 9
    }
    fixture.maker.release()
    try await fixture.waitUntilIdle()
    // Two threads look for pictures that are there already, so requests of one session may change places.
    let order = fixture.maker.renderedNames.compactMap { Int($0.dropLast(4)) }
    #expect(order.map { $0 / 10 } == [0, 2, 1, 2, 0, 2, 1, 0, 1, 0])
    #expect(order.sorted() == Array(1...4) + Array(11...13) + Array(21...23))
  }

  @Test func equalWorkIsDoneOnce() async throws {
    let fixture = try EngineFixture(workers: 4)
    fixture.assets.add(1...1)
    fixture.maker.hold()
    let sessions = [try fixture.session("a"), try fixture.session("b"), try fixture.session("c")]
    for session in sessions {
      // 200 and 256 pixels are the same kept size.
      try session.request([
        ImageDemand(id: 1, assetID: 1, options: .square(256)), ImageDemand(id: 2, assetID: 1, options: .square(200)),
      ])
    }
    try await fixture.waitForRendering(1)
    #expect(await sessions[0].cancel(nil) == [1, 2])
    fixture.maker.release()
    for session in sessions[1...] {
      let results = try await fixture.results(of: session, finals: 2)
      #expect(results.allSatisfy { $0.longerSide == 256 })
    }
    #expect(fixture.maker.rendered.count == 1)
    #expect(sessions[0].takeResults().isEmpty)
  }

  @Test func requestsComeBeforeCaching() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...200)
    fixture.maker.hold()
    let session = try fixture.session()
    let frame = ImageFrame(width: 256, height: 256)
    try session.startCaching(assetIDs: Array(1...100), frame: frame, contentMode: .aspectFit)
    try await fixture.waitForRendering(1)
    try session.request(demands(101...140))
    try await eventually("all wait for rendering") {
      fixture.engine.shared.withLock { $0.rendering.waitingCount } == 40
    }
    fixture.maker.release()
    try await fixture.waitForRendering(41)
    #expect(fixture.maker.renderedNames[1...40].allSatisfy { (101...140).contains(Int($0.dropLast(4)) ?? 0) })
    _ = try await fixture.results(of: session, finals: 40)
    try await fixture.waitForRendering(140)
  }

  @Test func requestTakesOverTheWorkOfACachingSet() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    fixture.maker.hold()
    let session = try fixture.session()
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await fixture.waitForRendering(1)
    try session.request(demands([1]))
    try await eventually("the request joins") {
      fixture.earlyCount + fixture.engine.shared.withLock { $0.rendering.waitingCount } == 0
        && fixture.engine.statistics().running == 1
    }
    fixture.maker.release()
    #expect(try await fixture.results(of: session, finals: 1).first?.longerSide == 256)
    #expect(fixture.maker.rendered.count == 1)
  }

  /// The picture that was being made is of the old revision, and a client would keep it as the present one.
  @Test func requestThatTookOverTheWorkOfACachingSetGetsThePresentRevision() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.hold()
    let session = try fixture.session()
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await fixture.waitForRendering(1)
    try session.request(demands([1]))
    try await eventually("the request joins") {
      fixture.earlyCount + fixture.engine.shared.withLock { $0.rendering.waitingCount } == 0
        && fixture.engine.statistics().running == 1
    }
    fixture.assets.change(1) { $0.revision = "r2" }
    fixture.maker.release()
    #expect(try await fixture.results(of: session, finals: 1).first?.picture?.revision == "r2")
    #expect(fixture.maker.rendered.count == 2)
  }

  /// The request begins the work, and is cancelled before the file is decoded.
  @Test func memberOfACachingSetIsMadeAlthoughARequestForItWasCancelled() async throws {
    let fixture = try EngineFixture(workers: 2)
    fixture.assets.add(1...1)
    let lookups = Atomic(0)
    let (mayRender, mayLookUp) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    fixture.assets.setOnLookup { _ in
      switch lookups.add(1, ordering: .sequentiallyConsistent).newValue {
      // The lane for rendering looks up the asset again, and then the member is looked up.
      case 2: mayRender.wait()
      case 3: mayLookUp.wait()
      default: break
      }
    }
    let session = try fixture.session()
    try session.request(demands([1]))
    try await eventually("the request begins") { lookups.load(ordering: .sequentiallyConsistent) == 2 }
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await eventually("the member is looked up") { lookups.load(ordering: .sequentiallyConsistent) == 3 }
    mayLookUp.signal()
    try await eventually("the member has found the work of the request") {
      fixture.engine.shared.withLock { $0.cachingLookupCount == 0 }
    }
    #expect(await session.cancel(nil) == [1])
    mayRender.signal()
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.count == 1 && fixture.maker.rendered.count == 1)
  }

  /// The other session does not read, so its request gets no work for a long time.
  @Test func memberOfACachingSetDoesNotWaitForARequestThatGetsNoWork() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...65)
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    try session.request(demands(1...65))
    try await eventually("64 results wait") {
      fixture.engine.shared.withLock { $0.sessions[session.number]?.results.count } == 64
        && fixture.engine.statistics().running == 0
    }
    try other.startCaching(
      assetIDs: Array(1...65), frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await fixture.waitForRendering(65)
    #expect(try await fixture.results(of: session, finals: 65).count == 65)
    #expect(fixture.maker.rendered.count == 65)
  }

  /// `photoctl images --warm` ends when nothing is queued or runs.
  @Test func memberOfACachingSetIsCountedWhileItsPictureIsLookedUp() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let isLookingUp = Atomic(false)
    let mayLookUp = DispatchSemaphore(value: 0)
    fixture.assets.setOnLookup { _ in
      if !isLookingUp.exchange(true, ordering: .sequentiallyConsistent) { mayLookUp.wait() }
    }
    let session = try fixture.session()
    try session.startCaching(assetIDs: [1], frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFit)
    try await eventually("the picture is looked up") { isLookingUp.load(ordering: .sequentiallyConsistent) }
    let statistics = fixture.engine.statistics()
    #expect(statistics.queued == 0 && statistics.running == 1)
    fixture.maker.hold()
    mayLookUp.signal()
    try await fixture.waitForRendering(1)
    #expect(fixture.engine.statistics().running == 1, "it is counted once")
    fixture.maker.release()
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.count == 1)
  }

  /// Its work waits until the client reads. `photoctl images --warm` of another client would wait as long.
  @Test func workOfAnUnreadSessionIsNotQueued() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...300)
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    try session.request(demands(1...200))
    let frame = ImageFrame(width: 128, height: 128)
    try session.startCaching(assetIDs: Array(1...300), frame: frame, contentMode: .aspectFit)
    try await eventually("64 results wait") {
      fixture.engine.shared.withLock { $0.sessions[session.number]?.results.count } == 64
    }
    try other.startCaching(assetIDs: Array(201...220), frame: frame, contentMode: .aspectFit)
    try await eventually("the pictures of the other session") { fixture.maker.rendered.count == 84 }
    try await eventually("no picture is made") { fixture.engine.statistics().running == 0 }
    #expect(fixture.engine.statistics().queued == 136 + 300, "the session may be about to read")
    fixture.clock.advance(2)
    try await fixture.waitUntilIdle()
    #expect(fixture.maker.rendered.count == 84)
    #expect(fixture.earlyCount + fixture.engine.shared.withLock { $0.rendering.waitingCount } == 136)
    var finals = 0
    try await eventually("200 results") {
      finals += session.takeResults().count
      return finals == 200
    }
    try await fixture.waitUntilIdle()
    #expect(fixture.engine.shared.withLock { $0.caching.pendingCount } == 0)
  }

  /// A client that reads each result as soon as it can has no room for further ones now and then.
  @Test func workOfASessionThatReadsIsAlwaysQueued() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...200)
    let session = try fixture.session()
    try session.request(demands(1...200))
    var finals = 0
    while finals < 136 {
      try await eventually("64 results wait, and nothing runs") {
        let results = fixture.engine.shared.withLock { $0.sessions[session.number]?.results.count }
        return results == 64 && fixture.engine.statistics().running == 0
      }
      #expect(fixture.engine.statistics().queued == 136 - finals)
      fixture.clock.advance(1)
      #expect(fixture.engine.statistics().queued == 136 - finals)
      finals += session.takeResults().count
    }
    try await fixture.waitUntilIdle()
  }

  @Test func cachingThatWasStoppedBeginsNothing() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...100)
    fixture.maker.hold()
    let session = try fixture.session()
    let frame = ImageFrame(width: 256, height: 256)
    try session.startCaching(assetIDs: Array(1...100), frame: frame, contentMode: .aspectFit)
    try session.startCaching(assetIDs: [1, 1, 2], frame: frame, contentMode: .aspectFit)
    try await fixture.waitForRendering(1)
    try session.stopCaching(assetIDs: Array(2...50), frame: frame, contentMode: .aspectFit)
    #expect(fixture.engine.statistics().queued == 50)
    try session.stopCachingAll()
    fixture.maker.release()
    try await fixture.waitUntilIdle()
    #expect(fixture.maker.rendered.count == 1)
  }

  @Test func unreadSessionGetsNoMoreWork() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...300)
    let (session, other) = (try fixture.session("a"), try fixture.session("b"))
    try session.request(demands(1...200))
    let frame = ImageFrame(width: 128, height: 128)
    try session.startCaching(assetIDs: Array(1...300), frame: frame, contentMode: .aspectFit)
    try await eventually("64 results wait") {
      fixture.engine.shared.withLock { $0.sessions[session.number]?.results.count } == 64
    }
    try other.request(demands(201...220))
    _ = try await fixture.results(of: other, finals: 20)
    #expect(fixture.maker.rendered.count == 84, "neither requests nor caching of the unread session")
    var finals = 0
    try await eventually("200 results") {
      finals += session.takeResults().count
      return finals == 200
    }
  }

  @Test func unreadSessionWithDataHoldsAtMostFourMebibytes() async throws {
    let fixture = try EngineFixture()
    fixture.maker.state.withLock { $0.byteCount = 200_000 }
    fixture.assets.add(1...100)
    let session = try fixture.session(wantsData: true)
    try session.request(demands(1...100))
    try await eventually("no room") {
      fixture.engine.shared.withLock { state in
        state.sessions[session.number].map { !$0.hasRoom(.rendering) && $0.reservedCount == 0 } ?? false
      }
    }
    let waiting = fixture.engine.shared.withLock { $0.sessions[session.number]?.waitingBytes ?? 0 }
    #expect(waiting > 3 << 20 && waiting <= 4 << 20)
    let first = session.takeResults()
    #expect(!first.isEmpty && first.count * 266_668 <= 1 << 20)
    let others = try await fixture.results(of: session, finals: 100 - first.count)
    #expect(Set((first + others).map(\.requestID)).count == 100)
  }

  @Test func closedSessionIsCancelled() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...50)
    fixture.maker.hold()
    let session = try fixture.session()
    try session.request(demands(1...50))
    try await fixture.waitForRendering(1)
    session.close()
    fixture.maker.release()
    try await fixture.waitUntilIdle()
    #expect(fixture.maker.rendered.count == 1)
    #expect(fixture.engine.statistics().sessions == 0)
  }

  @Test func observerOfResultsIsNotifiedOnce() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...5)
    let session = try fixture.session()
    let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
    session.onResults { continuation.yield() }
    var notices = stream.makeAsyncIterator()
    try session.request(demands(1...5))
    await notices.next()
    _ = try await fixture.results(of: session, finals: 1)
    fixture.engine.shutDown()
    await notices.next()
    #expect(session.isEnded)
  }

  @Test func privateSessionSendsFinalResultsOnly() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...5)
    fixture.maker.state.withLock { $0.embedded = ["3.jpg"] }
    let session = try fixture.engine.openSession(
      client: ImageClient(process: "script"), wantsData: false, isPrivate: true)
    #expect(fixture.engine.statistics().sessions == 0)
    try session.request([
      ImageDemand(id: 9, assetID: 3, options: .square(256, .opportunistic)),
      ImageDemand(id: 2, assetID: 4, options: .square(256, .opportunistic)),
    ])
    let results = try await fixture.results(of: session, finals: 2)
    #expect(results.map(\.requestID) == [9, 2])
    #expect(fixture.maker.embeddedCount == 0)
  }
}

private final class Events: Sendable {
  private let events = Mutex<[String]>([])

  var all: [String] { events.withLock { $0 } }

  func add(_ event: String) { events.withLock { $0.append(event) } }
}
