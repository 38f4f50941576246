import Dispatch
import Foundation
import Glibc
import ImageRecords
import Logging
import PhotoCatalog
import PhotoContract
import PhotoModel
import PhotoTestSupport
import PhotoWatch
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoImages
@testable import PhotoServer

/// Makes pictures without a decoder: as large as the frame, or 4000 by 3000. Tests can hold it.
final class FakePictureMaker: PictureMaker {
  private let gate = DispatchGroup()
  private let made = Mutex(0)
  /// The size of the pictures in bytes; at least that of their headers.
  let byteCount = Mutex(1_000)

  /// The calls that have begun.
  var count: Int { made.withLock { $0 } }

  /// Runs `body` while every picture waits.
  func holding(_ body: @Sendable () async throws -> Void) async throws {
    gate.enter()
    defer { gate.leave() }
    try await body()
  }

  func make(_ request: PictureRequest, from descriptor: Int32) -> PictureMaking {
    guard request.kind == .rendered else { return .failed(.noEmbeddedPicture, message: "there is none") }
    made.withLock { $0 += 1 }
    gate.wait()
    let (width, height) = request.frame.map { (Int($0.width), Int($0.height)) } ?? (4000, 3000)
    let isPNG = request.format == .png
    let bytes = isPNG ? Self.png(width, height) : Self.picture(width, height, byteCount: byteCount.withLock { $0 })
    guard let header = PictureHeader(bytes[...]) else { return .blamed("the fake picture has no header") }
    return .picture(ReceivedPicture(bytes: bytes, header: header, isDegraded: false))
  }

  func shutDown() {}

  /// The start of frame of a JPEG, padding, and the end of a JPEG.
  static func picture(_ width: Int, _ height: Int, byteCount: Int) -> [UInt8] {
    func two(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 0xFF)] }
    let start = [0xFF, 0xD8, 0xFF, 0xC0, 0, 11, 8] + two(height) + two(width) + [1, 1, 0x11, 0]
    return start + Array(repeating: 7, count: max(0, byteCount - start.count - 2)) + [0xFF, 0xD9]
  }

  /// The chunks of a PNG, without pixels.
  private static func png(_ width: Int, _ height: Int) -> [UInt8] {
    let sides = [width, height].flatMap { side -> [UInt8] in [0, 0, UInt8(side >> 8), UInt8(side & 0xFF)] }
    return PNGChunks.signature + PNGChunks.chunk("IHDR", sides + [8, 2, 0, 0, 0]) + PNGChunks.chunk("IDAT", [1, 2, 3])
      + PNGChunks.chunk("IEND", [])
  }
}

/// The assets of a catalog. It counts how often one is read.
final class CountedAssets: ImageAssets {
  private let assets: CatalogImageAssets
  private let reads = Mutex(0)

  init(_ assets: CatalogImageAssets) { self.assets = assets }

  /// The reads since the last ``takeCount()``.
  var count: Int { reads.withLock { $0 } }

  func takeCount() -> Int {
    reads.withLock { count in
      defer { count = 0 }
      return count
    }
  }

  func imageAsset(_ id: AssetID) throws -> ImageAsset? {
    reads.withLock { $0 += 1 }
    return try assets.imageAsset(id)
  }

  func missingAssets(_ ids: Set<AssetID>) throws -> Set<AssetID> { try assets.missingAssets(ids) }

  func isOnShare(_ file: ImageFile) -> Bool { assets.isOnShare(file) }

  func open(_ file: ImageFile, isWanted: @Sendable () -> Bool) throws(ImageFileError) -> OpenImageFile {
    try assets.open(file, isWanted: isWanted)
  }

  func state(of file: ImageFile, _ open: OpenImageFile) -> ImageFileState { assets.state(of: file, open) }
}

/// The environment "pictures": a library with files on disk, the engine with a fake maker, and a service on a socket.
final class ImageFixture: Sendable {
  let server: ServerFixture
  let maker = FakePictureMaker()
  let engine: ImageEngine
  let assets: CatalogImageAssets
  /// The assets as the engine reads them.
  let counted: CountedAssets
  private let folder: TemporaryFolder
  var photos: String { folder.path + "/photos" }
  var store: String { folder.path + "/pictures" }
  /// The thumbnails for other programs.
  var thumbnails: String { folder.path + "/thumbnails" }

  init(isSharing: Bool = false) throws {
    folder = try TemporaryFolder("pictures")
    try FileManager.default.createDirectory(atPath: folder.path + "/photos", withIntermediateDirectories: true)
    server = try ServerFixture(root: folder.path + "/photos")
    assets = CatalogImageAssets(catalog: server.catalog, copies: folder.path) { _ in .direct }
    counted = CountedAssets(assets)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    engine = ImageEngine(
      configuration: ImageConfiguration(
        cacheDirectory: folder.path + "/pictures", library: server.catalog.uuid, workers: 1,
        sharedThumbnails: .init(folder: folder.path + "/thumbnails", isWriting: isSharing, version: "1"),
        logger: logger),
      assets: counted, maker: maker)
  }

  func path(_ name: String) -> String { "\(photos)/\(name)" }

  /// Writes a file, and commits an asset of it.
  @discardableResult
  func add(_ name: String, _ content: String = "photo", modified: timespec? = nil) throws -> AssetID {
    let row = try write(name, content, modified: modified, id: 0)
    var id: AssetID = 0
    try server.commit { id = try $0.insertAsset(Self.content, file: row, addedDate: .init(microseconds: 1)) }
    return id
  }

  /// Writes other content, and commits it.
  func change(_ id: AssetID, _ name: String, _ content: String) throws {
    let row = try write(name, content, id: id)
    try server.commit { try $0.updateContent(Self.content, file: row, hasNewBytes: true) }
  }

  private static let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")

  /// Makes a folder of photos, in one commit.
  func addFolder(_ name: String, photos: Int) throws -> (DirectoryID, [AssetID]) {
    try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
    let rows = try (0..<photos).map { try write("\(name)/\($0).jpg", "photo \($0)", id: 0) }
    var directory: DirectoryID = 0
    var ids: [AssetID] = []
    try server.commit { writer in
      let top = try #require(try server.catalog.read { try $0.directories() }.first { $0.id == server.directoryID })
      directory = try writer.insertDirectory(
        parentID: server.directoryID, rootID: nil, name: Array(name.utf8), volumeID: top.volumeID, inode: 77,
        birthTime: 1)
      for (number, row) in rows.enumerated() {
        var row = row
        row.directoryID = directory
        row.name = Array("\(number).jpg".utf8)
        ids.append(try writer.insertAsset(Self.content, file: row, addedDate: .init(microseconds: 1)))
      }
    }
    return (directory, ids)
  }

  /// Renames a folder, and commits that.
  func renameFolder(_ directory: DirectoryID, from old: String, to new: String) throws {
    try FileManager.default.moveItem(atPath: path(old), toPath: path(new))
    try server.commit { writer in
      var row = try #require(try server.catalog.read { try $0.directories() }.first { $0.id == directory })
      row.name = Array(new.utf8)
      _ = try writer.moveDirectory(&row)
    }
  }

  private func write(
    _ name: String, _ content: String, modified: timespec? = nil, id: AssetID
  ) throws -> FileRow {
    try Data(content.utf8).write(to: URL(fileURLWithPath: path(name)))
    if let modified { try #require(utimensat(AT_FDCWD, path(name), [modified, modified], 0) == 0) }
    var status = stat()
    try #require(stat(path(name), &status) == 0)
    let time = WallTime(status.st_mtim)
    return FileRow(
      assetID: id, directoryID: server.directoryID, name: Array(name.utf8), byteCount: Int64(status.st_size),
      modificationTime: time, changeTime: time, inode: UInt64(status.st_ino), birthTime: 1, readTime: time)
  }

  func asset(_ id: AssetID) throws -> Asset {
    try #require(try server.catalog.read { try $0.assets([id]).assets.first })
  }

  /// Runs `body` while a service answers on a socket.
  func serving(
    pageDeadline: @escaping @Sendable () async throws -> Void = { try await Task.sleep(for: .seconds(3_600)) },
    _ body: @Sendable (_ socket: String) async throws -> Void
  ) async throws {
    let images = ImageService(
      engine: engine, assets: assets, catalog: server.catalog, connections: ConnectionRegistry(),
      ended: { .unavailable("photod is stopping.") }, pageDeadline: pageDeadline)
    let manage = ManageService(connections: images.connections, engine: engine)
    let service = VarlinkService(
      identity: .init(vendor: "v", product: "p", version: "1", url: "u"), interfaces: [images, manage])
    let socket = folder.path + "/s"
    let descriptor = try VarlinkSocket.listen(path: socket)
    let serving = Task { try await service.serve(listeningDescriptor: descriptor) }
    do { try await body(socket) } catch {
      engine.shutDown()
      service.shutDown(within: .zero)
      throw error
    }
    engine.shutDown()
    service.shutDown(within: .zero)
    try await serving.value
  }
}

/// The stream of a session, and a connection for its calls.
// Only the task of one test uses it.
final class ImageTestSession: @unchecked Sendable {
  let name: String
  let calls: VarlinkClient
  let stream: VarlinkClient
  private var replies: VarlinkReplies<OpenSessionReply>.AsyncIterator
  private var waiting: [ImageResult] = []

  init(_ socket: String, wantsData: Bool? = nil) async throws {
    stream = try await VarlinkClient.connect(path: socket)
    calls = try await VarlinkClient.connect(path: socket)
    replies = stream.stream(
      "org.photod.images.OpenSession", OpenSessionRequest(wantsData: wantsData), of: OpenSessionReply.self
    ).makeAsyncIterator()
    let first = try #require(try await replies.next())
    #expect(first.results.isEmpty)
    name = first.session
  }

  func request(_ requests: [ImageRequest]) async throws {
    _ = try await call("RequestImages", RequestImagesRequest(session: name, requests: requests), VarlinkEmpty.self)
  }

  func cancel(_ ids: [Int64]? = nil) async throws -> [Int64] {
    try await call("CancelRequests", CancelRequestsRequest(session: name, ids: ids), CancelRequestsReply.self).cancelled
  }

  func call<P: Encodable, R: Decodable>(_ method: String, _ parameters: P, _ reply: R.Type) async throws -> R {
    try await calls.call("org.photod.images.\(method)", parameters, returning: reply)
  }

  func next() async throws -> ImageResult {
    while waiting.isEmpty { waiting = try #require(try await replies.next()).results }
    return waiting.removeFirst()
  }

  /// The error that ends the stream.
  func end() async throws -> VarlinkError? {
    do {
      while try await replies.next() != nil {}
      return nil
    } catch let error as VarlinkError {
      return error
    }
  }
}

extension ImageRequest {
  static func frame(_ id: Int64, _ asset: AssetID, _ side: Int = 256) -> ImageRequest {
    ImageRequest(id: id, assetID: asset, targetWidth: side, targetHeight: side, deliveryMode: .highQuality)
  }
}
