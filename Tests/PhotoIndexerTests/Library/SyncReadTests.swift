import Dispatch
import Logging
import PhotoCatalog
import PhotoExtract
import PhotoLive
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// After a sync, the library has the content of each file that was found before.
@Suite(.timeLimit(.minutes(10))) struct SyncReadTests {
  /// A file that could not be parsed waits some seconds for its next reading. If it changes meanwhile, the new content must
  /// not wait with it.
  @Test func fileThatCouldNotBeParsedIsReadAfterAChange() throws {
    let fixture = try ReconcilerFixture()
    let damaged = fixture.disk.write("/p/a.jpg", failure: "it has no end")
    try fixture.apply(all: [Fixture.top, Fixture.file("a.jpg", damaged)])
    #expect(!fixture.reconciler.retries.isEmpty && fixture.reconciler.retries.pendingCount == 0)
    let whole = fixture.disk.write("/p/a.jpg", camera: "X9", bytes: 200)
    try fixture.apply(all: [Fixture.file("a.jpg", whole)], contents: [0: .late])
    try fixture.apply(.synced(number: 1))
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X9")
  }

  /// Files that are read in the background. The first readings end without a result, as if no process had been free.
  private final class LateFiles: PhotoFiles {
    let memory = MemoryDisk()
    let late = LateReads()
    /// The readings that have no result yet.
    let racing: Atomic<Int>
    /// Each reading waits for a signal.
    let gate = DispatchSemaphore(value: 0)

    init(racing: Int) { self.racing = Atomic(racing) }

    var lateReads: LateReads? { late }
    var readCount: Int { memory.readCount }

    func stat(_ path: [UInt8]) -> FileStat? { memory.stat(path) }
    func exists(_ path: [UInt8]) -> Bool { memory.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      readWithoutWaiting(path, expecting: expected, isSampled: isSampled)
    }
    func readWithoutWaiting(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      let name = path[(path.lastIndex(of: UInt8(ascii: "/"))! + 1)...]
      let key = LateReads.Key(expected, name: name)
      if let known = late.take(key) { return known }
      late.begin(key, on: .drive(1)) { [self] in
        gate.wait()
        if racing.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 { return .raced }
        return memory.read(path, expecting: expected, isSampled: isSampled)
      }
      return .late
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? {
      memory.marks(path, expecting: expected, isWhole: isWhole, while: shouldGoOn)
    }
  }

  /// A reading that began before the sync ends without a result. The file is then asked for again before the answer.
  @Test func aReadingWithoutAResultIsRepeatedBeforeTheAnswer() async throws {
    let environment = try TestCatalog("sync-reads")
    let files = LateFiles(racing: 1)
    let library = try Library(
      catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: ScriptedWatcher(),
      files: files, configuration: .init(roots: [Fixture.bytes("/p")], version: "0"),
      logger: Logger(label: "sync-reads") { _ in SwiftLogNoOpLogHandler() })
    try await library.adoptRoots()
    let taking = Task { await library.take(files.late) }
    defer { taking.cancel() }
    let (numbers, asked) = AsyncStream.makeStream(of: UInt64.self)
    let sync = Task {
      try await library.barrier.wait { number in
        asked.yield(number)
        return [0]
      }
    }
    var iterator = numbers.makeAsyncIterator()
    let number = try #require(await iterator.next())
    let stat = files.memory.write("/p/a.jpg", camera: "X9")
    let records = Fixture.scan([("a.jpg", stat)])
    await library.take(await library.read(ahead: .batch(records)))
    #expect(files.late.isBusy)
    await library.take(ReadAhead.Input(input: .batch([.synced(number: number)]), contents: [:]))
    for _ in 0..<2 { files.gate.signal() }
    try await sync.value
    let ids = try environment.catalog.read { try $0.ids($0.plan(FetchOptions())) }
    let asset = try environment.catalog.read { try #require(try $0.assets(ids).assets.first) }
    #expect(asset.camera?.model == "X9")
    files.late.ended.finish()
    await taking.value
  }
}
