import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Folders of a file system without birth times, such as NFS. It gives the inode of a deleted folder to a new one.
@Suite struct FolderIdentityTests {
  private func found(
    _ number: DirectoryNumber, _ path: String, in parent: DirectoryNumber, root: UInt16 = 1, inode: UInt64
  ) -> WatchRecord {
    .directoryFound(
      number: number, parent: parent, root: root, name: Fixture.bytes(path),
      identity: FileIdentity(device: 1, inode: inode, birthTime: 0))
  }

  /// A scan of a root with these folders and the files that the disk has in them.
  @discardableResult
  private func scan(
    _ fixture: Fixture, root: UInt16 = 1, path: String = "/p", inode: UInt64 = 1, _ folders: [(String, UInt64)] = []
  ) throws -> CommitRecord {
    let first = DirectoryNumber(root) * 100
    var records: [WatchRecord] = [
      .scanStarted(root: root, request: 0, reason: .start), found(first, path, in: 0, root: root, inode: inode),
    ]
    for (index, folder) in folders.enumerated() {
      records.append(found(first + 1 + DirectoryNumber(index), folder.0, in: first, root: root, inode: folder.1))
    }
    for (index, place) in ([path] + folders.map { path + "/" + $0.0 }).enumerated() {
      let number = first + DirectoryNumber(index)
      records.append(.listingStarted(number: number, evidence: .scan))
      records += fixture.disk.files(in: place).map { Fixture.file($0.name, in: number, $0.stat) }
      records.append(.listingEnded(number: number, complete: true))
    }
    return try fixture.apply(all: records + [.scanEnded(root: root, request: 0, complete: true)])
  }

  /// /p/2019/IMG_0001.jpg, a favorite, on NFS. Then photod ends.
  private func library() throws -> (fixture: Fixture, id: AssetID) {
    let fixture = try Fixture()
    fixture.disk.setVolume("nfs:server:/photos", of: 1)
    fixture.disk.write("/p/2019/IMG_0001.jpg", keepsBirth: false)
    try scan(fixture, [("2019", 20)])
    let id = try #require(try fixture.paths()["/p/2019/IMG_0001.jpg"])
    try fixture.give(id)
    try fixture.restart()
    fixture.disk.pass(3_600)
    return (fixture, id)
  }

  @Test func newFolderWithTheInodeOfADeletedOneIsNew() throws {
    let (fixture, id) = try library()
    fixture.disk.remove("/p/2019/IMG_0001.jpg")
    fixture.disk.write("/p/2020/IMG_0001.jpg", bytes: 200, keepsBirth: false)
    let record = try scan(fixture, [("2020", 20)])
    #expect(record.insertedAssets.count == 1 && record.deletedAssets == [id])
    let new = try fixture.asset("/p/2020/IMG_0001.jpg")
    #expect(new.id != id && !new.isFavorite)
  }

  @Test func folderThatWasRenamedIsKnownByItsFiles() throws {
    let (fixture, id) = try library()
    let folders = try fixture.catalog.read { try $0.directories().map(\.id) }
    fixture.disk.moveFolder("/p/2019", "/p/2020")
    let record = try scan(fixture, [("2020", 20)])
    #expect(record.insertedAssets.isEmpty && record.deletedAssets.isEmpty)
    #expect(try fixture.paths() == ["/p/2020/IMG_0001.jpg": id])
    #expect(try fixture.catalog.read { try $0.directories().map(\.id) } == folders)
  }

  @Test func foldersThatExchangedTheirNamesAreKnownByTheirFiles() throws {
    let (fixture, id) = try library()
    fixture.disk.write("/p/2020/x.jpg", bytes: 300, keepsBirth: false)
    try scan(fixture, [("2019", 20), ("2020", 21)])
    let other = try #require(try fixture.paths()["/p/2020/x.jpg"])
    func folders() throws -> [[UInt8]: DirectoryID] {
      try fixture.catalog.read {
        Dictionary(uniqueKeysWithValues: try $0.directories().map { ($0.name, $0.id) })
      }
    }
    let before = try folders()
    try fixture.restart()
    fixture.disk.moveFolder("/p/2019", "/p/old")
    fixture.disk.moveFolder("/p/2020", "/p/2019")
    fixture.disk.moveFolder("/p/old", "/p/2020")
    try scan(fixture, [("2019", 21), ("2020", 20)])
    #expect(try fixture.paths() == ["/p/2020/IMG_0001.jpg": id, "/p/2019/x.jpg": other])
    let after = try folders()
    #expect(after[Fixture.bytes("2019")] == before[Fixture.bytes("2020")])
    #expect(after[Fixture.bytes("2020")] == before[Fixture.bytes("2019")])
  }

  /// /p is no longer configured, and was deleted. /q is a new root.
  @Test func newRootWithTheInodeOfADeletedRootIsNew() throws {
    let (fixture, id) = try library()
    let rootID = try #require(fixture.reconciler.roots.all.first?.id)
    try fixture.catalog.write { writer in
      var batch = Batch(writer: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
      try fixture.reconciler.setUnconfigured(rootID, in: &batch)
    }
    fixture.disk.remove("/p/2019/IMG_0001.jpg")
    let new = try fixture.catalog.write { try $0.insertRoot(path: Fixture.bytes("/q")) }
    fixture.reconciler.tree.addRoot(new, path: Fixture.bytes("/q"))
    fixture.reconciler.roots.add(new, number: 2)
    fixture.disk.write("/q/2019/IMG_0001.jpg", bytes: 200, keepsBirth: false)
    try scan(fixture, root: 2, path: "/q", [("2019", 20)])
    let paths = try fixture.paths()
    #expect(paths["/p/2019/IMG_0001.jpg"] == id)
    #expect(try !fixture.asset("/q/2019/IMG_0001.jpg").isFavorite)
  }
}
