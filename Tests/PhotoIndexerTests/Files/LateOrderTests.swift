import Dispatch
import GRDBSQLite
import PhotoExtract
import PhotoModel
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The order in which pending files are read in the background. The files of a slow share delay those of no other file
/// system, however many they are.
@Suite(.timeLimit(.minutes(10))) struct LateOrderTests {
  /// Files whose reading ends only when the test does. The first root is on a slow share.
  private final class SlowFiles: PhotoFiles {
    private final class Share: Sendable {}

    let memory = MemoryDisk()
    let late = LateReads()
    private let (first, second) = (Share(), Share())
    /// Whether the second root is on a share, too.
    let isSecondShared: Bool
    /// Whether a turn ends with the first look at a file of the first share.
    let endsTurns: Bool
    private let end = DispatchSemaphore(value: 0)
    private let looks = Atomic(0)
    private let begun = Mutex<Set<String>>([])

    init(isSecondShared: Bool, endsTurns: Bool) {
      (self.isSecondShared, self.endsTurns) = (isSecondShared, endsTurns)
      memory.setVolume("nfs4:host:/first", of: 1)
      memory.setVolume(isSecondShared ? "nfs4:host:/second" : "uuid:8a477f59-7d28-4172-9f06-886806bc5500", of: 2)
    }

    /// The files whose reading has begun.
    var begunPaths: Set<String> { begun.withLock { $0 } }

    /// How often a file of the first share was looked at.
    var lookCount: Int { looks.load(ordering: .relaxed) }

    /// Begins a turn.
    func beginTurn() { looks.store(0, ordering: .relaxed) }

    /// Lets all readings end.
    func finish() { for _ in 0..<1_000 { end.signal() } }

    var isTurnOver: Bool { endsTurns && lookCount > 0 }
    var lateReads: LateReads? { late }
    var readCount: Int { memory.readCount }

    private func isOnFirst(_ path: [UInt8]) -> Bool { path.starts(with: Fixture.bytes("/p/")) }

    func mayWait(_ path: [UInt8]) -> Bool { isOnFirst(path) || isSecondShared }
    func fileSystem(of path: [UInt8], _ stat: FileStat?) -> MediaSource.FileSystem? {
      if isOnFirst(path) { return .share(ObjectIdentifier(first)) }
      return isSecondShared ? .share(ObjectIdentifier(second)) : stat.map { .drive($0.identity.device) }
    }

    func stat(_ path: [UInt8]) -> FileStat? {
      if isOnFirst(path) { looks.add(1, ordering: .relaxed) }
      return memory.stat(path)
    }
    func exists(_ path: [UInt8]) -> Bool { memory.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading {
      let name = path[(path.lastIndex(of: UInt8(ascii: "/"))! + 1)...]
      let key = LateReads.Key(expected, name: name)
      if let known = late.take(key) { return known }
      let isUnderWay = late.begin(key, on: fileSystem(of: path, expected)!) { [self] in
        end.wait()
        return memory.read(path, expecting: expected, isSampled: isSampled)
      }
      if isUnderWay { _ = begun.withLock { $0.insert(String(decoding: path, as: UTF8.self)) } }
      return .late
    }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
  }

  /// A request that makes the library read pending files.
  enum Request: CaseIterable { case timer, sync }

  /// A library whose first root has so many files that are not read yet, and whose second root has one. That one came last.
  private func pending(_ files: SlowFiles, count: Int = 300) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture(disk: files.memory, files: files)
    try fixture.apply(Fixture.top)
    try fixture.addSecondRoot()
    var records = (0..<count).map { Fixture.file("\($0).jpg", files.memory.write("/p/\($0).jpg")) }
    records.append(Fixture.file("last.jpg", in: 60, files.memory.write("/q/last.jpg", device: 2)))
    // They were found by a reader that runs ahead, and which was busy.
    let contents = Dictionary(uniqueKeysWithValues: records.indices.map { ($0, ContentReading.late) })
    try fixture.apply(all: records, contents: contents)
    #expect(files.begunPaths.isEmpty && fixture.reconciler.retries.pendingCount == count + 1)
    return fixture
  }

  private func request(_ request: Request, _ fixture: ReconcilerFixture, _ files: SlowFiles) throws {
    files.beginTurn()
    switch request {
    case .timer: try fixture.readAgain()
    case .sync: try fixture.apply(.synced(number: 1))
    }
  }

  /// The share is full long before all its files are under way.
  @Test(arguments: Request.allCases, [false, true])
  func manyFilesOfAShareDoNotDelayAnotherFileSystem(by request: Request, isSecondShared: Bool) throws {
    let files = SlowFiles(isSecondShared: isSecondShared, endsTurns: false)
    defer { files.finish() }
    let fixture = try pending(files)
    try self.request(request, fixture, files)
    let begun = files.begunPaths
    #expect(begun.count > 1 && begun.count < 301)
    #expect(begun.contains("/q/last.jpg"), "\(begun.count) have begun")
    // While it is full, nothing of it is looked at.
    try self.request(request, fixture, files)
    #expect(files.lookCount == 0)
  }

  /// A look at the share takes the whole time of a turn.
  @Test(arguments: Request.allCases) func looksAtAShareDoNotDelayADrive(by request: Request) throws {
    let files = SlowFiles(isSecondShared: false, endsTurns: true)
    defer { files.finish() }
    let fixture = try pending(files)
    try self.request(request, fixture, files)
    let begun = files.begunPaths
    #expect(begun.contains("/q/last.jpg"), "\(begun.count) have begun")
  }

  private final class Steps { let count = Atomic(0) }

  /// The steps of SQLite for a sync while a share has no room, and many of its files wait.
  private func stepsOfSync(_ count: Int) throws -> Int {
    let files = SlowFiles(isSecondShared: false, endsTurns: false)
    defer { files.finish() }
    let fixture = try pending(files, count: count)
    try request(.sync, fixture, files)
    let steps = Steps()
    try fixture.catalog.write { writer in
      sqlite3_progress_handler(
        try writer.database.sqliteConnection, 1,
        { steps in
          Unmanaged<Steps>.fromOpaque(steps!).takeUnretainedValue().count.add(1, ordering: .relaxed)
          return 0
        }, Unmanaged.passUnretained(steps).toOpaque())
    }
    try request(.sync, fixture, files)
    try fixture.catalog.write { sqlite3_progress_handler(try $0.database.sqliteConnection, 0, nil, nil) }
    return steps.count.load(ordering: .relaxed)
  }

  @Test func aSyncLooksUpNoWaitingFilesOfAFullShare() throws {
    let (few, many) = (try stepsOfSync(300), try stepsOfSync(1_200))
    #expect(many < few * 3 / 2, "\(few), then \(many)")
  }
}
