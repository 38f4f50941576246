import Foundation
import Glibc
import PhotoModel
import TestTools
import Testing
import WatchRecords

@testable import PhotoImages

/// Every thumbnail of a hidden or deleted photo is removed, and nothing that belongs to another program.
@Suite(.timeLimit(.minutes(10))) struct ThumbnailRemovalTests {
  private static let three = SharedThumbnailTests.three
  private static let small = ImageFrame(width: 1, height: 1)

  /// Makes a file the first one of the photo 1. The others keep their order.
  private func insertFirst(_ path: String, _ assets: FakeAssets) {
    assets.change(1) { asset in
      asset.revision = "r2"
      asset.files.insert(
        ImageFile(
          index: 0, path: Array(path.utf8), contentType: "image/jpeg", byteCount: 7,
          modified: FileTime(nanoseconds: 1_700_000_005_000_000_000), kind: .photo), at: 0)
      for index in asset.files.indices { asset.files[index].index = index }
    }
  }

  // MARK: - Records that were deleted with the cache

  @Test(arguments: [false, true]) func thumbnailsWhoseRecordsWereDeletedFollowAgain(isFailure: Bool) async throws {
    let folder = try TemporaryFolder("records")
    let first = try EngineFixture(isSharing: true, in: folder)
    first.assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
    let failure = PictureMaking.failed(.unreadable, message: "damaged")
    if isFailure { first.maker.state.withLock { $0.failures["1.jpg"] = failure } }
    _ = try await first.picture(1, .square(512), in: try first.session(), as: 1)
    try await first.waitUntilIdle()
    first.engine.shutDown()
    try FileManager.default.removeItem(atPath: first.cache)
    let next = try EngineFixture(isSharing: true, assets: first.assets, in: folder)
    if isFailure { next.maker.state.withLock { $0.failures["1.jpg"] = failure } }
    _ = try await next.picture(1, .square(512), in: try next.session(), as: 1)
    try await next.waitUntilIdle()
    let made = next.sharedFiles
    #expect(made.count == (isFailure ? 1 : 3) && next.recordCount == 1)
    next.move(1, to: "/new/1.jpg")
    try await next.waitUntilIdle()
    #expect(next.sharedFiles.count == made.count && next.sharedFiles.isDisjoint(with: made))
    next.assets.remove(1)
    next.engine.assetsWereRemoved([1])
    try await next.waitUntilIdle()
    #expect(next.sharedFiles.isEmpty && next.recordCount == 0)
  }

  /// Two photods with different catalogs use the same folders.
  @Test func thumbnailsOfAnotherLibraryStay() async throws {
    let folder = try TemporaryFolder("records")
    let first = try await EngineFixture.sharing(in: folder)
    let other = try EngineFixture(library: "other", isSharing: true, in: folder)
    other.engine.filesChanged(nil)
    other.engine.filesChanged([1])
    try await other.waitUntilIdle()
    #expect(first.sharedFiles.count == 3 && first.recordCount == 1)
    first.move(1, to: "/new/1.jpg")
    try await first.waitUntilIdle()
    #expect(first.sharedFiles == EngineFixture.names("/new/1.jpg", Self.three))
  }

  @Test func noRecordIsMadeForThumbnailsOfAnotherProgram() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
    for (side, name) in [(128, "normal"), (256, "large")] {
      try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: side, height: side * 2 / 3), in: name)
    }
    _ = try await fixture.picture(1, .square(256), in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.count == 2 && fixture.recordCount == 0)
  }

  // MARK: - Files that change their places

  @Test(arguments: ["hidden", "deleted"]) func thumbnailsOfAFileThatLostItsPlaceGo(state: String) async throws {
    let fixture = try await EngineFixture.sharing()
    insertFirst("/photos/0.jpg", fixture.assets)
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    let session = try fixture.session()
    for (number, resource) in [(1, 0), (2, 1)] as [(AssetID, Int)] {
      var options = ImageOptions.square(512)
      options.resource = resource
      _ = try await fixture.picture(1, options, in: session, as: number)
      try await fixture.waitUntilIdle()
    }
    let both = EngineFixture.names("/photos/0.jpg", Self.three).union(EngineFixture.names("/photos/1.jpg", Self.three))
    #expect(fixture.sharedFiles == both && fixture.recordCount == 2)
    if state == "hidden" {
      fixture.assets.change(1) { $0.isHidden = true }
      fixture.engine.filesChanged([1])
    } else {
      fixture.assets.remove(1)
      fixture.engine.assetsWereRemoved([1])
    }
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
  }

  @Test func thumbnailsOfTheFormerFirstFileGoAlsoIfOnlyTheNewOneIsShared() async throws {
    let fixture = try await EngineFixture.sharing()
    insertFirst("/photos/0.jpg", fixture.assets)
    _ = try await fixture.picture(1, .square(512), in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/photos/0.jpg", Self.three))
    fixture.assets.remove(1)
    fixture.engine.assetsWereRemoved([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
  }

  @Test func aPictureThatIsSharedBeforeARenameIsFollowedLosesNothing() async throws {
    let fixture = try await EngineFixture.sharing()
    // The commit of the rename, without its notice.
    fixture.assets.change(1) { $0.files[0].path = Array("/new/1.jpg".utf8) }
    _ = try await fixture.picture(1, .square(1024), in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/new/1.jpg", Self.three + ["xx-large"]))
    #expect(fixture.maker.rendered.count { $0.format == .png } == 4, "the three thumbnails were moved")
  }

  @Test func hidingRemovesThumbnailsThatTheRecordsDoNotName() async throws {
    let fixture = try await EngineFixture.sharing()
    insertFirst("/photos/0.jpg", fixture.assets)
    try fixture.writeThumbnail("/photos/0.jpg", Self.small, in: "normal", assetID: 1)
    fixture.assets.change(1) { $0.isHidden = true }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
  }

  /// The cache of photod and its catalog were deleted. In the new catalog, the photo has another id.
  @Test func hidingRemovesThumbnailsOfAnEarlierCatalog() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1])
    try fixture.writeThumbnail("/photos/1.jpg", Self.small, in: "normal", assetID: 7, revision: "r9")
    let foreign = try fixture.writeThumbnail("/photos/1.jpg", Self.small, in: "large")
    fixture.assets.change(1) { $0.isHidden = true }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == [foreign])
  }

  @Test func aMoveThatWasNotRecordedIsFoundLater() async throws {
    let fixture = try await EngineFixture.sharing()
    let (old, new) = (Array("/photos/1.jpg".utf8), Array("/new/1.jpg".utf8))
    // photod was killed after the thumbnails were moved.
    for size in [ThumbnailSize.normal, .large, .extraLarge] {
      #expect(try ThumbnailFolder(path: fixture.thumbnails).move(.size(size), from: old, to: new))
    }
    fixture.move(1, to: "/new/1.jpg")
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/new/1.jpg", Self.three) && fixture.recordCount == 1)
    fixture.assets.remove(1)
    fixture.engine.assetsWereRemoved([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty)
  }

  /// A program changed the photo, and kept its size and time.
  @Test func thumbnailsOfAnotherRevisionGo() async throws {
    let fixture = try await EngineFixture.sharing()
    fixture.assets.change(1) { $0.revision = "r2" }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
    _ = try await fixture.picture(1, .square(512), in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.count == 3)
  }

  /// photod was killed after it had moved the thumbnails. Before the next start, a program changed the photo.
  @Test(arguments: ["revision", "time"]) func movedThumbnailsOfAnotherContentGo(change: String) async throws {
    let fixture = try await EngineFixture.sharing()
    for size in [ThumbnailSize.normal, .large, .extraLarge] {
      #expect(
        try ThumbnailFolder(path: fixture.thumbnails).move(
          .size(size), from: Array("/photos/1.jpg".utf8), to: Array("/new/1.jpg".utf8)))
    }
    fixture.assets.change(1) { asset in
      if change == "revision" { asset.revision = "r2" } else { asset.files[0].modified = FileTime(nanoseconds: 1) }
    }
    fixture.move(1, to: "/new/1.jpg")
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
  }

  // MARK: - A catalog that can't be read

  @Test func aHiddenPhotoIsFoundWhenTheCatalogCanBeReadAgain() async throws {
    let fixture = try await EngineFixture.sharing()
    let thumbnails = try #require(fixture.engine.sharedThumbnails)
    fixture.assets.change(1) { $0.isHidden = true }
    fixture.assets.setReadable(false)
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    fixture.clock.advance(60)
    thumbnails.wake()
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.count == 3)
    fixture.assets.setReadable(true)
    try await eventually("the thumbnails are removed") {
      // The second attempt may note its failure only now, and its pause begins then.
      fixture.clock.advance(120)
      thumbnails.wake()
      return fixture.sharedFiles.isEmpty
    }
  }

  @Test func pausesBetweenRetriesAreBounded() {
    var retries = SettleRetries()
    var now: UInt32 = 1_000
    #expect(retries.take(now: now) == nil)
    for expected in [60, 120, 240, 480, 960, 1_920, 3_600, 3_600] as [UInt32] {
      #expect(retries.add(1, now: now) == expected)
      #expect(retries.add(2, now: now) == nil, "one pause is for all")
      #expect(retries.take(now: now + expected - 1) == nil)
      now += expected
      #expect(retries.take(now: now) == [1, 2] && retries.take(now: now) == nil)
    }
    retries.succeeded()
    #expect(retries.add(1, now: now) == 60)
    for id in 0..<AssetID(SettleRetries.mostAssets) + 5 { _ = retries.add(id, now: now) }
    #expect(retries.take(now: now + 60)?.count == SettleRetries.mostAssets)
  }

  // MARK: - Files of others

  @Test func aMoveKeepsTheValidThumbnailOfAnotherProgram() async throws {
    let fixture = try await EngineFixture.sharing()
    let valid = try fixture.writeThumbnail("/new/1.jpg", ImageFrame(width: 256, height: 171), in: "large")
    let stale = try fixture.writeThumbnail(
      "/new/1.jpg", ImageFrame(width: 128, height: 85), in: "normal", modified: "5")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(fixture.thumbnails)/\(valid)"))
    fixture.move(1, to: "/new/1.jpg")
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/new/1.jpg", Self.three))
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(fixture.thumbnails)/\(valid)")) == bytes)
    #expect(try fixture.facts(stale)?.assetID == 1)
  }

  @Test func aMoveThatCannotBeRecordedKeepsTheThumbnailOfAnotherProgram() async throws {
    let folder = try TemporaryFolder("images")
    let library = String(PictureHash.library("library"), radix: 16)
    let record = folder.path + "/pictures/shared/\(library)/01/1-0"
    let fixture = try await EngineFixture.sharing(in: folder) {
      guard (try? FileManager.default.destinationOfSymbolicLink(atPath: record + ".new")) == "/new/1.jpg" else {
        return
      }
      // The new record can't replace a folder.
      unlink(record)
      mkdir(record, 0o700)
    }
    let foreign = try fixture.writeThumbnail("/new/1.jpg", ImageFrame(width: 256, height: 171), in: "large")
    fixture.move(1, to: "/new/1.jpg")
    try await fixture.waitUntilIdle()
    #expect(fixture.log.errors.count == 1)
    #expect(fixture.sharedFiles == [foreign])
  }

  @Test func onlyOwnNotesOfFailuresAreRemovedAndNoLinkIsFollowed() throws {
    let fixture = try EngineFixture(isSharing: true)
    let (folder, files) = (ThumbnailFolder(path: fixture.thumbnails), FileManager.default)
    let own = try fixture.writeThumbnail("/a.jpg", Self.small, in: "fail/photod-0.8", assetID: 1)
    let foreign = try fixture.writeThumbnail("/b.jpg", Self.small, in: "fail/photod-0.8")
    let emptied = try fixture.writeThumbnail("/a.jpg", Self.small, in: "fail/photod-0.9", assetID: 1)
    let other = try fixture.writeThumbnail("/a.jpg", Self.small, in: "fail/gnome-thumbnail-factory", assetID: 1)
    let present = try fixture.writeThumbnail("/a.jpg", Self.small, in: "fail/photod-1.0", assetID: 1)
    let outside = try fixture.writeThumbnail("/a.jpg", Self.small, in: "elsewhere", assetID: 1)
    let named = "fail/photod-0.8/holiday.png"
    try files.copyItem(atPath: "\(fixture.thumbnails)/\(own)", toPath: "\(fixture.thumbnails)/\(named)")
    for link in ["fail/photod-0.1", "fail/photod-0.2"] {
      try files.createSymbolicLink(
        atPath: "\(fixture.thumbnails)/\(link)", withDestinationPath: "\(fixture.thumbnails)/elsewhere")
    }
    folder.removeLeftovers(exceptOf: "1.0", now: 1_800_000_000)
    #expect(fixture.sharedFiles == [foreign, other, present, outside, named])
    #expect(!isReadable("\(fixture.thumbnails)/fail/photod-0.9"), "\(emptied) was its only file")
  }

  @Test func oldTemporaryFilesAreRemoved() throws {
    let fixture = try EngineFixture(isSharing: true)
    let name = try fixture.writeThumbnail("/a.jpg", Self.small, in: "large", assetID: 1)
    let note = try fixture.writeThumbnail("/a.jpg", Self.small, in: "fail/photod-1.0", assetID: 1)
    let outside = try fixture.writeThumbnail("/a.jpg", Self.small, in: "elsewhere", assetID: 1)
    let now = 1_800_000_000
    func add(_ name: String, age: Int) throws -> String {
      let path = "\(fixture.thumbnails)/\(name)"
      try Data([1]).write(to: URL(fileURLWithPath: path))
      var times = [timespec(), timespec()]
      for index in 0..<2 { times[index].tv_sec = now - age }
      try #require(utimensat(AT_FDCWD, path, &times, AT_SYMLINK_NOFOLLOW) == 0)
      return name
    }
    for name in [name, note] { _ = try add("\(name).photod-3w5e11264sgsf", age: 7_200) }
    let stay = [
      try add("\(name).photod-1y2p0ij32e8e7", age: 60), try add("\(name).photod-", age: 7_200),
      try add("\(name).XYZ", age: 7_200), try add("large/cat.png.photod-1y2p0ij32e8e7", age: 7_200),
      try add("\(outside).photod-3w5e11264sgsf", age: 7_200),
    ]
    try FileManager.default.createSymbolicLink(
      atPath: fixture.thumbnails + "/normal", withDestinationPath: fixture.thumbnails + "/elsewhere")
    ThumbnailFolder(path: fixture.thumbnails).removeLeftovers(exceptOf: "1.0", now: UInt32(now))
    #expect(fixture.sharedFiles == Set(stay + [name, note, outside]))
  }

  /// The name of a temporary file that a photod leaves when it is killed is the one that the next photod removes.
  @Test func aTemporaryFileHasTheNameThatIsRemoved() throws {
    let fixture = try EngineFixture(isSharing: true)
    let folder = ThumbnailFolder(path: fixture.thumbnails)
    let path = Array("/a.jpg".utf8)
    let name = try fixture.writeThumbnail("/a.jpg", Self.small, in: "large", assetID: 1)
    let facts = try #require(try fixture.facts(name))
    let watcher = inotify_init1(Int32(IN_NONBLOCK))
    defer { close(watcher) }
    try #require(inotify_add_watch(watcher, fixture.thumbnails + "/large", UInt32(IN_CREATE)) >= 0)
    try folder.write(FakePNG.bytes(Self.small), facts, .size(.large), of: path)
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(watcher, &buffer, buffer.count)
    try #require(count > 16)
    let temporary = String(decoding: buffer[16..<count].prefix { $0 != 0 }, as: UTF8.self)
    let file = "\(fixture.thumbnails)/large/\(temporary)"
    try Data().write(to: URL(fileURLWithPath: file))
    folder.removeLeftovers(exceptOf: "1.0", now: UInt32(Date().timeIntervalSince1970) + 7_200)
    #expect(fixture.sharedFiles == [name])
  }
}
