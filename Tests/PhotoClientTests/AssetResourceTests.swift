import Foundation
import PhotoClient
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoContract

/// Reading resources, over a scripted service.
@Suite(.timeLimit(.minutes(10))) struct AssetResourceTests {
  private static let date = PhotoDate(microseconds: 0)

  /// An asset with a RAW beside its photo.
  private static func asset(revision: String = "1", filename: String = "a.jpg") -> Asset {
    Asset(
      id: 7, mediaType: .image, creationDate: date, creationDateSource: .file, modificationDate: date, addedDate: date,
      revision: revision,
      resources: [
        Resource(kind: .photo, path: "/p/\(filename)", filename: filename, byteCount: 10, contentType: "image/jpeg"),
        Resource(kind: .alternatePhoto, path: "/p/a.raf", filename: "a.raf", byteCount: 99, contentType: "image/x-raf"),
      ])
  }

  private static func page(_ text: String, at offset: Int64, of total: Int64) -> ReadResourceReply {
    ReadResourceReply(
      offset: offset, data: Data(text.utf8).base64EncodedString(), total: total, revision: "1")
  }

  private static let changed = VarlinkError(
    "org.photod.images.ResourceChanged", MessageError(message: "It changed. Fetch it again."))

  /// Sends ten bytes as three pages.
  private static let whole: ScriptedDaemon.Answer = { call in
    try await call.replyContinuing(page("abcd", at: 0, of: 10))
    try await call.replyContinuing(page("efgh", at: 4, of: 10))
    try await call.reply(page("ij", at: 8, of: 10))
  }

  @Test func resourcesAreTheFilesOfTheAsset() {
    let resources = AssetResource.resources(for: Self.asset())
    #expect(resources.map(\.index) == [0, 1] && resources.map(\.filename) == ["a.jpg", "a.raf"])
    #expect(resources.map(\.kind) == [.photo, .alternatePhoto] && resources.map(\.byteCount) == [10, 99])
    #expect(resources.allSatisfy { $0.assetID == 7 && $0.revision == "1" })
    #expect(resources.map(\.contentType) == ["image/jpeg", "image/x-raf"])
  }

  @Test func chunksComeWithTheirProgress() async throws {
    let asked = Mutex<ReadResourceRequest?>(nil)
    try await ScriptedDaemon.with([
      "ReadResource": { call in
        let request = try call.parameters(ReadResourceRequest.self)
        asked.withLock { $0 = request }
        try await Self.whole(call)
      }
    ]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      var (bytes, fractions): ([UInt8], [Double]) = ([], [])
      for try await chunk in manager.requestData(for: AssetResource.resources(for: Self.asset())[1]) {
        bytes += chunk.bytes
        fractions.append(chunk.fractionCompleted)
        #expect(chunk.bytesRead == bytes.count && chunk.total == 10)
      }
      #expect(String(decoding: bytes, as: UTF8.self) == "abcdefghij" && fractions == [0.4, 0.8, 1])
      let request = try #require(asked.withLock { $0 })
      #expect((request.assetID, request.resource, request.ifRevision) == (7, 1, "1"))
    }
  }

  @Test func aPageOutOfOrderIsAnError() async throws {
    try await ScriptedDaemon.with([
      "ReadResource": { call in
        try await call.replyContinuing(Self.page("abcd", at: 0, of: 10))
        try await call.reply(Self.page("ij", at: 8, of: 10))
      }
    ]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      let error = PhotoLibraryError.malformedReply("a page of a file at 8 came after 4 bytes")
      await #expect(throws: error) { try await manager.data(for: AssetResource.resources(for: Self.asset())[0]) }
    }
  }

  /// Each reading in `changes` ends with ResourceChanged after its first page, the others are whole.
  private func withChanges(
    _ changes: Set<Int>, present: Asset?, _ body: @Sendable (AssetResourceManager, ScriptedDaemon) async throws -> Void
  ) async throws {
    let readings = Mutex(0)
    try await ScriptedDaemon.with([
      "ReadResource": { call in
        let number = readings.withLock { count in
          count += 1
          return count
        }
        guard changes.contains(number) else { return try await Self.whole(call) }
        try await call.replyContinuing(Self.page("old ", at: 0, of: 10))
        throw Self.changed
      },
      "GetAssets": { call in
        try await call.reply(
          GetAssetsReply(token: "t", assets: present.map { [$0] } ?? [], missing: present == nil ? [7] : []))
      },
    ]) { daemon in try await body(AssetResourceManager(of: daemon.library()), daemon) }
  }

  private let resource = AssetResource.resources(for: asset())[0]

  @Test func aFileThatChangedIsReadOnceMore() async throws {
    try await withChanges([1], present: Self.asset(revision: "2")) { manager, daemon in
      let bytes = try await manager.data(for: resource)
      #expect(bytes == Array("abcdefghij".utf8))
      #expect(daemon.calls == ["ReadResource", "GetAssets", "ReadResource"])
    }
  }

  @Test func aFileThatChangesAgainIsAnError() async throws {
    try await withChanges([1, 2], present: Self.asset(revision: "2")) { manager, _ in
      await #expect(throws: PhotoLibraryError.resourceChanged(message: "It changed. Fetch it again.")) {
        try await manager.data(for: resource)
      }
    }
  }

  @Test func anotherFileIsNotReadInItsPlace() async throws {
    for present in [nil, Self.asset(revision: "2", filename: "b.jpg")] {
      try await withChanges([1], present: present) { manager, daemon in
        await #expect(throws: PhotoLibraryError.resourceChanged(message: "It changed. Fetch it again.")) {
          try await manager.data(for: resource)
        }
        #expect(daemon.calls == ["ReadResource", "GetAssets"])
      }
    }
  }

  // MARK: - Writing

  private func content(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test func aWrittenFileReplacesNothing() async throws {
    let folder = try TemporaryFolder("resources")
    let path = folder.path + "/a.jpg"
    try await ScriptedDaemon.with(["ReadResource": Self.whole]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      let progress = Mutex<[Int64]>([])
      try await manager.writeData(for: resource, toFile: path) { step in
        #expect(!FileManager.default.fileExists(atPath: path))
        progress.withLock { $0.append(step.bytesWritten) }
      }
      #expect(try content(path) == "abcdefghij" && progress.withLock { $0 } == [4, 8, 10])
      try "mine".write(toFile: path, atomically: false, encoding: .utf8)
      let error = PhotoLibraryError.cannotWrite(
        path: path, message: "\(path) exists. Choose another file, or overwrite it.")
      await #expect(throws: error) { try await manager.writeData(for: resource, toFile: path) }
      #expect(try content(path) == "mine" && daemon.calls.count == 1)
      try await manager.writeData(for: resource, toFile: path, overwriting: true)
      #expect(try content(path) == "abcdefghij")
      #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.jpg"])
    }
  }

  /// Another program makes the file while the bytes come.
  @Test func aFileThatAppearsMeanwhileIsKept() async throws {
    let folder = try TemporaryFolder("resources")
    let path = folder.path + "/a.jpg"
    try await ScriptedDaemon.with(["ReadResource": Self.whole]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      await #expect(throws: PhotoLibraryError.self) {
        try await manager.writeData(for: resource, toFile: path) { step in
          if step.bytesWritten == 4 {
            #expect(FileManager.default.createFile(atPath: path, contents: Data("mine".utf8)))
          }
        }
      }
      let (kept, names) = (try content(path), try FileManager.default.contentsOfDirectory(atPath: folder.path))
      #expect(kept == "mine" && names == ["a.jpg"])
    }
  }

  @Test func aChangedFileIsWrittenFromItsBeginning() async throws {
    let folder = try TemporaryFolder("resources")
    try await withChanges([1], present: Self.asset(revision: "2")) { manager, _ in
      try await manager.writeData(for: resource, toFile: folder.path + "/a.jpg")
      #expect(try content(folder.path + "/a.jpg") == "abcdefghij")
    }
    try await withChanges([1, 2], present: Self.asset(revision: "2")) { manager, _ in
      await #expect(throws: PhotoLibraryError.self) {
        try await manager.writeData(for: resource, toFile: folder.path + "/b.jpg")
      }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a.jpg"])
  }

  @Test func aCancelledWriteLeavesNothing() async throws {
    let folder = try TemporaryFolder("resources")
    let (begun, progress) = AsyncStream.makeStream(of: Void.self)
    try await ScriptedDaemon.with([
      "ReadResource": { call in
        try await call.replyContinuing(Self.page("abcd", at: 0, of: 10))
        // The rest never comes. The task is cancelled when the client hangs up.
        try await Task.sleep(for: .seconds(600))
      }
    ]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      let task = Task {
        try await manager.writeData(for: resource, toFile: folder.path + "/a.jpg") { _ in progress.yield() }
      }
      for await _ in begun { break }
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
      let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      #expect(names == [])
    }
  }

  @Test func aFolderThatDoesNotExistIsNamed() async throws {
    try await ScriptedDaemon.with(["ReadResource": Self.whole]) { daemon in
      let manager = AssetResourceManager(of: daemon.library())
      for (path, reason) in [("/nonexistent/a.jpg", "No such file or directory"), ("/tmp/", "is no file name")] {
        do {
          try await manager.writeData(for: resource, toFile: path, overwriting: true)
          Issue.record("\(path) was written")
        } catch let error as PhotoLibraryError {
          #expect(error.description.contains(path) && error.description.contains(reason), "\(error)")
        }
      }
    }
  }
}
