import Foundation
import Glibc
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink
import WatchRecords

@testable import PhotoImages
@testable import PhotoServer

/// ReadResource, and how files are opened.
@Suite(.timeLimit(.minutes(10))) struct ReadResourceTests {
  private let method = "org.photod.images.ReadResource"

  private func content(_ byteCount: Int) -> String { String(repeating: "0123456789abcdef", count: byteCount / 16) }

  private func error(_ socket: String, _ request: ReadResourceRequest) async throws -> VarlinkError {
    let client = try await VarlinkClient.connect(path: socket)
    return try await #require(throws: VarlinkError.self) {
      _ = try await client.call(method, request, returning: ReadResourceReply.self)
    }
  }

  @Test func pagesAreTheWholeFileOrTheRequestedPart() async throws {
    let fixture = try ImageFixture()
    let text = content(1_400_000)
    let id = try fixture.add("a.jpg", text)
    let revision = try fixture.asset(id).revision
    try await fixture.serving { socket in
      let client = try await VarlinkClient.connect(path: socket)
      func read(_ request: ReadResourceRequest) async throws -> [(offset: Int64, data: Data)] {
        var pages: [(Int64, Data)] = []
        for try await page in client.stream(method, request, of: ReadResourceReply.self) {
          #expect(page.total == Int64(text.utf8.count) && page.revision == revision)
          pages.append((page.offset, try #require(Data(base64Encoded: page.data))))
        }
        return pages
      }
      let all = try await read(ReadResourceRequest(assetID: id, resource: 0, ifRevision: revision))
      #expect(all.map(\.offset) == [0, 524_288, 1_048_576])
      #expect(all.reduce(Data()) { $0 + $1.data } == Data(text.utf8))
      let part = try await read(ReadResourceRequest(assetID: id, resource: 0, offset: 10, count: 600_000))
      #expect(part.reduce(Data()) { $0 + $1.data } == Data(text.utf8.dropFirst(10).prefix(600_000)))
      let end = try await read(ReadResourceRequest(assetID: id, resource: 0, offset: Int64(text.utf8.count)))
      #expect(end.map(\.data) == [Data()])
      let one = try await client.call(
        method, ReadResourceRequest(assetID: id, resource: 0, offset: 5, count: 3), returning: ReadResourceReply.self)
      #expect(Data(base64Encoded: one.data) == Data(text.utf8.dropFirst(5).prefix(3)))
    }
  }

  @Test func wrongRequestsAreRefused() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try await fixture.serving { socket in
      let noAsset = try await error(socket, .init(assetID: 99, resource: 0))
      #expect(noAsset.name == "org.photod.images.NoSuchAsset")
      let noResource = try await error(socket, .init(assetID: id, resource: 1))
      #expect(noResource.name == "org.photod.images.NoSuchResource")
      let otherRevision = try await error(socket, .init(assetID: id, resource: 0, ifRevision: "other"))
      #expect(otherRevision.name == "org.photod.images.ResourceChanged")
      for request in [
        ReadResourceRequest(assetID: id, resource: -1), .init(assetID: id, resource: 0, offset: -1),
        .init(assetID: id, resource: 0, offset: 6), .init(assetID: id, resource: 0, count: -1),
      ] {
        let invalid = try await error(socket, request)
        #expect(invalid.name == "org.varlink.service.InvalidParameter")
      }
    }
  }

  @Test func aFileThatPhotodHasNotReadYetIsResourceChanged() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    try Data("newer and longer".utf8).write(to: URL(fileURLWithPath: fixture.path("a.jpg")))
    try await fixture.serving { socket in
      let error = try await error(socket, .init(assetID: id, resource: 0))
      #expect(error.name == "org.photod.images.ResourceChanged")
    }
  }

  @Test func aFileThatChangesWhileItIsReadIsResourceChanged() async throws {
    let fixture = try ImageFixture()
    // The socket and photod hold at most some 1.3 MB of the unread bytes.
    let id = try fixture.add("a.jpg", content(16_000_000))
    try await fixture.serving { socket in
      let client = try await VarlinkClient.connect(path: socket)
      var pages = client.stream(
        method, ReadResourceRequest(assetID: id, resource: 0), of: ReadResourceReply.self
      ).makeAsyncIterator()
      _ = try await pages.next()
      let file = try #require(FileHandle(forWritingAtPath: fixture.path("a.jpg")))
      try file.write(contentsOf: Data("x".utf8))
      try file.close()
      let error = try await #require(throws: VarlinkError.self) { while try await pages.next() != nil {} }
      #expect(error.name == "org.photod.images.ResourceChanged")
    }
  }

  @Test func aReplyThatIsNotReadExpires() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg", content(16_000_000))
    let deadlines = Mutex(0)
    let expiry = OneShotSignal()
    let deadline: @Sendable () async throws -> Void = {
      deadlines.withLock { $0 += 1 }
      try await expiry.wait()
    }
    try await fixture.serving(pageDeadline: deadline) { socket in
      let client = try VarlinkSocketClient(path: socket)
      try client.send(
        #"{"method":"\#(method)","more":true,"parameters":{"assetID":\#(id),"resource":0}}"#)
      // Four pages fill the buffers of photod and of the kernel.
      try await eventually("pages wait for the reader") { deadlines.withLock { $0 } >= 2 }
      expiry.fire()
      var text = ""
      while !text.hasSuffix("\0") || !text.contains("ReadExpired") {
        text = String(text.suffix(4096)) + String(decoding: try client.receive(), as: UTF8.self)
      }
      #expect(text.contains(#""error":"org.photod.images.ReadExpired""#))
    }
  }

  /// The photos exchange their names, and photod has not noticed yet.
  @Test(arguments: ["size", "time"]) func aFileInThePlaceOfAnotherIsNotOpened(difference: String) throws {
    let fixture = try ImageFixture()
    let (one, other) = (fixture.path("a.jpg"), fixture.path("b.jpg"))
    let id = try fixture.add("a.jpg", "photo 1")
    try Data(difference == "size" ? "photo 22".utf8 : "photo 2".utf8).write(to: URL(fileURLWithPath: other))
    var status = stat()
    #expect(stat(one, &status) == 0)
    // In whole seconds, as FAT has them.
    let seconds = status.st_mtim.tv_sec - (difference == "time" ? 2 : 0)
    let nanoseconds = difference == "time" ? 0 : status.st_mtim.tv_nsec
    let times = [timespec](repeating: timespec(tv_sec: seconds, tv_nsec: nanoseconds), count: 2)
    #expect(utimensat(AT_FDCWD, other, times, 0) == 0)
    func exchangeNames() {
      for (old, new) in [(one, one + ".new"), (other, one), (one + ".new", other)] { #expect(rename(old, new) == 0) }
    }
    let file = try #require(try fixture.assets.imageAsset(id)).files[0]
    let open = try fixture.assets.openDirectly(file)
    exchangeNames()
    #expect(fixture.assets.state(of: file, open) == .unchanged, "the open file is that of the catalog")
    #expect(throws: ImageFileError.changed) { try fixture.assets.openDirectly(file) }
    exchangeNames()
    _ = try fixture.assets.openDirectly(file)
    #expect(truncate(one, 3) == 0)
    #expect(fixture.assets.state(of: file, open) == .changed)
  }

  /// A client shows a lasting failure, and does not request the picture again.
  @Test(arguments: [EIO, ETIMEDOUT, EREMOTEIO, ECONNRESET, ENETUNREACH, EMFILE, ENOMEM])
  func failuresOfADiskAreNotThoseOfTheFile(number: Int32) {
    #expect(ImageFileError(errorNumber: number) == .readFailed(number))
    #expect(ImageFileError(errorNumber: ESTALE) == .offline)
    #expect(ImageFileError(errorNumber: EACCES) == .errno(EACCES))
  }

  /// The catalog has the nearest time that fits in its range. Some file systems keep only times of a smaller range.
  @Test(arguments: [10_000_000_000, -10_000_000_000])
  func aFileWithATimeBeyondTheRangeIsRead(seconds: Int) async throws {
    let time = timespec(tv_sec: seconds, tv_nsec: 0)
    let clamped = FileTime(nanoseconds: seconds < 0 ? .min : .max)
    var file = ImageFile(index: 0, path: [], contentType: "", byteCount: 0, modified: clamped, kind: .photo)
    var status = stat()
    status.st_mtim = time
    #expect(file.matches(status))
    file.modified = FileTime(nanoseconds: 0)
    #expect(!file.matches(status))
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg", "photo", modified: time)
    try await fixture.serving { socket in
      let client = try await VarlinkClient.connect(path: socket)
      let page = try await client.call(
        method, ReadResourceRequest(assetID: id, resource: 0), returning: ReadResourceReply.self)
      #expect(Data(base64Encoded: page.data) == Data("photo".utf8))
    }
  }

  @Test func neitherALinkNorAPipeIsOpened() throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    let file = try #require(try fixture.assets.imageAsset(id)).files[0]
    _ = try fixture.assets.openDirectly(file)
    let other = fixture.path("other")
    try Data("secret".utf8).write(to: URL(fileURLWithPath: other))
    unlink(fixture.path("a.jpg"))
    #expect(throws: ImageFileError.gone) { try fixture.assets.openDirectly(file) }
    symlink(other, fixture.path("a.jpg"))
    #expect(throws: ImageFileError.gone) { try fixture.assets.openDirectly(file) }
    unlink(fixture.path("a.jpg"))
    mkfifo(fixture.path("a.jpg"), 0o600)
    #expect(throws: ImageFileError.gone) { try fixture.assets.openDirectly(file) }
    let away = CatalogImageAssets(catalog: fixture.server.catalog, copies: fixture.store) { _ in .none }
    #expect(throws: ImageFileError.offline) { try away.open(file) { true } }
  }
}

/// Waits that end together.
private final class OneShotSignal: Sendable {
  private let stream: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func fire() { continuation.finish() }

  func wait() async throws {
    while !Task.isCancelled {
      for await _ in stream {}
      return
    }
    try Task.checkCancellation()
  }
}
