import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// File systems that number their files anew at every mount. Paths decide first, then size and modification time.
@Suite struct ChangingInodeTests {
  /// FAT with two drivers: one reports birth times, which a whole burst shares, and one reports none.
  enum Kind: CaseIterable {
    case withBirth, withoutBirth
  }

  private static let oneTime: Int64 = 1_600_000_000_000_000_000
  private static let names = ["a/1.jpg", "a/2.jpg", "b/1.jpg", "b/2.jpg"]
  private static let paths = names.map { "/p/" + $0 }

  private static func directory(
    _ number: DirectoryNumber, _ name: String, inode: UInt64, _ kind: Kind
  ) -> WatchRecord {
    .directoryFound(
      number: number, parent: 1, root: 1, name: Fixture.bytes(name),
      identity: FileIdentity(device: 1, inode: inode, birthTime: kind == .withBirth ? oneTime : 0))
  }

  /// A card with the folders a and b. Each holds a burst of two photos, all with the same size and time.
  ///
  /// - Parameter changeTime: the change time that the driver reports until the card is unmounted.
  private func card(_ kind: Kind, bytes: Int64 = 100, changeTime: Int64 = Self.oneTime) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume(kind == .withBirth ? "uuid:1A2B-3C4D" : "fuse:/dev/sdb1", of: 1)
    for path in Self.paths { fixture.disk.write(path, bytes: bytes, keepsBirth: kind == .withBirth) }
    fixture.disk.setTimes(Self.oneTime, of: Self.paths)
    try setChangeTime(changeTime, on: fixture.disk)
    try scan(fixture, [("a", 20), ("b", 21)], kind)
    fixture.disk.pass(100)
    return fixture
  }

  private func setChangeTime(_ time: Int64, on disk: MemoryDisk) throws {
    for path in Self.paths {
      var stat = try #require(disk.stat(Fixture.bytes(path)))
      stat.changeTime = FileTime(nanoseconds: time)
      disk.setStat(stat, of: path)
    }
  }

  /// photod-watch starts again and finds these folders in this order.
  @discardableResult
  private func scan(
    _ fixture: ReconcilerFixture, _ folders: [(name: String, inode: UInt64)], _ kind: Kind
  ) throws -> CommitRecord {
    fixture.reconciler.beginSession()
    var records = [WatchRecord.scanStarted(root: 1, request: 0, reason: .start), Fixture.top]
    for (index, folder) in folders.enumerated() {
      let number = DirectoryNumber(10 + index)
      records.append(Self.directory(number, folder.name, inode: folder.inode, kind))
    }
    for (index, folder) in folders.enumerated() {
      let number = DirectoryNumber(10 + index)
      records.append(.listingStarted(number: number, evidence: .scan))
      for (name, stat) in fixture.disk.files(in: "/p/" + folder.name) {
        records.append(Fixture.file(name, in: number, stat))
      }
      records.append(.listingEnded(number: number, complete: true))
    }
    records.append(.scanEnded(root: 1, request: 0, complete: true))
    return try fixture.apply(all: records)
  }

  @Test(arguments: Kind.allCases)
  func cardWithNewInodesKeepsItsPhotos(kind: Kind) throws {
    let fixture = try card(kind)
    let (ids, reads) = (try fixture.paths(), fixture.disk.readCount)
    fixture.disk.permute(Self.paths)
    // Each folder also has the inode of the other.
    let record = try scan(fixture, [("a", 21), ("b", 20)], kind)
    #expect(record.isEmpty)
    #expect(try fixture.paths() == ids)
    #expect(fixture.disk.readCount == reads)
    // The folder that was found first also has its own place.
    fixture.disk.permute(Self.paths)
    #expect(try scan(fixture, [("b", 21), ("a", 20)], kind).isEmpty)
    #expect(try fixture.paths() == ids && fixture.disk.readCount == reads)
  }

  /// exFAT does not store the change time. After a mount it is the modification time. Large files have no sample that
  /// would prove their content. Two files have their former inodes by chance.
  @Test(arguments: Kind.allCases, [10, 0])
  func cardWithNewChangeTimesKeepsItsPhotos(kind: Kind, age: Int) throws {
    let fixture = try card(kind, bytes: 5_000_000, changeTime: 1_700_000_000_000_000_000 - Int64(age) * seconds)
    let (ids, reads) = (try fixture.paths(), fixture.disk.readCount)
    let revisions = try ids.values.map { try fixture.revision($0) }
    fixture.disk.permute(Array(Self.paths.prefix(2)))
    try setChangeTime(Self.oneTime, on: fixture.disk)
    #expect(try scan(fixture, [("a", 21), ("b", 20)], kind).isEmpty)
    #expect(try fixture.paths() == ids)
    #expect(try ids.values.map { try fixture.revision($0) } == revisions)
    for path in Self.paths {
      let row = try fixture.catalog.read { try $0.file(ofAsset: #require(ids[path])) }
      let stat = try #require(fixture.disk.stat(Fixture.bytes(path)))
      #expect(try #require(row).hasTimes(of: stat), "its marks can be made")
    }
    // A file that was read within two seconds of its change is read once more.
    #expect(fixture.disk.readCount == (age == 0 ? reads + Self.paths.count : reads))
  }

  /// The marks of files on other file systems are void then (see ``IdentityProof``).
  @Test(arguments: Kind.allCases) func hashesOfACardStayValidAfterAMount(kind: Kind) throws {
    let fixture = try card(kind, bytes: 5_000_000, changeTime: 1_700_000_000_000_000_000 - 10 * seconds)
    let ids = try fixture.paths().values.sorted()
    func hashes() throws -> [ContentDigest?] {
      try fixture.catalog.read { reader in try ids.map { try #require(try reader.file(ofAsset: $0)).marks.hash } }
    }
    try fixture.catalog.write { writer in
      for id in ids {
        var row = try #require(try writer.file(ofAsset: id))
        row.marks.hash = ContentDigest(high: row.inode, low: 3)
        try writer.keepMarks(of: row)
      }
    }
    let before = try hashes()
    #expect(!before.contains(nil) && Set(before).count == Self.paths.count)
    fixture.disk.permute(Self.paths)
    try setChangeTime(Self.oneTime, on: fixture.disk)
    try scan(fixture, [("a", 21), ("b", 20)], kind)
    #expect(try hashes() == before)
  }

  /// The card stays mounted, so the change time shows an edit that keeps size and modification time.
  @Test(arguments: Kind.allCases)
  func quietEditOfAMountedCardIsFound(kind: Kind) throws {
    let fixture = try card(kind, bytes: 5_000_000)
    let id = try #require(try fixture.paths()["/p/a/1.jpg"])
    fixture.disk.edit("/p/a/1.jpg")
    #expect(try scan(fixture, [("a", 20), ("b", 21)], kind).updatedAssets == [id: .content])
  }

  @Test(arguments: Kind.allCases)
  func newFolderWithTheInodeOfAnotherIsNew(kind: Kind) throws {
    let fixture = try card(kind)
    let ids = try fixture.paths()
    fixture.disk.write("/p/0/1.jpg", keepsBirth: kind == .withBirth)
    let record = try scan(fixture, [("0", 20), ("a", 21), ("b", 22)], kind)
    #expect(record.insertedAssets.count == 1 && record.deletedAssets.isEmpty && record.renamedDirectories.isEmpty)
    #expect(try fixture.paths().filter { ids[$0.key] != nil } == ids)
  }

  @Test(arguments: Kind.allCases)
  func newFolderWithTheInodeOfOneThatIsGoneIsNew(kind: Kind) throws {
    let fixture = try card(kind)
    let ids = try fixture.paths()
    for path in Self.paths.prefix(2) { fixture.disk.remove(path) }
    for name in ["1.jpg", "2.jpg"] { fixture.disk.write("/p/0/" + name, keepsBirth: kind == .withBirth) }
    let record = try scan(fixture, [("0", 20), ("b", 21)], kind)
    #expect(Set(record.deletedAssets) == [ids["/p/a/1.jpg"], ids["/p/a/2.jpg"]])
    #expect(record.insertedAssets.count == 2 && record.renamedDirectories.isEmpty)
  }

  @Test(arguments: Kind.allCases)
  func folderThatWasRenamedKeepsItsPhotosWhereItsInodeIsTheSame(kind: Kind) throws {
    let fixture = try card(kind)
    let (ids, reads) = (try fixture.paths(), fixture.disk.readCount)
    fixture.disk.moveFolder("/p/a", "/p/c")
    let record = try scan(fixture, [("b", 21), ("c", 20)], kind)
    #expect(record.renamedDirectories.count == 1 && record.insertedAssets.isEmpty && record.deletedAssets.isEmpty)
    #expect(
      try fixture.paths()
        == Dictionary(uniqueKeysWithValues: ids.map { ($0.key.replacing("/p/a/", with: "/p/c/"), $0.value) }))
    #expect(fixture.disk.readCount == reads)
  }

  /// Only the content decides then, so the files are read. User data stays.
  @Test(arguments: Kind.allCases)
  func filesAndFoldersThatWereRenamedKeepTheirIdentifiersWhereInodesChanged(kind: Kind) throws {
    let fixture = try card(kind)
    let ids = try fixture.paths()
    fixture.disk.permute(Self.paths)
    fixture.disk.moveFolder("/p/a", "/p/c")
    fixture.disk.move("/p/b/1.jpg", "/p/b/3.jpg")
    fixture.disk.setTimes(Self.oneTime, of: ["/p/b/3.jpg"])
    let record = try scan(fixture, [("b", 31), ("c", 32)], kind)
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
    let now = try fixture.paths()
    #expect(now["/p/b/2.jpg"] == ids["/p/b/2.jpg"])
    #expect(Set(now.values) == Set(ids.values))
    #expect(now["/p/c/1.jpg"] == ids["/p/a/1.jpg"] && now["/p/c/2.jpg"] == ids["/p/a/2.jpg"])
    #expect(now["/p/b/3.jpg"] == ids["/p/b/1.jpg"])
  }

  /// The file has the inode, the size and the time of a photo that is still there.
  @Test(arguments: Kind.allCases)
  func newFileWithARecycledInodeIsNoMove(kind: Kind) throws {
    let fixture = try card(kind)
    let ids = try fixture.paths()
    let recycled = try #require(fixture.disk.stat(Fixture.bytes("/p/a/1.jpg"))).identity.inode
    fixture.disk.reuse(inode: recycled)
    fixture.disk.write("/p/a/0.jpg", keepsBirth: kind == .withBirth)
    fixture.disk.setTimes(Self.oneTime, of: ["/p/a/0.jpg"])
    var other = try #require(fixture.disk.stat(Fixture.bytes("/p/a/1.jpg"))).identity
    other.inode = 5000
    fixture.disk.setIdentity(other, of: "/p/a/1.jpg")
    let record = try scan(fixture, [("a", 20), ("b", 21)], kind)
    #expect(record.insertedAssets.count == 1 && record.updatedAssets.isEmpty && record.deletedAssets.isEmpty)
    #expect(try fixture.paths().filter { ids[$0.key] != nil } == ids)
  }

  /// The file's inode belonged to a deleted photo, whose place is empty.
  @Test(arguments: Kind.allCases)
  func newFileWithTheInodeOfADeletedOneIsNotThatPhoto(kind: Kind) throws {
    let fixture = try card(kind)
    let id = try #require(try fixture.paths()["/p/a/1.jpg"])
    let stat = try #require(fixture.disk.stat(Fixture.bytes("/p/a/1.jpg")))
    fixture.disk.remove("/p/a/1.jpg")
    #expect(try scan(fixture, [("a", 20), ("b", 21)], kind).deletedAssets == [id])
    fixture.disk.write("/p/a/9.jpg", keepsBirth: kind == .withBirth)
    fixture.disk.setIdentity(stat.identity, of: "/p/a/9.jpg")
    let record = try scan(fixture, [("a", 20), ("b", 21)], kind)
    #expect(record.insertedAssets.count == 1 && !record.insertedAssets.contains(id))
  }
}
