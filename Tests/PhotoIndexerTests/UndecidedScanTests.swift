import Logging
import PhotoModel
import PhotoTestSupport
import PhotoWatch
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture
private typealias NamedFile = (name: String, stat: FileStat)

private func directory(
  _ number: DirectoryNumber, _ path: String, in parent: DirectoryNumber = 0, root: UInt16, device: UInt64 = 1,
  inode: UInt64
) -> WatchRecord {
  .directoryFound(
    number: number, parent: parent, root: root, name: Fixture.bytes(path),
    identity: FileIdentity(device: device, inode: inode, birthTime: Int64(inode)))
}

private func listing(_ number: DirectoryNumber, _ files: [NamedFile] = []) -> [WatchRecord] {
  [.listingStarted(number: number, evidence: .scan)] + files.map { Fixture.file($0.name, in: number, $0.stat) }
    + [.listingEnded(number: number, complete: true)]
}

private func started(_ root: UInt16, request: UInt32 = 0) -> WatchRecord {
  .scanStarted(root: root, request: request, reason: request == 0 ? .start : .rescan)
}

private func ended(_ root: UInt16, request: UInt32 = 0) -> WatchRecord {
  .scanEnded(root: root, request: request, complete: true)
}

/// A scan that has ended waits for the scans of other roots. Changes in the meantime do not block it, and it does not
/// decide about them.
@Suite struct UndecidedScanTests {
  // MARK: Numbers of roots

  /// Records the rescans that the library requests, and makes none.
  private final class OrderLog: SingleLaneSource {
    private let orders = Mutex<[(root: UInt16, directory: DirectoryNumber?)]>([])
    private let continuation: AsyncStream<UInt32>.Continuation
    /// The numbers of the rescans.
    let requests: AsyncStream<UInt32>

    init() { (requests, continuation) = AsyncStream.makeStream() }

    /// The rescans by their numbers, which begin with 1.
    var rescans: [(root: UInt16, directory: DirectoryNumber?)] { orders.withLock { $0 } }

    func rescan(root: UInt16, directory: DirectoryNumber?) -> UInt32 {
      let request = orders.withLock { orders in
        orders.append((root, directory))
        return UInt32(orders.count)
      }
      continuation.yield(request)
      return request
    }

    func nextInput() async -> WatchInput? { nil }
    func start() throws {}
    func sync(number: UInt64) -> Set<Int> { [0] }
    func setRoots(_ roots: [WatchRoot]) {}
    func stop() async {}
  }

  /// A library over files in memory with /p as root 1 and /q as root 2, each with a photod-watch of its own. Tests make
  /// the records.
  private final class TwoShares {
    private let environment: TestCatalog
    var catalog: Catalog { environment.catalog }
    let disk = MemoryDisk()
    let orders = OrderLog()
    let library: Library

    init() async throws {
      environment = try TestCatalog("shares")
      library = try Library(
        catalog: environment.catalog, watcher: orders, files: disk, clock: SimulatedClock(),
        configuration: .init(roots: ["/p", "/q"].map(Fixture.bytes), version: "0"),
        logger: Logger(label: "shares") { _ in SwiftLogNoOpLogHandler() })
      try await library.adoptRoots()
    }

    func take(_ records: [WatchRecord], from lane: UInt16) async { await take(.batch(records), from: lane) }

    func take(_ input: WatchInput, from lane: UInt16) async {
      await library.take(
        ReadAhead.Input(input: input, contents: [:]),
        from: WatchLane(number: Int(lane), roots: { [lane] }, nextInput: { nil }))
    }

    /// Scans /p, which has these files.
    func scan(_ files: [NamedFile], request: UInt32 = 0) async {
      await take(
        [started(1, request: request), directory(1, "/p", root: 1, inode: 1)] + listing(1, files)
          + [ended(1, request: request)], from: 1)
    }

    var paths: [String] {
      get throws {
        try catalog.read { reader in
          try reader.assets(try reader.ids(try reader.plan(FetchOptions()))).assets.map { $0.resources[0].path }
        }.sorted()
      }
    }
  }

  enum Change: CaseIterable { case notConfigured, notConfiguredAndEmpty, watchedAnew }

  /// The photod-watch of a share ends with its root, and does not report the end of its scan.
  @Test(arguments: Change.allCases)
  func rootThatLosesItsNumberDuringItsScanBlocksNoDecision(by change: Change) async throws {
    let shares = try await TwoShares()
    await shares.scan([("a.jpg", shares.disk.write("/p/a.jpg"))])
    await shares.take([started(2)], from: 2)
    if change != .notConfiguredAndEmpty {
      await shares.take(
        [directory(60, "/q", root: 2, device: 2, inode: 1), .listingStarted(number: 60, evidence: .scan)], from: 2)
    }
    shares.disk.remove("/p/a.jpg")
    await shares.scan([])
    #expect(try shares.paths == ["/p/a.jpg"], "it may turn up in /q")
    if change == .watchedAnew {
      try await shares.library.watchAnew(2)
    } else {
      await shares.library.setRoots([Fixture.bytes("/p")], ignore: [], removalGrace: .zero)
    }
    #expect(try shares.paths.isEmpty)

    // If a scan finds a file in the place of another one, the end of that scan decides.
    await shares.scan([("b.jpg", shares.disk.write("/p/b.jpg"))])
    shares.disk.remove("/p/b.jpg")
    let saved = shares.disk.write("/p/b.jpg", bytes: 200)
    await shares.scan([("b.jpg", saved)])
    let sizes = try shares.catalog.read { reader in
      try reader.assets(try reader.ids(try reader.plan(FetchOptions()))).assets.map { $0.resources[0].byteCount }
    }
    #expect(sizes == [200])
  }

  @Test func foldersOfARootThatIsWatchedAnewStayThemselves() async throws {
    let shares = try await TwoShares()
    let file = (name: "a.jpg", stat: shares.disk.write("/p/x/a.jpg"))
    func scan(root: UInt16, firstNumber: DirectoryNumber) async {
      await shares.take(
        [
          started(root), directory(firstNumber, "/p", root: root, inode: 1),
          directory(firstNumber + 1, "x", in: firstNumber, root: root, inode: 20),
        ] + listing(firstNumber) + listing(firstNumber + 1, [file]) + [ended(root)], from: root)
    }
    await scan(root: 1, firstNumber: 1)
    let before = try shares.catalog.read { (try $0.directories().map(\.id), try $0.sequence()) }
    try await shares.library.watchAnew(1)
    await scan(root: 3, firstNumber: 101)
    let after = try shares.catalog.read { (try $0.directories().map(\.id), try $0.sequence()) }
    #expect(after == before)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [false, true])
  func rescanThatWasNotDecidedWhenPhotodWatchEndedIsMadeAgain(isConfirmed: Bool) async throws {
    let shares = try await TwoShares()
    let a = (name: "a.jpg", stat: shares.disk.write("/p/x/a.jpg"))
    func found(_ first: DirectoryNumber) -> [WatchRecord] {
      [directory(first, "/p", root: 1, inode: 1), directory(first + 1, "x", in: first, root: 1, inode: 20)]
    }
    await shares.take([started(1)] + found(1) + listing(1) + listing(2, [a]) + [ended(1)], from: 1)
    await shares.take([started(2)], from: 2)
    let library = shares.library
    let caller = Task { try await library.rescan(path: Fixture.bytes("/p/x"), dryRun: false, confirm: isConfirmed) }
    defer { library.stopWaiting() }
    for await request in shares.orders.requests {
      #expect(request == 1)
      break
    }
    await shares.take([started(1, request: 1)] + listing(2, [a]) + [ended(1, request: 1)], from: 1)

    await shares.take(.died(session: 1, reason: "killed"), from: 1)
    await shares.take(.started(session: 2), from: 1)
    try #require(shares.orders.rescans.count == 2)
    #expect(shares.orders.rescans[0] == (1, 2) && shares.orders.rescans[1] == (1, nil))
    #expect(await library.requests(for: "/p/x") == [2])
    #expect(await library.confirmedRequests == (isConfirmed ? [2] : []))
    let b = (name: "b.jpg", stat: shares.disk.write("/p/x/b.jpg"))
    let listings = listing(101) + listing(102, [a, b])
    await shares.take(
      [started(1)] + found(101) + listings + [ended(1), started(1, request: 2)] + listings
        + [ended(1, request: 2)], from: 1)
    await shares.take([.scanEnded(root: 2, request: 0, complete: false)], from: 2)
    _ = try await caller.value
    #expect(try shares.paths == ["/p/x/a.jpg", "/p/x/b.jpg"])
    #expect(await library.requests(for: "/p/x").isEmpty)
    #expect(await library.confirmedRequests.isEmpty)
  }

  // MARK: The scope of a folder's rescan

  /// 400 photos in /p and 150 in /p/x, and a removal grace of 600 seconds. Request 7 is for /p/x.
  private func folder(isConfirmed: Bool) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let top = (0..<400).map { (name: "\($0).jpg", stat: fixture.disk.write("/p/\($0).jpg")) }
    let inner = (0..<150).map { (name: "\($0).jpg", stat: fixture.disk.write("/p/x/\($0).jpg")) }
    try fixture.apply(
      all: [started(1), Fixture.top, Fixture.found(2, "x", inode: 20)] + listing(1, top)
        + listing(2, inner) + [ended(1)])
    fixture.disk.pass(3_600)
    fixture.reconciler.partialRequests[7] = fixture.reconciler.tree.directory(number: 2)
    if isConfirmed { fixture.reconciler.confirmedRequests.insert(7) }
    return fixture
  }

  /// After a restart, photod-watch replaces the rescan of a folder with a scan of the whole root.
  @Test func aPersonsWordForAFolderLetsNothingElseGo() throws {
    let fixture = try folder(isConfirmed: true)
    try fixture.apply(
      all: [started(1, request: 7)] + listing(1) + listing(2) + [ended(1, request: 7)])
    let paths = try fixture.paths()
    #expect(paths.count == 400 && !paths.keys.contains { $0.hasPrefix("/p/x/") })
    #expect(fixture.reconciler.roots.all.map(\.needsScan) == [true])
    // That scan is not confirmed by the request.
    #expect(try fixture.apply(all: [started(1)] + listing(1) + [ended(1)]).isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [400])
  }

  /// A neighbouring folder is polled and lacks a few photos.
  @Test func rescanOfAFolderLeavesTheOthersToAScanOfTheRoot() throws {
    let fixture = try folder(isConfirmed: false)
    let (top, inner) = (fixture.disk.files(in: "/p"), fixture.disk.files(in: "/p/x"))
    let record = try fixture.apply(
      all: [started(1, request: 7)] + listing(1, Array(top.dropFirst(30)))
        + listing(2, Array(inner.dropFirst(5))) + [ended(1, request: 7)])
    #expect(record.deletedAssets.count == 5)
    #expect(fixture.reconciler.roots.all.map(\.needsScan) == [true])
  }

  @Test func aPersonsWordForAFolderThatGoesDuringItsRescanLetsNothingElseGo() throws {
    let fixture = try folder(isConfirmed: true)
    try fixture.apply(
      all: [started(1, request: 7)] + listing(1) + [.directoryGone(number: 2, evidence: .event)]
        + [ended(1, request: 7)])
    #expect(try fixture.paths().count == 400)
  }

  // MARK: Departures while a scan waits

  /// /p/x/a.jpg. The scan of /p has ended while that of /q is running.
  private func waiting(finds isFound: Bool = true) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    let a = (name: "a.jpg", stat: fixture.disk.write("/p/x/a.jpg"))
    try fixture.apply(
      all: [started(1), Fixture.top, Fixture.found(2, "x", inode: 20)] + listing(1) + listing(2, [a])
        + [ended(1)])
    try fixture.addSecondRoot()
    fixture.disk.pass(3_600)
    try fixture.apply(
      all: [started(1), started(2)] + listing(1) + listing(2, isFound ? [a] : []) + [ended(1)])
    return fixture
  }

  /// - Parameter isFound: whether the scan found the photo before the drive was mounted.
  @Test(arguments: [true, false])
  func photosUnderADriveThatIsMountedWhileAScanWaitsStay(isFound: Bool) throws {
    let fixture = try waiting(finds: isFound)
    try fixture.apply(directory(9, "x", in: 1, root: 1, device: 3, inode: 30))
    let record = try fixture.apply(ended(2))
    #expect(record.deletedAssets.isEmpty)
    #expect(try fixture.asset("/p/x/a.jpg").available == false)
  }

  @Test func folderThatAListingMissesWhileAScanWaitsIsLeftToTheNext() throws {
    let fixture = try waiting()
    try fixture.apply(.directoryGone(number: 2, evidence: .scan))
    #expect(try fixture.apply(ended(2)).isEmpty)
    #expect(fixture.reconciler.roots[number: 1]?.needsScan == true)
    let record = try fixture.apply(all: [started(1, request: 3)] + listing(1) + [ended(1, request: 3)])
    #expect(record.deletedAssets.count == 1)
  }

  // MARK: Another folder in a root's place

  /// The folder below the bind mount of /p.
  private static let bare = directory(50, "/p", root: 1, inode: 4_711)
  private static let scanOfBare = [started(1), bare] + listing(50) + [ended(1)]

  /// /p/a.jpg. The scan of the folder below the mount has ended while that of /q is running.
  private func unmounted() throws -> (ReconcilerFixture, a: FileStat) {
    let fixture = try ReconcilerFixture()
    let a = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", a)])
    try fixture.addSecondRoot()
    try fixture.restart()
    fixture.disk.pass(3_600)
    try fixture.apply(all: [started(2)] + Self.scanOfBare)
    return (fixture, a)
  }

  private func expectOtherFolder(_ fixture: ReconcilerFixture, _ a: FileStat) throws {
    #expect(try fixture.paths().count == 1)
    guard case .offline(_, .otherFolder)? = fixture.reconciler.roots[number: 1]?.state else {
      Issue.record("not offline")
      return
    }
    fixture.disk.pass(3_600)
    let back = try fixture.scan([("a.jpg", a)])
    #expect(back.rootAvailability.map(\.isAvailable) == [true] && back.insertedAssets.isEmpty)
  }

  @Test func bareFolderIsInDoubtAlsoAfterARestart() throws {
    let (fixture, a) = try unmounted()
    try fixture.restart()
    #expect(try fixture.apply(all: Self.scanOfBare).deletedAssets.isEmpty)
    try expectOtherFolder(fixture, a)
  }

  @Test func secondScanOfABareFolderRemovesNothing() throws {
    let (fixture, a) = try unmounted()
    try fixture.apply(all: [started(1, request: 3)] + listing(50) + [ended(1, request: 3)])
    #expect(try fixture.apply(ended(2)).deletedAssets.isEmpty)
    try expectOtherFolder(fixture, a)
  }

  @Test func folderThatHasTheLibrarysPhotosIsTakenUp() throws {
    let fixture = try ReconcilerFixture()
    let (a, b) = (fixture.disk.write("/p/a.jpg"), fixture.disk.write("/p/b.jpg"))
    try fixture.scan([("a.jpg", a), ("b.jpg", b)])
    try fixture.restart()
    fixture.disk.pass(3_600)
    let record = try fixture.apply(
      all: [started(1), Self.bare] + listing(50, [("a.jpg", a)]) + [ended(1)])
    #expect(record.deletedAssets.count == 1)
    #expect(try fixture.catalog.read { try $0.directories().map(\.inode) } == [4_711])
    #expect(fixture.reconciler.roots.all.allSatisfy { $0.isAvailable })
  }
}

extension Library {
  /// The rescans that are for a folder.
  fileprivate func requests(for path: String) -> [UInt32] {
    let folder = reconciler.tree.directory(path: Array(path.utf8))
    return reconciler.partialRequests.filter { $0.value == folder }.map(\.key)
  }

  fileprivate var confirmedRequests: Set<UInt32> { reconciler.confirmedRequests }
}
