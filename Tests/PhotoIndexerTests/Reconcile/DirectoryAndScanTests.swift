import PhotoCatalog
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A directory moves as one row. Photos that only a scan misses are held back.
@Suite struct DirectoryAndScanTests {
  /// /p/x/a.jpg and /p/y/b.jpg
  private func twoFolders(grace: Duration = .zero) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture(grace: grace)
    try fixture.apply(
      Fixture.top, Fixture.found(2, "x", inode: 20), Fixture.found(3, "y", inode: 30),
      Fixture.file("a.jpg", in: 2, fixture.disk.write("/p/x/a.jpg")),
      Fixture.file("b.jpg", in: 3, fixture.disk.write("/p/y/b.jpg")))
    fixture.disk.pass(10)
    return fixture
  }

  @Test func renamedDirectoryIsOneEntryAndReadsNothing() throws {
    let fixture = try twoFolders()
    let before = try fixture.paths()
    let reads = fixture.disk.readCount
    fixture.disk.moveFolder("/p/x", "/p/z")
    let record = try fixture.apply(.directoryMoved(number: 2, parent: 1, name: Fixture.bytes("z")))
    #expect(try fixture.paths() == ["/p/z/a.jpg": before["/p/x/a.jpg"]!, "/p/y/b.jpg": before["/p/y/b.jpg"]!])
    #expect(record.renamedDirectories.map(\.toPath) == [Fixture.bytes("/p/z")])
    #expect(record.updatedAssets.isEmpty && record.deletedAssets.isEmpty && fixture.disk.readCount == reads)
  }

  @Test func exchangedDirectoriesKeepTheirPhotos() throws {
    let fixture = try twoFolders()
    let before = try fixture.paths()
    fixture.disk.moveFolder("/p/x", "/p/t")
    fixture.disk.moveFolder("/p/y", "/p/x")
    fixture.disk.moveFolder("/p/t", "/p/y")
    try fixture.apply(
      .directoryMoved(number: 2, parent: 1, name: Fixture.bytes("y")),
      .directoryMoved(number: 3, parent: 1, name: Fixture.bytes("x")))
    #expect(try fixture.paths() == ["/p/y/a.jpg": before["/p/x/a.jpg"]!, "/p/x/b.jpg": before["/p/y/b.jpg"]!])
  }

  @Test func directoryRenamedWhileDownKeepsItsPhotos() throws {
    let fixture = try twoFolders(grace: .seconds(600))
    let before = try fixture.paths()
    fixture.disk.moveFolder("/p/x", "/p/z")
    try fixture.restart()
    let a = try #require(fixture.disk.stat(Fixture.bytes("/p/z/a.jpg")))
    let b = try #require(fixture.disk.stat(Fixture.bytes("/p/y/b.jpg")))
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top,
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      Fixture.found(5, "y", inode: 30), .listingStarted(number: 5, evidence: .scan), Fixture.file("b.jpg", in: 5, b),
      .listingEnded(number: 5, complete: true),
      Fixture.found(6, "z", inode: 20), .listingStarted(number: 6, evidence: .scan), Fixture.file("a.jpg", in: 6, a),
      .listingEnded(number: 6, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    #expect(try fixture.paths() == ["/p/z/a.jpg": before["/p/x/a.jpg"]!, "/p/y/b.jpg": before["/p/y/b.jpg"]!])
    #expect(record.renamedDirectories.count == 1 && record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
  }

  @Test func removedDirectoryTakesItsPhotosWithIt() throws {
    let fixture = try twoFolders()
    let id = try fixture.paths()["/p/x/a.jpg"]!
    let record = try fixture.apply(.directoryGone(number: 2, evidence: .event))
    #expect(record.deletedAssets == [id] && record.deletedCollections.count == 1)
    #expect(try fixture.paths().keys.sorted() == ["/p/y/b.jpg"])
  }

  @Test func offlineRootKeepsItsPhotosAndComesBackWithoutAChange() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    fixture.disk.pass(10)
    let off = try fixture.apply(.rootOffline(root: 1, errorNumber: 2))
    #expect(off.rootAvailability.map(\.isAvailable) == [false] && off.deletedAssets.isEmpty)
    #expect(try fixture.asset("/p/3.jpg").available == false)
    let reads = fixture.disk.readCount
    let on = try fixture.scan(files)
    #expect(on.rootAvailability.map(\.isAvailable) == [true])
    #expect(on.insertedAssets.isEmpty && on.deletedAssets.isEmpty && on.updatedAssets.isEmpty)
    #expect(fixture.disk.readCount == reads)
  }

  @Test func scanThatMissesMostRemovesNothingUntilASecondAgrees() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    #expect(try fixture.scan([]).deletedAssets.isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [150])
    fixture.disk.pass(300)
    #expect(try fixture.scan([]).deletedAssets.isEmpty)
    fixture.disk.pass(301)
    #expect(try fixture.scan([]).deletedAssets.count == 150)
    #expect(!fixture.reconciler.roots.hasSuspects)
  }

  @Test func scanThatFindsThemAgainEndsTheSuspicion() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    try fixture.scan([])
    fixture.disk.pass(700)
    #expect(try fixture.scan(files).isEmpty)
    #expect(!fixture.reconciler.roots.hasSuspects)
    #expect(try fixture.paths().count == 150)
  }

  @Test func scanThatMissesAFewRemovesThem() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    #expect(try fixture.scan(Array(files.dropFirst(20))).deletedAssets.count == 20)
  }

  @Test func incompleteScanRemovesNothing() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .overflow), .listingStarted(number: 1, evidence: .scan),
      .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: false))
    #expect(record.isEmpty)
    #expect(try fixture.paths().count == 1)
  }

  @Test func recordsOfUnknownDirectoriesAreIgnored() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    let record = try fixture.apply(
      Fixture.file("a.jpg", in: 99, stat), Fixture.gone("a.jpg", in: 99),
      Fixture.moved("a.jpg", in: 99, to: "b.jpg", in: 98, stat), .directoryMoved(number: 99, parent: 98, name: [65]),
      .directoryGone(number: 99, evidence: .event), .listingStarted(number: 99, evidence: .scan),
      .listingEnded(number: 99, complete: true), .scanEnded(root: 9, request: 1, complete: true),
      .rootOffline(root: 9, errorNumber: 5))
    #expect(record.isEmpty)
  }

  // MARK: Several scans, drives and roots

  /// The top of root 1 with another inode, as an empty mount point has it.
  private static let bareMountPoint = WatchRecord.directoryFound(
    number: 50, parent: 0, root: 1, name: Fixture.bytes("/p"),
    identity: FileIdentity(device: 77, inode: 4711, birthTime: 99))

  @Test func unmountedMountPointRemovesNoPhotos() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat)])
    // The volume's identity comes from the path, which does not exist here. The device replaces it.
    let record = try fixture.apply(
      .rootOffline(root: 1, errorNumber: 2), Self.bareMountPoint,
      .scanStarted(root: 1, request: 0, reason: .rootReturned), Self.bareMountPoint,
      .listingStarted(number: 50, evidence: .scan), .listingEnded(number: 50, complete: true),
      .scanEnded(root: 1, request: 0, complete: true))
    #expect(record.deletedAssets.isEmpty && record.rootAvailability.map(\.isAvailable) == [false])
    #expect(try fixture.paths().count == 1 && fixture.asset("/p/a.jpg").available == false)
    let back = try fixture.scan([("a.jpg", stat)])
    #expect(back.rootAvailability.map(\.isAvailable) == [true] && back.insertedAssets.isEmpty)
  }

  @Test func unreadableFolderKeepsItsPhotosAndStopsNoOther() throws {
    let fixture = try twoFolders()
    let b = try fixture.paths()["/p/y/b.jpg"]!
    try fixture.restart()
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top,
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      .unreadable(directory: 1, name: Fixture.bytes("x"), errorNumber: 13),
      .scanEnded(root: 1, request: 0, complete: true))
    #expect(record.deletedAssets == [b])
    #expect(try fixture.paths().keys.sorted() == ["/p/x/a.jpg"])
  }

  @Test func rescanOfAFolderDecidesThatFolderOnly() throws {
    let fixture = try twoFolders()
    let a = try fixture.paths()["/p/x/a.jpg"]!
    let x = try #require(fixture.reconciler.tree.directory(number: 2))
    // Folder y was not found in this session.
    fixture.reconciler.tree.unbind(subtree: try #require(fixture.reconciler.tree.directory(number: 3)))
    fixture.reconciler.requests.add(7, partOf: x, isConfirmed: false)
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 7, reason: .rescan), .listingStarted(number: 2, evidence: .scan),
      .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 7, complete: true))
    #expect(record.deletedAssets == [a])
    #expect(try fixture.paths().keys.sorted() == ["/p/y/b.jpg"])
  }

  @Test func directoryMissedByAListingAloneWaitsForAScan() throws {
    let fixture = try twoFolders()
    let batch = try fixture.catalog.write {
      try fixture.reconciler.apply(
        [.directoryGone(number: 2, evidence: .scan)], contents: [:], with: $0, time: fixture.disk.wallTime)
    }
    #expect(fixture.reconciler.roots.all.map(\.needsScan) == [true] && batch.record.isEmpty)
    #expect(try fixture.paths().count == 2)
  }

  @Test func photoMovedToAnotherRootBetweenScansKeepsItsIdentifier() throws {
    let fixture = try ReconcilerFixture()
    try fixture.scan([("a.jpg", fixture.disk.write("/p/a.jpg"))])
    let id = try fixture.paths()["/p/a.jpg"]!
    let second = try fixture.catalog.write { try $0.insertRoot(path: Fixture.bytes("/q")) }
    fixture.reconciler.tree.addRoot(second, path: Fixture.bytes("/q"))
    fixture.reconciler.roots.add(second, number: 2)
    let stat = fixture.disk.move("/p/a.jpg", "/q/a.jpg")
    let record = try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), .scanStarted(root: 2, request: 0, reason: .start),
      .listingStarted(number: 1, evidence: .scan), .listingEnded(number: 1, complete: true),
      .scanEnded(root: 1, request: 0, complete: true),
      .directoryFound(
        number: 60, parent: 0, root: 2, name: Fixture.bytes("/q"),
        identity: FileIdentity(device: 1, inode: 600, birthTime: 1)),
      .listingStarted(number: 60, evidence: .scan), Fixture.file("a.jpg", in: 60, stat),
      .listingEnded(number: 60, complete: true), .scanEnded(root: 2, request: 0, complete: true))
    #expect(try fixture.paths() == ["/q/a.jpg": id])
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
  }

  @Test func eventsOfExchangedDirectoriesHaveTheirRealPaths() throws {
    let fixture = try twoFolders()
    let record = try fixture.apply(
      .directoryMoved(number: 2, parent: 1, name: Fixture.bytes("y")),
      .directoryMoved(number: 3, parent: 1, name: Fixture.bytes("x")))
    #expect(
      record.renamedDirectories.map { "\(FilePath.text($0.fromPath)) \(FilePath.text($0.toPath))" }.sorted()
        == ["/p/x /p/y", "/p/y /p/x"])
  }

  /// A folder on the disk may have any name, also that of a path which photod once gave to a folder without a place.
  @Test func folderMayHaveTheNameOfAParkedDirectory() throws {
    let fixture = try twoFolders()
    let name = "\u{1}parked-4-z"
    try fixture.apply(Fixture.found(4, name, inode: 40))
    // Another folder has its place, and then it is in a new one.
    try fixture.apply(Fixture.found(5, name, inode: 50))
    let record = try fixture.apply(.directoryMoved(number: 4, parent: 1, name: Fixture.bytes("z")))
    #expect(record.renamedDirectories.map(\.toPath) == [Fixture.bytes("/p/z")])
    let rows = try fixture.catalog.read { try $0.directories() }
    #expect(rows.suffix(2).map(\.name) == [Fixture.bytes("z"), Fixture.bytes(name)])
    #expect(rows.allSatisfy { !$0.isParked })
  }

  @Test func parentFolderAsNewRootKeepsThePhotos() throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg")
    try fixture.scan([("a.jpg", stat)])
    let id = try fixture.paths()["/p/a.jpg"]!
    let old = fixture.reconciler.roots.id(ofNumber: 1)!
    fixture.reconciler.tree.unbindAll()
    fixture.reconciler.roots.setUnconfigured(old, at: PhotoDate(microseconds: 0))
    let wide = try fixture.catalog.write { try $0.insertRoot(path: Fixture.bytes("/")) }
    fixture.reconciler.tree.addRoot(wide, path: Fixture.bytes("/"))
    fixture.reconciler.roots.add(wide, number: 2)
    let record = try fixture.apply(
      .scanStarted(root: 2, request: 0, reason: .start),
      .directoryFound(
        number: 70, parent: 0, root: 2, name: Fixture.bytes("/"),
        identity: FileIdentity(device: 1, inode: 700, birthTime: 1)),
      .listingStarted(number: 70, evidence: .scan), .listingEnded(number: 70, complete: true),
      .directoryFound(
        number: 71, parent: 70, root: 2, name: Fixture.bytes("p"),
        identity: FileIdentity(device: 1, inode: 1, birthTime: 1)),
      .listingStarted(number: 71, evidence: .scan), Fixture.file("a.jpg", in: 71, stat),
      .listingEnded(number: 71, complete: true), .scanEnded(root: 2, request: 0, complete: true))
    #expect(try fixture.paths() == ["/p/a.jpg": id])
    #expect(record.insertedAssets.isEmpty && record.deletedAssets.isEmpty)
    #expect(!fixture.reconciler.roots.contains(where: \.isUnconfigured))
  }

  /// The photos' folder keeps its path but is in another root now. That changes whether the photos are available.
  @Test(arguments: [false, true]) func photosThatBecomeAvailableInANewRootAreUpdated(isNarrowed: Bool) throws {
    let fixture = try ReconcilerFixture()
    let (first, second) = (fixture.disk.write("/p/x/a.jpg"), fixture.disk.write("/p/x/b.jpg"))
    try fixture.apply(
      Fixture.top, Fixture.found(2, "x", inode: 20), Fixture.file("a.jpg", in: 2, first),
      Fixture.file("b.jpg", in: 2, second))
    let ids = Set(try fixture.paths().values)
    let old = try #require(fixture.reconciler.roots.id(ofNumber: 1))
    fixture.reconciler.tree.unbindAll()
    fixture.reconciler.roots.setUnconfigured(old, at: PhotoDate(microseconds: 0))
    let path = isNarrowed ? "/p/x" : "/"
    let new = try fixture.catalog.write { writer in
      try writer.setRootAvailable(old, false)
      return try writer.insertRoot(path: Fixture.bytes(path))
    }
    fixture.reconciler.tree.addRoot(new, path: Fixture.bytes(path))
    fixture.reconciler.roots.add(new, number: 2)
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions(excludeUnavailable: true)) }
    let (sequence, before) = try fixture.catalog.read { (try $0.sequence(), try $0.list(plan)) }
    #expect(before.count == 0)

    func found(_ number: DirectoryNumber, in parent: DirectoryNumber, _ name: String, inode: UInt64) -> WatchRecord {
      .directoryFound(
        number: number, parent: parent, root: 2, name: Fixture.bytes(name),
        identity: FileIdentity(device: 1, inode: inode, birthTime: Int64(inode)))
    }
    if isNarrowed {
      try fixture.apply(found(70, in: 0, "/p/x", inode: 20))
    } else {
      try fixture.apply(found(70, in: 0, "/", inode: 700), found(71, in: 70, "p", inode: 1))
    }
    let (after, updated, touched) = try fixture.catalog.read { reader in
      (
        try reader.ids(plan), try reader.list(plan, updating: before, of: sequence).ids,
        try reader.touched(after: sequence, through: try reader.sequence())
      )
    }
    #expect(Set(after) == ids && updated == after)
    for id in ids { #expect(touched.fields[id]?.contains(.availability) == true) }
  }

  @Test func photosThatAreCopiedBackKeepTheirIdentifiers() throws {
    let fixture = try ReconcilerFixture(grace: .seconds(600))
    let files = (0..<150).map { ("\($0).jpg", fixture.disk.write("/p/x/\($0).jpg")) }
    try fixture.catalog.write { writer in
      _ = try fixture.reconciler.apply(
        [Fixture.top, Fixture.found(2, "x", inode: 20)] + files.map { Fixture.file($0.0, in: 2, $0.1) },
        contents: [:], with: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
    }
    let before = try fixture.paths()
    for (name, _) in files { fixture.disk.remove("/p/x/\(name)") }
    try fixture.restart()
    #expect(try fixture.scan([]).isEmpty)
    #expect(fixture.reconciler.roots.hasSuspects)

    // A copy creates the folder anew and fills it while it is listed. Its files have other inodes.
    var copies: [(String, FileStat)] = []
    for (name, _) in files { copies.append((name, fixture.disk.write("/p/x/\(name)"))) }
    try fixture.apply(
      Fixture.found(9, "x", inode: 99), .listingStarted(number: 9, evidence: .event),
      Fixture.file(copies[0].0, in: 9, copies[0].1), .listingEnded(number: 9, complete: true))
    #expect(try fixture.paths() == before)
    // A scan during the copy misses fewer photos than the brake's hundred. Even so, it removes nothing.
    for copy in copies.dropFirst().prefix(80) { try fixture.apply(Fixture.file(copy.0, in: 9, copy.1)) }
    func scanFolder(_ found: [(String, FileStat)]) throws -> CommitRecord {
      try fixture.catalog.write { writer in
        let records: [WatchRecord] =
          [
            .scanStarted(root: 1, request: 5, reason: .rescan), .listingStarted(number: 1, evidence: .scan),
            .listingEnded(number: 1, complete: true), .listingStarted(number: 9, evidence: .scan),
          ] + found.map { Fixture.file($0.0, in: 9, $0.1) }
          + [.listingEnded(number: 9, complete: true), .scanEnded(root: 1, request: 5, complete: true)]
        return try fixture.reconciler.apply(
          records, contents: [:], with: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime
        ).record
      }
    }
    #expect(try scanFolder(Array(copies.prefix(81))).deletedAssets.isEmpty)
    #expect(fixture.reconciler.roots.all.compactMap(\.suspect?.missing) == [69])
    #expect(try scanFolder(copies).deletedAssets.isEmpty)
    #expect(try fixture.paths() == before && !fixture.reconciler.roots.hasSuspects)
  }
}
