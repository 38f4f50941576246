import Dispatch
import Logging
import PhotoCatalog
import PhotoExtract
import PhotoLive
import PhotoModel
import PhotoTestSupport
import PhotoWatch
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

  // MARK: Syncs of the library itself

  /// Records the syncs that the library asks for.
  private final class SyncLog: SingleLaneSource {
    private let numbers = Mutex<[UInt64]>([])
    var asked: [UInt64] { numbers.withLock { $0 } }

    func sync(number: UInt64) -> Set<Int> {
      numbers.withLock { $0.append(number) }
      return [0]
    }
    func nextInput() async -> WatchInput? { nil }
    func start() throws {}
    func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 { 0 }
    func setRoots(_ roots: [WatchRoot]) {}
    func stop() async {}
  }

  /// A library over files in memory, and the syncs that it asks for.
  private struct QuietLibrary {
    let environment: TestCatalog
    let library: Library
    let disk = MemoryDisk()
    let clock = SimulatedClock()
    let watcher = SyncLog()

    init(_ name: String) async throws {
      environment = try TestCatalog(name)
      library = try Library(
        catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: watcher,
        files: disk, clock: clock, configuration: .init(roots: [Fixture.bytes("/p")], version: "0"),
        logger: Logger(label: name) { _ in SwiftLogNoOpLogHandler() })
      try await library.adoptRoots()
    }

    func take(_ records: WatchRecord...) async { await take(all: records) }

    func take(all records: [WatchRecord]) async {
      await library.take(ReadAhead.Input(input: .batch(records), contents: [:]))
    }

    /// Begins the sync of a caller.
    func beginSync() async throws -> (number: UInt64, task: Task<Void, any Error>) {
      let (numbers, asked) = AsyncStream.makeStream(of: UInt64.self)
      let task = Task { [library] in
        try await library.barrier.wait { number in
          asked.yield(number)
          return [0]
        }
      }
      var iterator = numbers.makeAsyncIterator()
      return (try #require(await iterator.next()), task)
    }

    /// Gives an input to the library as the thread that reads ahead does.
    ///
    /// - Returns: whether the library needed no turn for it.
    func pass(_ records: [WatchRecord]) async -> Bool {
      if library.answersAtOnce(.batch(records), ofLane: 0) { return true }
      await take(all: records)
      library.progress.end()
      return false
    }

    /// The photos in the order of their ids.
    func assets() throws -> [Asset] {
      try environment.catalog.read { reader in
        try reader.assets(reader.ids(reader.plan(FetchOptions())).sorted()).assets
      }
    }

    func models() throws -> [String?] { try assets().map { $0.camera?.model } }

    /// Another file has the place of a photo that was renamed, and photod-watch sees it at the photo's new name.
    func exchange(_ name: String, for other: String) async throws {
      disk.remove("/p/" + name)
      disk.write("/p/" + name, camera: "C")
      await take(Fixture.moved(name, to: other, disk.move("/p/" + name, "/p/" + other)))
    }
  }

  /// A file stands in for a renamed photo. No client asks for a sync, so the library does, and again only after a minute
  /// without an answer.
  @Test func libraryAsksForTheRecordsThatMayDecideAboutAFile() async throws {
    let quiet = try await QuietLibrary("record-syncs")
    let watcher = quiet.watcher
    await quiet.take(all: Fixture.scan([("a.jpg", quiet.disk.write("/p/a.jpg", camera: "A"))]))
    quiet.disk.pass(100)
    try await quiet.exchange("a.jpg", for: "c.jpg")
    for _ in 0..<2 { await quiet.library.doWhatIsDue() }
    #expect(try watcher.asked.count == 1 && quiet.models() == ["A"])
    quiet.clock.pass(61 * seconds)
    for _ in 0..<2 { await quiet.library.doWhatIsDue() }
    #expect(watcher.asked.count == 2)
    await quiet.take(.synced(number: try #require(watcher.asked.last)))
    #expect(try quiet.models() == ["C"])
    await quiet.library.doWhatIsDue()
    #expect(watcher.asked.count == 2)
  }

  /// No caller waits for a sync of the library, even if it has asked for another one since. So it decides only about the
  /// photo for which it was asked, and not about one that is empty for a moment.
  @Test func aLateAnswerToTheLibraryDecidesOnlyWhatIsDue() async throws {
    let quiet = try await QuietLibrary("late-record-syncs")
    await quiet.take(
      all: Fixture.scan([
        ("a.jpg", quiet.disk.write("/p/a.jpg", camera: "A")), ("b.jpg", quiet.disk.write("/p/b.jpg", camera: "B")),
      ]))
    quiet.disk.pass(100)
    try await quiet.exchange("a.jpg", for: "c.jpg")
    await quiet.library.doWhatIsDue()
    quiet.clock.pass(61 * seconds)
    await quiet.library.doWhatIsDue()
    let asked = quiet.watcher.asked
    #expect(asked.count == 2)
    await quiet.take(Fixture.file("b.jpg", quiet.disk.write("/p/b.jpg", bytes: 0)))
    await quiet.take(.synced(number: try #require(asked.first)))
    #expect(try quiet.models() == ["C", "B"])
    quiet.clock.pass(6 * seconds)
    await quiet.take(.synced(number: try #require(asked.last)))
    #expect(try quiet.models() == ["C"])
  }

  // MARK: Syncs that need no turn of the library

  @Test func syncNeedsNoTurnOnceEverythingBeforeItIsApplied() async throws {
    let quiet = try await QuietLibrary("quick-syncs")
    let library = quiet.library
    let scan = Fixture.scan([("a.jpg", quiet.disk.write("/p/a.jpg", camera: "A"))])
    let sync = try await quiet.beginSync()
    let answer = WatchRecord.synced(number: sync.number)
    #expect(!library.answersAtOnce(.batch(scan), ofLane: 0))
    #expect(!library.answersAtOnce(.batch([answer]), ofLane: 0))
    library.progress.end()
    await quiet.take(all: scan)
    library.progress.end()
    // A batch with a change needs a turn, and so does a sync of the library itself.
    #expect(await !quiet.pass([Fixture.file("a.jpg", quiet.disk.write("/p/a.jpg", camera: "B"))]))
    #expect(await !quiet.pass([.synced(number: library.barrier.makeNumber())]))
    #expect(await quiet.pass([answer]))
    try await sync.task.value
    #expect(try quiet.models() == ["B"])
  }

  /// The sync itself decides about a file that stands in for a photo.
  @Test func syncNeedsATurnIfItDecidesAboutAFile() async throws {
    let quiet = try await QuietLibrary("deciding-syncs")
    _ = await quiet.pass(Fixture.scan([("a.jpg", quiet.disk.write("/p/a.jpg", camera: "A"))]))
    quiet.disk.pass(100)
    try await quiet.exchange("a.jpg", for: "c.jpg")
    let first = try await quiet.beginSync()
    #expect(await !quiet.pass([.synced(number: first.number)]))
    try await first.task.value
    #expect(try quiet.models() == ["C"])
    let second = try await quiet.beginSync()
    #expect(await quiet.pass([.synced(number: second.number)]))
    try await second.task.value
  }

  /// A photod-watch that answers each sync at once.
  private final class AnsweringWatcher: SingleLaneSource {
    let channel = InputChannel(capacity: 64) {}

    func sync(number: UInt64) -> Set<Int> {
      channel.add(.batch([.synced(number: number)]))
      return [0]
    }
    nonisolated(nonsending) func nextInput() async -> WatchInput? { await channel.next() }
    func start() throws {}
    func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 { 0 }
    func setRoots(_ roots: [WatchRoot]) {}
    func stop() async {}
  }

  /// The changes of clients keep the library's queue busy. They must not delay a sync for which no file is left.
  @Test func syncIsAnsweredWhileTheQueueIsBusyUnlessAFileIsLeft() async throws {
    let (environment, disk, watcher) = (try TestCatalog("busy-syncs"), MemoryDisk(), AnsweringWatcher())
    let library = try Library(
      catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: watcher,
      files: disk, configuration: .init(roots: [Fixture.bytes("/p")], version: "0"),
      logger: Logger(label: "busy-syncs") { _ in SwiftLogNoOpLogHandler() })
    let running = Task { await library.run() }
    watcher.channel.add(.started(session: 1))
    watcher.channel.add(.batch(Fixture.scan([("a.jpg", disk.write("/p/a.jpg", camera: "A"))])))
    _ = try await library.synchronize(timeout: .seconds(300))
    let mayGoOn = DispatchSemaphore(value: 0)
    await withCheckedContinuation { isBusy in
      library.whenAlive {
        isBusy.resume()
        mayGoOn.wait()
      }
    }
    _ = try await library.synchronize(timeout: .seconds(300))
    watcher.channel.add(.batch([Fixture.file("b.jpg", disk.write("/p/b.jpg", camera: "B"))]))
    await #expect(throws: LibraryError.self) { try await library.synchronize(timeout: .milliseconds(50)) }
    mayGoOn.signal()
    _ = try await library.synchronize(timeout: .seconds(300))
    #expect(try environment.catalog.read { try $0.ids($0.plan(FetchOptions())) }.count == 2)
    watcher.channel.finish()
    await running.value
    try environment.catalog.close()
  }
}
