import Glibc
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// A share below a root, for whose mount point photod-watch reports EREMOTE.
@Suite struct LeftOutShareTests {
  private static let leftOut = WatchRecord.unreadable(directory: 1, name: Fixture.bytes("nas"), errorNumber: EREMOTE)

  /// The catalog of an older photod: /p/nas is on a share and was scanned with /p.
  private func library() throws -> ReconcilerFixture {
    let fixture = try ReconcilerFixture()
    fixture.disk.setVolume("uuid:1", of: 1)
    fixture.disk.setVolume("fuse.sshfs:host:", of: 2)
    let local = fixture.disk.write("/p/a.jpg")
    let remote = fixture.disk.write("/p/nas/b.jpg", device: 2)
    // Otherwise, files without a lasting inode would be read again, because they are read within two seconds of their
    // date.
    fixture.disk.pass(10)
    try fixture.apply(all: [
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      Fixture.file("a.jpg", local), .listingEnded(number: 1, complete: true), share(5, parent: 1, root: 1, "nas"),
      .listingStarted(number: 5, evidence: .scan), Fixture.file("b.jpg", in: 5, remote),
      .listingEnded(number: 5, complete: true), .scanEnded(root: 1, request: 0, complete: true),
    ])
    return fixture
  }

  private func share(_ number: DirectoryNumber, parent: DirectoryNumber, root: UInt16, _ name: String) -> WatchRecord {
    .directoryFound(
      number: number, parent: parent, root: root, name: Fixture.bytes(name),
      identity: FileIdentity(device: 2, inode: 1, birthTime: 0))
  }

  private func scanWithoutShare(_ fixture: ReconcilerFixture) throws {
    let local = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    try fixture.apply(all: [
      .scanStarted(root: 1, request: 0, reason: .start), Fixture.top, .listingStarted(number: 1, evidence: .scan),
      Fixture.file("a.jpg", local), .listingEnded(number: 1, complete: true), Self.leftOut,
      .scanEnded(root: 1, request: 0, complete: true),
    ])
  }

  @Test func photosOfALeftOutShareStayUnavailable() throws {
    let fixture = try library()
    let ids = try fixture.paths()
    #expect(ids.count == 2)
    try fixture.restart()
    for _ in 0..<3 { try scanWithoutShare(fixture) }
    #expect(try fixture.paths() == ids)
    #expect(try !fixture.asset("/p/nas/b.jpg").available && fixture.asset("/p/a.jpg").available)
  }

  @Test func newRootForAShareGetsThePhotosOfTheShare() throws {
    let fixture = try library()
    let ids = try fixture.paths()
    try fixture.give(try #require(ids["/p/nas/b.jpg"]))
    try fixture.restart()
    try scanWithoutShare(fixture)
    let rootID = try fixture.catalog.write { try $0.insertRoot(path: Fixture.bytes("/p/nas")) }
    fixture.reconciler.tree.addRoot(rootID, path: Fixture.bytes("/p/nas"))
    fixture.reconciler.roots.add(rootID, number: 2)
    let remote = try #require(fixture.disk.stat(Fixture.bytes("/p/nas/b.jpg")))
    let reads = fixture.disk.readCount
    try fixture.apply(all: [
      .scanStarted(root: 2, request: 0, reason: .start), share(9, parent: 0, root: 2, "/p/nas"),
      .listingStarted(number: 9, evidence: .scan), Fixture.file("b.jpg", in: 9, remote),
      .listingEnded(number: 9, complete: true), .scanEnded(root: 2, request: 0, complete: true),
    ])
    try scanWithoutShare(fixture)
    #expect(try fixture.paths() == ids)
    let photo = try fixture.asset("/p/nas/b.jpg")
    #expect(photo.available && photo.isFavorite && fixture.disk.readCount == reads)
  }

  /// The folder below the mount point, with its own content.
  @Test func folderThatAShareIsMountedOnIsBackWhenItIsNot() throws {
    let fixture = try ReconcilerFixture()
    let bare = fixture.disk.write("/p/nas/bare.jpg")
    try fixture.apply(
      Fixture.top, Fixture.found(5, "nas", inode: 50), Fixture.file("bare.jpg", in: 5, bare))
    let ids = try fixture.paths()
    try fixture.apply(.directoryGone(number: 5, evidence: .scan), Self.leftOut)
    fixture.disk.pass(86_400)
    try fixture.apply(all: Fixture.scan([]).dropLast() + [Self.leftOut, Fixture.scan([]).last!])
    #expect(try !fixture.asset("/p/nas/bare.jpg").available)
    try fixture.apply(
      Fixture.found(6, "nas", inode: 50), .listingStarted(number: 6, evidence: .event),
      Fixture.file("bare.jpg", in: 6, bare), .listingEnded(number: 6, complete: true))
    #expect(try fixture.paths() == ids && fixture.asset("/p/nas/bare.jpg").available)
  }

  /// The root /pics/nas is used while a share is mounted there.
  @Test func innerRootEndsWithItsShare() async throws {
    let fixture = try LibraryFixture(innerRoots: ["/pics/nas"])
    #expect(fixture.disk.makeDirectory("/pics/nas"))
    let folder = fixture.disk.identity(try #require(fixture.disk.resolve("/pics/nas")))
    try await fixture.begin()
    #expect(await fixture.library.watchedPaths == ["/pics"])
    for _ in 0..<2 {
      await fixture.take([Self.leftOut])
      await fixture.library.reload()
      #expect(await fixture.library.watchedPaths == ["/pics", "/pics/nas"])
      // The share is unmounted and mounted again, and no configuration is read meanwhile.
      await fixture.take(bareFolder(folder, number: 2) + [.directoryGone(number: 2, evidence: .scan), Self.leftOut])
      await fixture.library.reload()
      #expect(await fixture.library.watchedPaths == ["/pics", "/pics/nas"])
      await fixture.take(bareFolder(folder, number: 3))
      await fixture.library.reload()
      #expect(await fixture.library.watchedPaths == ["/pics"])
      await fixture.take([.directoryGone(number: 3, evidence: .scan)])
    }
  }

  /// The folder at the mount point, as it is listed when no share is mounted there.
  private func bareFolder(_ identity: FileIdentity, number: DirectoryNumber) -> [WatchRecord] {
    [
      .directoryFound(number: number, parent: 1, root: 1, name: Fixture.bytes("nas"), identity: identity),
      .listingStarted(number: number, evidence: .event), .listingEnded(number: number, complete: true),
    ]
  }
}

extension Library {
  fileprivate var watchedPaths: [String] {
    reconciler.roots.watched.compactMap { rootPath($0.number).map { String(decoding: $0, as: UTF8.self) } }
  }

  /// Reads the same configuration again.
  fileprivate func reload() {
    setRoots(
      configuration.roots, innerRoots: configuration.innerRoots, ignore: [], removalGrace: configuration.removalGrace)
  }
}
