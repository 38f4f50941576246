import PhotoCatalog
import PhotoModel
import Synchronization
import Testing
import Varlink

@testable import PhotoIndexer
@testable import PhotoServer

/// The counts of each root, made without a walk over the library for every commit.
@Suite struct StatusTests {
  private struct Reply: Decodable { let status: LibraryStatus }

  @Test func rootsAreCountedAtMostOnceASecondForAFollower() async throws {
    let fixture = try ServerFixture()
    let time = Mutex(ContinuousClock.now)
    let start = time.withLock { $0 }
    let cache = RootCountCache(catalog: fixture.catalog, now: { time.withLock { $0 } })
    func count(_ maximumAge: Duration = .seconds(1)) async throws -> (assets: Int?, dueAt: ContinuousClock.Instant?) {
      let (counts, dueAt) = try await cache.counts(at: fixture.live.feed.sequence, maximumAge: maximumAge)
      return (counts["/p"]?.assets, dueAt)
    }
    #expect(try await count() == (0, nil))
    try fixture.insert()
    time.withLock { $0 += .milliseconds(999) }
    #expect(try await count() == (0, start + .seconds(1)))
    time.withLock { $0 += .milliseconds(1) }
    #expect(try await count() == (1, nil))
    try fixture.insert()
    #expect(try await count(.zero) == (2, nil), "a single request gets the current count")
  }

  @Test(.timeLimit(.minutes(10))) func lastStatusOfAFollowerHasTheLastCounts() async throws {
    let fixture = try ServerFixture()
    fixture.library.statusStore.update { $0.roots = [.init(path: "/p", state: .online)] }
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      var iterator = client.stream("org.photod.library.Status", VarlinkEmpty(), of: Reply.self).makeAsyncIterator()
      #expect(try await iterator.next()?.status.roots.first?.assetCount == 0)
      try fixture.insert()
      fixture.library.statusStore.update { $0.assetCount = 1 }
      // Nothing happens after this.
      var last: LibraryStatus?
      repeat { last = try await iterator.next()?.status } while last != nil && last?.roots.first?.assetCount != 1
      #expect(last?.assetCount == 1)
      await client.close()
    }
  }

  /// After `photoctl status --wait &&`, a program relies on the counts in that status.
  @Test(.timeLimit(.minutes(10))) func theFirstLiveStatusHasTheRootsCounts() async throws {
    let fixture = try ServerFixture()
    fixture.library.statusStore.update { status in
      status.state = .scanning
      status.roots = [.init(path: "/p", state: .scanning)]
    }
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      var iterator = client.stream("org.photod.library.Status", VarlinkEmpty(), of: Reply.self).makeAsyncIterator()
      #expect(try await iterator.next()?.status.state == .scanning)
      try fixture.insert()
      fixture.library.statusStore.update { $0.state = .live }
      var status = try await iterator.next()?.status
      while status != nil && status?.state != .live { status = try await iterator.next()?.status }
      #expect(status?.roots.first?.assetCount == 1)
      await client.close()
    }
  }
}
