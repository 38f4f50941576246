import Logging
import PhotoLive
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The status at the end of a sync.
@Suite(.timeLimit(.minutes(15))) struct SyncStatusTests {
  /// The answer to a sync often comes in one batch with the scan that it waited for. A caller asks for the status as soon as
  /// it has the answer, on another thread than that of the library. So each of many syncs must find its own scan.
  @Test func statusAfterASyncHasWhatTheSyncWaitedFor() async throws {
    let environment = try TestCatalog("syncs")
    let library = try Library(
      catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: ScriptedWatcher(),
      files: MemoryDisk(), clock: SimulatedClock(),
      configuration: .init(roots: [ReconcilerFixture.bytes("/p")], version: "0"),
      logger: Logger(label: "syncs") { _ in SwiftLogNoOpLogHandler() })
    try await library.adoptRoots()
    let (numbers, asked) = AsyncStream.makeStream(of: UInt64.self)
    var number = numbers.makeAsyncIterator()
    for count in 1...2_000 {
      let status = Task {
        try await library.barrier.wait { number in
          asked.yield(number)
          return [0]
        }
        return library.statusStore.status
      }
      let sync = try #require(await number.next())
      let records = [
        .scanStarted(root: 1, request: 0, reason: .start), .scanEnded(root: 1, request: 0, complete: true),
        WatchRecord.synced(number: sync),
      ]
      await library.take(ReadAhead.Input(input: .batch(records), contents: [:]))
      try #require(try await status.value.counters?.scans == count)
    }
  }
}
