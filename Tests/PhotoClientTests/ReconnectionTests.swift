import PhotoContract
import PhotoModel
import Testing

@testable import PhotoClient

struct ReconnectionTests {
  @Test func pausesGrowUntilAnAttemptReceivesSomething() async throws {
    var reconnection = Reconnection()
    reconnection.begin()
    let time = try await ContinuousClock().measure {
      for _ in 0..<5 {
        #expect(!reconnection.isLong(madeProgress: false))
        try await reconnection.wait(madeProgress: false)
        reconnection.begin()
      }
    }
    // 50, 100, 200, 400 and 800 ms. The next pause would be longer than a second.
    #expect(time >= .milliseconds(1_550))
    #expect(reconnection.isLong(madeProgress: false) && !reconnection.isLong(madeProgress: true))
    try await reconnection.wait(madeProgress: true)
    #expect(!reconnection.isLong(madeProgress: false))
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
