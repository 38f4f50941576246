import Foundation
import Glibc
import Logging
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// A clock that moves when a test moves it.
final class ManualClock: Sendable {
  private let now = Mutex<UInt32>(1_800_000_000)

  func advance(_ seconds: UInt32) { now.withLock { $0 += seconds } }

  var clock: ImageClock { ImageClock { self.now.withLock { $0 } } }
}

/// The errors that are logged.
struct ErrorLog: LogHandler {
  private final class Lines: Sendable {
    let lines = Mutex<[String]>([])
  }

  private let recorded = Lines()
  var logLevel = Logger.Level.debug
  var metadata: Logger.Metadata = [:]

  /// Each message with its reason.
  var errors: [String] { recorded.lines.withLock { $0 } }

  func log(event: LogEvent) {
    guard event.level >= .error else { return }
    let reason = event.metadata?["reason"].map { ": \($0)" } ?? ""
    recorded.lines.withLock { $0.append("\(event.message)\(reason)") }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }
}

/// An engine with a decoder and a library that a test controls. It ends with the fixture.
final class EngineFixture: Sendable {
  let folder: TemporaryFolder
  let maker = FakeMaker()
  let assets: FakeAssets
  let clock = ManualClock()
  let log = ErrorLog()
  let engine: ImageEngine

  var cache: String { folder.path + "/pictures" }
  /// The folder that all programs share.
  var thumbnails: String { folder.path + "/thumbnails" }

  /// - Parameters:
  ///   - library: the UUID of the library.
  ///   - isSharing: whether pictures are written as thumbnails for other programs. Nil means that such thumbnails are
  ///     not read either.
  ///   - onThumbnailChange: is called after each change of a shared thumbnail or of its record.
  init(
    library: String = "library", workers: Int = 1, maximumBytes: Int64 = 1 << 30, isSharing: Bool? = nil,
    assets: FakeAssets = FakeAssets(), in folder: TemporaryFolder? = nil,
    onThumbnailChange: @escaping @Sendable () -> Void = {}
  ) throws {
    self.assets = assets
    self.folder = try folder ?? TemporaryFolder("images")
    var configuration = ImageConfiguration(
      cacheDirectory: self.folder.path + "/pictures", library: library, maximumBytes: maximumBytes, workers: workers,
      logger: Logger(label: "test") { [log] _ in log })
    configuration.clock = clock.clock
    configuration.sharedThumbnails = isSharing.map { [folder = self.folder] in
      var thumbnails = SharedThumbnailConfiguration(
        folder: folder.path + "/thumbnails", isWriting: $0, version: "1.0")
      thumbnails.onChange = onThumbnailChange
      return thumbnails
    }
    engine = ImageEngine(configuration: configuration, assets: assets, maker: maker)
  }

  deinit { engine.shutDown() }

  func session(_ process: String = "viewer", wantsData: Bool = false) throws -> ImageSession {
    try engine.openSession(client: ImageClient(process: process), wantsData: wantsData)
  }

  /// Makes one picture.
  func picture(
    _ id: AssetID, _ options: ImageOptions = .thumbnail, in session: ImageSession, as number: some RequestNumber
  ) async throws -> PictureResult {
    try session.request([ImageDemand(id: number, assetID: id, options: options)])
    let results = try await results(of: session, finals: 1)
    return try #require(results.last)
  }

  /// Takes results until there are so many final ones.
  func results(of session: ImageSession, finals: Int) async throws -> [PictureResult] {
    var results: [PictureResult] = []
    try await eventually("\(finals) final results, not \(results.count(where: \.isFinal))") {
      results += session.takeResults()
      return results.count(where: \.isFinal) >= finals
    }
    return results
  }

  /// The requests that are looked up, or get an immediate picture, or wait for that.
  var earlyCount: Int {
    engine.shared.withLock { state in
      state.lookups.waitingCount + state.lookups.runningCount + state.immediate.waitingCount
        + state.immediate.runningCount + state.movingCount
    }
  }

  /// Waits until so many pictures were begun.
  func waitForRendering(_ count: Int) async throws {
    try await eventually("\(count) pictures begun, not \(maker.rendered.count)") { maker.rendered.count >= count }
  }

  /// Waits until no work runs or waits.
  func waitUntilIdle() async throws {
    try await eventually("no work, but \(engine.statistics())") {
      let statistics = engine.statistics()
      return statistics.queued == 0 && statistics.running == 0
    }
    engine.store.waitUntilIdle()
    try await eventually("no work for shared thumbnails") { engine.sharedThumbnails?.isIdle ?? true }
  }

  /// The pictures in the cache directory, without their folders.
  var keptFiles: [String] {
    let all = FileManager.default.enumerator(atPath: cache)?.compactMap { $0 as? String } ?? []
    return all.filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".png") }.sorted()
  }
}

extension ImageOptions {
  /// 256 pixels, without an immediate picture.
  static let thumbnail = ImageOptions(frame: ImageFrame(width: 256, height: 256), delivery: .highQuality)

  static func square(_ side: Int, _ delivery: Delivery = .highQuality) -> ImageOptions {
    ImageOptions(frame: ImageFrame(width: side, height: side), delivery: delivery)
  }
}

extension PictureResult {
  var picture: Picture? { if case .picture(let picture) = outcome { picture } else { nil } }
  var failure: PictureFailureKind? { if case .failure(let kind, _) = outcome { kind } else { nil } }
  var path: String? { if case .file(let path) = picture?.content { path } else { nil } }
  var longerSide: Int? { picture.map { max($0.width, $0.height) } }
}

func isReadable(_ path: String) -> Bool { access(path, R_OK) == 0 }

/// A number of a request. Many tests number a request as its asset.
protocol RequestNumber {
  var requestID: Int64 { get }
}

extension Int: RequestNumber {
  var requestID: Int64 { Int64(self) }
}

extension Int64: RequestNumber {
  var requestID: Int64 { self }
}

extension AssetID: RequestNumber {
  var requestID: Int64 { rawValue }
}

extension ImageDemand {
  init(id number: some RequestNumber, assetID: AssetID, options: ImageOptions) {
    self.init(id: number.requestID, assetID: assetID, options: options)
  }
}
