import Foundation
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import Varlink

/// Follows one fetch until it is stopped.
private final class Follower: Sendable {
  let options: FetchOptions
  private let replica = Mutex(Replica())
  private let failure = Mutex<(any Error)?>(nil)

  init(_ options: FetchOptions) { self.options = options }

  func run(_ fixture: VarlinkClient) async {
    struct Parameters: Encodable { let options: FetchOptions }
    struct Reply: Decodable { let observation: Observation }
    do {
      for try await reply in fixture.stream(
        "org.photod.library.Observe", Parameters(options: options), of: Reply.self)
      {
        try replica.withLock { try $0.apply(reply.observation) }
      }
    } catch {
      if !(error is CancellationError) { failure.withLock { $0 = error } }
    }
  }

  var state: (ids: [AssetID], token: String, events: Int) {
    get throws {
      if let error = failure.withLock({ $0 }) { throw error }
      return replica.withLock { ($0.ids, $0.token, $0.eventCount) }
    }
  }
}

@Suite(.timeLimit(.minutes(120))) struct ReplicaTests {
  @Test func replicasEqualFreshFetchesAfterEverySync() async throws {
    let operations = effort("PHOTOD_REPLICA_OPERATIONS", 500)
    try await DaemonFixture.with { fixture in
      for index in 0..<40 { try fixture.write("d\(index % 4)/f\(index % 10).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let followers = [
        Follower(FetchOptions()),
        Follower(FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)], fetchLimit: 25)),
        Follower(FetchOptions(collection: "Favorites")),
      ]
      try await withThrowingTaskGroup(of: Void.self) { group in
        for follower in followers {
          let client = try await fixture.connect()
          group.addTask { await follower.run(client) }
        }
        var random = SeededGenerator(seed: UInt64(bitPattern: Int64(effort("PHOTOD_SEED", 11))))
        let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: 1)
        var done = 0
        while done < operations {
          for _ in 0..<Int.random(in: 1...20, using: &random) {
            storm.step(&random)
            done += 1
          }
          let all = try await fixture.ids().ids
          if let id = all.randomElement(using: &random), Bool.random(using: &random) {
            // The asset may leave between the fetch and the call.
            do { try await fixture.setFavorite([id], Bool.random(using: &random)) } catch let error as VarlinkError {
              #expect(error.name == "org.photod.library.NoSuchAsset")
            }
          }
          try await fixture.synchronize()
          for follower in followers { try await expectInStep(follower, fixture, after: done) }
        }
        // Each follower was sent its list, and then differences.
        for follower in followers { #expect(try follower.state.events > 1, "\(follower.options)") }
        group.cancelAll()
      }
    }
  }

  /// A commit reaches the follower without a request, so this waits for it, but not for long.
  private func expectInStep(_ follower: Follower, _ fixture: DaemonFixture, after done: Int) async throws {
    let fresh = try await fixture.ids(follower.options).ids
    let deadline = ContinuousClock.now + .seconds(10)
    while try follower.state.ids != fresh {
      try #require(ContinuousClock.now < deadline, "\(follower.options) after \(done) operations")
      await Task.yield()
    }
  }
}
