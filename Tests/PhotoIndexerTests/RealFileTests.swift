import Foundation
import PhotoModel
import TestTools
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Real files on two file systems, /dev/shm and that of the temporary folder. stat(2) reports no birth time. So content
/// decides, as on file systems without birth times.
@Suite struct RealFileTests {
  /// The folders of a test, which are removed at its end.
  private final class Folders {
    let memory = "/dev/shm/photod-real-" + UUID().uuidString
    let disk = NSTemporaryDirectory() + "photod-real-" + UUID().uuidString

    init() throws {
      for folder in [memory, disk] {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      }
    }

    deinit {
      for folder in [memory, disk] {
        do { try FileManager.default.removeItem(atPath: folder) } catch { Issue.record(error) }
      }
    }
  }

  private let folders: Folders
  private let fixture: ReconcilerFixture
  private let photo: Data

  init() throws {
    folders = try Folders()
    fixture = try ReconcilerFixture(files: DiskFiles())
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    photo = try Data(
      contentsOf: package.appendingPathComponent("Tests/Fixtures/made/gen/2011/01/DSC_0000110.JPG"))
    for (number, folder) in [(UInt16(8), folders.memory), (9, folders.disk)] {
      let path = Fixture.bytes(folder)
      let id = try fixture.catalog.write { try $0.insertRoot(path: path) }
      fixture.reconciler.tree.addRoot(id, path: path)
      fixture.reconciler.roots.add(id, number: number)
      var status = stat()
      #expect(stat(folder, &status) == 0)
      try apply(
        .directoryFound(
          number: DirectoryNumber(number), parent: 0, root: number, name: path,
          identity: FileIdentity(
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino), birthTime: 0)))
    }
  }

  /// Uses the clock by which the kernel dates files.
  @discardableResult
  private func apply(_ records: WatchRecord..., later: Duration = .zero) throws -> CommitRecord {
    let clock = SystemClock()
    let time = clock.wallTime + later
    return try fixture.catalog.write { writer in
      let batch = try fixture.reconciler.apply(
        records, contents: [:], with: writer, time: time, uptime: clock.bootTime)
      try writer.append(origin: batch.origin, date: time)
      return batch.record
    }
  }

  private func found(_ path: String, in directory: DirectoryNumber) throws -> WatchRecord {
    let stat = try #require(DiskFiles().stat(Fixture.bytes(path)))
    return .fileFound(directory: directory, name: Fixture.bytes((path as NSString).lastPathComponent), stat: stat)
  }

  private func write(_ path: String, _ marker: UInt8) throws {
    // The marker is behind the end of the picture, within the bytes that the fingerprint covers.
    try (photo + Data([marker])).write(to: URL(fileURLWithPath: path))
  }

  private func move(_ from: String, _ to: String) throws {
    let mv = TestProcess()
    mv.executableURL = URL(fileURLWithPath: "/bin/mv")
    mv.arguments = [from, to]
    try mv.run()
    mv.waitUntilExit()
    #expect(mv.terminationStatus == 0)
  }

  @Test(arguments: [false, true]) func fileMovedToAnotherFileSystemKeepsItsIdentifier(isToldLate: Bool) throws {
    let (from, to) = (folders.memory + "/a.jpg", folders.disk + "/b.jpg")
    try write(from, 1)
    try apply(try found(from, in: 8))
    let id = try #require(try fixture.paths()[from])
    let album = try fixture.give(id)
    let before = try #require(DiskFiles().stat(Fixture.bytes(from)))
    try move(from, to)
    let after = try #require(DiskFiles().stat(Fixture.bytes(to)))
    #expect(before.identity.device != after.identity.device, "/dev/shm and the temporary folder are one file system")
    let gone = WatchRecord.fileGone(directory: 8, name: Fixture.bytes("a.jpg"))
    if isToldLate {
      try apply(gone)
      try apply(try found(to, in: 9))
    } else {
      try apply(try found(to, in: 9))
      try apply(gone)
    }
    #expect(try fixture.paths() == [to: id])
    #expect(try fixture.members(of: album) == [id])
    #expect(try fixture.asset(to).isFavorite)
  }

  /// Whether the file system of the temporary folder gives the inode of a removed file to a later one, as ext4 does.
  private static let inodesAreReused: Bool = {
    let folder = NSTemporaryDirectory() + "photod-inodes-" + UUID().uuidString
    guard mkdir(folder, 0o700) == 0 else { return false }
    defer { rmdir(folder) }
    var used: Set<ino_t> = []
    for number in 0..<200 {
      let path = "\(folder)/\(number)"
      var status = stat()
      guard FileManager.default.createFile(atPath: path, contents: nil), stat(path, &status) == 0 else { return false }
      unlink(path)
      guard used.insert(status.st_ino).inserted else { return true }
    }
    return false
  }()

  /// Another process may take the freed inode, so the test frees several.
  @Test(.enabled(if: inodesAreReused, "the temporary folder's file system does not reuse inodes"))
  func fileWithTheInodeOfADeletedOneIsANewPhoto() throws {
    for attempt in 0..<20 {
      if try takeInodeOfADeletedFile(attempt) { return }
    }
    Issue.record("no later file had the inode of a deleted one")
  }

  /// - Returns: whether one of 200 new files had the inode of the deleted file.
  private func takeInodeOfADeletedFile(_ attempt: Int) throws -> Bool {
    let folder = folders.disk
    let old = folder + "/a\(attempt).jpg"
    try write(old, UInt8(1 + attempt))
    try apply(try found(old, in: 9))
    let id = try #require(try fixture.paths()[old])
    let inode = try #require(DiskFiles().stat(Fixture.bytes(old))).identity.inode
    try FileManager.default.removeItem(atPath: old)
    try apply(.fileGone(directory: 9, name: Fixture.bytes("a\(attempt).jpg")))
    for number in 0..<200 {
      let path = folder + "/\(attempt)-\(number).jpg"
      // The file is written in place, because a temporary file would take the inode.
      #expect(
        FileManager.default.createFile(atPath: path, contents: photo + Data([2, UInt8(attempt), UInt8(number)])))
      guard try #require(DiskFiles().stat(Fixture.bytes(path))).identity.inode == inode else { continue }
      let record = try apply(try found(path, in: 9))
      #expect(record.insertedAssets.count == 1 && !record.insertedAssets.contains(id))
      return true
    }
    return false
  }

  @Test func copyThatIsRestoredIsTheDeletedPhoto() throws {
    let (path, copy) = (folders.disk + "/a.jpg", folders.memory + "/hidden")
    try write(path, 3)
    try apply(try found(path, in: 9))
    let id = try #require(try fixture.paths()[path])
    try fixture.give(id)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try FileManager.default.removeItem(atPath: path)
    try apply(.fileGone(directory: 9, name: Fixture.bytes("a.jpg")))
    try write(path, 4)
    #expect(try apply(try found(path, in: 9), later: .seconds(60)).insertedAssets.contains(id) == false)
    try FileManager.default.removeItem(atPath: path)
    try apply(.fileGone(directory: 9, name: Fixture.bytes("a.jpg")), later: .seconds(70))
    try FileManager.default.copyItem(atPath: copy, toPath: path)
    try apply(try found(path, in: 9), later: .seconds(20 * 86_400))
    #expect(try fixture.paths() == [path: id])
    #expect(try fixture.asset(path).isFavorite)
  }

  // MARK: Pages of a scanner

  /// An uncompressed grey TIFF of 600 x 900 pixels with a white top margin, as scanners produce them. All pages have
  /// the same size and the same first 60,000 bytes.
  private func page(_ number: UInt8) -> Data {
    let (width, height) = (600, 900)
    var bytes: [UInt8] = [0x49, 0x49, 42, 0]
    func add(_ value: Int, _ count: Int) { for index in 0..<count { bytes.append(UInt8(value >> (8 * index) & 255)) } }
    add(8 + width * height, 4)
    bytes += [UInt8](repeating: 255, count: 60_000)
    for index in 60_000..<width * height { bytes.append(UInt8(truncatingIfNeeded: index / 7 &* Int(number))) }
    let entries = [
      (256, 4, width), (257, 4, height), (258, 3, 8), (259, 3, 1), (262, 3, 1), (273, 4, 8), (277, 3, 1),
      (278, 4, height), (279, 4, width * height),
    ]
    add(entries.count, 2)
    for (tag, type, value) in entries {
      add(tag, 2)
      add(type, 2)
      add(1, 4)
      add(value, 4)
    }
    add(0, 4)
    return Data(bytes)
  }

  private func scan(_ number: UInt8, to path: String) throws {
    try page(number).write(to: URL(fileURLWithPath: path), options: [])
  }

  private func remove(_ path: String, in directory: DirectoryNumber) throws {
    try FileManager.default.removeItem(atPath: path)
    try apply(.fileGone(directory: directory, name: Fixture.bytes((path as NSString).lastPathComponent)))
  }

  @Test func pagesShareSizeAndFingerprint() throws {
    let paths = [folders.disk + "/page1.tif", folders.disk + "/page2.tif"]
    for (number, path) in paths.enumerated() { try scan(UInt8(number + 1), to: path) }
    try apply(try found(paths[0], in: 9), try found(paths[1], in: 9))
    let ids = try fixture.paths()
    let rows = try paths.map { path in
      let id = try #require(ids[path])
      return try fixture.catalog.read { try $0.file(ofAsset: id) }
    }
    #expect(rows[0]?.byteCount == rows[1]?.byteCount && rows[0]?.marks.fingerprint != nil)
    #expect(rows[0]?.marks.fingerprint == rows[1]?.marks.fingerprint && rows[0]?.marks.sample != rows[1]?.marks.sample)
    #expect(try fixture.asset(paths[0]).pixelWidth == 600)
  }

  @Test func secondPageIsNotTheFirstThatWasDeleted() throws {
    let (one, two) = (folders.disk + "/page1.tif", folders.disk + "/page2.tif")
    try scan(1, to: one)
    try apply(try found(one, in: 9))
    let id = try #require(try fixture.paths()[one])
    try remove(one, in: 9)
    try scan(2, to: two)
    try apply(try found(two, in: 9))
    #expect(try #require(try fixture.paths()[two]) != id)
  }

  @Test func secondPageDoesNotTakeThePlaceOfTheFirstThatIsDeletedWithinTheHour() throws {
    let (one, two) = (folders.disk + "/page1.tif", folders.disk + "/page2.tif")
    try scan(1, to: one)
    try apply(try found(one, in: 9))
    try fixture.give(try #require(try fixture.paths()[one]))
    try scan(2, to: two)
    try apply(try found(two, in: 9))
    let second = try #require(try fixture.paths()[two])
    try remove(one, in: 9)
    #expect(try fixture.paths() == [two: second])
    #expect(try !fixture.asset(two).isFavorite)
  }

  /// In one case, the other scan also has the name of the first one.
  @Test(arguments: ["page1.tif", "page2.tif"]) func otherScannedPageWithinThirtyDaysIsNoFavorite(name: String) throws {
    let one = folders.disk + "/page1.tif"
    try scan(1, to: one)
    try apply(try found(one, in: 9))
    let id = try #require(try fixture.paths()[one])
    try fixture.give(id)
    try fixture.catalog.write { try $0.setUserData(of: id, isFavorite: nil, isHidden: true) }
    try remove(one, in: 9)
    let other = folders.memory + "/" + name
    try scan(2, to: other)
    try apply(try found(other, in: 8), later: .seconds(20 * 86_400))
    let asset = try fixture.asset(other)
    #expect(asset.id != id && !asset.isFavorite && !asset.isHidden)
  }

  /// mv copies to another file system with the modification time, and then removes the original. A scan has found the
  /// original, so it has no sample yet.
  @Test(arguments: [true, false]) func pageThatIsMovedToAnotherFileSystemIsTheSamePhoto(isScanned: Bool) throws {
    let (from, to) = (folders.memory + "/page1.tif", folders.disk + "/page1.tif")
    try scan(1, to: from)
    if isScanned {
      let file = try found(from, in: 8)
      try apply(
        .listingStarted(number: 8, evidence: .scan), file, .listingEnded(number: 8, complete: true))
      // The library also does this when it is idle.
      #expect(try fixture.catalog.write { try $0.wantProofsOfNewFiles(limit: 100) } == false)
    } else {
      try apply(try found(from, in: 8))
    }
    let id = try #require(try fixture.paths()[from])
    let row = try fixture.catalog.read { try $0.file(ofAsset: id) }
    #expect((row?.marks.sample == nil) == isScanned)
    try fixture.give(id)
    let copy = TestProcess()
    copy.executableURL = URL(fileURLWithPath: "/bin/cp")
    copy.arguments = ["-p", from, to]
    try copy.run()
    copy.waitUntilExit()
    try apply(try found(to, in: 9))
    try remove(from, in: 8)
    #expect(try fixture.paths() == [to: id])
    #expect(try fixture.asset(to).isFavorite)
  }

  @Test func pageThatComesBackFromABackupWithItsTimeIsTheSamePhoto() throws {
    let (path, backup) = (folders.disk + "/page1.tif", folders.memory + "/hidden")
    try scan(1, to: path)
    try apply(try found(path, in: 9))
    let id = try #require(try fixture.paths()[path])
    try fixture.give(id)
    try move(path, backup)
    try apply(.fileGone(directory: 9, name: Fixture.bytes("page1.tif")))
    try scan(2, to: path)
    try apply(try found(path, in: 9))
    #expect(try #require(try fixture.paths()[path]) != id)
    try remove(path, in: 9)
    try move(backup, path)
    try apply(try found(path, in: 9), later: .seconds(20 * 86_400))
    #expect(try fixture.paths() == [path: id])
    #expect(try fixture.asset(path).isFavorite)
  }
}
