import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A photo that only scans miss stays until two scans have missed it.
@Suite struct RemovalBrakeTests {
  /// 400 files in the top, and a removal grace of 600 seconds.
  private func manyFiles() throws -> (ReconcilerFixture, files: [(String, FileStat)]) {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<400).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    fixture.disk.pass(3_600)
    return (fixture, files)
  }

  @Test func aSuspicionHasExamplesOfTheMissedPhotos() throws {
    let (fixture, files) = try manyFiles()
    func examples() -> [String] {
      fixture.reconciler.roots.all.flatMap { $0.suspect?.examples ?? [] }.map { String(decoding: $0, as: UTF8.self) }
    }
    try fixture.scan(Array(files[150...]))
    #expect(examples() == ["/p/0.jpg", "/p/1.jpg", "/p/2.jpg"])
    fixture.disk.pass(60)
    try fixture.scan(Array(files[1...149]))
    #expect(examples() == ["/p/0.jpg", "/p/150.jpg", "/p/151.jpg"])
  }

  @Test func theExamplesAreOfDifferentMissedFolders() throws {
    let (fixture, files) = try manyFiles()
    try fixture.apply(Fixture.found(2, "x", inode: 20), Fixture.found(3, "y", inode: 30))
    try fixture.apply(Fixture.found(4, "z", in: 3, inode: 40))
    for number in 0..<3 {
      try fixture.apply(Fixture.file("\(number).jpg", in: 2, fixture.disk.write("/p/x/\(number).jpg")))
      try fixture.apply(Fixture.file("\(number).jpg", in: 4, fixture.disk.write("/p/y/z/\(number).jpg")))
    }
    fixture.disk.pass(3_600)
    fixture.reconciler.tree.unbindAll()
    try fixture.scan(Array(files[150...]))
    let suspect = try #require(fixture.reconciler.roots.all.compactMap(\.suspect).first)
    #expect(suspect.missing == 156)
    #expect(suspect.examples == ["/p/0.jpg", "/p/x/0.jpg", "/p/y/z/0.jpg"].map(Fixture.bytes))
  }

  @Test func photosMissedByTheSecondScanOnlyStay() throws {
    let (fixture, files) = try manyFiles()
    #expect(try fixture.scan(Array(files[150...])).isEmpty)
    fixture.disk.pass(601)
    // Nearly all files are gone now. 230 of them were not reported before.
    #expect(try fixture.scan(Array(files[380...])).isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [380])
    fixture.disk.pass(500)
    #expect(try fixture.scan(Array(files[380...])).isEmpty)
    fixture.disk.pass(101)
    #expect(try fixture.scan(Array(files[380...])).deletedAssets.count == 380)
  }

  @Test func theSecondScanRemovesAFewMoreMissingPhotos() throws {
    let (fixture, files) = try manyFiles()
    #expect(try fixture.scan(Array(files[150...])).isEmpty)
    fixture.disk.pass(601)
    #expect(try fixture.scan(Array(files[155...])).deletedAssets.count == 155)
  }

  /// A folder in which a drive was mounted is missed, and comes back. Until then the photos on the drive were not missed. So
  /// those that a scan misses now were missed once.
  @Test func photosOnADriveInAMissedFolderWereNotMissed() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let folder = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/old/\($0).jpg")) }
    let drive = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/old/drive/\($0).jpg", device: 2)) }
    func listing(_ number: DirectoryNumber, _ files: [(String, FileStat)]) -> [WatchRecord] {
      [.listingStarted(number: number, evidence: .scan)] + files.map { Fixture.file($0.0, in: number, $0.1) }
        + [.listingEnded(number: number, complete: true)]
    }
    /// - Parameter files: those on the drive; nil if the folder is not there.
    func scan(onDrive files: [(String, FileStat)]?) throws -> CommitRecord {
      var records = [.scanStarted(root: 1, request: 0, reason: .overflow), Fixture.top] + listing(1, [])
      if let files {
        records += [Fixture.found(2, "old", inode: 50)] + listing(2, folder)
        records.append(
          .directoryFound(
            number: 3, parent: 2, root: 1, name: Fixture.bytes("drive"),
            identity: FileIdentity(device: 2, inode: 70, birthTime: 70)))
        records += listing(3, files)
      }
      return try fixture.apply(all: records + [.scanEnded(root: 1, request: 0, complete: true)])
    }
    _ = try scan(onDrive: drive)
    fixture.disk.pass(3_600)
    try fixture.restart()
    #expect(try scan(onDrive: nil).isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [150])
    fixture.disk.pass(601)
    #expect(try scan(onDrive: []).deletedAssets.isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [150])
  }

  /// For example, a slow program fills a drive again. The photos that are still missing may also come back.
  @Test func returningPhotosDelayTheRemovalOfTheRest() throws {
    let (fixture, files) = try manyFiles()
    #expect(try fixture.scan(Array(files[200...])).isEmpty)
    fixture.disk.pass(601)
    #expect(try fixture.scan(Array(files[150...])).isEmpty)
    fixture.disk.pass(500)
    #expect(try fixture.scan(Array(files[150...])).isEmpty)
    fixture.disk.pass(101)
    #expect(try fixture.scan(Array(files[150...])).deletedAssets.count == 150)
  }

  /// For an unchanged photo, nothing is written. Only this flag shows that a scan would miss less.
  @Test func aMissedPhotoThatIsSeenAgainAsksForAScan() throws {
    let (fixture, files) = try manyFiles()
    func mayBeComplete() -> Bool { fixture.reconciler.roots.contains(where: \.mayBeComplete) }
    try fixture.scan(Array(files[150...]))
    try fixture.apply(Fixture.file(files[200].0, files[200].1))
    #expect(!mayBeComplete())
    try fixture.apply(Fixture.file(files[0].0, files[0].1))
    #expect(mayBeComplete())
    fixture.reconciler.roots.updateAll { $0.mayBeComplete = false }
    // A scan of the root decides without a further scan.
    try fixture.scan(Array(files[140...]))
    #expect(!mayBeComplete())
    // Only the other photos are suspect now.
    try fixture.apply(Fixture.file(files[145].0, files[145].1))
    #expect(!mayBeComplete())
  }

  @Test func otherMissingFilesAreANewSuspicion() throws {
    let (fixture, files) = try manyFiles()
    #expect(try fixture.scan(Array(files[150...])).isEmpty)
    fixture.disk.pass(601)
    #expect(try fixture.scan(Array(files[..<250])).isEmpty)
    fixture.disk.pass(300)
    #expect(try fixture.scan(files).isEmpty)
    #expect(!fixture.reconciler.roots.hasSuspects)
    #expect(try fixture.paths().count == 400)
  }

  @Test func suspicionEndsWhenAnotherDriveIsMountedAtItsRoot() throws {
    let (fixture, files) = try manyFiles()
    try fixture.scan(Array(files[150...]))
    #expect(fixture.reconciler.roots.hasSuspects)
    try fixture.apply(
      .directoryFound(
        number: 2, parent: 0, root: 1, name: Fixture.bytes("/p"),
        identity: FileIdentity(device: 9, inode: 1, birthTime: 9)))
    #expect(!fixture.reconciler.roots.hasSuspects)
    // The photos that were missed before the drive left were missed by only one scan.
    fixture.disk.pass(601)
    #expect(try fixture.scan(Array(files[150...])).deletedAssets.isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [150])
  }

  @Test func rescanOfAFolderDoesNotDelayTheRemovalsOfTheRoot() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let stats = (0..<200).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(stats)
    try fixture.apply(
      Fixture.found(2, "x", inode: 20), Fixture.file("a.jpg", in: 2, fixture.disk.write("/p/x/a.jpg")))
    fixture.disk.pass(3_600)
    func whole() -> [WatchRecord] {
      [
        .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
        .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true),
      ]
    }
    func run(_ records: [WatchRecord]) throws -> CommitRecord {
      try fixture.catalog.write {
        try fixture.reconciler.apply(
          records, contents: [:], with: $0, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime
        ).record
      }
    }
    #expect(try run(whole()).isEmpty)
    fixture.disk.pass(599)
    fixture.reconciler.requests.add(7, partOf: fixture.reconciler.tree.directory(number: 2), isConfirmed: false)
    #expect(
      try run([
        .scanStarted(root: 1, request: 7, reason: .rescan), .listingStarted(number: 2, evidence: .scan),
        .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 7, complete: true),
      ]).isEmpty)
    fixture.disk.pass(2)
    #expect(try run(whole()).deletedAssets.count == 200)
  }

  /// The end of the scan of a root that a person confirmed.
  enum Interruption: CaseIterable { case offline, incomplete }

  @Test(arguments: Interruption.allCases)
  func aConfirmationIsForItsOwnScan(interruption: Interruption) throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    try fixture.scan((0..<200).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) })
    fixture.disk.pass(3_600)
    let rootID = try #require(fixture.reconciler.roots.id(ofNumber: 1))
    let top = try #require(fixture.reconciler.tree.top(ofRoot: rootID))
    fixture.reconciler.roots[rootID]?.isAdopted = true
    fixture.reconciler.roots.adopt(folder: top)
    try fixture.apply(.scanStarted(root: 1, request: 0, reason: .start), Fixture.top)
    switch interruption {
    case .offline: try fixture.apply(.rootOffline(root: 1, errorNumber: 5))
    case .incomplete: try fixture.apply(.scanEnded(root: 1, request: 0, complete: false))
    }
    #expect(fixture.reconciler.roots[rootID]?.isAdopted == false && fixture.reconciler.roots.adoptedFolders.isEmpty)
    // A week later, the place is an empty mount point.
    fixture.disk.pass(7 * 86_400)
    #expect(try fixture.scan([]).deletedAssets.isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [200])
  }

  @Test func aConfirmedRescanOfAFolderAppliesToTheDirectoryFoundThere() throws {
    let fixture = try ReconcilerFixture()
    let a = fixture.disk.write("/p/x/a.jpg")
    func scan(finds isFound: Bool) throws {
      let x: [WatchRecord] = [
        Fixture.found(2, "x", inode: 20), .listingStarted(number: 2, evidence: .scan), Fixture.file("a.jpg", in: 2, a),
        .listingEnded(number: 2, complete: true),
      ]
      try fixture.apply(
        all: [.scanStarted(root: 1, request: 0, reason: .start), Fixture.top] + (isFound ? x : [])
          + [.scanEnded(root: 1, request: 0, complete: true)])
    }
    try scan(finds: true)
    let folder = try #require(fixture.reconciler.tree.directory(path: Fixture.bytes("/p/x")))
    for isFound in [true, false] {
      fixture.reconciler.roots.adopt(folder: folder)
      _ = fixture.reconciler.beginSession()
      try scan(finds: isFound)
      #expect(fixture.reconciler.roots.adoptedFolders.isEmpty)
    }
  }

  @Test func removedPhotosReturnWithTheirUserData() throws {
    let (fixture, files) = try manyFiles()
    let before = try fixture.paths()
    for id in before.values where id.rawValue % 10 == 0 { try fixture.give(id) }
    try fixture.scan([])
    fixture.disk.pass(601)
    #expect(try fixture.scan([]).deletedAssets.count == 400)
    fixture.disk.pass(86_400)
    #expect(try fixture.scan(files).insertedAssets.count == 400)
    #expect(try fixture.paths() == before)
    let favorites = try fixture.catalog.read { try $0.ids($0.plan(FetchOptions(collection: "smart:favorites"))) }
    #expect(Set(favorites) == Set(before.values.filter { $0.rawValue % 10 == 0 }))
  }

  /// photod-watch may still report the end of a scan after its root has been removed from the configuration.
  @Test func scanOfARootThatIsConfiguredNoLongerRemovesNothing() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    try fixture.apply(.scanStarted(root: 1, request: 0, reason: .overflow))
    let root = try #require(fixture.reconciler.roots.id(ofNumber: 1))
    fixture.reconciler.tree.unbindAll()
    fixture.reconciler.roots.setUnconfigured(root, at: PhotoDate(microseconds: 0))
    #expect(try fixture.apply(.scanEnded(root: 1, request: 0, complete: true)).isEmpty)
    #expect(try fixture.paths().count == 1)
  }

  @Test func scanThatWaitsForAnotherRootIsDecidedWhenThatGoesOffline() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    try fixture.addSecondRoot()
    func batch(_ records: WatchRecord...) throws -> Batch {
      try fixture.catalog.write {
        try fixture.reconciler.apply(
          records, contents: [:], with: $0, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      }
    }
    let waiting = try batch(
      .scanStarted(root: 1, request: 1, reason: .rescan), .scanStarted(root: 2, request: 2, reason: .rescan),
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 1, complete: true))
    #expect(waiting.endedScans.isEmpty && waiting.record.isEmpty)
    let decided = try batch(.rootOffline(root: 2, errorNumber: 2))
    #expect(decided.endedScans.map(\.request) == [1] && decided.record.deletedAssets.count == 1)
  }

  @Test func scanOfARootThatGoesOfflineBeforeItIsDecidedHasAnEnd() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    try fixture.addSecondRoot()
    let batch = try fixture.catalog.write {
      try fixture.reconciler.apply(
        [
          .scanStarted(root: 1, request: 1, reason: .rescan), .scanStarted(root: 2, request: 2, reason: .rescan),
          .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
          .scanEnded(root: 1, request: 1, complete: true), .rootOffline(root: 1, errorNumber: 2),
          .scanEnded(root: 2, request: 2, complete: true),
        ], contents: [:], with: $0, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
    }
    #expect(batch.endedScans.map(\.request) == [1, 2] && batch.record.deletedAssets.isEmpty)
    #expect(try fixture.paths().count == 1)
  }
}
