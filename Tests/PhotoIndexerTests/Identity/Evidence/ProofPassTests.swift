import Dispatch
import Foundation
import Glibc
import Logging
import PhotoLive
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Samples and hashes are made when the library is idle.
@Suite struct ProofPassTests {
  /// A library over files in memory, with root 1 at /p as directory 1.
  private final class IdleLibrary {
    private let environment: TestCatalog
    var folder: String { environment.folder }
    var catalog: Catalog { environment.catalog }
    let disk = MemoryDisk()
    let clock = SimulatedClock()
    let library: Library
    let live: LiveLibrary

    init(
      volume: String = "uuid:1", supplies: [String: [String: String]] = [:], clock realClock: SystemClock? = nil
    ) async throws {
      environment = try TestCatalog("proofs")
      for (name, attributes) in supplies {
        let supply = environment.folder + "/power/" + name
        try FileManager.default.createDirectory(atPath: supply, withIntermediateDirectories: true)
        for (attribute, value) in attributes {
          try (value + "\n").write(toFile: supply + "/" + attribute, atomically: false, encoding: .utf8)
        }
      }
      disk.setVolume(volume, of: 1)
      live = try LiveLibrary(catalog: environment.catalog)
      library = try Library(
        catalog: environment.catalog, commits: live, watcher: SimulatedWatcher(disk: SimulatedDisk(clock: clock)),
        files: disk,
        clock: (realClock as (any LibraryClock)?) ?? clock,
        power: PowerSupply(folder: environment.folder + "/power"),
        configuration: .init(roots: [Fixture.bytes("/p")], version: "0"),
        logger: Logger(label: "proofs") { _ in SwiftLogNoOpLogHandler() })
      try await library.adoptRoots()
    }

    func take(_ records: [WatchRecord]) async {
      await library.take(ReadAhead.Input(input: .batch(records), contents: [:]))
    }

    func scan(_ files: [(String, FileStat)]) async { await take(Fixture.scan(files)) }

    /// One second passes, and the library does its due work.
    func idle() async {
      clock.pass(2_000_000_000)
      await library.makeProofsNow()
    }

    func setSupply(_ name: String, _ attribute: String, _ value: String) throws {
      try value.write(toFile: folder + "/power/\(name)/\(attribute)", atomically: false, encoding: .utf8)
    }

    var hashing: LibraryStatus.Hashing { library.statusStore.status.hashing ?? .init() }

    func marks(_ path: String) throws -> ContentMarks {
      let (folder, name) = ("/p", String(path.dropFirst(3)))
      #expect(path.hasPrefix(folder))
      return try catalog.read { reader in
        let directory = try #require(try reader.directoryID(path: Fixture.bytes(folder)))
        return try #require(try reader.file(directory, Fixture.bytes(name))).marks
      }
    }

    func favor(_ path: String) async throws { try await edit(path, isFavorite: true) }

    func edit(_ path: String, isFavorite: Bool? = nil, isHidden: Bool? = nil) async throws {
      let ids = try catalog.read { reader in
        try reader.assets(try reader.ids(try reader.plan(FetchOptions()))).assets
          .filter { $0.resources[0].path == path }.map(\.id)
      }
      _ = try await library.perform(
        [.editAssets(ids, AssetEdit(isFavorite: isFavorite, isHidden: isHidden))], clientName: nil)
    }
  }

  /// Holds up the first reading of a file until it is opened.
  private final class Gate: Sendable {
    let isReached = Mutex(false)
    let open = DispatchSemaphore(value: 0)

    func wait() {
      let isFirst = isReached.withLock { isReached in
        defer { isReached = true }
        return !isReached
      }
      if isFirst { open.wait() }
    }
  }

  private static let large: Int64 = 5_000_000

  @Test func scanMakesNoSampleAndTheIdleLibraryDoes() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    #expect(try idle.marks("/p/a.jpg").sample == nil)
    await idle.library.makeProofsNow()
    #expect(try idle.marks("/p/a.jpg").sample == nil, "something happened less than a second ago")
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").sample != nil && idle.marks("/p/a.jpg").hash == nil)
    #expect(idle.hashing == .init(sampledBytes: 98_304))
    await idle.idle()
    #expect(idle.disk.proofBytes.sampled == 98_304)
  }

  @Test func photoWithUserDataIsHashedAndAgainAfterAChange() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([
      ("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large)),
      ("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large)),
    ])
    await idle.idle()
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    let first = try #require(try idle.marks("/p/a.jpg").hash)
    #expect(try idle.marks("/p/b.jpg").hash == nil)
    await idle.take([Fixture.file("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    #expect(try idle.marks("/p/a.jpg").hash == nil)
    await idle.idle()
    #expect(try #require(try idle.marks("/p/a.jpg").hash) != first)
    #expect(idle.disk.proofBytes.hashed == 2 * Self.large && idle.hashing.hashedBytes == 2 * Self.large)
  }

  @Test func photoThatIsHiddenIsHashed() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash == nil)
    try await idle.edit("/p/a.jpg", isHidden: true)
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
  }

  /// A part of a file's stat.
  enum Part: CaseIterable { case size, modificationTime, changeTime, inode }

  /// Each part alone makes the hash void, however photod learns of it. The change time stands for an edit in place.
  @Test(arguments: Part.allCases, [Evidence.event, .scan])
  func hashIsVoidIfOnePartOfTheStatDiffers(part: Part, evidence: Evidence) async throws {
    let idle = try await IdleLibrary()
    var stat = idle.disk.write("/p/a.jpg", bytes: Self.large)
    await idle.scan([("a.jpg", stat)])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    await idle.scan([("a.jpg", stat)])
    #expect(try idle.marks("/p/a.jpg").hash != nil, "nothing differs")
    idle.disk.pass(3_600)
    switch part {
    case .size: stat.byteCount += 1
    case .modificationTime: stat.modificationTime += 1
    case .changeTime: stat.changeTime += 1
    case .inode: stat.identity.inode += 1_000_000
    }
    idle.disk.setStat(stat, of: "/p/a.jpg")
    switch evidence {
    case .event:
      let event = FileEvent(time: idle.disk.time, isWritten: true)
      await idle.take([.fileFound(directory: 1, name: Fixture.bytes("a.jpg"), stat: stat, event: event)])
    case .scan: await idle.scan([("a.jpg", stat)])
    }
    #expect(try idle.marks("/p/a.jpg").hash == nil)
    let before = idle.disk.proofBytes.hashed
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    #expect(idle.disk.proofBytes.hashed == before + stat.byteCount)
  }

  @Test func filesThatShareSizeAndFingerprintAreHashed() async throws {
    let idle = try await IdleLibrary()
    var files: [(String, FileStat)] = []
    for name in ["a.tif", "b.tif", "c.tif"] {
      let bytes = name == "c.tif" ? Self.large + 1 : Self.large
      files.append((name, idle.disk.write("/p/" + name, bytes: bytes, beginning: UInt64(bytes))))
    }
    await idle.scan(files)
    await idle.idle()
    #expect(try idle.marks("/p/a.tif").hash != idle.marks("/p/b.tif").hash)
    #expect(try idle.marks("/p/a.tif").hash != nil && idle.marks("/p/c.tif").hash == nil)
    // A request that comes later includes the folder of the first.
    await idle.take([
      Fixture.file("d.tif", idle.disk.write("/p/d.tif", bytes: Self.large + 1, beginning: UInt64(Self.large + 1)))
    ])
    await idle.idle()
    #expect(try idle.marks("/p/c.tif").hash != nil && idle.marks("/p/d.tif").hash != nil)
  }

  /// The album, its count and an observed list change with each hash and with each deletion.
  @Test(arguments: [large, 50_000]) func copiesAreDuplicatesUntilOneIsLeft(bytes: Int64) async throws {
    let idle = try await IdleLibrary()
    let options = FetchOptions(
      collection: "smart:duplicates", sortDescriptors: [SortDescriptor(key: "filename", ascending: true)])
    let plan = try idle.catalog.read { try $0.plan(options) }
    func duplicates() throws -> [String] {
      let list = try idle.live.lists.current(plan).ids
      let (paths, count) = try idle.catalog.read { reader in
        let fetched = try reader.ids(reader.plan(options))
        #expect(fetched == list)
        let album = try reader.collections(kinds: [.smartAlbum]).first { $0.subtype == "duplicates" }
        return (try reader.assets(fetched).assets.map { $0.resources[0].filename }, album?.count)
      }
      #expect(count == paths.count)
      #expect(
        try idle.live.collections.list([.smartAlbum]).1.first { $0.subtype == "duplicates" }?.count == count)
      return paths
    }
    func expect(_ names: [String]) throws {
      let found = try duplicates()
      #expect(found == names)
    }
    await idle.scan([
      ("a.jpg", idle.disk.write("/p/a.jpg", bytes: bytes, content: 500)),
      ("b.jpg", idle.disk.write("/p/b.jpg", bytes: bytes, content: 500)),
      ("c.jpg", idle.disk.write("/p/c.jpg", bytes: bytes, content: 600, beginning: 500)),
      ("d.jpg", idle.disk.write("/p/d.jpg", bytes: bytes)),
    ])
    try expect([])
    await idle.idle()
    await idle.idle()
    try expect(["a.jpg", "b.jpg"])
    await idle.take([Fixture.file("e.jpg", idle.disk.write("/p/e.jpg", bytes: bytes, content: 600, beginning: 500))])
    await idle.idle()
    await idle.idle()
    try expect(["a.jpg", "b.jpg", "c.jpg", "e.jpg"])
    try await idle.edit("/p/c.jpg", isHidden: true)
    try expect(["a.jpg", "b.jpg", "e.jpg"])
    idle.disk.pass(20)
    idle.disk.remove("/p/a.jpg")
    await idle.take([Fixture.gone("a.jpg"), Fixture.file("e.jpg", idle.disk.write("/p/e.jpg", bytes: bytes))])
    await idle.idle()
    await idle.idle()
    try expect([])
  }

  /// The marks of a file that can't be read would belong to no content of the catalog. They are made after the reading.
  @Test func fileThatCannotBeReadIsNotHashed() async throws {
    let idle = try await IdleLibrary()
    let first = idle.disk.write("/p/a.jpg", bytes: Self.large)
    idle.disk.pass(100)
    await idle.scan([("a.jpg", first)])
    let ids = try idle.catalog.read { try $0.ids($0.plan(FetchOptions())) }
    _ = try await idle.library.perform([.createAlbum(title: "album", assets: ids, parent: nil)], clientName: nil)
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    idle.disk.move("/p/a.jpg", "/away/a.jpg")
    await idle.take([Fixture.gone("a.jpg")])
    idle.disk.pass(100)
    idle.disk.write("/away/a.jpg", bytes: Self.large + 1)
    let stat = idle.disk.move("/away/a.jpg", "/p/a.jpg")
    idle.disk.setFailing(["/p/a.jpg"])
    await idle.take([Fixture.file("a.jpg", stat)])
    #expect(try idle.catalog.read { try $0.ids($0.plan(FetchOptions())) } == ids)
    for name in ["b.jpg", "c.jpg"] {
      await idle.take([Fixture.file(name, idle.disk.write("/p/" + name))])
      for _ in 0..<3 { await idle.idle() }
    }
    #expect(idle.disk.proofBytes.hashed == Self.large && idle.hashing.unhashedCount == 1)
    idle.disk.setFailing([])
    await idle.take([Fixture.file("a.jpg", stat)])
    for _ in 0..<3 { await idle.idle() }
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    #expect(idle.disk.proofBytes.hashed == 2 * Self.large + 1 && idle.hashing.unhashedCount == 0)
  }

  /// The kernel reported the rename, and that explains the change time.
  @Test func hashIsValidAfterARename() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    await idle.take([Fixture.moved("a.jpg", to: "b.jpg", idle.disk.move("/p/a.jpg", "/p/b.jpg"))])
    #expect(try idle.marks("/p/b.jpg").hash != nil)
    await idle.idle()
    #expect(idle.disk.proofBytes.hashed == Self.large)
  }

  /// After cp without -p, neither the modification time nor the name proves the identity.
  @Test func copyOfADeletedFavoriteIsKnownByItsHashOnceThatIsMade() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large, content: 77))])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    idle.disk.remove("/p/a.jpg")
    await idle.take([Fixture.gone("a.jpg")])
    idle.disk.pass(20)
    await idle.take([Fixture.file("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large, content: 77))])
    await idle.take([Fixture.file("c.jpg", idle.disk.write("/p/c.jpg", bytes: Self.large, content: 78, beginning: 77))])
    func favorites() throws -> [String] {
      try idle.catalog.read { reader in
        let ids = try reader.ids(reader.plan(FetchOptions(collection: "smart:favorites")))
        return try reader.assets(ids).assets.map { $0.resources[0].path }
      }
    }
    #expect(try favorites() == [])
    await idle.idle()
    #expect(try favorites() == ["/p/b.jpg"])
  }

  /// A favorite that was hashed and deleted. Then a copy of it comes, without its modification time.
  ///
  /// - Parameter isThereBefore: whether the copy comes before the favorite is deleted.
  private func copyOfADeletedFavorite(isThereBefore: Bool) async throws -> IdleLibrary {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large, content: 77))])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    func copy() async {
      await idle.take([Fixture.file("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large, content: 77))])
      // Files that share size and fingerprint are hashed.
      let other = idle.disk.write("/p/c.jpg", bytes: Self.large, content: 78, beginning: 77)
      await idle.take([Fixture.file("c.jpg", other)])
    }
    if isThereBefore { await copy() }
    idle.clock.pass(10 * seconds)
    idle.disk.remove("/p/a.jpg")
    await idle.take([Fixture.gone("a.jpg")])
    idle.clock.pass(10 * seconds)
    if !isThereBefore { await copy() }
    return idle
  }

  @Test(arguments: [false, true])
  func hashThatIsMadeHoursLaterRestoresADeletedPhotoUnlessTheCopyWasThereBefore(isThereBefore: Bool) async throws {
    let idle = try await copyOfADeletedFavorite(isThereBefore: isThereBefore)
    idle.clock.pass(7_200 * seconds)
    await idle.idle()
    #expect(try idle.marks("/p/b.jpg").hash != nil)
    let favorites = try idle.catalog.read { reader in
      let ids = try reader.ids(reader.plan(FetchOptions(collection: "smart:favorites")))
      return try reader.assets(ids).assets.map { $0.resources[0].path }
    }
    #expect(favorites == (isThereBefore ? [] : ["/p/b.jpg"]))
  }

  @Test func filesOfADriveThatLeavesMeanwhileAreReadWhenItIsBack() async throws {
    let idle = try await IdleLibrary()
    let file = ("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))
    await idle.scan([file])
    idle.disk.moveFolder("/p", "/away")
    await idle.idle()
    await idle.take([.rootOffline(root: 1, errorNumber: ENOENT)])
    idle.disk.moveFolder("/away", "/p")
    await idle.scan([file])
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").sample != nil)
  }

  /// The files that a turn does not reach are the next, although nothing begins the pass anew.
  @Test func aTurnEndsBetweenTwoFiles() async throws {
    let idle = try await IdleLibrary()
    let names = ["a.jpg", "b.jpg", "c.jpg"]
    await idle.scan(names.map { ($0, idle.disk.write("/p/" + $0, bytes: Self.large)) })
    idle.clock.pass(2 * seconds)
    let clock = idle.clock
    idle.disk.setReading { clock.pass(seconds) }
    for count in 1...3 {
      await idle.library.makeProofs()
      #expect(try names.count { try idle.marks("/p/" + $0).sample != nil } == count)
    }
  }

  /// Two files claim the largest size, and their beginnings are equal, so their hashes are requested. They never end.
  @Test func aHashThatNeverEndsDelaysNoOther() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([
      ("a.mov", idle.disk.write("/p/a.mov", bytes: 1 << 60, beginning: 7)),
      ("b.mov", idle.disk.write("/p/b.mov", bytes: 1 << 60, beginning: 7)),
      ("c.mov", idle.disk.write("/p/c.mov", bytes: 300 << 20)),
      ("d.jpg", idle.disk.write("/p/d.jpg", bytes: Self.large)),
    ])
    for path in ["/p/c.mov", "/p/d.jpg"] { try await idle.favor(path) }
    // A second passes for each 16 MiB. The counts are the hashes that are missing when a piece is read.
    let (clock, catalog) = (idle.clock, idle.catalog)
    let read = Mutex<[Int]>([])
    idle.disk.setReadingOfPiece {
      clock.pass(seconds / 64)
      read.withLock { counts in
        if counts.isEmpty { counts.append((try? catalog.read { try $0.proofCounts().unhashed }) ?? -1) }
        counts.append(0)
      }
    }
    idle.clock.pass(2 * seconds)
    for _ in 0..<10 { await idle.library.makeProofs() }
    #expect(read.withLock { $0.first } == 2, "the smaller ones come first")
    let most = 2 * 64 * Int(ProofWorker.longestHashing.components.seconds + 1)
    let count = read.withLock { $0.count }
    #expect(count > most / 2 && count <= most)
    #expect(try ["/p/a.mov", "/p/b.mov"].allSatisfy { try idle.marks($0).sample != nil && idle.marks($0).hash == nil })
    #expect(try ["/p/c.mov", "/p/d.jpg"].allSatisfy { try idle.marks($0).hash != nil })
    #expect(idle.hashing.unhashedCount == 0 && idle.hashing.hashedBytes == 300 << 20 + Self.large)
    // They are not tried again after other changes.
    try await idle.edit("/p/d.jpg", isHidden: true)
    idle.clock.pass(2 * seconds)
    for _ in 0..<10 { await idle.library.makeProofs() }
    #expect(read.withLock { $0.count } == count)
    #expect(await !idle.library.proofs.isDue)
  }

  @Test func aFileOfHolesIsOnlySampled() async throws {
    let folder = try TemporaryFolder("holes")
    let (sparse, full) = (Fixture.bytes(folder.path + "/a.mov"), Fixture.bytes(folder.path + "/b.mov"))
    let disk = DiskFiles()
    for (path, size) in [(sparse, 1 << 40), (full, 1 << 20)] {
      let descriptor = LongPath.open(path, O_RDWR | O_CREAT | O_CLOEXEC)
      try #require(descriptor >= 0)
      defer { close(descriptor) }
      let bytes = [UInt8](repeating: 1, count: min(size, 1 << 20))
      try #require(pwrite(descriptor, bytes, bytes.count, 0) == bytes.count)
      try #require(ftruncate(descriptor, size) == 0)
    }
    #expect(disk.isMostlyHoles(sparse, byteCount: 1 << 40) && !disk.isMostlyHoles(full, byteCount: 1 << 20))
    let stat = try #require(disk.stat(sparse))
    let row = FileRow(Place(directoryID: 1, name: Fixture.bytes("a.mov")), stat, assetID: 1, readTime: 1)
    let made = ProofWorker.make([ProofRequest(row: row, path: sparse, isWhole: true)], disk) { true }
    #expect(made.count == 1 && made[0].isHashPutOff && made[0].marks?.sample != nil && made[0].marks?.hash == nil)
  }

  @Test(.timeLimit(.minutes(10))) func otherTimedWorkContinuesWhileALargeFileIsHashed() async throws {
    let idle = try await IdleLibrary(clock: SystemClock())
    let gate = Gate()
    idle.disk.setReading { gate.wait() }
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    let library = idle.library
    let work = [Task { await library.maintain() }, Task { await library.prove() }]
    defer { for task in work { task.cancel() } }
    try await eventually("the file is read") { gate.isReached.withLock { $0 } }
    await idle.take([Fixture.file("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large))])
    #expect(await library.idle.words.state == .pending)
    try await eventually("the new photo is in the index of words") { await library.idle.words.state == .complete }
    gate.open.signal()
  }

  @Test func aFileThatChangesEverySecondDelaysSamplesByHalfAMinute() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    var count = 0
    while try idle.marks("/p/a.jpg").sample == nil {
      idle.clock.pass(seconds / 2)
      await idle.take([Fixture.file("b.jpg", idle.disk.write("/p/b.jpg"))])
      await idle.library.makeProofsNow()
      count += 1
      try #require(count < 100)
    }
    #expect(count >= 60)
  }

  @Test func nothingIsReadOnBattery() async throws {
    let idle = try await IdleLibrary(supplies: [
      "AC": ["type": "Mains", "online": "0"], "BAT0": ["type": "Battery", "status": "Discharging"],
    ])
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    #expect(idle.disk.proofBytes == (0, 0))
    #expect(idle.hashing == .init(unsampledCount: 1, unhashedCount: 1, paused: "the machine runs on battery"))
    try idle.setSupply("AC", "online", "1")
    await idle.idle()
    #expect(idle.disk.proofBytes.hashed == Self.large && idle.hashing.paused == nil)
    #expect(idle.hashing.unsampledCount == 0 && idle.hashing.unhashedCount == 0)
  }

  @Test(
    arguments: [
      ([:], false),
      (["AC": ["type": "Mains", "online": "1"], "B": ["type": "Battery", "status": "Charging"]], false),
      (["AC": ["type": "Mains", "online": "0"], "B": ["type": "Battery", "status": "Full"]], false),
      (["B": ["type": "Battery", "status": "Discharging"]], true),
      (["B": ["type": "Battery", "status": "Full"]], false),
      (["AC": ["type": "Mains", "online": "0"], "B": ["type": "Battery", "status": "Discharging"]], true),
      (["U": ["type": "USB", "online": "0"], "B": ["type": "Battery", "status": "Discharging"]], true),
      (
        [
          "AC": ["type": "Mains", "online": "0"], "U": ["type": "USB", "online": "1"],
          "B": ["type": "Battery", "status": "Discharging"],
        ], false
      ),
      (
        [
          "AC": ["type": "Mains", "online": "0"],
          "mouse": ["type": "Battery", "status": "Discharging", "scope": "Device"],
        ], false
      ),
    ] as [([String: [String: String]], Bool)])
  func batteryStateIsReadFromTheKernelsFiles(supplies: [String: [String: String]], isOnBattery: Bool) async throws {
    let idle = try await IdleLibrary(supplies: supplies)
    #expect(PowerSupply(folder: idle.folder + "/power").isOnBattery == isOnBattery)
  }

  /// This also holds for a file system without a lasting identity.
  @Test(arguments: ["nfs:server:/photos", "fuse.sshfs:host:", "device:52@boot"])
  func networkIsReadOnRequestOnly(volume: String) async throws {
    let idle = try await IdleLibrary(volume: volume)
    idle.disk.moveToShare()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    #expect(idle.disk.proofBytes == (0, 0) && idle.hashing == .init())
    let top = try #require(try idle.catalog.read { try $0.directoryID(path: Fixture.bytes("/p")) })
    try await idle.library.requestProofs(below: top)
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
    // The request has ended. Later files are not part of it.
    await idle.scan([
      ("a.jpg", try #require(idle.disk.stat(Fixture.bytes("/p/a.jpg")))),
      ("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large)),
    ])
    await idle.idle()
    #expect(try idle.marks("/p/b.jpg").sample == nil)
  }

  /// The library's other work has its turn between these turns.
  @Test func filesOnANetworkArePassedOverInSeveralTurns() async throws {
    let idle = try await IdleLibrary(volume: "nfs:server:/photos")
    idle.disk.moveToShare()
    let count = 2 * Library.passLimit
    await idle.scan((1...count).map { ("\($0).jpg", idle.disk.write("/p/\($0).jpg", bytes: Self.large)) })
    idle.clock.pass(2_000_000_000)
    var (unsampledCount, turns) = (0, 0)
    repeat {
      #expect(await idle.library.nextProofs().isEmpty)
      let before = unsampledCount
      unsampledCount = try idle.catalog.read { try $0.proofCounts().unsampled }
      #expect(before - unsampledCount <= Library.passLimit)
      turns += 1
      try #require(turns < 10)
    } while unsampledCount > 0
  }

  /// SQLite passes the files of a drive that is away, so that the others need not wait for them.
  @Test func filesOnADriveThatIsAwayArePassedInOneTurn() async throws {
    let idle = try await IdleLibrary()
    let count = 3 * Library.passLimit
    var records: [WatchRecord] = [
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, Fixture.found(2, "usb", inode: 20),
      .listingStarted(number: 2, evidence: .scan),
    ]
    for number in 0..<count {
      records.append(
        Fixture.file("\(number).jpg", in: 2, idle.disk.write("/p/usb/\(number).jpg", bytes: Self.large)))
    }
    records.append(.listingEnded(number: 2, complete: true))
    records += Fixture.scan([("b.jpg", idle.disk.write("/p/b.jpg", bytes: Self.large))]).dropFirst(2)
    await idle.take(records)
    let folder = try #require(try idle.catalog.read { try $0.directoryID(path: Fixture.bytes("/p/usb")) })
    try await idle.library.setAway(folder)
    idle.clock.pass(2_000_000_000)
    // The new files are taken up in four turns. The last of them also passes the files that are away.
    var (requests, turns): ([ProofRequest], Int) = ([], 0)
    while requests.isEmpty, turns < 20 {
      requests = await idle.library.nextProofs()
      turns += 1
    }
    #expect(requests.map(\.path) == [Fixture.bytes("/p/b.jpg")] && turns == 4, "after \(turns) turns")
    await idle.library.keep(ProofWorker.make(requests, idle.disk) { true })
    await idle.idle()
    #expect(try idle.marks("/p/b.jpg").sample != nil)
    #expect(try idle.catalog.read { try $0.proofCounts().unsampled } == count, "they are still to be sampled")
  }

  @Test func fileThatCannotBeReadIsNotTriedUntilItChanges() async throws {
    let idle = try await IdleLibrary()
    await idle.scan([("a.jpg", idle.disk.write("/p/a.jpg", bytes: Self.large))])
    idle.disk.failure = "Input/output error"
    await idle.idle()
    #expect(idle.hashing.unsampledCount == 0)
    idle.disk.failure = nil
    try await idle.favor("/p/a.jpg")
    await idle.idle()
    #expect(try idle.marks("/p/a.jpg").hash != nil)
  }

  /// One in a hundred of the files has user data, and three in a thousand are copies.
  @Test func hashingReadsAtMostTwoOfAHundredBytes() async throws {
    let idle = try await IdleLibrary()
    var random = SeededGenerator(simulation: 11)
    // The shares of copies and of favorites decide the result more than the size of the library.
    let count = effort("PHOTOD_HASHED_FILES", 10_000)
    var (total, files): (Int64, [(String, FileStat)]) = (0, [])
    for number in 0..<count {
      let isCopy = number % 1000 < 3
      let bytes = isCopy ? 4_000_000 : Int64(500_000 + random.below(9_000_000))
      total += bytes
      let name = "\(number).jpg"
      files.append((name, idle.disk.write("/p/" + name, bytes: bytes, content: isCopy ? 1 : nil)))
    }
    await idle.scan(files)
    try idle.catalog.write { writer in
      for id in stride(from: AssetID(50), through: AssetID(count), by: 100) {
        try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
      }
    }
    for _ in 0..<count / 100 {
      guard await idle.library.proofs.isDue else { break }
      await idle.idle()
    }
    let (sampled, hashed) = idle.disk.proofBytes
    print(
      "of \(total) bytes \(hashed) were read to hash (\(Double(hashed) / Double(total) * 100) %), "
        + "\(sampled) to sample (\(Double(sampled) / Double(total) * 100) %)")
    #expect(idle.hashing.unhashedCount == 0 && idle.hashing.unsampledCount == 0)
    #expect(hashed * 100 <= 2 * total && hashed > 0)
    #expect(idle.hashing.hashedBytes == hashed)
  }
}

extension Library {
  /// Makes a folder unavailable, as if its drive were away.
  fileprivate func setAway(_ folder: DirectoryID) throws {
    let reconciler = reconciler
    try commit { writer in
      var batch = Batch(writer: writer, time: clock.wallTime, uptime: clock.bootTime)
      try reconciler.setAvailable(folder: folder, false, in: &batch)
      return ((), batch.origin)
    }
  }
}
