import Foundation
import GRDB
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog

/// A new photod reads the photos of an existing library again, as a migration or a newer reader requests it.
@Suite(.timeLimit(.minutes(10))) struct RereadingTests {
  private static let count = 300

  /// The part of a photo that a person or a program can see.
  private struct Seen: Hashable {
    let id: AssetID
    let path: String?
    let title: String?
    let isFavorite: Bool
    let camera: String?

    init(_ asset: Asset) {
      (id, path, title, isFavorite) = (asset.id, asset.resources.first?.path, asset.title, asset.isFavorite)
      camera = asset.camera?.model
    }
  }

  private func seen(_ fixture: DaemonFixture, album: String? = nil) async throws -> [Seen] {
    try await fixture.assets(FetchOptions(collection: album)).map(Seen.init).sorted { $0.id < $1.id }
  }

  @Test func idsAlbumsAndEditsStayAndEachPhotoChangesOnce() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<Self.count { try fixture.write("\(number / 50)/\(number).jpg", number) }
      try await fixture.start()
      try await fixture.synchronize()
      for words in [
        ["albums", "create", "Best", fixture.path("0/1.jpg"), fixture.path("1/51.jpg")],
        ["edit", fixture.path("0/2.jpg"), "--title", "typed"], ["favorite", fixture.path("0/3.jpg")],
      ] {
        let run = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, words)
        #expect(run.status == 0, "\(run.errors)")
      }
      let (before, album) = (try await seen(fixture), try await seen(fixture, album: "Best"))
      #expect(before.count == Self.count && album.count == 2 && before.allSatisfy { $0.camera != nil })
      let token = try await fixture.synchronize()
      try await stop(fixture)
      try forgetFacts(fixture)

      try await fixture.start()
      try await eventually("all photos are read again") {
        try await seen(fixture).allSatisfy { $0.camera != nil }
      }
      #expect(try await seen(fixture) == before)
      #expect(try await seen(fixture, album: "Best") == album)
      var updates: [[AssetID]] = []
      for try await page in PhotoLibrary(socketPath: fixture.socket).persistentChanges(since: token) {
        updates += page.changes.map(\.updatedAssets).filter { !$0.isEmpty }
        #expect(page.changes.allSatisfy { $0.insertedAssets.isEmpty && $0.deletedAssets.isEmpty })
      }
      // An observer gets at most one difference for each commit. Each photo is in one of them.
      #expect(updates.joined().sorted() == before.map(\.id))
      #expect(updates.count <= 30, "\(updates.count)")
    }
  }

  private func stop(_ fixture: DaemonFixture) async throws {
    fixture.kill(SIGTERM)
    #expect(fixture.process?.terminationStatus == 0)
  }

  /// Makes the catalog like that of an older photod, which did not read cameras, after the migration that requests a new
  /// reading (v016-readers.sql).
  private func forgetFacts(_ fixture: DaemonFixture) throws {
    let catalog = try Catalog(path: fixture.catalog)
    try catalog.pool.writeWithoutTransaction { database in
      try database.execute(
        sql:
          "UPDATE resource SET read_time = 0, reader_version = 0; UPDATE asset SET camera_make = NULL, camera_model = NULL"
      )
    }
    try catalog.close()
  }
}
