import Foundation
import Glibc
import TestTools
import Testing

@testable import PhotoImages

/// Thumbnails of other programs as immediate pictures.
@Suite(.timeLimit(.minutes(10))) struct ImmediateThumbnailTests {
  private func fixture() throws -> EngineFixture {
    let fixture = try EngineFixture(isSharing: false)
    fixture.assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
    return fixture
  }

  @Test func aThumbnailComesBeforeTheNewPicture() async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 256, height: 171), in: "large")
    fixture.maker.hold()
    let session = try fixture.session()
    try session.request([ImageDemand(id: 1, assetID: 1, options: .square(256, .opportunistic))])
    // The fake decoder waits, so that the thumbnail is the first of two.
    try await fixture.waitForRendering(1)
    fixture.maker.release()
    let results = try await fixture.results(of: session, finals: 1)
    #expect(results.map(\.isFinal) == [false, true])
    #expect(results.first?.picture?.isDegraded == true && results.first?.picture?.contentType == "image/jpeg")
    #expect(results.last?.picture?.isDegraded == false)
    #expect(fixture.maker.rendered.first?.contentType == "image/png", "photod-image decodes the thumbnail")
    #expect(fixture.maker.embeddedCount == 0)
  }

  @Test func aFastRequestTakesAThumbnailOfItsSize() async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 512, height: 341), in: "x-large")
    let result = try await fixture.picture(1, .square(256, .fast), in: try fixture.session(), as: 1)
    #expect(result.picture?.isDegraded == false && result.longerSide == 256 && result.path == nil)
    #expect(fixture.keptFiles.isEmpty && fixture.maker.rendered.count == 1)
  }

  @Test func aSmallerThumbnailIsUsedIfNothingIsEmbedded() async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 128, height: 85), in: "normal")
    let result = try await fixture.picture(1, .square(512, .fast), in: try fixture.session(), as: 1)
    #expect(result.picture?.isDegraded == true && fixture.maker.embeddedCount == 1)
    let other = try self.fixture()
    other.maker.state.withLock { _ = $0.embedded.insert("1.jpg") }
    try other.writeThumbnail("/photos/1.jpg", ImageFrame(width: 128, height: 85), in: "normal")
    let embedded = try await other.picture(1, .square(512, .fast), in: try other.session(), as: 1)
    #expect(embedded.longerSide == 160)
  }

  @Test(arguments: ["time", "uri", "size", "link", "none"]) func anInvalidThumbnailIsNotUsed(problem: String)
    async throws
  {
    let fixture = try fixture()
    let size = ImageFrame(width: 256, height: 171)
    switch problem {
    case "time": try fixture.writeThumbnail("/photos/1.jpg", size, in: "large", modified: "1700000001")
    case "uri":
      let name = try fixture.writeThumbnail("/photos/2.jpg", size, in: "large")
      let right = ThumbnailURI(path: Array("/photos/1.jpg".utf8)).fileName
      #expect(rename("\(fixture.thumbnails)/\(name)", "\(fixture.thumbnails)/large/\(right)") == 0)
    case "size": try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 300, height: 200), in: "large")
    case "link":
      let name = try fixture.writeThumbnail("/photos/1.jpg", size, in: "large")
      #expect(rename("\(fixture.thumbnails)/\(name)", "\(fixture.thumbnails)/x") == 0)
      #expect(symlink("\(fixture.thumbnails)/x", "\(fixture.thumbnails)/\(name)") == 0)
    default: break
    }
    let result = try await fixture.picture(1, .square(256, .fast), in: try fixture.session(), as: 1)
    #expect(result.path != nil, "a new picture is made")
    #expect(fixture.maker.rendered.map(\.contentType) == ["image/jpeg"])
  }

  /// A program changed the photo, and kept its size and time. Only photod's own thumbnails name the revision.
  @Test(arguments: ["r0", "none", "r1"]) func anOwnThumbnailIsUsedInItsRevisionOnly(revision: String) async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail(
      "/photos/1.jpg", ImageFrame(width: 256, height: 171), in: "large", assetID: 1,
      revision: revision == "none" ? nil : revision)
    let result = try await fixture.picture(1, .square(256, .fast), in: try fixture.session(), as: 1)
    let isUsed = revision == "r1"
    #expect((result.path == nil) == isUsed, "a new picture is made of another revision")
    #expect(fixture.maker.rendered.map(\.contentType) == [isUsed ? "image/png" : "image/jpeg"])
  }

  /// The engine has no record of the thumbnails, because photod's cache was deleted.
  @Test func aThumbnailOfTheContentBeforeAQuietEditIsNotUsed() async throws {
    let folder = try TemporaryFolder("quiet")
    let shared = try await EngineFixture.sharing(in: folder)
    #expect(!shared.sharedFiles.isEmpty)
    try FileManager.default.removeItem(atPath: shared.cache)
    let assets = FakeAssets()
    assets.add([1], pixelSize: ImageFrame(width: 3000, height: 2000))
    assets.change(1) { $0.revision = "r2" }
    let next = try EngineFixture(isSharing: false, assets: assets, in: folder)
    let result = try await next.picture(1, .square(256, .fast), in: try next.session(), as: 1)
    #expect(result.picture?.revision == "r2" && result.path != nil, "a new picture is made")
    #expect(next.maker.rendered.map(\.contentType) == ["image/jpeg"])
  }

  @Test func aThumbnailThatCannotBeDecodedBlocksNoOtherSize() async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 128, height: 85), in: "normal")
    fixture.maker.state.withLock { $0.failuresOfTypes["image/png"] = .blamed("it ended the decoder") }
    let session = try fixture.session()
    let made = try await fixture.picture(1, .square(128, .fast), in: session, as: 1)
    #expect(made.path != nil && fixture.maker.rendered.map(\.contentType) == ["image/png", "image/jpeg"])
    fixture.maker.state.withLock { $0.failuresOfTypes = [:] }
    fixture.engine.store.clear()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 512, height: 341), in: "x-large")
    let other = try await fixture.picture(1, .square(512, .fast), in: session, as: 2)
    #expect(other.path == nil && other.longerSide == 512)
    #expect(fixture.maker.rendered.map(\.contentType) == ["image/png", "image/jpeg", "image/png"])
  }

  @Test func aThumbnailThatCannotBeDecodedIsTriedOnce() async throws {
    let fixture = try fixture()
    try fixture.writeThumbnail("/photos/1.jpg", ImageFrame(width: 256, height: 171), in: "large")
    fixture.maker.state.withLock { $0.failures["1.jpg"] = .blamed("it ended the decoder") }
    let session = try fixture.session()
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 1).failure == .unreadable)
    #expect(fixture.maker.rendered.map(\.contentType) == ["image/png", "image/jpeg"])
    fixture.maker.state.withLock { $0.failures = [:] }
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 2).failure == .unreadable, "remembered")
    #expect(fixture.maker.rendered.count == 2)
  }
}
