import Foundation
import Glibc
import PhotoModel
import TestTools
import Testing
import WatchRecords

@testable import PhotoImages

/// The thumbnails that photod writes for other programs.
@Suite(.timeLimit(.minutes(10))) struct SharedThumbnailTests {
  static let three = ["normal", "large", "x-large"]

  @Test func aPictureIsWrittenInItsSizeAndTheSmallerOnes() async throws {
    let fixture = try await EngineFixture.sharing()
    let names = EngineFixture.names("/photos/1.jpg", Self.three)
    #expect(fixture.sharedFiles == names)
    for name in names {
      let facts = try #require(try fixture.facts(name))
      #expect(facts.uri == "file:///photos/1.jpg" && facts.modified == 1_700_000_000 && facts.byteCount == 5)
      #expect(facts.photoSize == ImageFrame(width: 3000, height: 2000) && facts.software == "photod 1.0")
    }
    var status = stat()
    for name in ["", "/normal", "/x-large"] {
      #expect(stat(fixture.thumbnails + name, &status) == 0 && status.st_mode & 0o777 == 0o700)
    }
    for name in names {
      #expect(stat("\(fixture.thumbnails)/\(name)", &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  @Test func nothingIsWrittenUnlessItIsConfigured() async throws {
    let fixture = try EngineFixture(isSharing: false)
    fixture.assets.add([1, 2])
    let session = try fixture.session()
    _ = try await fixture.picture(1, in: session, as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && !fixture.engine.followsFiles)
    fixture.engine.setSharing(true)
    _ = try await fixture.picture(2, in: session, as: 2)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/photos/2.jpg", ["normal", "large"]))
    fixture.engine.setSharing(false)
    fixture.move(2, to: "/photos/moved.jpg")
    try await fixture.waitUntilIdle()
    #expect(
      fixture.sharedFiles == EngineFixture.names("/photos/moved.jpg", ["normal", "large"]), "it follows all the same")
  }

  @Test func pathsThatAreNotUTF8AreShared() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1])
    fixture.assets.change(1) { $0.files[0].path = Array("/photos/".utf8) + [0xE4, 0x3B] }
    _ = try await fixture.picture(1, in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    let name = "normal/\(MD5.hexadecimal(Array("file:///photos/%E4%3B".utf8))).png"
    #expect(try fixture.facts(name)?.uri == "file:///photos/%E4%3B")
  }

  @Test func thumbnailsMoveWithTheirPhoto() async throws {
    let fixture = try await EngineFixture.sharing(2)
    let made = fixture.maker.rendered.count
    fixture.move(1, to: "/other folder/1.jpg")
    try await fixture.waitUntilIdle()
    let moved = EngineFixture.names("/other folder/1.jpg", Self.three)
    #expect(fixture.sharedFiles == moved.union(EngineFixture.names("/photos/2.jpg", Self.three)))
    for name in moved { #expect(try fixture.facts(name)?.uri == "file:///other%20folder/1.jpg") }
    fixture.move(1, to: "/third/1.jpg")
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isSuperset(of: EngineFixture.names("/third/1.jpg", Self.three)))
    #expect(fixture.sharedFiles.count == 6 && fixture.recordCount == 2)
    #expect(fixture.maker.rendered.count == made, "no picture is made again")
  }

  @Test(arguments: ["hidden", "trashed"]) func thumbnailsOfHiddenPhotosGo(state: String) async throws {
    let fixture = try await EngineFixture.sharing(2)
    func set(_ isOn: Bool) {
      fixture.assets.change(1) { if state == "hidden" { $0.isHidden = isOn } else { $0.isTrashed = isOn } }
      fixture.engine.filesChanged([1])
    }
    set(true)
    try await fixture.waitUntilIdle()
    let others = EngineFixture.names("/photos/2.jpg", Self.three)
    #expect(fixture.sharedFiles == others && fixture.recordCount == 1)
    // A picture of a hidden photo is made, and not shared.
    let session = try fixture.session()
    #expect(try await fixture.picture(1, .square(128), in: session, as: 1).path != nil)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == others)
    set(false)
    #expect(try await fixture.picture(1, .square(1024), in: session, as: 2).path != nil)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == others.union(EngineFixture.names("/photos/1.jpg", Self.three + ["xx-large"])))
  }

  @Test func thumbnailsOfDeletedPhotosGo() async throws {
    let fixture = try await EngineFixture.sharing(2)
    fixture.assets.remove(1)
    fixture.engine.assetsWereRemoved([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/photos/2.jpg", Self.three) && fixture.recordCount == 1)
  }

  @Test func thumbnailsOfAChangedFileGoAndComeAgain() async throws {
    let fixture = try await EngineFixture.sharing()
    fixture.assets.change(1) { asset in
      asset.revision = "r2"
      asset.files[0].modified = FileTime(nanoseconds: 1_800_000_000_000_000_000)
    }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
    _ = try await fixture.picture(1, .square(128), in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    let name = try #require(fixture.sharedFiles.first)
    #expect(try fixture.facts(name)?.modified == 1_800_000_000)
  }

  @Test func aChangeThatPhotodHadNoTimeForIsDoneAfterTheNextStart() async throws {
    let folder = try TemporaryFolder("images")
    let first = try await EngineFixture.sharing(4, in: folder)
    first.engine.shutDown()
    first.assets.remove(1)
    first.assets.change(2) { $0.isHidden = true }
    first.assets.change(3) { $0.files[0].path = Array("/new/3.jpg".utf8) }
    // Sharing may be off by then.
    let second = try EngineFixture(isSharing: false, assets: first.assets, in: folder)
    try await second.waitUntilIdle()
    let expected = EngineFixture.names("/new/3.jpg", Self.three).union(EngineFixture.names("/photos/4.jpg", Self.three))
    #expect(second.sharedFiles == expected && second.recordCount == 2)
  }

  @Test func hidingRemovesThumbnailsAlsoWithoutRecords() async throws {
    let fixture = try await EngineFixture.sharing()
    try FileManager.default.removeItem(atPath: fixture.cache + "/shared")
    fixture.assets.change(1) { $0.isHidden = true }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty)
  }

  @Test func thumbnailsOfOtherProgramsStay() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1])
    let foreign = try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 256, height: 171), in: "large")
    let stale = try fixture.writeThumbnail(
      "/photos/1.jpg", ImageFrame(width: 128, height: 85), in: "normal", modified: "5")
    let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(fixture.thumbnails)/\(foreign)"))
    _ = try await fixture.picture(1, in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(try Data(contentsOf: URL(fileURLWithPath: "\(fixture.thumbnails)/\(foreign)")) == bytes)
    #expect(try fixture.facts(stale)?.software == "photod 1.0", "one that is out of date is replaced")
    fixture.assets.change(1) { $0.isHidden = true }
    fixture.engine.filesChanged([1])
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == [foreign])
  }

  @Test func aFileThatCannotBeDecodedIsNoted() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1, 2])
    fixture.maker.state.withLock {
      $0.failures["1.jpg"] = .failed(.unreadable, message: "damaged")
      $0.failures["2.jpg"] = .failed(.unsupported, message: "no decoder")
    }
    let note = try fixture.writeThumbnail(
      "/photos/9.jpg", ImageFrame(width: 1, height: 1), in: "fail/photod-0.9", assetID: 9)
    let session = try fixture.session()
    for id in [1, 2] as [AssetID] { #expect(try await fixture.picture(id, in: session, as: id).failure != nil) }
    try await fixture.waitUntilIdle()
    let failures = EngineFixture.names("/photos/1.jpg", ["fail/photod-1.0"])
    #expect(fixture.sharedFiles == failures.union([note]))
    fixture.move(1, to: "/b/1.jpg")
    try await fixture.waitUntilIdle()
    let moved = EngineFixture.names("/b/1.jpg", ["fail/photod-1.0"])
    #expect(fixture.sharedFiles.isSuperset(of: moved) && fixture.sharedFiles.count == 2)
    // Another version of photod may succeed.
    fixture.engine.filesChanged(nil)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == moved && !isReadable(fixture.thumbnails + "/fail/photod-0.9"))
    fixture.maker.state.withLock { $0.failures = [:] }
    try fixture.engine.clear()
    #expect(try await fixture.picture(1, .square(128), in: session, as: 3).path != nil)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/b/1.jpg", ["normal"]))
  }

  @Test func thumbnailsHaveNoThumbnails() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add([1])
    fixture.assets.change(1) { $0.files[0].path = Array("\(fixture.thumbnails)/large/x.png".utf8) }
    _ = try await fixture.picture(1, in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty && fixture.recordCount == 0)
  }

  @Test func photosThatExchangeTheirNamesNeverShowEachOther() async throws {
    let fixture = try await EngineFixture.sharing(2)
    fixture.assets.change(1) { $0.files[0].path = Array("/photos/2.jpg".utf8) }
    fixture.assets.change(2) { $0.files[0].path = Array("/photos/1.jpg".utf8) }
    fixture.engine.filesChanged([1, 2])
    try await fixture.waitUntilIdle()
    for (id, path) in [(1, "/photos/2.jpg"), (2, "/photos/1.jpg")] as [(AssetID, String)] {
      for name in EngineFixture.names(path, Self.three) where fixture.sharedFiles.contains(name) {
        #expect(try fixture.facts(name)?.assetID == id)
      }
    }
    #expect(fixture.sharedFiles.count >= 3)
  }

  @Test func picturesOfACachingSetAreAllShared() async throws {
    let fixture = try EngineFixture(workers: 2, isSharing: true)
    let count = ThumbnailQueue.mostPictures + 100
    let ids = (1...count).map { AssetID($0) }
    fixture.assets.add(ids)
    let session = try fixture.session()
    try session.startCaching(
      assetIDs: ids, frame: ImageFrame(width: 128, height: 128), contentMode: .aspectFit)
    try await eventually("all are shared, not \(fixture.sharedFiles.count)") { fixture.sharedFiles.count == count }
  }

  @Test func renamingAFolderOfTenThousandCostsTheCallerNothing() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...10_000)
    _ = try await fixture.picture(1, in: try fixture.session(), as: 1)
    try await fixture.waitUntilIdle()
    for id in 1...10_000 as ClosedRange<AssetID> {
      fixture.assets.change(id) { $0.files[0].path = Array("/renamed/\(id).jpg".utf8) }
    }
    let duration = ContinuousClock().measure { fixture.engine.filesChanged(Array(1...10_000)) }
    // The limit is for a machine that does other work too.
    #expect(duration < .milliseconds(500))
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles == EngineFixture.names("/renamed/1.jpg", ["normal", "large"]))
  }

  @Test func aFolderThatCannotBeWrittenIsReportedAndTriedAgain() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...5)
    try Data().write(to: URL(fileURLWithPath: fixture.thumbnails))
    let session = try fixture.session()
    func share(_ id: AssetID) async throws {
      #expect(try await fixture.picture(id, in: session, as: id).path != nil)
      try await fixture.waitUntilIdle()
    }
    for id in [1, 2] as [AssetID] { try await share(id) }
    let error = "thumbnails can't be shared: Not a directory"
    #expect(fixture.log.errors == [error])
    // The folder can be written, but not before the pause is over.
    unlink(fixture.thumbnails)
    fixture.clock.advance(59)
    try await share(3)
    #expect(fixture.sharedFiles.isEmpty)
    fixture.clock.advance(1)
    try await share(4)
    #expect(fixture.sharedFiles == EngineFixture.names("/photos/4.jpg", ["normal", "large"]))
    #expect(fixture.log.errors == [error])
    // After a success, the same error is reported again.
    try FileManager.default.removeItem(atPath: fixture.thumbnails)
    try Data().write(to: URL(fileURLWithPath: fixture.thumbnails))
    try await share(5)
    #expect(fixture.log.errors == [error, error])
  }
}
