import Glibc
import PhotoCatalog
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

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

  /// One call is under way when photod is killed. It is made as a whole or not at all. All calls before it are made, and no
  /// token expires.
  @Test func killedDaemonLosesNoAcknowledgedChange() async throws {
    let kills = max(4, effort("PHOTOD_KILLS", 6))
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      var model = ChangeModel(
        assets: try await PhotoLibrary(socketPath: fixture.socket).assets(try await fixture.ids().ids))
      var random = SeededGenerator(seed: 11)
      var count = 0
      for round in 0..<kills {
        let token = try await fixture.synchronize()
        let moment = Duration.milliseconds(Int.random(in: 50...600, using: &random))
        let process = fixture.processID
        let killing = Task {
          try await Task.sleep(for: moment)
          _ = Glibc.kill(process, SIGKILL)
        }
        var last: [ChangeRequest] = []
        var isRunning = true
        while isRunning {
          last = model.randomCall(using: &random)
          // The ids of created collections are needed if the last call was made although it was not acknowledged.
          if last.contains(where: \.makesCollection), last.contains(where: { $0.deleteAlbum != nil }) { continue }
          do {
            let created = try await perform(last, fixture)
            model.apply(last, created: created, sequence: 0)
            count += 1
          } catch let error as VarlinkError {
            // The call was rejected.
            #expect(!model.accepts(last), "round \(round), \(last): \(error)")
          } catch is VarlinkClientError {
            isRunning = false
          }
        }
        try await killing.value
        fixture.kill(SIGKILL)
        try await fixture.start()
        let again = try await fixture.synchronize()
        #expect(ChangeToken(again)?.epoch == ChangeToken(token)?.epoch, "round \(round)")
        let library = PhotoLibrary(socketPath: fixture.socket)
        if try await !model.differences(from: library).isEmpty {
          let collections = try await library.collections(kinds: [.album, .folder, .smartAlbum])
          let created = collections.filter { $0.subtype == nil && model.albums[$0.id] == nil }.map(\.id).sorted()
          #expect(model.accepts(last) && created.count == last.count(where: \.makesCollection), "round \(round)")
          guard created.count == last.count(where: \.makesCollection) else { return }
          model.apply(last, created: created, sequence: 0)
          let differences = try await model.differences(from: library)
          #expect(differences.isEmpty, "round \(round), killed after \(moment) in \(last)")
        }
      }
      #expect(count > kills)
      fixture.kill(SIGTERM)
    }
  }

  private func perform(_ requests: [ChangeRequest], _ fixture: DaemonFixture) async throws -> [CollectionID] {
    struct Parameters: Encodable { let requests: [ChangeRequest] }
    return try await fixture.call("PerformChanges", Parameters(requests: requests), returning: ChangeResult.self)
      .createdCollectionIDs
  }

  private func find(_ path: String, _ fixture: DaemonFixture) async throws -> AssetID {
    struct Parameters: Encodable { let paths: [String] }
    struct Reply: Decodable { let ids: [AssetID] }
    return try await fixture.call("FindAssets", Parameters(paths: [path]), returning: Reply.self).ids[0]
  }
}
