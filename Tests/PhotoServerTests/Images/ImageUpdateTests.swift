import Foundation
import Logging
import PhotoContract
import PhotoModel
import TestTools
import Testing
import Varlink

@testable import PhotoImages
@testable import PhotoServer

/// The kept pictures follow the library.
@Suite(.timeLimit(.minutes(10))) struct ImageUpdateTests {
  private func keptFiles(_ fixture: ImageFixture) throws -> [String] {
    let names = FileManager.default.enumerator(atPath: fixture.store)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".jpg") }.sorted()
  }

  /// Runs `body` while the engine follows the commits.
  private func following(_ fixture: ImageFixture, _ body: @Sendable (ImageTestSession) async throws -> Void)
    async throws
  {
    let updates = ImageUpdates(
      engine: fixture.engine, live: fixture.server.live, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    )
    let task = Task { await updates.follow() }
    defer { task.cancel() }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await body(session)
    }
  }

  private func cache(_ ids: [AssetID], in session: ImageTestSession) async throws {
    let set = CachingRequest(session: session.name, assetIDs: ids, targetWidth: 256, targetHeight: 256)
    _ = try await session.call("StartCaching", set, VarlinkEmpty.self)
  }

  @Test func picturesOfDeletedAssetsGo() async throws {
    let fixture = try ImageFixture()
    let ids = try ["a.jpg", "b.jpg"].map { try fixture.add($0) }
    try await following(fixture) { session in
      try await cache(ids, in: session)
      try await eventually("both are kept") { try keptFiles(fixture).count == 2 }
      try fixture.server.delete([ids[0]])
      try await eventually("one is kept") { try keptFiles(fixture).count == 1 }
      try await session.request([.frame(1, ids[0])])
      #expect(try await session.next().failure?.kind == .noSuchAsset)
    }
  }

  /// The engine starts after the asset was deleted, as after a kill of photod.
  @Test func picturesOfAssetsThatTheCatalogDoesNotHaveGoAtTheStart() async throws {
    let fixture = try ImageFixture()
    let ids = try ["a.jpg", "b.jpg"].map { try fixture.add($0) }
    try await fixture.serving { socket in
      let session = try await ImageTestSession(socket)
      try await cache(ids, in: session)
      try await eventually("both are kept") { try keptFiles(fixture).count == 2 }
      try fixture.server.delete([ids[0]])
      #expect(try fixture.assets.missingAssets(Set(ids)) == [ids[0]])
      fixture.engine.store.scan()
      fixture.engine.store.waitUntilIdle()
      #expect(try keptFiles(fixture).count == 1)
    }
  }

  @Test func aChangedFileHasAnotherRevisionAndAnotherPicture() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    let before = try fixture.asset(id).revision
    try await following(fixture) { session in
      try await cache([id], in: session)
      try await eventually("it is kept") { try keptFiles(fixture).count == 1 }
      try await changed(id, fixture)
      try await session.request([.frame(1, id)])
      let image = try await session.next().image
      let after = try fixture.asset(id).revision
      #expect(image?.revision == after && after != before)
    }
  }

  /// Changes the file, and waits until no picture of the old revision is kept.
  private func changed(_ id: AssetID, _ fixture: ImageFixture) async throws {
    let old = Set(try keptFiles(fixture))
    try fixture.change(id, "a.jpg", "another content")
    try await eventually("the old picture is gone") { old.isDisjoint(with: try keptFiles(fixture)) }
  }

  @Test func aRenameKeepsRevisionAndPicture() async throws {
    let fixture = try ImageFixture()
    let id = try fixture.add("a.jpg")
    let before = try fixture.asset(id)
    try await following(fixture) { session in
      try await session.request([.frame(1, id)])
      let path = try await session.next().image?.path
      rename(fixture.path("a.jpg"), fixture.path("b.jpg"))
      try fixture.server.commit { writer in
        let row = try #require(try writer.file(ofAsset: id))
        try writer.moveFile(
          row, to: fixture.server.directoryID, name: Array("b.jpg".utf8), changesAvailability: false)
      }
      #expect(try fixture.asset(id).resources[0].filename == "b.jpg")
      #expect(try fixture.asset(id).revision == before.revision)
      try await session.request([.frame(2, id)])
      #expect(try await session.next().image?.path == path)
      #expect(fixture.maker.count == 1)
    }
  }
}
