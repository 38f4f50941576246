import Foundation
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// The files of real photos, read through a spawned photod.
@Suite(.timeLimit(.minutes(10))) struct AssetResourceTests {
  private static let made = SourceTree.tests.appendingPathComponent("Fixtures/made")

  @Test func everyFileOfEveryAssetIsReadAsItIs() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.copyFolder(Self.made, to: "made")
      try await fixture.start()
      try await fixture.synchronize()
      let manager = AssetResourceManager(of: PhotoLibrary(socketPath: fixture.socket))
      var count = 0
      for asset in try await fixture.assets() {
        for resource in AssetResource.resources(for: asset) {
          let bytes = try await manager.data(for: resource)
          #expect(bytes == [UInt8](try Data(contentsOf: URL(fileURLWithPath: resource.path))), "\(resource.path)")
          #expect(bytes.count == resource.byteCount)
          count += 1
        }
      }
      #expect(count > 10)
    }
  }

  /// The still and the video are two assets, as the article about PhotoKit says.
  @Test func bothFilesOfALivePhotoAreRead() async throws {
    try await DaemonFixture.with { fixture in
      for name in ["IMG_0001.jpg", "IMG_0001.mov"] {
        try Data(contentsOf: Self.made.appending(path: name)).write(to: URL(fileURLWithPath: fixture.path(name)))
      }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let still = try #require(try await library.fetchAssets(with: FetchOptions(collection: "smart:livePhotos"))[0])
      let path = String(still.resources[0].path.dropLast(3)) + "mov"
      let video = try #require(try await library.findAssets(paths: [path])[0])
      let assets = try await library.assets([still.id, video])
      #expect(assets.map(\.mediaType) == [.image, .video] && assets.map(\.resources.count) == [1, 1])
      let manager = AssetResourceManager(of: library)
      for (asset, name) in zip(assets, ["IMG_0001.jpg", "IMG_0001.mov"]) {
        let bytes = try await manager.data(for: AssetResource.resources(for: asset)[0])
        #expect(bytes == [UInt8](try Data(contentsOf: Self.made.appending(path: name))))
      }
    }
  }

  @Test func aLargeFileComesInChunksAndIsWrittenWhole() async throws {
    try await DaemonFixture.with { fixture in
      // A real photo with 3 MB after its end, as some cameras write them.
      let photo = DaemonFixture.photo() + Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
      try photo.write(to: URL(fileURLWithPath: fixture.path("large.jpg")))
      try await fixture.start()
      try await fixture.synchronize()
      let asset = try #require(try await fixture.assets().first)
      let resource = AssetResource.resources(for: asset)[0]
      let manager = AssetResourceManager(of: PhotoLibrary(socketPath: fixture.socket))
      var chunks: [Int64] = []
      for try await chunk in manager.requestData(for: resource) { chunks.append(chunk.bytesRead) }
      #expect(chunks.count > 3 && chunks == chunks.sorted() && chunks.last == Int64(photo.count))
      let path = fixture.directory + "/copy.jpg"
      try await manager.writeData(for: resource, toFile: path)
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == photo)
    }
  }

  /// The file is longer than all buffers between photod and the reader, so its end comes from the second photod.
  @Test func aReadingAndChangesOutliveAKilledPhotod() async throws {
    try await DaemonFixture.with { fixture in
      let photo = DaemonFixture.photo() + Data((0..<20_000_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) })
      try photo.write(to: URL(fileURLWithPath: fixture.path("large.jpg")))
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "reader")
      let asset = try #require(try await library.fetchAssets()[0])
      let token = try await library.currentChangeToken
      var bytes: [UInt8] = []
      var changing: Task<PerformedChanges, any Error>?
      for try await chunk in AssetResourceManager(of: library).requestData(for: AssetResource.resources(for: asset)[0])
      {
        bytes += chunk.bytes
        guard changing == nil else { continue }
        fixture.kill(SIGKILL)
        changing = Task { try await library.performChanges { $0.edit(asset) { $0.isFavorite = true } } }
        try await fixture.start()
      }
      #expect(bytes == [UInt8](photo))
      let performed = try #require(try await changing?.value)
      var mine: [String] = []
      for try await commit in library.fetchPersistentChanges(since: token) where commit.origin == "client:reader" {
        mine.append(commit.token)
      }
      #expect(mine == [performed.token])
    }
  }

  /// The asset was fetched before its file changed. Its bytes are never a mixture.
  @Test func aFileThatChangedSinceTheFetchIsReadAsItIsNow() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg", 1)
      try await fixture.start()
      try await fixture.synchronize()
      let asset = try #require(try await fixture.assets().first)
      let resource = AssetResource.resources(for: asset)[0]
      try fixture.write("a.jpg", 5)
      try await fixture.synchronize()
      let manager = AssetResourceManager(of: PhotoLibrary(socketPath: fixture.socket))
      #expect(try await manager.data(for: resource) == [UInt8](DaemonFixture.photo(5)))
      do {
        for try await _ in manager.requestData(for: resource) {}
        Issue.record("the old content was read")
      } catch let error as PhotoLibraryError {
        guard case .resourceChanged = error else { throw error }
      }
    }
  }

  /// Handlers of pictures that the real photod-image makes.
  @Test func handlersGetThePicturesOfARealDaemon() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<5 { try fixture.write("\(number).jpg", number) }
      try await fixture.start()
      try await fixture.synchronize()
      try await Self.requestPictures(of: fixture.assets().map(\.id), from: fixture.socket)
    }
  }

  /// Requests them on the main actor, as a user interface does, and cancels another request.
  @MainActor private static func requestPictures(of ids: [AssetID], from socket: String) async throws {
    let images = ImageManager(of: PhotoLibrary(socketPath: socket))
    let cancelled = images.requestImage(for: ids[0], targetSize: ImageSize(width: 512, height: 512)) { _ in
      Issue.record("a cancelled request has a result")
    }
    images.cancelImageRequest(cancelled)
    var finals: [AssetID: Int] = [:]
    for id in ids {
      images.requestImage(for: id, targetSize: ImageSize(width: 64, height: 64)) { result in
        switch result {
        case .success(let image): if image.isFinal { finals[id, default: 0] += 1 }
        case .failure(let error): Issue.record("\(error)")
        }
      }
    }
    try await eventuallyOnMainActor("all pictures came") { finals.count == ids.count }
    #expect(finals.count == 5 && finals.values.allSatisfy { $0 == 1 })
  }
}
