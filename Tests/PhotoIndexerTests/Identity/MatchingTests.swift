import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Several files and several remembered photos are matched together, in whatever order a scan lists them.
@Suite struct MatchingTests {
  private static let folders: [DirectoryNumber: (name: String, inode: UInt64)] = [2: ("x", 20), 3: ("y", 30)]

  /// A scan of the whole root, whose records may come in several batches.
  ///
  /// - Parameter order: the folders and files in the order in which the scan lists them.
  private func scan(
    _ fixture: ReconcilerFixture, reason: ScanReason = .start, order: [(folder: String, files: [String])],
    batchSize: Int = 1000
  ) throws -> [CommitRecord] {
    var records: [WatchRecord] = [.scanStarted(root: 1, request: 0, reason: reason), Fixture.top]
    for (number, folder) in Self.folders.sorted(by: { $0.key < $1.key }) {
      records.append(Fixture.found(number, folder.name, inode: folder.inode))
    }
    for (folder, files) in order {
      let number = Self.folders.first { $0.value.name == folder }?.key ?? 1
      records.append(.listingStarted(number: number, evidence: .scan))
      for file in files {
        let path = folder.isEmpty ? "/p/" + file : "/p/\(folder)/" + file
        records.append(Fixture.file(file, in: number, try #require(fixture.disk.stat(Fixture.bytes(path)))))
      }
      records.append(.listingEnded(number: number, complete: true))
    }
    records.append(.scanEnded(root: 1, request: 0, complete: true))
    return try stride(from: 0, to: records.count, by: batchSize).map {
      try fixture.apply(all: Array(records[$0..<min($0 + batchSize, records.count)]))
    }
  }

  /// The changes of an asset that clients received, over all commits.
  private func recordedChanges(_ commits: [CommitRecord], of id: AssetID) -> (fields: ChangedFields, isGone: Bool) {
    let fields = commits.reduce(ChangedFields()) { $0.union($1.updatedAssets[id] ?? []) }
    return (fields, commits.contains { $0.deletedAssets.contains(id) })
  }

  /// `mv a.jpg b.jpg; cp other.jpg a.jpg` while photod is down.
  @Test(arguments: [["a.jpg", "b.jpg"], ["b.jpg", "a.jpg"]], [1, 1000])
  func newFileInThePlaceOfARenamedOneIsANewPhoto(order: [String], batchSize: Int) throws {
    let fixture = try ReconcilerFixture()
    _ = try scan(fixture, order: [("", [])])
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let album = try fixture.give(id)
    fixture.disk.pass(1_000)
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    fixture.disk.write("/p/a.jpg", camera: "X200")
    try fixture.restart()
    let commits = try scan(fixture, order: [("", order)], batchSize: batchSize)
    let paths = try fixture.paths()
    #expect(paths["/p/b.jpg"] == id && paths["/p/a.jpg"] != nil && paths["/p/a.jpg"] != id)
    #expect(try fixture.asset("/p/a.jpg").camera?.model == "X200" && !fixture.asset("/p/a.jpg").isFavorite)
    #expect(try fixture.members(of: album) == [id])
    #expect(recordedChanges(commits, of: id).fields == .path && !recordedChanges(commits, of: id).isGone)
  }

  @Test(arguments: [["x", "y"], ["y", "x"]], [1, 3, 1000])
  func photoThatWasMovedToAnotherFolderKeepsItsIdentifier(order: [String], batchSize: Int) throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"]), ("y", [])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(1_000)
    fixture.disk.move("/p/x/a.jpg", "/p/y/c.jpg")
    fixture.disk.write("/p/x/a.jpg")
    try fixture.restart()
    let files = ["x": ["a.jpg"], "y": ["c.jpg"]]
    let commits = try scan(fixture, order: [("", [])] + order.map { ($0, files[$0]!) }, batchSize: batchSize)
    #expect(try fixture.paths()["/p/y/c.jpg"] == id && fixture.paths().count == 2)
    #expect(recordedChanges(commits, of: id).fields == .path && !recordedChanges(commits, of: id).isGone)
  }

  /// Three photos take each other's places in two folders, and none of them leaves for a moment.
  @Test(arguments: [["x", "y"], ["y", "x"]], [1, 4, 1000])
  func photosThatExchangedTheirPlacesKeepTheirIdentifiers(order: [String], batchSize: Int) throws {
    let fixture = try ReconcilerFixture()
    let places = ["/p/x/a.jpg", "/p/x/b.jpg", "/p/y/a.jpg"]
    for place in places { fixture.disk.write(place) }
    let files = ["x": ["a.jpg", "b.jpg"], "y": ["a.jpg"]]
    let listed = [("", [])] + order.map { ($0, files[$0]!) }
    _ = try scan(fixture, order: listed)
    let before = try fixture.paths()
    for id in before.values { try fixture.give(id) }
    fixture.disk.pass(1_000)
    for place in places { fixture.disk.move(place, place + ".old") }
    for (index, place) in places.enumerated() { fixture.disk.move(place + ".old", places[(index + 1) % 3]) }
    try fixture.restart()
    let commits = try scan(fixture, order: listed, batchSize: batchSize)
    for (index, place) in places.enumerated() {
      let id = try #require(before[place])
      #expect(try fixture.paths()[places[(index + 1) % 3]] == id)
      #expect(recordedChanges(commits, of: id).fields == .path && !recordedChanges(commits, of: id).isGone)
      #expect(try fixture.asset(places[(index + 1) % 3]).isFavorite)
    }
  }

  @Test func savedPhotoKeepsItsIdentifierIfItsOldFileIsMissing() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    fixture.disk.pass(1_000)
    fixture.disk.write("/p/x/.new", camera: "X200")
    fixture.disk.move("/p/x/.new", "/p/x/a.jpg")
    try fixture.restart()
    let commits = try scan(fixture, order: [("", []), ("x", ["a.jpg"])])
    #expect(try fixture.paths() == ["/p/x/a.jpg": id] && fixture.asset("/p/x/a.jpg").camera?.model == "X200")
    #expect(recordedChanges(commits, of: id).fields.contains(.content) && !recordedChanges(commits, of: id).isGone)
  }

  /// If no event was lost, an event decides at once. A rename of the photo would have been reported before it.
  @Test(arguments: [ScanReason.rescan, .overflow]) func saveDuringAScanIsDecidedAtOnce(reason: ScanReason) throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    fixture.disk.pass(1_000)
    if reason == .overflow { try fixture.apply(.overflow) }
    try fixture.apply(.scanStarted(root: 1, request: 0, reason: reason))
    fixture.disk.write("/p/x/.new", camera: "X200")
    let saved = fixture.disk.move("/p/x/.new", "/p/x/a.jpg")
    let record = try fixture.apply(Fixture.file("a.jpg", in: 2, saved))
    #expect((record.updatedAssets[id] != nil) == (reason == .rescan))
    try fixture.apply(
      .listingStarted(number: 2, evidence: .scan), Fixture.file("a.jpg", in: 2, saved),
      .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    #expect(try fixture.paths() == ["/p/x/a.jpg": id] && fixture.asset("/p/x/a.jpg").camera?.model == "X200")
  }

  /// The queue overflows. Before the scan begins, photod receives only the record of the new file.
  @Test func eventsAfterAnOverflowDecideNothing() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    fixture.disk.pass(1_000)
    fixture.disk.move("/p/x/a.jpg", "/p/x/b.jpg")
    let new = fixture.disk.write("/p/x/a.jpg")
    try fixture.apply(.overflow, Fixture.file("a.jpg", in: 2, new))
    #expect(try fixture.paths() == ["/p/x/a.jpg": id])
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .overflow), .listingStarted(number: 2, evidence: .scan),
      Fixture.file("a.jpg", in: 2, new),
      Fixture.file("b.jpg", in: 2, try #require(fixture.disk.stat(Fixture.bytes("/p/x/b.jpg")))),
      .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    #expect(try fixture.paths()["/p/x/b.jpg"] == id && fixture.paths().count == 2)
  }

  @Test func heldFileThatLeavesBeforeTheScanEndsLeavesThePhotoToTheScan() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"]), ("y", [])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    fixture.disk.pass(1_000)
    fixture.disk.move("/p/x/a.jpg", "/p/y/c.jpg")
    let new = fixture.disk.write("/p/x/a.jpg")
    try fixture.restart()
    try fixture.apply(
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, Fixture.found(2, "x", inode: 20),
      Fixture.found(3, "y", inode: 30), .listingStarted(number: 2, evidence: .scan),
      Fixture.file("a.jpg", in: 2, new), .listingEnded(number: 2, complete: true))
    fixture.disk.remove("/p/x/a.jpg")
    #expect(try fixture.apply(Fixture.gone("a.jpg", in: 2)).isEmpty)
    let record = try fixture.apply(
      .listingStarted(number: 3, evidence: .scan),
      Fixture.file("c.jpg", in: 3, try #require(fixture.disk.stat(Fixture.bytes("/p/y/c.jpg")))),
      .listingEnded(number: 3, complete: true), .scanEnded(root: 1, request: 0, complete: true))
    #expect(try fixture.paths() == ["/p/y/c.jpg": id] && record.updatedAssets == [id: .path])
  }

  // MARK: Equal copies

  /// The catalog is lost, and the folder comes back with other inodes. The favorite was the second of two equal copies.
  @Test(arguments: [["x", "y"], ["y", "x"]], [1, 1000])
  func favoriteOfALostCatalogIsTheCopyInItsPlace(order: [String], batchSize: Int) throws {
    for isMoved in [false, true] {
      let fixture = try ReconcilerFixture()
      let former = Tombstone(
        assetID: 4711, deletedDate: nil, path: Fixture.bytes(isMoved ? "/old/y/a.jpg" : "/p/y/a.jpg"), byteCount: 100,
        modificationTime: 5,
        marks: ContentMarks(fingerprint: 77, hash: ContentDigest(high: 77, low: 2)), addedDate: .init(microseconds: 5),
        data: AssetUserData(isFavorite: true))
      try fixture.catalog.write { try $0.insertTombstone(former) }
      try fixture.restart()
      for path in ["/p/x/a.jpg", "/p/y/a.jpg"] { fixture.disk.write(path, content: 77) }
      fixture.disk.setTimes(5, of: ["/p/x/a.jpg", "/p/y/a.jpg"])
      _ = try scan(fixture, order: [("", [])] + order.map { ($0, ["a.jpg"]) }, batchSize: batchSize)
      let paths = try fixture.paths()
      #expect(paths["/p/y/a.jpg"] == 4711 && paths["/p/x/a.jpg"] != 4711 && paths.count == 2)
    }
  }

  /// The catalog is lost. A favorite was at /p/x/fav.jpg, and has 77 as its content.
  private func lostFavorite(bytes: Int64) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    let former = Tombstone(
      assetID: 4711, deletedDate: nil, path: Fixture.bytes("/p/x/fav.jpg"), byteCount: bytes, modificationTime: 5,
      marks: ContentMarks(
        fingerprint: 77, sample: ContentDigest(high: 77, low: 1), hash: ContentDigest(high: 77, low: 2)),
      addedDate: .init(microseconds: 5), data: AssetUserData(isFavorite: true))
    try fixture.catalog.write { try $0.insertTombstone(former) }
    try fixture.restart()
    return fixture
  }

  private static let (small, large): (Int64, Int64) = (100, 5_000_000)

  /// `mv fav.jpg keep.jpg; cp other.jpg fav.jpg` while there is no catalog. A large file has no hash when it is found.
  @Test(arguments: [["fav.jpg", "keep.jpg"], ["keep.jpg", "fav.jpg"]], [1, 1000])
  func anotherFileInThePlaceOfALostFavoriteIsANewPhoto(order: [String], batchSize: Int) throws {
    for (bytes, otherBytes) in [(Self.small, Self.small), (Self.small, 200), (Self.large, Self.large)] {
      let fixture = try lostFavorite(bytes: bytes)
      fixture.disk.write("/p/x/fav.jpg", bytes: otherBytes)
      let stat = fixture.disk.write("/p/x/keep.jpg", bytes: bytes, content: 77)
      _ = try scan(fixture, order: [("", []), ("x", order)], batchSize: batchSize)
      #expect(try fixture.paths()["/p/x/fav.jpg"] != 4711)
      #expect(try (fixture.paths()["/p/x/keep.jpg"] == 4711) == (bytes == Self.small))
      guard bytes == Self.large else { continue }
      // The hash that is made later proves that it is the favorite.
      let id = try #require(try fixture.paths()["/p/x/keep.jpg"])
      try fixture.catalog.write { writer in
        let row = try #require(try writer.file(ofAsset: id))
        let path = Fixture.bytes("/p/x/keep.jpg")
        let marks = fixture.disk.marks(path, expecting: stat, isWhole: true) { true }
        var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
        try fixture.reconciler.keep(
          MadeProof(request: ProofRequest(row: row, path: path, isWhole: true), marks: marks), in: &batch)
        try writer.append(origin: "rescan", date: fixture.disk.wallTime)
      }
      #expect(try fixture.paths()["/p/x/keep.jpg"] == 4711 && fixture.asset("/p/x/keep.jpg").isFavorite)
    }
  }

  /// A program saved the favorite while there was no catalog. Its own content is nowhere.
  @Test(arguments: [small, large]) func savedFavoriteOfALostCatalogIsFoundByItsPath(bytes: Int64) throws {
    let fixture = try lostFavorite(bytes: bytes)
    fixture.disk.write("/p/x/fav.jpg", bytes: bytes)
    fixture.disk.write("/p/x/keep.jpg", bytes: bytes)
    _ = try scan(fixture, order: [("", []), ("x", ["fav.jpg", "keep.jpg"])])
    #expect(try fixture.paths()["/p/x/fav.jpg"] == 4711)
  }

  @Test func newFileWithAnotherContentIsNoLostFavorite() throws {
    let fixture = try lostFavorite(bytes: Self.small)
    _ = try scan(fixture, order: [("", []), ("x", [])])
    try fixture.apply(Fixture.file("fav.jpg", in: 2, fixture.disk.write("/p/x/fav.jpg")))
    #expect(try fixture.paths()["/p/x/fav.jpg"] != 4711)
    try fixture.apply(Fixture.file("b.jpg", in: 2, fixture.disk.write("/p/x/b.jpg", content: 77)))
    #expect(try fixture.paths()["/p/x/b.jpg"] == 4711)
  }

  /// Files beyond the limit are decided at once, by the same rules but without those that are found later.
  @Test(arguments: [["a.jpg", "fav.jpg", "keep.jpg"], ["a.jpg", "keep.jpg", "fav.jpg"]])
  func fileBeyondTheLimitIsDecidedAtOnce(order: [String]) throws {
    let fixture = try lostFavorite(bytes: Self.small)
    fixture.disk.write("/p/x/a.jpg")
    _ = try scan(fixture, order: [("", []), ("x", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/x/a.jpg"])
    fixture.disk.pass(1_000)
    fixture.disk.move("/p/x/a.jpg", "/p/x/z.jpg")
    fixture.disk.write("/p/x/a.jpg")
    fixture.disk.write("/p/x/fav.jpg", bytes: 200)
    fixture.disk.write("/p/x/keep.jpg", content: 77)
    try fixture.restart()
    fixture.reconciler.held = HeldFiles(limit: 0)
    _ = try scan(fixture, order: [("", []), ("x", order + ["z.jpg"])])
    let paths = try fixture.paths()
    #expect(paths["/p/x/a.jpg"] == id && paths["/p/x/keep.jpg"] == 4711 && paths.count == 4)
  }

  /// Never more than the limit, and a file that is held stays so when it is reported again.
  @Test func heldFilesAreAtMostTheLimit() {
    func place(_ name: String) -> Place { Place(directoryID: 2, name: Fixture.bytes(name)) }
    let stat = MemoryDisk().write("/p/a.jpg")
    let group = Self.group(1)
    var held = HeldFiles(limit: 2)
    for name in ["a.jpg", "b.jpg", "a.jpg"] {
      #expect(held.hasRoom(for: place(name)))
      held.hold(place(name), in: group, stat, nil)
    }
    #expect(!held.hasRoom(for: place("c.jpg")) && held.hasRoom(for: place("b.jpg")))
    held.remove(place("a.jpg"))
    #expect(held.hasRoom(for: place("c.jpg")))
    let taken = held.take(where: { _ in true }, present: { _ in group })
    #expect(taken.map(\.place) == [place("b.jpg")] && held.isEmpty)
  }

  private static func group(_ root: Int64) -> HeldFiles.Group {
    HeldFiles.Group(rootID: RootID(rawValue: root), volumeID: VolumeID(rawValue: 1))
  }

  /// A folder with held files is moved to another root.
  @Test func heldFilesAreTakenByThePresentGroupOfTheirFolder() {
    let (former, present) = (Self.group(1), Self.group(2))
    let stat = MemoryDisk().write("/p/a.jpg")
    let places = ["a.jpg", "b.jpg"].map { Place(directoryID: 2, name: Fixture.bytes($0)) }
    var held = HeldFiles()
    held.hold(places[0], in: former, stat, nil)
    #expect(held.take(where: { $0 == former }, present: { _ in present }).isEmpty)
    #expect(held.contains(places[0]) && Array(held.directories) == [2])
    held.hold(places[1], in: former, stat, nil)
    #expect(held.take(where: { $0 == present }, present: { _ in present }).isEmpty)
    #expect(held.take(where: { $0 == former }, present: { _ in present }).isEmpty)
    #expect(held.take(where: { $0 == present }, present: { _ in present }).map(\.place) == places && held.isEmpty)
  }

  @Test(arguments: [["x", "y"], ["y", "x"]]) func copyInTheSameFolderComesBeforeOneElsewhere(order: [String]) throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/y/a.jpg", content: 77)
    _ = try scan(fixture, order: [("", []), ("x", []), ("y", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/y/a.jpg"])
    fixture.disk.pass(7_200)
    fixture.disk.remove("/p/y/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg", in: 3))
    for path in ["/p/x/a.jpg", "/p/y/a.jpg"] { fixture.disk.write(path, content: 77) }
    fixture.disk.move("/p/y/a.jpg", "/p/y/b.jpg")
    try fixture.restart()
    let files = ["x": ["a.jpg"], "y": ["b.jpg"]]
    _ = try scan(fixture, order: [("", [])] + order.map { ($0, files[$0]!) })
    #expect(try fixture.paths()["/p/y/b.jpg"] == id)
  }

  /// While photod runs, the files of a backup arrive one after the other.
  @Test func copyIsNotAPhotoWhosePlaceIsOccupied() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.write("/p/y/a.jpg", content: 77)
    _ = try scan(fixture, order: [("", []), ("x", []), ("y", ["a.jpg"])])
    let id = try #require(try fixture.paths()["/p/y/a.jpg"])
    fixture.disk.pass(7_200)
    fixture.disk.copy("/p/y/a.jpg", "/backup/a.jpg")
    fixture.disk.remove("/p/y/a.jpg")
    try fixture.apply(Fixture.gone("a.jpg", in: 3))
    let copies = ["/p/x/a.jpg", "/p/y/a.jpg"].map { fixture.disk.copy("/backup/a.jpg", $0) }
    try fixture.apply(Fixture.file("a.jpg", in: 2, copies[0]))
    try fixture.apply(Fixture.file("a.jpg", in: 3, copies[1]))
    #expect(try fixture.paths()["/p/y/a.jpg"] == id && fixture.paths().count == 2)
  }

  /// While photod is down, another file was renamed over a photo, a deleted photo is moved back into that place, and it
  /// is copied. Its own file is the photo, and its copy is a new one.
  @Test(arguments: ["1.jpg", "z.jpg"], [1, 1000]) func deletedPhotoIsItsOwnFileAndNotItsCopy(
    copy: String, batchSize: Int
  )
    throws
  {
    let fixture = try ReconcilerFixture()
    for name in ["a.jpg", "b.jpg", "t.jpg"] { fixture.disk.write("/p/" + name) }
    _ = try scan(fixture, order: [("", ["a.jpg", "b.jpg", "t.jpg"])])
    let before = try fixture.paths()
    let id = try #require(before["/p/t.jpg"])
    try fixture.give(id)
    fixture.disk.pass(7_200)
    fixture.disk.move("/p/t.jpg", "/outside/t.jpg")
    try fixture.apply(Fixture.gone("t.jpg"))
    fixture.disk.pass(7_200)
    fixture.disk.move("/p/a.jpg", "/p/b.jpg")
    fixture.disk.copy("/outside/t.jpg", "/p/" + copy)
    fixture.disk.move("/outside/t.jpg", "/p/a.jpg")
    try fixture.restart()
    _ = try scan(fixture, order: [("", ["a.jpg", "b.jpg", copy].sorted())], batchSize: batchSize)
    let paths = try fixture.paths()
    #expect(paths["/p/a.jpg"] == id && paths["/p/b.jpg"] == before["/p/a.jpg"] && paths.count == 3)
    #expect(try fixture.asset("/p/a.jpg").isFavorite && !fixture.asset("/p/" + copy).isFavorite)
  }
}
