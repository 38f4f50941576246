import Glibc
import PhotoCatalog
import PhotoModel
import PhotoTestSupport
import Testing

/// A kill of photod with SIGKILL at any moment must not lose acknowledged changes.
@Suite(.serialized, .timeLimit(.minutes(120)))
struct KillTests {
  @Test func killedDaemonRestartsWithoutLoss() async throws {
    // Favorites are set in every second round, so at least two rounds are needed.
    let kills = max(2, effort("PHOTOD_KILLS", 6))
    try await DaemonFixture.with { fixture in
      var random = SeededGenerator(seed: UInt64(bitPattern: Int64(7)))
      for index in 0..<300 { try fixture.write("keep/\(index).jpg", index) }
      var favorites: Set<String> = []
      for round in 0..<kills {
        if round % 5 == 4 {
          // The catalog is lost, so the next start rebuilds it. The favorites come back from the journal beside it.
          for suffix in ["", "-wal", "-shm"] { unlink(fixture.catalog + suffix) }
        }
        try await fixture.start()
        let moment = Duration.milliseconds(Int.random(in: 0...900, using: &random))
        let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: round)
        async let stormed = storm.run(for: moment)
        if round % 2 == 1 {
          for name in (0..<3).map({ _ in "keep/\(Int.random(in: 0..<300, using: &random)).jpg" }) {
            let id = try await find(fixture.path(name), fixture)
            guard id != 0 else { continue }
            try await fixture.setFavorite([id])
            favorites.insert(fixture.path(name))
          }
        }
        _ = await stormed
        fixture.kill(SIGKILL)

        let catalog = try Catalog(path: fixture.catalog)
        #expect(try catalog.check(deep: true).isOK, "round \(round)")
        try catalog.close()
        try await fixture.start()
        try await fixture.expectEqualToDisk("round \(round), killed after \(moment)")
        let kept = Set(
          try await fixture.assets(FetchOptions(collection: "smart:favorites")).map { $0.resources[0].path })
        #expect(kept == favorites, "round \(round)")
        fixture.kill(SIGTERM)
      }
      #expect(!favorites.isEmpty, "no photo was found, so none became a favorite")
    }
  }

  private func find(_ path: String, _ fixture: DaemonFixture) async throws -> AssetID {
    struct Parameters: Encodable { let paths: [String] }
    struct Reply: Decodable { let ids: [AssetID] }
    return try await fixture.call("FindAssets", Parameters(paths: [path]), returning: Reply.self).ids[0]
  }
}
