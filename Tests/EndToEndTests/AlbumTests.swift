import Foundation
import Glibc
import PhotoClient
import PhotoTestSupport
import TestTools
import Testing

/// The list of albums of a running photod, as programs and persons follow it.
@Suite struct AlbumTests {
  @Test(.timeLimit(.minutes(10))) func albumsFollowTheFolders() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try fixture.write("a.jpg")
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      var observations = library.observeCollections().makeAsyncIterator()
      var replica = CollectionListReplica()
      var fields: Set<String> = []
      /// Applies observations until the list equals that of a fetch.
      func follow(_ titles: [String]) async throws {
        let fetched = try await library.collections()
        #expect(fetched.filter { $0.kind == .folderAlbum }.map { "\($0.title) \($0.count)" } == titles)
        while replica.collections != fetched {
          let observation = try #require(try await observations.next())
          _ = try replica.apply(observation)
          fields.formUnion(observation.details?.changedFields ?? [])
        }
      }
      try await follow(["photos 1"])
      try #require(mkdir(fixture.path("trip"), 0o700) == 0)
      try fixture.write("trip/b.jpg", 1)
      try fixture.write("trip/c.jpg", 2)
      try await fixture.synchronize()
      try await follow(["photos 1", "trip 2"])
      try await fixture.setFavorite(try await fixture.ids().ids)
      try await follow(["photos 1", "trip 2"])
      #expect(replica.collections.first { $0.subtype == "favorites" }?.count == 3)
      try fixture.move("trip", "rome")
      try await fixture.synchronize()
      try await follow(["photos 1", "rome 2"])
      try fixture.move("rome/b.jpg", "d.jpg")
      try await fixture.synchronize()
      try await follow(["photos 2", "rome 1"])
      try FileManager.default.removeItem(atPath: fixture.path("rome"))
      try await fixture.synchronize()
      try await follow(["photos 2"])
      #expect(fields.isSuperset(of: ["title", "path", "count", "keyAsset"]))
    }
  }

  @Test(.timeLimit(.minutes(10))) func observersLearnOfMovesInAlbumsAndFolders() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      for index in 0..<4 { try fixture.write("\(index).jpg", index) }
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let ids = try await fixture.ids().ids
      let created = try await library.performChanges([
        ChangeRequest(createFolder: .init(title: "Trips")),
        ChangeRequest(createAlbum: .init(title: "Rome", assetIDs: ids)),
      ]).createdCollectionIDs
      let (folder, album) = (created[0], created[1])
      var observations = library.observeCollections(kinds: [.album, .folder]).makeAsyncIterator()
      var albums = CollectionListReplica()
      while albums.collections.isEmpty { _ = try albums.apply(try #require(try await observations.next())) }
      var edit = ChangeRequest.EditCollection(id: album)
      edit.parentID = folder
      _ = try await library.performChanges([ChangeRequest(editCollection: edit)])
      var fields: Set<String> = []
      while albums.collections.first(where: { $0.id == album })?.parentID != folder {
        let observation = try #require(try await observations.next())
        _ = try albums.apply(observation)
        fields.formUnion(observation.details?.changedFields ?? [])
      }
      #expect(fields == ["parent"])
      #expect(albums.collections.map(\.id) == [folder, album])

      var lists = library.observe(FetchOptions(collection: "id:\(album)")).makeAsyncIterator()
      var list = FetchResultReplica()
      while list.ids != ids { _ = try list.apply(try #require(try await lists.next())) }
      _ = try await library.performChanges([
        ChangeRequest(editAlbum: .init(id: album, placeAssetIDs: [ids[3]], beforeAssetID: ids[1]))
      ])
      var steps: [FetchResultReplica.Step] = []
      while list.ids == ids { steps.append(try list.apply(try #require(try await lists.next()))) }
      #expect(list.ids == [ids[0], ids[3], ids[1], ids[2]])
      guard case .details(let details) = steps.last else {
        Issue.record("\(steps)")
        return
      }
      #expect(!details.moves.isEmpty && details.insertedIDs.isEmpty && details.removedBefore.isEmpty, "\(details)")
    }
  }

  @Test(.timeLimit(.minutes(10))) func photoctlReportsEachChangeOfAlbums() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try fixture.write("a.jpg")
      try await fixture.synchronize()
      let file = fixture.directory + "/watch"
      try Data().write(to: URL(fileURLWithPath: file))
      let watch = TestProcess()
      watch.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      watch.arguments = ["--socket", fixture.socket, "albums", "--watch", "--format", "table"]
      let standardOutput = try #require(FileHandle(forWritingAtPath: file))
      watch.standardOutput = standardOutput
      try watch.run()
      defer { watch.terminate() }
      // The line goes through a socket and into a file. Neither reports its arrival, so the file is polled.
      func expect(_ words: String) async throws {
        var text = ""
        try await eventually("'\(words)' in \(text)", within: .seconds(120)) {
          text = try String(contentsOfFile: file, encoding: .utf8)
          return text.contains(words)
        }
      }
      try await expect("Screenshots")
      try await fixture.setFavorite(try await fixture.ids().ids)
      try await expect("  16 albums  count keyAsset")
      try await expect("          ~ Favorites  0 → 1\n")
      try #require(mkdir(fixture.path("trip"), 0o700) == 0)
      try await fixture.synchronize()
      try await expect("          + \(fixture.path("trip"))  0\n")
      try fixture.move("trip", "rome")
      try await fixture.synchronize()
      try await expect("          ~ \(fixture.path("trip")) → \(fixture.path("rome"))  0\n")
      try #require(rmdir(fixture.path("rome")) == 0)
      try await fixture.synchronize()
      try await expect("          - \(fixture.path("rome"))\n")
    }
  }
}
