import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// A reader of the history sees everyday changes exactly as they were.
@Suite struct HistoryTests {
  @Test func eachChangeGivesExactlyWhatHappened() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("trip/first.jpg")
      try await fixture.start()
      var token = try await fixture.synchronize()

      func step(_ what: String) async throws -> (
        inserted: Set<AssetID>, updated: Set<AssetID>, deleted: Set<AssetID>, all: [PersistentChange]
      ) {
        try await fixture.synchronize()
        let changes = try await fixture.changes(since: token)
        token = changes.last?.token ?? token
        return (
          changes.reduce(into: []) { $0.formUnion($1.insertedAssets) },
          changes.reduce(into: []) { $0.formUnion($1.updatedAssets) },
          changes.reduce(into: []) { $0.formUnion($1.deletedAssets) }, changes
        )
      }

      for index in 0..<100 { try fixture.write("trip/\(index).jpg", index) }
      let copied = try await step("copy")
      #expect(copied.inserted.count == 100 && copied.updated.isEmpty && copied.deleted.isEmpty)
      #expect(copied.all.allSatisfy { $0.origin == "watcher" })

      let photo = try await id("trip/5.jpg", fixture)
      try fixture.move("trip/5.jpg", "trip/five.jpg")
      let renamed = try await step("rename")
      #expect(renamed.inserted.isEmpty && renamed.updated == [photo] && renamed.deleted.isEmpty)
      #expect(try await id("trip/five.jpg", fixture) == photo)

      try fixture.move("trip", "journey")
      let folder = try await step("folder")
      #expect(folder.inserted.isEmpty && folder.updated.isEmpty && folder.deleted.isEmpty)
      #expect(
        folder.all.flatMap(\.renamedDirectories)
          == [RenamedDirectory(fromPath: fixture.path("trip"), toPath: fixture.path("journey"))])
      #expect(try await id("journey/five.jpg", fixture) == photo)

      try DaemonFixture.photo(99).write(to: URL(fileURLWithPath: fixture.path("journey/.five.jpg.tmp")))
      try fixture.move("journey/.five.jpg.tmp", "journey/five.jpg")
      let edited = try await step("atomic save")
      #expect(edited.inserted.isEmpty && edited.updated == [photo] && edited.deleted.isEmpty)

      try fixture.write("journey/five-new.jpg", 12345)
      try fixture.move("journey/five-new.jpg", "journey/five.jpg")
      _ = try await step("save through a visible name")
      #expect(try await id("journey/five.jpg", fixture) == photo)

      unlink(fixture.path("journey/five.jpg"))
      let deleted = try await step("delete")
      #expect(deleted.inserted.isEmpty && deleted.updated.isEmpty && deleted.deleted == [photo])

      let other = try await id("journey/6.jpg", fixture)
      try await fixture.setFavorite([other], clientName: "gallery")
      let favorite = try await step("favorite")
      #expect(favorite.updated == [other] && favorite.all.map(\.origin) == ["client:gallery"])
      try await fixture.setFavorite([other])
      #expect(try await step("the same again").all.isEmpty)
    }
  }

  @Test func renameWhileDownKeepsIdentity() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("a/b/\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let photo = try await id("a/b/3.jpg", fixture)
      let other = try await id("a/b/4.jpg", fixture)
      try await fixture.setFavorite([photo])
      let token = try await fixture.synchronize()
      fixture.kill(SIGTERM)
      try fixture.move("a/b/3.jpg", "a/three.jpg")
      try fixture.move("a/b", "a/c")
      try await fixture.start(grace: 600)
      try await fixture.synchronize()
      #expect(try await id("a/three.jpg", fixture) == photo)
      #expect(try await id("a/c/4.jpg", fixture) == other)
      let changes = try await fixture.changes(since: token)
      #expect(changes.allSatisfy { $0.insertedAssets.isEmpty && $0.deletedAssets.isEmpty })
      #expect(changes.contains { $0.updatedAssets.contains(photo) })
      let renamed = RenamedDirectory(fromPath: fixture.path("a/b"), toPath: fixture.path("a/c"))
      #expect(changes.flatMap(\.renamedDirectories).contains(renamed))
      #expect(try await fixture.assets(FetchOptions(collection: "Favorites")).map(\.id) == [photo])
    }
  }

  @Test func restartWithNothingChangedCommitsNothing() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<50 { try fixture.write("x/\(index).jpg", index) }
      try await fixture.start()
      let token = try await fixture.synchronize()
      fixture.kill(SIGTERM)
      try await fixture.start()
      #expect(try await fixture.synchronize() == token)
    }
  }

  @Test func massRemovalWaitsForConfirmation() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<150 { try fixture.write("x/\(index).jpg", index) }
      try await fixture.start(grace: 600)
      try await fixture.synchronize()
      fixture.kill(SIGTERM)
      try fixture.move("x", "../gone")
      try await fixture.start(grace: 600)
      try await fixture.synchronize()
      let status = try await fixture.status()
      #expect(status.assetCount == 150 && status.roots[0].state == .suspect && status.warnings.count == 1)
      struct Rescan: Encodable { let confirm = true }
      struct Result: Decodable { let removed: Int }
      #expect(try await fixture.call("Rescan", Rescan(), returning: Result.self).removed == 150)
      #expect(try await fixture.status().warnings.isEmpty)
      #expect(try await fixture.assets().isEmpty)
    }
  }

  /// The photos come back in their folder, or one by one. Then the disk is as the library knows it.
  @Test(arguments: [true, false]) func suspicionEndsSoonAfterTheMissingPhotosAreBack(inTheirFolder: Bool) async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<150 { try fixture.write("x/\(index).jpg", index) }
      try await fixture.start(grace: 600)
      let token = try await fixture.synchronize()
      fixture.kill(SIGTERM)
      try fixture.move("x", "../gone")
      if !inTheirFolder { try #require(mkdir(fixture.path("x"), 0o755) == 0) }
      try await fixture.start(grace: 600)
      let suspect = try await fixture.status { $0.state == .live && $0.roots[0].state == .suspect }
      #expect(suspect.warnings.count == 1)
      if inTheirFolder {
        try fixture.move("../gone", "x")
      } else {
        for index in 0..<150 { try fixture.move("../gone/\(index).jpg", "x/\(index).jpg") }
      }
      _ = try await within(.seconds(60)) {
        try await fixture.status { $0.state == .live && $0.roots[0].state == .online && $0.warnings.isEmpty }
      }
      let changes = try await fixture.changes(since: token)
      #expect(changes.allSatisfy { $0.insertedAssets.isEmpty && $0.deletedAssets.isEmpty })
    }
  }

  private func id(_ name: String, _ fixture: DaemonFixture) async throws -> AssetID {
    struct Parameters: Encodable { let paths: [String] }
    struct Reply: Decodable { let ids: [AssetID] }
    return try await fixture.call("FindAssets", Parameters(paths: [fixture.path(name)]), returning: Reply.self).ids[0]
  }
}
