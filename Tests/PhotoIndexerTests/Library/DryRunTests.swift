import Glibc
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The differences that a dry run counts. It knows files by the rules of scans.
@Suite struct DryRunTests {
  /// The files of a disk, as photod sees them without photod-watch: stat(2) returns no birth time.
  private struct Files: PhotoFiles {
    let disk: MemoryDisk

    func stat(_ path: [UInt8]) -> FileStat? {
      var stat = disk.stat(path)
      stat?.identity.birthTime = .unknown
      return stat
    }

    func list(_ folder: [UInt8]) -> FolderLookup {
      let files = disk.files(in: String(decoding: folder, as: UTF8.self)).map {
        FolderEntry(name: Array($0.name.utf8), type: UInt8(DT_REG))
      }
      let usb = FolderEntry(name: Array("usb".utf8), type: UInt8(DT_DIR))
      return .entries(folder == Array("/p".utf8) ? files + [usb] : files)
    }

    func exists(_ path: [UInt8]) -> Bool { disk.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { disk.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading { .raced }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
    var readCount: Int { 0 }
  }

  /// A library with the photos /p/a.jpg and /p/b.jpg, and /p/usb/c.jpg on another drive.
  private func library(on volume: String = "uuid:1") throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume(volume, of: 1)
    fixture.disk.setVolume("uuid:2", of: 2)
    let (a, b) = (fixture.disk.write("/p/a.jpg"), fixture.disk.write("/p/b.jpg", bytes: 200))
    let c = fixture.disk.write("/p/usb/c.jpg", device: 2)
    fixture.disk.pass(100)
    try fixture.apply(all: [
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      Fixture.file("a.jpg", a), Fixture.file("b.jpg", b), .listingEnded(number: 1, complete: true),
      .directoryFound(
        number: 2, parent: 1, root: 1, name: Fixture.bytes("usb"),
        identity: FileIdentity(device: 2, inode: 1, birthTime: 1)),
      .listingStarted(number: 2, evidence: .scan), Fixture.file("c.jpg", in: 2, c),
      .listingEnded(number: 2, complete: true), .scanEnded(root: 1, request: 0, complete: true),
    ])
    #expect(try fixture.paths().count == 3)
    return fixture
  }

  private func expect(
    inserted: Int = 0, updated: Int = 0, removed: Int = 0, examples: [String] = [], _ fixture: ReconcilerFixture,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let reconciler = fixture.reconciler
    let top = try #require(reconciler.tree.directory(path: Fixture.bytes("/p")))
    let snapshot = DryRuns.Snapshot(
      tree: reconciler.tree, volumes: reconciler.volumes, roots: reconciler.roots, policy: reconciler.policy,
      rules: WatchRules.nameRules(ignoring: []), catalog: fixture.catalog, files: Files(disk: fixture.disk))
    let counts = try await DryRuns().counts(of: [top], in: snapshot)
    #expect(
      [counts.inserted, counts.updated, counts.removed] == [inserted, updated, removed], "inserted, updated, removed",
      sourceLocation: sourceLocation)
    if !examples.isEmpty {
      #expect(counts.removedExamples == examples.map(Fixture.bytes), sourceLocation: sourceLocation)
    }
    #expect(counts.removedExamples.count == min(removed, 3), sourceLocation: sourceLocation)
  }

  @Test func missingFilesAreNamed() async throws {
    let fixture = try library()
    for name in ["d", "e", "f"] {
      try fixture.apply(Fixture.file("\(name).jpg", fixture.disk.write("/p/\(name).jpg", bytes: 300)))
    }
    for name in ["d", "f"] { fixture.disk.remove("/p/\(name).jpg") }
    try await expect(removed: 2, examples: ["/p/d.jpg", "/p/f.jpg"], fixture)
    for name in ["a", "b", "e"] { fixture.disk.remove("/p/\(name).jpg") }
    try await expect(removed: 5, examples: ["/p/a.jpg", "/p/b.jpg", "/p/d.jpg"], fixture)
  }

  @Test func knownFilesAreNoDifference() async throws {
    let fixture = try library()
    try await expect(fixture)
    // New permissions change only the change time, and so does a new link.
    fixture.disk.edit("/p/a.jpg", editsContent: false)
    try await expect(fixture)
  }

  /// FAT gives out new inodes at each mount, and stores no change time.
  @Test func filesWithNewInodesAreNoDifference() async throws {
    let fixture = try library(on: "uuid:1A2B-3C4D")
    for path in ["/p/a.jpg", "/p/b.jpg"] {
      var stat = try #require(fixture.disk.stat(Fixture.bytes(path)))
      stat.changeTime = stat.modificationTime
      fixture.disk.setStat(stat, of: path)
    }
    fixture.disk.permute(["/p/a.jpg", "/p/b.jpg"])
    try await expect(fixture)
  }

  @Test func changedAndReplacedFilesAreUpdates() async throws {
    let fixture = try library()
    fixture.disk.write("/p/a.jpg")
    try await expect(updated: 1, fixture)
    fixture.disk.remove("/p/b.jpg")
    fixture.disk.write("/p/b.jpg", bytes: 200)
    try await expect(updated: 2, fixture)
  }

  @Test func movedFileIsAnUpdate() async throws {
    let fixture = try library()
    fixture.disk.move("/p/a.jpg", "/p/new.jpg")
    try await expect(updated: 1, fixture)
    // Now /p/b.jpg is the file that was /p/a.jpg.
    fixture.disk.exchange("/p/new.jpg", "/p/b.jpg")
    try await expect(updated: 2, fixture)
    fixture.disk.remove("/p/new.jpg")
    try await expect(updated: 1, removed: 1, fixture)
  }

  @Test func newFileInThePlaceOfAMovedOneIsAnInsertion() async throws {
    let fixture = try library()
    fixture.disk.move("/p/a.jpg", "/p/new.jpg")
    fixture.disk.write("/p/a.jpg")
    try await expect(inserted: 1, updated: 1, fixture)
  }

  @Test func newFileWithTheInodeOfAMissingOneIsNoMove() async throws {
    let fixture = try library()
    let inode = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg"))).identity.inode
    fixture.disk.remove("/p/a.jpg")
    fixture.disk.reuse(inode: inode)
    fixture.disk.write("/p/new.jpg")
    try await expect(inserted: 1, removed: 1, fixture)
  }

  @Test func fileOnAnotherDriveIsNoMove() async throws {
    let fixture = try library()
    var stat = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    fixture.disk.move("/p/a.jpg", "/p/usb/new.jpg")
    stat.identity.device = 2
    fixture.disk.setStat(stat, of: "/p/usb/new.jpg")
    try await expect(inserted: 1, removed: 1, fixture)
  }
}
