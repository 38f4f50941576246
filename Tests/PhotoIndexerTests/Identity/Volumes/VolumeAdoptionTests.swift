import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A file system whose identity differs from the one that photod knows.
@Suite struct VolumeAdoptionTests {
  private static let lasting = "uuid:0f1e2d3c-4b5a-6978-8796-a5b4c3d2e100"

  /// A root with the identity `name`, and two nested folders. One of them is a drive of its own.
  private func library(knownBy name: String) throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume(name, of: 1)
    for path in ["/p/a.jpg", "/p/x/b.jpg", "/p/x/y/c.jpg"] { fixture.disk.write(path) }
    fixture.disk.write("/p/usb/d.jpg", device: 2)
    try scan(fixture)
    fixture.disk.pass(100)
    return fixture
  }

  private static func found(
    _ number: DirectoryNumber, _ name: String, in parent: DirectoryNumber, inode: UInt64, device: UInt64
  ) -> WatchRecord {
    .directoryFound(
      number: number, parent: parent, root: 1, name: Fixture.bytes(name),
      identity: FileIdentity(device: device, inode: inode, birthTime: Int64(inode)))
  }

  @discardableResult
  private func scan(_ fixture: ReconcilerFixture, topInode: UInt64 = 1) throws -> CommitRecord {
    var records: [WatchRecord] = [.scanStarted(root: 1, request: 0, reason: .start)]
    records.append(
      .directoryFound(
        number: 1, parent: 0, root: 1, name: Fixture.bytes("/p"),
        identity: FileIdentity(device: 1, inode: topInode, birthTime: Int64(topInode))))
    records += [
      Self.found(2, "x", in: 1, inode: 20, device: 1), Self.found(3, "y", in: 2, inode: 21, device: 1),
      Self.found(4, "usb", in: 1, inode: 1, device: 2),
    ]
    for (number, folder) in [(1, "/p"), (2, "/p/x"), (3, "/p/x/y"), (4, "/p/usb")] as [(DirectoryNumber, String)] {
      records.append(.listingStarted(number: number, evidence: .scan))
      for (name, stat) in fixture.disk.files(in: folder) { records.append(Fixture.file(name, in: number, stat)) }
      records.append(.listingEnded(number: number, complete: true))
    }
    return try fixture.apply(all: records + [.scanEnded(root: 1, request: 0, complete: true)])
  }

  /// The identity of each folder's file system, by path.
  private func volumes(_ fixture: ReconcilerFixture) throws -> [String: String] {
    let (directories, names) = try fixture.catalog.read { (try $0.directories(), try $0.volumes()) }
    let tree = fixture.reconciler.tree
    return Dictionary(
      uniqueKeysWithValues: directories.map {
        (String(decoding: tree.path(of: $0.id), as: UTF8.self), names[$0.volumeID] ?? "none")
      })
  }

  @Test(arguments: ["fsid:1f", "device:40@boot"])
  func unchangedRootAndItsFoldersGetTheNewIdentity(old: String) throws {
    let fixture = try library(knownBy: old)
    let (ids, reads) = (try fixture.paths(), fixture.disk.readCount)
    #expect(
      try volumes(fixture) == ["/p": old, "/p/x": old, "/p/x/y": old, "/p/usb": "volume 2"])
    try fixture.restart()
    fixture.disk.setVolume(Self.lasting, of: 1)
    let record = try scan(fixture)
    #expect(record.isEmpty)
    #expect(try fixture.paths() == ids && ids.count == 4)
    #expect(fixture.disk.readCount == reads)
    #expect(fixture.reconciler.roots.all.allSatisfy { $0.isAvailable })
    let expected = ["/p": Self.lasting, "/p/x": Self.lasting, "/p/x/y": Self.lasting, "/p/usb": "volume 2"]
    #expect(try volumes(fixture) == expected)
    // The inodes are recorded under the new identity, so that a rename while photod is down is recognised.
    try fixture.restart()
    fixture.disk.move("/p/x/b.jpg", "/p/b.jpg")
    let moved = try scan(fixture)
    #expect(moved.insertedAssets.isEmpty && moved.deletedAssets.isEmpty)
    #expect(try fixture.paths()["/p/b.jpg"] == ids["/p/x/b.jpg"])
    #expect(try volumes(fixture) == expected)
  }

  @Test func rootWithAnotherInodeIsAnotherDrive() throws {
    let fixture = try library(knownBy: "fsid:1f")
    let ids = try fixture.paths()
    try fixture.restart()
    fixture.disk.setVolume(Self.lasting, of: 1)
    let record = try scan(fixture, topInode: 2)
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
    #expect(record.rootAvailability.map(\.isAvailable) == [false])
    #expect(try fixture.paths() == ids)
    #expect(try volumes(fixture)["/p/x"] == "fsid:1f")
  }

  @Test func rootWithAPersistentIdentityAcceptsNoOther() throws {
    let fixture = try library(knownBy: Self.lasting)
    try fixture.restart()
    fixture.disk.setVolume("uuid:1f1e2d3c-4b5a-6978-8796-a5b4c3d2e100", of: 1)
    #expect(try scan(fixture).rootAvailability.map(\.isAvailable) == [false])
    #expect(try volumes(fixture)["/p"] == Self.lasting)
  }

  /// A scan of the root on this device, which holds the files that the disk has there.
  @discardableResult
  private func scanTop(_ fixture: ReconcilerFixture, device: UInt64) throws -> CommitRecord {
    let identity = FileIdentity(device: device, inode: device, birthTime: Int64(device))
    let files = fixture.disk.files(in: "/p").filter { $0.stat.identity.device == device }
    return try fixture.apply(
      all: [
        .scanStarted(root: 1, request: 0, reason: .rootReturned),
        .directoryFound(number: 1, parent: 0, root: 1, name: Fixture.bytes("/p"), identity: identity),
        .listingStarted(number: 1, evidence: .scan),
      ] + files.map { Fixture.file($0.name, $0.stat) } + [
        .listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: 0, complete: true),
      ])
  }

  @Test func driveIsAcceptedOnAMountPointWithoutPhotos() throws {
    let fixture = try ReconcilerFixture()
    try scanTop(fixture, device: 1)
    fixture.disk.write("/p/a.jpg", device: 2)
    try fixture.apply(.rootOffline(root: 1, errorNumber: 19))
    let record = try scanTop(fixture, device: 2)
    #expect(record.insertedAssets.count == 1)
    #expect(fixture.reconciler.roots.all.allSatisfy { $0.isAvailable })
    #expect(try volumes(fixture) == ["/p": "volume 2"])

    // The bare mount point counts as another drive from now on, because photos could be lost.
    try fixture.apply(.rootOffline(root: 1, errorNumber: 19))
    let bare = try scanTop(fixture, device: 1)
    #expect(bare.deletedAssets.isEmpty)
    #expect(!fixture.reconciler.roots.contains(where: \.isAvailable))
    #expect(try fixture.paths().count == 1)
  }

  @Test func driveWithoutPhotosInAFolderIsReplacedByAnother() throws {
    let fixture = try ReconcilerFixture()
    func scan(_ device: UInt64) throws -> CommitRecord {
      let files = fixture.disk.files(in: "/p/usb").filter { $0.stat.identity.device == device }
      return try fixture.apply(
        all: [
          .scanStarted(root: 1, request: 0, reason: .start), Fixture.top,
          .directoryFound(
            number: 2, parent: 1, root: 1, name: Fixture.bytes("usb"),
            identity: FileIdentity(device: device, inode: device, birthTime: Int64(device))),
          .listingStarted(number: 2, evidence: .scan),
        ] + files.map { Fixture.file($0.name, in: 2, $0.stat) } + [
          .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 0, complete: true),
        ])
    }
    _ = try scan(2)
    try fixture.restart()
    fixture.disk.write("/p/usb/a.jpg", device: 3)
    #expect(try scan(3).insertedAssets.count == 1)
    #expect(try volumes(fixture)["/p/usb"] == "volume 3")
  }

  /// The drive below the root has a new identity, and the root keeps its own.
  @Test func onlyTheDriveWithinARootGetsTheNewIdentity() throws {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume(Self.lasting, of: 1)
    fixture.disk.setVolume("fsid:2f", of: 2)
    fixture.disk.write("/p/a.jpg")
    fixture.disk.write("/p/usb/d.jpg", device: 2)
    try scan(fixture)
    let (ids, reads) = (try fixture.paths(), fixture.disk.readCount)
    fixture.disk.pass(100)
    try fixture.restart()
    fixture.disk.setVolume("uuid:ab", of: 2)
    #expect(try scan(fixture).isEmpty)
    #expect(try fixture.paths() == ids && fixture.disk.readCount == reads)
    #expect(try volumes(fixture)["/p/usb"] == "uuid:ab")
    #expect(try volumes(fixture)["/p"] == Self.lasting)
  }
}
