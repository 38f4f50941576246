import Foundation
import Glibc
import ImageRecords
import PhotoModel
import TestTools
import Testing

@testable import PhotoImages

/// The picture that a request gets.
struct PictureTests {
  @Test func opportunisticRequestGetsTheEmbeddedPictureFirst() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    fixture.maker.state.withLock { $0.embedded = ["1.jpg"] }
    let session = try fixture.session()
    try session.request([ImageDemand(id: 1, assetID: 1, options: .square(256, .opportunistic))])
    let results = try await fixture.results(of: session, finals: 1)
    #expect(results.map(\.isFinal) == [false, true])
    #expect(results.map { $0.picture?.isDegraded } == [true, false])
    guard case .data(let bytes) = results[0].picture?.content else {
      Issue.record("an embedded picture has no file")
      return
    }
    #expect(bytes.count == results[0].picture?.byteCount)
    #expect(results[1].path.map(isReadable) == true)
    // Now it is kept.
    let again = try await fixture.picture(1, .square(256, .opportunistic), in: session, as: 2)
    #expect(again.isFinal && again.path == results[1].path)
    #expect(fixture.engine.statistics().cacheHits == 1)
    // A smaller kept picture comes before an embedded one.
    try session.request([ImageDemand(id: 3, assetID: 1, options: .square(1024, .opportunistic))])
    let larger = try await fixture.results(of: session, finals: 1)
    #expect(larger.map(\.longerSide) == [256, 1024])
    #expect(fixture.maker.embeddedCount == 1)
  }

  @Test func fastRequestGetsOneResult() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    fixture.maker.state.withLock { $0.embedded = ["1.jpg"] }
    let session = try fixture.session()
    let embedded = try await fixture.picture(1, .square(512, .fast), in: session, as: 1)
    #expect(embedded.longerSide == 160 && embedded.picture?.isDegraded == true)
    let made = try await fixture.picture(2, .square(512, .fast), in: session, as: 2)
    #expect(made.longerSide == 512 && made.picture?.isDegraded == false)
    let larger = try await fixture.picture(2, .square(128, .fast), in: session, as: 3)
    #expect(larger.longerSide == 512 && larger.picture?.isDegraded == false)
    let smaller = try await fixture.picture(2, .square(2048, .fast), in: session, as: 4)
    #expect(smaller.longerSide == 512 && smaller.picture?.isDegraded == true)
    #expect(fixture.maker.rendered.count == 1)
  }

  /// The embedded picture has 160 × 107 pixels.
  @Test func embeddedPictureThatIsAsLargeAsRequestedIsNotDegraded() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.embedded = ["1.jpg"] }
    let session = try fixture.session()
    let frame = ImageFrame(width: 107, height: 107)
    let cases: [(ImageOptions, isDegraded: Bool)] = [
      (.square(128, .fast), false), (.square(107, .fast), false), (.square(300, .fast), true),
      (.square(2048, .fast), true), (ImageOptions(delivery: .fast), true),
      (ImageOptions(frame: frame, contentMode: .aspectFill, delivery: .fast), false),
      (
        ImageOptions(frame: ImageFrame(width: 128, height: 128), contentMode: .aspectFill, delivery: .fast), true
      ),
    ]
    for (number, (options, isDegraded)) in cases.enumerated() {
      let result = try await fixture.picture(1, options, in: session, as: AssetID(number))
      #expect(result.path == nil && result.picture?.isDegraded == isDegraded, "\(options)")
    }
    // A whole photo that is embedded is not larger in the file.
    fixture.assets.add(2...2)
    fixture.maker.state.withLock { state in
      state.embedded.insert("2.jpg")
      state.sizes["2.jpg"] = ImageFrame(width: 160, height: 107)
    }
    let whole = try await fixture.picture(2, ImageOptions(delivery: .fast), in: session, as: 100)
    #expect(whole.path == nil && whole.picture?.isDegraded == false)
    // A degraded picture comes before the final one in any case.
    try session.request([ImageDemand(id: 101, assetID: 1, options: .square(128, .opportunistic))])
    let both = try await fixture.results(of: session, finals: 1)
    #expect(both.map { $0.picture?.isDegraded } == [true, false])
  }

  @Test func embeddedPictureNeverWaitsBehindADecode() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...9)
    fixture.maker.state.withLock { $0.embedded = ["9.jpg"] }
    let session = try fixture.session()
    _ = try await fixture.picture(8, in: session, as: 1)
    fixture.maker.hold()
    try session.request((2...7).map { ImageDemand(id: $0, assetID: $0, options: .thumbnail) })
    try session.request([
      ImageDemand(id: 8, assetID: 8, options: .thumbnail),
      ImageDemand(id: 9, assetID: 9, options: .square(256, .opportunistic)),
    ])
    var seen: [PictureResult] = []
    try await eventually("the kept and the embedded picture") {
      seen += session.takeResults()
      return seen.count == 2
    }
    #expect(seen.map(\.requestID).sorted() == [8, 9])
  }

  /// An embedded picture may take two seconds, and the disk of the photo may have to spin up before.
  @Test func keptPictureNeverWaitsBehindAnEmbeddedOne() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...9)
    let session = try fixture.session()
    _ = try await fixture.picture(8, in: session, as: 1)
    fixture.maker.holdEmbedded()
    try session.request((2...7).map { ImageDemand(id: $0, assetID: $0, options: .square(256, .opportunistic)) })
    try await eventually("all threads for embedded pictures are held") {
      fixture.maker.embeddedCount == ImageEngine.immediateThreadCount
    }
    #expect(try await fixture.picture(8, .square(256, .opportunistic), in: session, as: 8).isFinal)
    #expect(try await fixture.picture(9, in: session, as: 9).isFinal, "nor does one that has to be made")
    fixture.maker.release()
    _ = try await fixture.results(of: session, finals: 6)
  }

  @Test func embeddedPictureThatComesTooLateCountsAsNone() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { state in
      state.embedded = ["1.jpg"]
      state.embeddedFailures["1.jpg"] = .late("the decoder took longer than 2 s")
    }
    let session = try fixture.session()
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 1).longerSide == 256)
    #expect(try await fixture.picture(1, .square(512, .highQuality), in: session, as: 2).longerSide == 512)
    #expect(fixture.maker.embeddedCount == 1)
    fixture.clock.advance(61)
    fixture.maker.state.withLock { $0.embeddedFailures = [:] }
    // No picture of the revision is kept.
    fixture.assets.change(1) { $0.revision = "r2" }
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 3).longerSide == 160)
    #expect(fixture.engine.statistics().failed == 0)
  }

  /// Some RAW files can only be shown by a small preview.
  @Test func pictureOfAPreviewStaysDegraded() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.previewOnly = ["1.jpg"] }
    let session = try fixture.session()
    var exact = ImageOptions.square(300)
    exact.resize = .exact
    let cases: [(ImageOptions, longerSide: Int, isDegraded: Bool)] = [
      (.thumbnail, 160, true), (.square(2048), 160, true), (ImageOptions(delivery: .highQuality), 160, true),
      (.square(1024, .fast), 160, true), (exact, 160, true), (.square(128), 128, false),
    ]
    var number = 0
    for _ in 0..<2 {
      for (options, longerSide, isDegraded) in cases {
        number += 1
        let result = try await fixture.picture(1, options, in: session, as: number)
        #expect(result.isFinal && result.longerSide == longerSide, "\(options)")
        #expect(result.picture?.isDegraded == isDegraded, "\(options)")
      }
    }
    #expect(fixture.maker.rendered.count { $0.format != .png } == 3, "each one is kept")
    fixture.assets.change(1) { $0.isAvailable = false }
    #expect(try await fixture.picture(1, .square(512), in: session, as: 100).picture?.isDegraded == true)
    try await fixture.waitUntilIdle()
    #expect(!fixture.sharedFiles.contains { $0.hasPrefix("large/") }, "other programs make a better one")
  }

  @Test(arguments: [(100, 128), (128, 128), (129, 256), (700, 1024), (2048, 2048), (2049, 3000), (9000, 3000)])
  func smallestKeptSizeIsMade(_ side: Int, _ expected: Int) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let result = try await fixture.picture(1, .square(side), in: try fixture.session(), as: 1)
    #expect(result.longerSide == expected)
  }

  @Test func coveredFrameGetsALargerSize() async throws {
    let fixture = try EngineFixture()
    // 6000 × 1000 in 256 × 256 is 1536 × 256. The catalog knows the size of one of them.
    fixture.assets.add(1...1)
    fixture.assets.add(2...2, pixelSize: ImageFrame(width: 6000, height: 1000))
    fixture.maker.state.withLock {
      $0.sizes = ["1.jpg": .init(width: 6000, height: 1000), "2.jpg": .init(width: 6000, height: 1000)]
    }
    let session = try fixture.session()
    let options = ImageOptions(
      frame: ImageFrame(width: 256, height: 256), contentMode: .aspectFill, delivery: .highQuality)
    for id in AssetID(1)...2 {
      let result = try await fixture.picture(id, options, in: session, as: id)
      #expect(result.longerSide == 2048)
    }
    #expect(fixture.maker.rendered.count == 3, "without a known size, the first one is too small")
    // From now on, the kept ones tell the aspect ratio.
    for id in AssetID(1)...2 { _ = try await fixture.picture(id, options, in: session, as: id + 2) }
    #expect(fixture.maker.rendered.count == 3)
  }

  @Test func exactSizeIsMadeAndKept() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    var options = ImageOptions.square(300)
    options.resize = .exact
    for number in AssetID(1)...2 {
      let result = try await fixture.picture(1, options, in: session, as: number)
      #expect(result.picture?.width == 300 && result.picture?.height == 200)
    }
    options.contentMode = .aspectFill
    let covering = try await fixture.picture(1, options, in: session, as: 3)
    #expect(covering.picture?.width == 450 && covering.picture?.height == 300)
    #expect(fixture.maker.rendered.count == 2)
  }

  @Test func smallOriginalIsKeptOnceAndFitsEachLargerSize() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.sizes["1.jpg"] = ImageFrame(width: 90, height: 60) }
    let session = try fixture.session()
    for (number, side) in [256, 128, 2048].enumerated() {
      let result = try await fixture.picture(1, .square(side), in: session, as: AssetID(number + 1))
      #expect(result.longerSide == 90 && result.picture?.isDegraded == false)
    }
    let full = try await fixture.picture(1, ImageOptions(delivery: .highQuality), in: session, as: 9)
    #expect(full.longerSide == 90)
    #expect(fixture.maker.rendered.count == 1)
    #expect(fixture.keptFiles.count == 1)
  }

  @Test func offlinePhotoHasItsKeptPictures() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session()
    _ = try await fixture.picture(1, .square(512), in: session, as: 1)
    for id in AssetID(1)...2 { fixture.assets.change(id) { $0.isAvailable = false } }
    let fitting = try await fixture.picture(1, .square(512, .opportunistic), in: session, as: 2)
    #expect(fitting.longerSide == 512 && fitting.picture?.isDegraded == false)
    let smaller = try await fixture.picture(1, .square(2048, .opportunistic), in: session, as: 3)
    #expect(smaller.isFinal && smaller.longerSide == 512 && smaller.picture?.isDegraded == true)
    let larger = try await fixture.picture(1, .square(128), in: session, as: 4)
    #expect(larger.longerSide == 512 && larger.picture?.isDegraded == false)
    let none = try await fixture.picture(2, in: session, as: 5)
    #expect(none.failure == .unavailable)
    // It is back, and the failure is not remembered.
    fixture.assets.change(2) { $0.isAvailable = true }
    #expect(try await fixture.picture(2, in: session, as: 6).longerSide == 256)
    fixture.assets.failOpening(1, .offline)
    #expect(try await fixture.picture(1, .square(1024), in: session, as: 7).picture?.isDegraded == true)
  }

  /// Another program replaced the file, and the catalog has the former one.
  @Test func fileThatTheCatalogDoesNotKnowIsNotDecoded() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.embedded = ["1.jpg"] }
    let session = try fixture.session()
    fixture.assets.setFileChanged(1, true)
    for (number, delivery) in [ImageOptions.Delivery.opportunistic, .fast, .highQuality].enumerated() {
      let result = try await fixture.picture(1, .square(256, delivery), in: session, as: AssetID(number))
      #expect(result.failure == .unavailable)
    }
    #expect(fixture.maker.rendered.isEmpty && fixture.maker.embeddedCount == 0 && fixture.keptFiles.isEmpty)
    fixture.assets.setFileChanged(1, false)
    #expect(try await fixture.picture(1, in: session, as: 10).longerSide == 256, "the failure is not remembered")
    // Kept pictures are of the revision that they name.
    fixture.assets.setFileChanged(1, true)
    let smaller = try await fixture.picture(1, .square(512), in: session, as: 11)
    #expect(smaller.longerSide == 256 && smaller.picture?.isDegraded == true && smaller.isFinal)
    #expect(try await fixture.picture(1, .square(128), in: session, as: 12).picture?.isDegraded == false)
  }

  @Test(arguments: [false, true]) func resultOfAFileThatChangesMeanwhileIsDropped(isDamaged: Bool) async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      if isDamaged { state.failures["1.jpg"] = .failed(.unreadable, message: "the file is cut off") }
      state.onMade = { [assets = fixture.assets] _ in assets.setFileChanged(1, true) }
    }
    #expect(try await fixture.picture(1, in: session, as: 1).failure == .unavailable)
    try await fixture.waitUntilIdle()
    #expect(fixture.maker.rendered.count == 1 && fixture.keptFiles.isEmpty && fixture.sharedFiles.isEmpty)
    fixture.assets.setFileChanged(1, false)
    fixture.maker.state.withLock { ($0.onMade, $0.failures) = (nil, [:]) }
    #expect(try await fixture.picture(1, in: session, as: 2).longerSide == 256, "the failure is not remembered")
  }

  /// A client that gets the error of a changed file would wait for the next one, which never comes.
  @Test(arguments: [ImageFileError.offline, .readFailed(ETIMEDOUT)])
  func failureToCompareAFileIsNoChange(error: ImageFileError) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      state.onMade = { [assets = fixture.assets] _ in assets.setFileState(1, .unknown(error)) }
    }
    guard case .failure(let kind, let message) = try await fixture.picture(1, in: session, as: 1).outcome else {
      Issue.record("a picture whose file is not known was sent")
      return
    }
    #expect(kind == .unavailable && !message.contains("changed"), "\(message)")
    #expect(message.contains(error == .offline ? "offline" : "can't be read"), "\(message)")
    #expect(fixture.keptFiles.isEmpty)
    fixture.maker.state.withLock { $0.onMade = nil }
    fixture.assets.setFileState(1, .unchanged)
    #expect(try await fixture.picture(1, in: session, as: 2).longerSide == 256, "the failure is not remembered")
  }

  @Test(arguments: [EIO, ESTALE, ETIMEDOUT])
  func aFileThatCannotBeReadIsUnavailableUntilItCan(number: Int32) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.assets.moveToShare(1...1)
    let session = try fixture.session()
    fixture.assets.failOpening(1, .readFailed(number))
    for (id, delivery) in [ImageOptions.Delivery.opportunistic, .fast, .highQuality].enumerated() {
      let result = try await fixture.picture(1, .square(256, delivery), in: session, as: AssetID(id))
      guard case .failure(.unavailable, let message) = result.outcome else {
        Issue.record("\(result)")
        continue
      }
      #expect(message.contains(String(cString: strerror(number))), "\(message)")
    }
    fixture.assets.failOpening(1, nil)
    #expect(try await fixture.picture(1, in: session, as: 10).longerSide == 256, "the failure is not remembered")
  }

  @Test(arguments: [false, true])
  func embeddedPictureOfAFileThatChangesMeanwhileIsDropped(isDamaged: Bool) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      state.embedded = ["1.jpg"]
      if isDamaged { state.embeddedFailures["1.jpg"] = .blamed("it ended the decoder") }
      state.onMade = { [assets = fixture.assets] _ in assets.setFileChanged(1, true) }
    }
    try session.request([ImageDemand(id: 1, assetID: 1, options: .square(256, .opportunistic))])
    let results = try await fixture.results(of: session, finals: 1)
    #expect(results.map(\.failure) == [.unavailable] && fixture.maker.rendered.isEmpty)
    fixture.assets.setFileChanged(1, false)
    fixture.maker.state.withLock { ($0.onMade, $0.embeddedFailures) = (nil, [:]) }
    let embedded = try await fixture.picture(1, .square(256, .fast), in: session, as: 2)
    #expect(embedded.longerSide == 160, "the failure is not remembered")
  }

  @Test(arguments: [(PictureFailure.unreadable, PictureFailureKind.unreadable), (.tooLarge, .tooLarge)])
  func failureIsRememberedByRevision(_ failure: PictureFailure, _ kind: PictureFailureKind) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.failures["1.jpg"] = .failed(failure, message: "the reason") }
    let session = try fixture.session()
    for number in 1...3 {
      let result = try await fixture.picture(1, .square(number * 100), in: session, as: number)
      guard case .failure(kind, "the reason") = result.outcome else {
        Issue.record("\(result)")
        continue
      }
    }
    #expect(fixture.maker.rendered.count == 1)
    #expect(fixture.engine.statistics().failed == 3)
    fixture.maker.state.withLock { $0.failures = [:] }
    fixture.assets.change(1) { $0.revision = "r2" }
    let result = try await fixture.picture(1, in: session, as: 4)
    #expect(result.longerSide == 256 && result.picture?.revision == "r2")
  }

  /// The disk of the file failed, which says nothing of the photo.
  @Test func fileThatCouldNotBeReadIsTriedAgain() async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...1)
    let failure = PictureMaking.failed(.readFailed, message: "the file can't be read: Input/output error")
    fixture.maker.state.withLock { ($0.failures["1.jpg"], $0.embeddedFailures["1.jpg"]) = (failure, failure) }
    let session = try fixture.session()
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 1).failure == .unavailable)
    try await fixture.waitUntilIdle()
    #expect(fixture.sharedFiles.isEmpty, "no other program is told that the photo is damaged")
    fixture.maker.state.withLock { state in
      (state.failures, state.embeddedFailures) = ([:], [:])
      state.embedded = ["1.jpg"]
    }
    #expect(try await fixture.picture(1, .square(256, .fast), in: session, as: 2).longerSide == 160)
    #expect(try await fixture.picture(1, in: session, as: 3).longerSide == 256)
  }

  @Test(arguments: [PictureFailure.resultTooLarge, .outOfMemory])
  func failureOfOneResultBlocksNoOtherSizeOrFormat(_ failure: PictureFailure) async throws {
    let fixture = try EngineFixture(isSharing: true)
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { $0.failures["1.jpg"] = .failed(failure, message: "it is too large") }
    let kind = failure == .outOfMemory ? PictureFailureKind.unreadable : .tooLarge
    #expect(try await fixture.picture(1, .square(2048), in: session, as: 1).failure == kind)
    fixture.maker.state.withLock { $0.failures = [:] }
    #expect(try await fixture.picture(1, .square(2048), in: session, as: 2).failure == kind, "it is remembered")
    #expect(fixture.maker.rendered.count == 1)
    #expect(try await fixture.picture(1, .square(256), in: session, as: 3).longerSide == 256)
    var png = ImageOptions.square(2048)
    png.format = .png
    #expect(try await fixture.picture(1, png, in: session, as: 4).longerSide == 2048)
    try await fixture.waitUntilIdle()
    #expect(!fixture.sharedFiles.contains { $0.hasPrefix("fail/") })
  }

  @Test func embeddedPictureThatIsTooLargeBlocksNoOtherSize() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      state.embedded = ["1.jpg"]
      state.embeddedFailures["1.jpg"] = .failed(.resultTooLarge, message: "it has 300000 bytes")
    }
    fixture.maker.hold()
    try session.request([ImageDemand(id: 1, assetID: 1, options: .square(1024, .opportunistic))])
    try await fixture.waitForRendering(1)
    fixture.maker.state.withLock { $0.embeddedFailures = [:] }
    let smaller = try await fixture.picture(1, .square(256, .fast), in: session, as: 2)
    #expect(smaller.longerSide == 160)
    try session.request([ImageDemand(id: 3, assetID: 1, options: .square(1000, .opportunistic))])
    fixture.maker.release()
    let results = try await fixture.results(of: session, finals: 2)
    #expect(results.allSatisfy { $0.isFinal }, "the failure of the size is remembered")
  }

  @Test(arguments: [
    (PictureMaking.failed(.unsupported, message: "no decoder"), PictureFailureKind.unsupported),
    (.failed(.tooLarge, message: "too many pixels"), .tooLarge),
    (.failed(.outOfMemory, message: "no memory"), .unreadable), (.blamed("it crashed"), .unreadable),
    (.unavailable(.unsupported, "photod-images is not installed"), .unsupported),
  ])
  func failureOfTheDecoderIsReported(_ making: PictureMaking, _ kind: PictureFailureKind) async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.maker.state.withLock { $0.failures["1.jpg"] = making }
    let session = try fixture.session()
    #expect(try await fixture.picture(1, in: session, as: 1).failure == kind)
    fixture.maker.state.withLock { $0.failures = [:] }
    fixture.clock.advance(61)
    let again = try await fixture.picture(1, in: session, as: 2)
    // A decoder may be installed meanwhile. A file does not get better.
    #expect((again.failure == nil) == (kind == .unsupported))
  }

  @Test func pictureIsMadeAgainIfTheAssetChangesMeanwhile() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      state.onMade = { [assets = fixture.assets] _ in
        assets.change(1) { if $0.revision == "r1" { $0.revision = "r2" } }
      }
    }
    let result = try await fixture.picture(1, in: session, as: 1)
    #expect(result.picture?.revision == "r2")
    #expect(fixture.maker.rendered.count == 2)
    // If it changes again and again, the picture of the second try is sent.
    fixture.maker.state.withLock { state in
      state.onMade = { [assets = fixture.assets] _ in assets.change(1) { $0.revision += "+" } }
    }
    let other = try await fixture.picture(1, .square(128), in: session, as: 2)
    #expect(other.picture?.revision == "r2+")
    #expect(fixture.maker.rendered.count == 4)
  }

  @Test func assetThatIsDeletedMeanwhileIsNoAsset() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    let session = try fixture.session()
    fixture.maker.state.withLock { state in
      state.onMade = { [assets = fixture.assets] _ in assets.remove(1) }
    }
    #expect(try await fixture.picture(1, in: session, as: 1).failure == .noSuchAsset)
    try await fixture.waitUntilIdle()
    #expect(fixture.keptFiles.isEmpty)
  }

  @Test func sessionWithDataGetsNoPaths() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    let session = try fixture.session(wantsData: true)
    fixture.maker.state.withLock { $0.byteCount = 256 << 10 }
    let small = try await fixture.picture(1, in: session, as: 1)
    guard case .data(let bytes) = small.picture?.content else {
      Issue.record("no data")
      return
    }
    #expect(bytes.count == 256 << 10)
    fixture.maker.state.withLock { $0.byteCount = 700_000 }
    let large = try await fixture.picture(2, in: session, as: 2)
    guard case .stored(let imageID) = large.picture?.content else {
      Issue.record("no imageID")
      return
    }
    fixture.clock.advance(60)
    let (first, total) = try session.readImage(imageID, offset: 0)
    let (rest, _) = try session.readImage(imageID, offset: first.count)
    #expect(total == 700_000 && first.count == 512 << 10 && first.count + rest.count == total)
    #expect(PictureHeader(first[...])?.size.width == 256)
    #expect(throws: ImageRequestError.noSuchImage) { try session.readImage("no", offset: 0) }
    fixture.clock.advance(1)
    #expect(throws: ImageRequestError.noSuchImage) { try session.readImage(imageID, offset: 0) }
  }

  @Test func otherFilesOfAnAssetAreShown() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.assets.change(1) { asset in
      for name in ["edited", "raw"] {
        asset.files.append(
          ImageFile(
            index: asset.files.count, path: Array("/photos/\(name)".utf8), contentType: "image/jpeg", byteCount: 5,
            kind: .adjustedPhoto))
      }
      asset.orientation = 6
      asset.currentFile = 1
      asset.originalFile = 0
    }
    let session = try fixture.session()
    var options = ImageOptions.thumbnail
    _ = try await fixture.picture(1, options, in: session, as: 1)
    options.version = .original
    _ = try await fixture.picture(1, options, in: session, as: 2)
    options.resource = 2
    _ = try await fixture.picture(1, options, in: session, as: 3)
    #expect(fixture.maker.renderedNames == ["edited", "1.jpg", "raw"])
    #expect(fixture.maker.rendered.map(\.orientation) == [0, 6, 0])
    options.resource = 3
    #expect(try await fixture.picture(1, options, in: session, as: 4).failure == .unreadable)
  }

  /// A time is part of the name of a kept picture, and only of a video.
  @Test func eachTimeOfAVideoIsAPictureOfItsOwn() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...2)
    fixture.assets.change(1) { asset in
      asset.mediaType = .video
      asset.files[0].contentType = "video/mp4"
    }
    let session = try fixture.session()
    func picture(_ id: AssetID, at seconds: Double?, as number: Int64) async throws {
      var options = ImageOptions.thumbnail
      options.atSeconds = seconds
      #expect(try await fixture.picture(id, options, in: session, as: number).picture != nil)
    }
    for (number, seconds) in [nil, 0, 1.5, 1.5004, 1e300, nil].enumerated() {
      try await picture(1, at: seconds, as: Int64(number) + 1)
    }
    let latest = PictureRequest.latestMilliseconds
    #expect(fixture.maker.rendered.map(\.atMilliseconds) == [nil, 0, 1_500, latest])
    #expect(fixture.keptFiles.count == 4)
    try await picture(2, at: 1, as: 10)
    try await picture(2, at: 2, as: 11)
    #expect(fixture.maker.rendered.count == 5 && fixture.maker.rendered.last?.atMilliseconds == nil)
  }

  /// The asset of a Live Photo is a photo, and one of its files is a video.
  @Test func videoOfALivePhotoIsDecodedAsAVideo() async throws {
    let fixture = try EngineFixture()
    fixture.assets.add(1...1)
    fixture.assets.change(1) { asset in
      asset.files.append(
        ImageFile(
          index: 1, path: Array("/photos/1.mov".utf8), contentType: "video/quicktime", byteCount: 9, kind: .pairedVideo)
      )
    }
    let session = try fixture.session()
    var options = ImageOptions.thumbnail
    options.atSeconds = 0.5
    _ = try await fixture.picture(1, options, in: session, as: 1)
    options.resource = 1
    _ = try await fixture.picture(1, options, in: session, as: 2)
    let requests = fixture.maker.rendered
    #expect(requests.map(\.contentType) == ["image/jpeg", "video/quicktime"])
    #expect(requests.map(\.atMilliseconds) == [nil, 500])
  }
}
