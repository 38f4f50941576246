import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The library while its catalog can't be written, and its restart from the catalog.
@Suite struct BreakdownTests {
  private struct DiskFull: Error {}

  @Test(.timeLimit(.minutes(1)), arguments: [false, true]) func aRescanFailsAtOnce(isConfirmed: Bool) async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    await fixture.library.breakDown(DiskFull())
    await #expect(throws: LibraryError.self) {
      try await fixture.library.rescan(path: Array("/pics".utf8), dryRun: false, confirm: isConfirmed)
    }
    #expect(await fixture.library.rescans.waitingCount == 0)
  }

  /// The disk is still full: the first batch writes nothing, and a later one fails.
  @Test func batchesThatWriteNothingDoNotShortenTheDelay() async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    for delay in [1, 2, 4, 8] as [Int64] {
      #expect(await fixture.library.restart.delay == .seconds(delay))
      await fixture.library.breakDown(DiskFull())
      fixture.clock.pass(delay * seconds)
      await fixture.library.doWhatIsDue()
      #expect(await fixture.library.restart.breakdown == nil)
      let root = try #require(await fixture.library.rootNumbers.first)
      await fixture.take([.scanStarted(root: root, request: 0, reason: .start)])
    }
    let root = try #require(await fixture.library.rootNumbers.first)
    let identity = fixture.disk.identity(try #require(fixture.disk.resolve("/pics")))
    await fixture.take([
      .directoryFound(number: 9, parent: 0, root: root, name: [], identity: identity),
      .listingStarted(number: 9, evidence: .scan), .listingEnded(number: 9, complete: true),
      .scanEnded(root: root, request: 0, complete: true),
    ])
    #expect(await fixture.library.restart.delay == .seconds(1))
  }
}

extension Library {
  fileprivate var rootNumbers: [UInt16] { reconciler.roots.watched.map(\.number) }
}
