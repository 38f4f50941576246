import Logging
import PhotoLive
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
  // MARK: Photos that no scan decides about

  /// A file is found in the place of another, and is held because another root is being scanned. Then it leaves, and
  /// nothing reports where the photo of that place is.
  @Test func photoWhoseHeldFileLeavesIsScannedFor() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    try fixture.addSecondRoot()
    fixture.disk.pass(100)
    fixture.disk.remove("/p/a.jpg")
    let other = fixture.disk.write("/p/a.jpg")
    try fixture.apply(
      started(2), .listingStarted(number: 1, evidence: .event), Fixture.file("a.jpg", other),
      .listingEnded(number: 1, complete: true))
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg"), ended(2), .synced(number: 1))
    #expect(try fixture.paths().isEmpty || fixture.reconciler.roots[number: 1]?.needsScan == true)
  }

  /// The scan of a folder ends because the folder is gone. A listing has missed a photo meanwhile.
  @Test func photoThatAnIncompleteScanMissesIsScannedFor() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    fixture.disk.remove("/p/a.jpg")
    try fixture.apply(all: [started(1, request: 7)] + listing(1))
    try fixture.apply(.scanEnded(root: 1, request: 7, complete: false))
    #expect(try fixture.paths().isEmpty || fixture.reconciler.roots[number: 1]?.needsScan == true)
  }

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
    let clock = SimulatedClock()
    let library: Library

    init() async throws {
      environment = try TestCatalog("shares")
      library = try Library(
        catalog: environment.catalog, commits: try LiveLibrary(catalog: environment.catalog), watcher: orders,
        files: disk, clock: clock,
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

  @Test(.timeLimit(.minutes(10)), arguments: [false, true])
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

  /// The request reads the rows of all files below the folder. So it is made once for each scan, and not for each caller.
  @Test func callersThatShareAScanShareTheRequestForHashes() async throws {
    let shares = try await TwoShares()
    let a = (name: "a.jpg", stat: shares.disk.write("/p/x/a.jpg"))
    await shares.take(
      [started(1), directory(1, "/p", root: 1, inode: 1), directory(2, "x", in: 1, root: 1, inode: 20)]
        + listing(1) + listing(2, [a]) + [ended(1)], from: 1)
    await shares.take([started(2), ended(2)], from: 2)
    let library = shares.library
    defer { library.stopWaiting() }
    let scans = Task {
      for await request in shares.orders.requests {
        await shares.take([started(1, request: request)] + listing(2, [a]) + [ended(1, request: request)], from: 1)
      }
    }
    defer { scans.cancel() }
    let callers = (0..<50).map { _ in
      Task { try await library.rescan(path: Fixture.bytes("/p/x"), dryRun: false, confirm: false) }
    }
    for caller in callers { _ = try await caller.value }
    let count = await library.proofs.requestCount
    #expect(count == shares.orders.rescans.count && (1..<50).contains(count), "\(count)")
  }

  /// A file in /q changes every second.
  @Test func scanWaitsOnlyForItsOwnRootAndNotForEver() async throws {
    let shares = try await TwoShares()
    await shares.scan([])
    await shares.take(
      [
        started(2), directory(60, "/q", root: 2, device: 2, inode: 1), .listingStarted(number: 60, evidence: .scan),
        .listingEnded(number: 60, complete: true), ended(2),
      ], from: 2)
    for root in [1, 2] as [UInt16] { await shares.library.doubt(root) }
    var delays: [UInt16: Int] = [:]
    for second in 1...100 {
      shares.clock.pass(seconds)
      let file = shares.disk.write("/q/a.jpg", device: 2)
      await shares.take([.fileFound(directory: 60, name: Fixture.bytes("a.jpg"), stat: file)], from: 2)
      await shares.library.doWhatIsDue()
      for (root, _) in shares.orders.rescans where delays[root] == nil { delays[root] = second }
    }
    #expect(try #require(delays[1]) <= 2)
    #expect((20...40).contains(try #require(delays[2])))
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
    fixture.reconciler.requests.add(7, partOf: fixture.reconciler.tree.directory(number: 2), isConfirmed: false)
    if isConfirmed { fixture.reconciler.requests.add(7, partOf: nil, isConfirmed: true) }
    return fixture
  }

  /// After a restart, photod-watch replaces the rescan of a folder with a scan of the whole root.
  @Test func aConfirmedRescanOfAFolderRemovesNoPhotosOutsideIt() throws {
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

  /// A folder may leave while another one is scanned. That scan does not judge it.
  @Test func folderThatLeavesDuringTheRescanOfAnotherIsLeftToAScanOfTheRoot() throws {
    let fixture = try folder(isConfirmed: false)
    try fixture.apply(Fixture.found(3, "y", inode: 30))
    try fixture.apply(Fixture.file("a.jpg", in: 3, fixture.disk.write("/p/y/a.jpg")))
    try fixture.apply(
      all: [started(1, request: 7), .directoryGone(number: 3, evidence: .scan)]
        + listing(2, fixture.disk.files(in: "/p/x")) + [ended(1, request: 7)])
    #expect(fixture.reconciler.roots.all.map(\.needsScan) == [true])
  }

  @Test func folderThatLeavesDuringItsOwnRescanIsJudgedByThat() throws {
    let fixture = try folder(isConfirmed: true)
    try fixture.apply(
      all: [started(1, request: 7), .directoryGone(number: 2, evidence: .scan), ended(1, request: 7)])
    #expect(fixture.reconciler.roots.all.map(\.needsScan) == [false])
    #expect(try fixture.paths().count == 400)
  }

  @Test func aConfirmedRescanOfAFolderThatIsRemovedMeanwhileRemovesNothingElse() throws {
    let fixture = try folder(isConfirmed: true)
    try fixture.apply(
      all: [started(1, request: 7)] + listing(1) + [.directoryGone(number: 2, evidence: .event)]
        + [ended(1, request: 7)])
    #expect(try fixture.paths().count == 400)
  }

  // MARK: Several scans of one root that wait

  /// 300 photos in /p, of which the scans of /p miss more and more while the scan of /q is running.
  ///
  /// - Returns: the ids of the photos that leave, and the requests of the scans that end without suspicion.
  private func waitingScans(missing counts: [Int], confirmed: UInt32? = nil) throws -> (removed: Int, decided: [UInt32])
  {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<300).map { (name: "\($0).jpg", stat: fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files.map { ($0.name, $0.stat) })
    try fixture.addSecondRoot()
    fixture.disk.pass(3_600)
    if let confirmed { fixture.reconciler.requests.add(confirmed, partOf: nil, isConfirmed: true) }
    var records = [started(2)]
    for (index, count) in counts.enumerated() {
      let request = UInt32(index + 1)
      records += [started(1, request: request)] + listing(1, Array(files.dropFirst(count)))
      records.append(ended(1, request: request))
    }
    records += listing(60) + [ended(2)]
    let batch = try fixture.catalog.write {
      try fixture.reconciler.apply(
        records, contents: [:], with: $0, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
    }
    #expect(Set(batch.endedScans.map(\.request)) == Set([0] + (1...UInt32(counts.count))), "each caller gets a result")
    let decided = batch.endedScans.filter { if case .decided = $0.verdict { $0.root == 1 } else { false } }
    return (batch.record.deletedAssets.count, decided.map(\.request))
  }

  /// Each scan misses few photos more than the one before it. Together they miss half of them.
  @Test func scansThatWaitTogetherRemoveNoMoreThanOneMay() throws {
    let result = try waitingScans(missing: [100, 150])
    #expect(result.removed == 0 && result.decided.isEmpty)
    let few = try waitingScans(missing: [10, 50, 90])
    #expect(few.removed == 90 && few.decided == [1, 2, 3])
  }

  /// The brake of the simulation holds from four missing photos on.
  @Test func scansThatEndTogetherRemoveNoMoreThanOneMay() async throws {
    try await expectPasses(
      usb: .fat,
      [
        .makeDirectory("/pics/x"), .makeDirectory("/usb/x"), .makeDirectory("/usb/y"), .write("/usb/b.jpg"),
        .write("/usb/y/e.jpg"), .write("/usb/c.jpg"), .settle, .remove("/usb/y"), .remove("/usb/b.jpg"), .kill, .start,
        .watch(events: 5, listings: 2), .makeDirectory("/usb/x/y"), .write("/usb/x/y/a.jpg"),
        .watch(events: 5, listings: 2), .remove("/usb/c.jpg"), .remove("/usb/x/y/a.jpg"), .overflow,
        .watch(events: 1000, listings: 1000), .watch(events: 1000, listings: 1000), .take(1000, records: 1000), .settle,
      ])
  }

  /// The confirmation is for the photos that the first scan missed.
  @Test func aConfirmationOfOneScanIsNotForOtherWaitingScans() throws {
    let result = try waitingScans(missing: [120, 260], confirmed: 1)
    #expect(result.removed == 120 && result.decided == [1])
    let last = try waitingScans(missing: [120, 260], confirmed: 2)
    #expect(last.removed == 260 && last.decided == [1, 2])
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
    guard case .foreign(_, .otherFolder)? = fixture.reconciler.roots[number: 1]?.presence else {
      Issue.record("not offline")
      return
    }
    fixture.disk.pass(3_600)
    let back = try fixture.scan([("a.jpg", a)])
    #expect(back.rootAvailability.map(\.isAvailable) == [true] && back.insertedAssets.isEmpty)
  }

  @Test func emptyFolderOfARootIsSuspectAfterARestart() throws {
    let (fixture, a) = try unmounted()
    try fixture.restart()
    #expect(try fixture.apply(all: Self.scanOfBare).deletedAssets.isEmpty)
    try expectOtherFolder(fixture, a)
  }

  @Test func secondScanOfAnUnmountedFolderRemovesNothing() throws {
    let (fixture, a) = try unmounted()
    try fixture.apply(all: [started(1, request: 3)] + listing(50) + [ended(1, request: 3)])
    #expect(try fixture.apply(ended(2)).deletedAssets.isEmpty)
    try expectOtherFolder(fixture, a)
  }

  /// 80 photos, of which 3.jpg is a favorite. photod is down, and /p is not mounted: in its place is the folder below the
  /// mount, with a file of its own.
  private func unmounted(stray: String) throws -> (fixture: ReconcilerFixture, files: [NamedFile]) {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<80).map { (name: "\($0).jpg", stat: fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    try fixture.give(try #require(try fixture.paths()["/p/3.jpg"]))
    try fixture.restart()
    fixture.disk.pass(3_600)
    fixture.disk.moveFolder("/p", "/away")
    fixture.disk.write("/p/\(stray)", bytes: 4_711)
    return (fixture, files)
  }

  /// - Parameter stray: a name of its own, or that of the favorite.
  @Test(arguments: ["x.jpg", "3.jpg"]) func unmountedFolderWithAFileIsNotAccepted(stray: String) throws {
    let (fixture, files) = try unmounted(stray: stray)
    let before = try fixture.paths()
    let record = try fixture.apply(
      all: [started(1), Self.bare] + listing(50, fixture.disk.files(in: "/p")) + [ended(1)])
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty && record.updatedAssets.isEmpty)
    #expect(try fixture.paths() == before)
    guard case .foreign(_, .otherFolder)? = fixture.reconciler.roots[number: 1]?.presence else {
      Issue.record("not offline")
      return
    }
    fixture.disk.remove("/p/\(stray)")
    fixture.disk.moveFolder("/away", "/p")
    let back = try fixture.scan(files)
    #expect(back.rootAvailability.map(\.isAvailable) == [true] && back.insertedAssets.isEmpty)
    #expect(back.deletedAssets.isEmpty)
    #expect(try fixture.paths() == before && fixture.asset("/p/3.jpg").isFavorite)
  }

  /// `cp -r` gives the copies new times.
  @Test func restoredFolderWithOtherTimesIsAccepted() throws {
    let (fixture, _) = try unmounted(stray: "x.jpg")
    let before = try fixture.paths()
    for number in 0..<80 { fixture.disk.write("/p/\(number).jpg") }
    let record = try fixture.apply(
      all: [started(1), Self.bare] + listing(50, fixture.disk.files(in: "/p")) + [ended(1)])
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.count == 1)
    #expect(try fixture.paths().filter { $0.key != "/p/x.jpg" } == before)
    #expect(fixture.reconciler.roots.all.allSatisfy { $0.isAvailable })
  }

  @Test func aConfirmedRescanAcceptsAFolderWithoutTheLibrarysPhotos() throws {
    let (fixture, _) = try unmounted(stray: "x.jpg")
    fixture.reconciler.requests.add(5, partOf: nil, isConfirmed: true)
    try fixture.apply(
      all: [started(1, request: 5), Self.bare] + listing(50, fixture.disk.files(in: "/p")) + [ended(1, request: 5)])
    #expect(try fixture.paths().keys.sorted() == ["/p/x.jpg"])
  }

  @Test func folderWithTheLibrarysPhotosIsAccepted() throws {
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
  /// Has the root wait for a scan that decides about a missed file.
  fileprivate func doubt(_ number: UInt16) { reconciler.roots[number: number]?.needsScan = true }

  /// The rescans that are for a folder.
  fileprivate func requests(for path: String) -> [UInt32] {
    let folder = reconciler.tree.directory(path: Array(path.utf8))
    return reconciler.requests.parts.filter { $0.value == folder }.map(\.key)
  }

  fileprivate var confirmedRequests: Set<UInt32> { reconciler.requests.confirmed }
}
