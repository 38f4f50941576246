import Foundation
import Glibc
import Logging
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoImages

/// The place of the real photos, which are not part of the package.
private enum RealPhotos {
  static let path: String? = {
    let named = ProcessInfo.processInfo.environment["PHOTOD_TEST_PHOTOS"]
    let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = named ?? package.deletingLastPathComponent().appendingPathComponent("shared/photos").path
    return FileManager.default.fileExists(atPath: path) ? path : nil
  }()
}

/// The engine with the real photod-image, and real photos of the folder `shared/photos` or PHOTOD_TEST_PHOTOS.
@Suite(.enabled(if: RealPhotos.path != nil, "there is no folder of photos"))
struct RealDecoderTests {
  /// The photos of the folder are the assets 1, 2 and so on.
  private final class Photos: ImageAssets {
    func isOnShare(_ file: ImageFile) -> Bool { false }

    let paths: [String]

    init(_ paths: [String]) { self.paths = paths }

    func imageAsset(_ id: AssetID) throws -> ImageAsset? {
      guard paths.indices.contains(Int(id.rawValue) - 1) else { return nil }
      let file = ImageFile(
        index: 0, path: Array(paths[Int(id.rawValue) - 1].utf8), contentType: "image/jpeg", byteCount: 1, kind: .photo)
      return ImageAsset(id: id, revision: "r1", isAvailable: true, files: [file])
    }

    func missingAssets(_ ids: Set<AssetID>) throws -> Set<AssetID> {
      ids.filter { !paths.indices.contains(Int($0.rawValue) - 1) }
    }

    func open(_ file: ImageFile, isWanted: @Sendable () -> Bool) throws(ImageFileError) -> OpenImageFile {
      let descriptor = Glibc.open(String(decoding: file.path, as: UTF8.self), O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .errno(errno) }
      return OpenImageFile(descriptor)
    }

    func state(of file: ImageFile, _ open: OpenImageFile) -> ImageFileState { .unchanged }
  }

  private let folder: TemporaryFolder
  private let processes: PictureProcesses
  private let engine: ImageEngine
  private let session: ImageSession
  private let count: Int

  init() throws {
    folder = try TemporaryFolder("real-images")
    let root = try #require(RealPhotos.path)
    let names = ["recurser__exif-orientation-examples", "ianare__exif-samples/jpg"]
    var paths: [String] = []
    for name in names {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: "\(root)/\(name)"))?.sorted() ?? []
      paths += files.filter { $0.lowercased().hasSuffix(".jpg") }.prefix(4).map { "\(root)/\(name)/\($0)" }
    }
    try #require(!paths.isEmpty)
    count = paths.count
    processes = PictureProcesses(
      program: .test(BuiltPrograms.path("photod-image")), limits: .init(deadline: .seconds(3)),
      logger: Logger(label: "test"))
    let configuration = ImageConfiguration(
      cacheDirectory: folder.path, library: "library", workers: 2, logger: Logger(label: "test"))
    engine = ImageEngine(configuration: configuration, assets: Photos(paths), maker: processes)
    session = try engine.openSession(client: ImageClient(process: "viewer"), wantsData: false)
  }

  private func results(_ finals: Int) async throws -> [PictureResult] {
    var results: [PictureResult] = []
    try await eventually("\(finals) final results") {
      results += session.takeResults()
      return results.count(where: \.isFinal) == finals
    }
    return results
  }

  private func request(_ first: Int64, _ ids: [AssetID]) throws {
    try session.request(
      ids.enumerated().map { ImageDemand(id: first + Int64($0), assetID: $1, options: .square(128, .opportunistic)) })
  }

  @Test func realPhotosHavePictures() async throws {
    defer { engine.shutDown() }
    try request(1, Array(1...AssetID(count)))
    for result in try await results(count) where result.isFinal {
      let path = try #require(result.path, "\(result)")
      #expect(result.longerSide ?? 0 <= 128)
      let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
      #expect(bytes.range(of: Data("Exif".utf8)) == nil, "no metadata")
    }
  }

  /// A size that no kept picture has, so that a process must make it.
  private func exact(_ side: Int) -> ImageOptions {
    var options = ImageOptions.square(side)
    options.resize = .exact
    return options
  }

  @Test func processThatIsKilledOrStoppedIsReplaced() async throws {
    defer { engine.shutDown() }
    try request(1, [1])
    #expect(try await results(1).last?.path != nil)
    for processID in processes.processIDs { kill(processID, SIGKILL) }
    try session.request([ImageDemand(id: 2, assetID: 1, options: exact(60))])
    #expect(try await results(1).last?.path != nil)
    let stopped = processes.processIDs
    for processID in stopped { kill(processID, SIGSTOP) }
    try session.request([ImageDemand(id: 3, assetID: 1, options: exact(70))])
    #expect(try await results(1).last?.failure == .unreadable, "after three seconds")
    try session.request([ImageDemand(id: 4, assetID: 1, options: exact(70))])
    let again = try await results(1)
    // Another stopped process may have been idle.
    #expect(again.last?.path != nil || stopped.count > 1)
  }
}
