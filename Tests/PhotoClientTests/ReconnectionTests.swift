import PhotoContract
import PhotoModel
import Synchronization
import Testing

@testable import PhotoClient

struct ReconnectionTests {
  @Test func pausesGrowUntilAnAttemptReceivesSomething() async throws {
    let clock = TestClock()
    var reconnection = Reconnection(now: { clock.now }, sleep: { clock.sleep($0) })
    for _ in 0..<8 {
      reconnection.begin()
      #expect(reconnection.isLong(madeProgress: false) == (clock.pauses.count > 4))
      #expect(!reconnection.isLong(madeProgress: true))
      try await reconnection.wait(madeProgress: false)
    }
    #expect(clock.pauses == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000])
    try await reconnection.wait(madeProgress: true)
    #expect(clock.pauses.last == 50 && !reconnection.isLong(madeProgress: false))
  }

  @Test func aBodyIsRepeatedAndALongOutageIsReportedOnce() async throws {
    let clock = TestClock()
    var reconnection = Reconnection(now: { clock.now }, sleep: { clock.sleep($0) })
    var (attempts, place) = (0, 0)
    var reports: [Int] = []
    await #expect(throws: PhotoLibraryError.timedOut(message: "m")) {
      try await reconnection.repeating {
        attempts += 1
        if attempts == 12 { place += 1 }
        throw attempts == 20 ? PhotoLibraryError.timedOut(message: "m") : .connectionClosed
      } place: {
        place
      } onLongOutage: { _ in
        reports.append(attempts)
      }
    }
    #expect(attempts == 20 && reports == [6, 17])
    try await reconnection.repeating({ attempts += 1 }, place: { place }, onLongOutage: { _ in reports.append(0) })
    #expect(attempts == 21 && reports.count == 2)
  }

  @Test func aConnectionThatLastedIsASuccess() async throws {
    let clock = TestClock()
    var reconnection = Reconnection(now: { clock.now }, sleep: { clock.sleep($0) })
    for _ in 0..<6 {
      reconnection.begin()
      try await reconnection.wait(madeProgress: false)
    }
    reconnection.begin()
    clock.advance(by: .milliseconds(2_001))
    #expect(!reconnection.isLong(madeProgress: false))
    try await reconnection.wait(madeProgress: false)
    #expect(clock.pauses.last == 50)
  }

  /// An attempt to observe a list may receive the whole list and fail then, each time.
  @Test func pausesAfterARefusalGrowEvenIfSomethingWasReceived() async throws {
    let clock = TestClock()
    var pauses = ObservationPauses(now: { clock.now }, sleep: { clock.sleep($0) })
    let problem = PhotoLibraryError.malformedReply("the observed list differs from that of photod")
    for _ in 0..<9 {
      pauses.begin()
      pauses.madeProgress()
      try await pauses.wait(after: problem)
    }
    #expect(clock.pauses == [200, 400, 800, 1_600, 3_200, 6_400, 12_800, 25_600, 30_000])
    // The list was observed for some time.
    pauses.begin()
    clock.advance(by: .milliseconds(10_001))
    try await pauses.wait(after: problem)
    #expect(clock.pauses.last == 200)
    // A lost connection that had received something is a new outage.
    pauses.begin()
    pauses.madeProgress()
    try await pauses.wait(after: .connectionClosed)
    #expect(clock.pauses.last == 50)
  }

  /// A clock that only advances when something sleeps.
  private final class TestClock: Sendable {
    private let state = Mutex((now: ContinuousClock.now, pauses: [Int]()))

    var now: ContinuousClock.Instant { state.withLock { $0.now } }
    /// In milliseconds.
    var pauses: [Int] { state.withLock { $0.pauses } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func sleep(_ duration: Duration) {
      state.withLock {
        $0.now += duration
        $0.pauses.append(Int(duration / .milliseconds(1)))
      }
    }
  }

  @Test func onlyErrorsThatMayPassByThemselvesAreOutages() {
    let outages: [PhotoLibraryError] = [
      .connectionClosed, .libraryUnavailable(message: "It is stopping."), .unreachable(socketPath: "/s", reason: "r"),
    ]
    #expect(outages.allSatisfy(Reconnection.isOutage))
    let others: [PhotoLibraryError] = [
      .permissionDenied(socketPath: "/s"), .notAuthorized(status: "denied", message: "m"), .timedOut(message: "m"),
      .snapshotExpired(message: "m"), .malformedReply("m"), .noSuchCollection(collection: "id:4", similar: []),
    ]
    #expect(!others.contains(where: Reconnection.isOutage))
  }
}
