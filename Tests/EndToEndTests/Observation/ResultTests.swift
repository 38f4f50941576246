import Foundation
import Glibc
import PhotoClient
import PhotoModel
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

/// Fetch results and their changes, from a real photod.
@Suite(.timeLimit(.minutes(120))) struct ResultTests {
  @Test func observedResultsEqualFreshFetchesUnderRandomOperations() async throws {
    let operations = effort("PHOTOD_RESULT_OPERATIONS", 300)
    try await DaemonFixture.with { fixture in
      for index in 0..<40 { try fixture.write("d\(index % 4)/f\(index % 10).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "app")
      var album: CollectionPlaceholder?
      let first = try await library.fetchAssets()
      let ids = try await first.ids
      let made = try await library.performChanges {
        album = $0.createAlbum(title: "Mine", assets: Array(ids.prefix(9)))
      }
      let albumID = made[try #require(album)]
      let mine = try #require(try await library.fetchAssetCollections(with: .album).first { $0.id == albumID })
      let byName = FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)], fetchLimit: 25)
      let observed = ObservedResults(
        [
          first, try await library.fetchAssets(with: byName),
          try await library.fetchAssets(with: FetchOptions(collection: "smart:favorites")),
          try await library.fetchAssets(in: mine),
        ], [try await library.fetchAssetCollections()])
      let following = Task { try await observed.follow(library) }
      var random = SeededGenerator(seed: UInt64(bitPattern: Int64(effort("PHOTOD_SEED", 17))))
      let storm = Storm(folder: fixture.photos, outside: fixture.directory + "/outside", seed: 1)
      var done = 0
      while done < operations {
        for _ in 0..<Int.random(in: 1...20, using: &random) {
          storm.step(&random)
          done += 1
        }
        let all = try await library.fetchAssets().ids
        do {
          let (chosen, isFavorite) = (all.filter { _ in random.once(in: 6) }, Bool.random(using: &random))
          let before = try await observed.results[3].ids.randomElement(using: &random)
          try await library.performChanges { changes in
            if !chosen.isEmpty { changes.edit(chosen) { $0.isFavorite = isFavorite } }
            changes.editAlbum(albumID) { album in
              album.insertAssets(chosen.filter { $0 != before }, before: before)
              if random.once(in: 3) { album.removeAssets(Array(all.prefix(3))) }
              if random.once(in: 4) { album.title = "Mine \(done)" }
            }
          }
        } catch PhotoLibraryError.noSuchAsset, PhotoLibraryError.changeRejected {
          // A file was deleted meanwhile.
        }
        try await fixture.synchronize()
        try await observed.expectFresh(library, "after \(done) operations")
      }
      let unexpected = observed.reloads.filter { !$0.isOfManyChanges }
      #expect(observed.changeCount > 5 && unexpected.isEmpty, "\(unexpected)")
      following.cancel()
      try await following.value
    }
  }

  /// Files and favorites change while photod runs and while it does not. It ends as when it is stopped, and as when it is
  /// killed.
  @Test func restartsOfPhotodAreNoReloads() async throws {
    let restarts = effort("PHOTOD_CLIENT_RESTARTS", 4)
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let observed = ObservedResults(
        [
          try await library.fetchAssets(),
          try await library.fetchAssets(with: FetchOptions(collection: "smart:favorites")),
        ], [try await library.fetchAssetCollections()])
      let problems = Mutex<[PhotoLibraryError]>([])
      let following = Task { try await observed.follow(library) }
      let registration = library.makeRegistration(
        for: [observed.results[0]],
        onProblem: { problem in
          problems.withLock { $0.append(problem) }
        }
      ) { _ in }
      registration.begin()
      var random = SeededGenerator(seed: 5)
      for restart in 1...restarts {
        try await fixture.setFavorite([try #require(try await library.fetchAssets().ids.randomElement(using: &random))])
        try fixture.write("\(Int.random(in: 0..<20, using: &random)).jpg", restart)
        fixture.kill(restart % 2 == 0 ? SIGKILL : SIGTERM)
        unlink(fixture.path("\(Int.random(in: 0..<20, using: &random)).jpg"))
        try fixture.write("new \(restart).jpg", restart + 100)
        try await fixture.start()
        try await fixture.synchronize()
        try await observed.expectFresh(library, "restart \(restart)")
      }
      #expect(observed.reloads.isEmpty && observed.changeCount >= restarts, "\(observed.reloads)")
      // The registration lost its connection each time, too.
      #expect(problems.withLock { $0 }.allSatisfy { Reconnection.isOutage($0) })
      await registration.unregister()
      following.cancel()
      try await following.value
    }
  }

  /// One edit is made before each end of photod. Its change arrives before the end or after the restart, but not twice, and
  /// so does its commit.
  @Test func anEditBeforeARestartIsOneChange() async throws {
    let restarts = effort("PHOTOD_CLIENT_RESTARTS", 4)
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "app")
      let ids = try await library.fetchAssets().ids
      let favorites = try await library.fetchAssets(with: FetchOptions(collection: "smart:favorites"))
      let observed = ObservedResults([favorites])
      let commits = Mutex<[String]>([])
      let following = Task { try await observed.follow(library) }
      let history = Task {
        for try await change in library.followPersistentChanges(since: favorites.token)
        where change.origin == "client:app" { commits.withLock { $0.append(change.token) } }
      }
      var edits: [String] = []
      for restart in 0...restarts {
        let (id, isFavorite) = (ids[restart % ids.count], restart / ids.count % 2 == 0)
        edits.append(try await library.performChanges { $0.edit([id]) { $0.isFavorite = isFavorite } }.token)
        // After the last edit, photod runs on. A second change of an earlier edit would have arrived before this one.
        if restart < restarts {
          fixture.kill(restart % 2 == 0 ? SIGKILL : SIGTERM)
          try await fixture.start()
        }
        try await observed.expectFresh(library, "edit \(restart)")
        #expect(observed.changeCount == edits.count, "edit \(restart)")
      }
      try await eventually("all commits have arrived") { commits.withLock { $0.count } >= edits.count }
      #expect(commits.withLock { $0 } == edits && observed.reloads.isEmpty, "\(observed.reloads)")
      for task in [following, history] { task.cancel() }
      try await following.value
      await #expect(throws: CancellationError.self) { try await history.value }
    }
  }

  @Test func albumsOfATransactionAreThereWhenItReturns() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<6 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket, clientName: "app")
      #expect(try await library.requestAuthorization(for: .readWrite) == .authorized)
      let photos = try await library.fetchAssets()
      let ids = try await photos.ids
      let token = try await library.currentChangeToken
      let top = try await library.fetchTopLevelUserCollections()
      #expect(top.isEmpty)
      var changes = library.changes(for: [top]).makeAsyncIterator()
      var made: [CollectionPlaceholder] = []
      let performed = try await library.performChanges { changes in
        let travel = changes.createFolder(title: "Travel")
        let rome = changes.createAlbum(title: "Rome", assets: [ids[0], ids[1], ids[2]], in: travel.id)
        let best = changes.createSmartAlbum(title: "Best", query: SmartAlbumQuery(predicate: "rating >= 4"))
        changes.edit([ids[1]]) { photo in
          photo.rating = 5
          photo.title = "Forum"
          photo.addKeywords(["sun"])
          photo.location = Location(latitude: 41.9, longitude: 12.5)
        }
        changes.editAlbum(rome.id) { album in
          album.moveAssets([ids[2]], before: ids[0])
          album.keyAsset = ids[1]
        }
        changes.moveCollection(best.id, to: travel.id, before: rome.id)
        made = [travel, rome, best]
      }
      let details = try #require(await changes.next()?.details(for: top))
      #expect(details.insertedObjects.map(\.id) == [performed[made[0]]])
      let nested = try await library.fetchCollections(in: details.after[0])
      #expect(nested.map(\.title) == ["Best", "Rome"])
      let rome = try #require(nested.last)
      #expect(rome.id == performed[made[1]] && rome.keyAssetID == ids[1])
      let inRome = try await library.fetchAssets(in: rome)
      #expect(try await inRome.ids == [ids[2], ids[0], ids[1]])
      let best = try await library.fetchAssets(in: nested[0])
      #expect(try await best.firstObject?.title == "Forum")
      let forum = try #require(try await library.fetchAssets(withIDs: [ids[1]]).firstObject)
      #expect(forum.rating == 5 && forum.keywords == ["sun"] && forum.location?.latitude == 41.9)
      let containing = try await library.fetchAssetCollections(containing: forum, with: .album)
      #expect(containing.map(\.id) == [rome.id])
      var origins: [String] = []
      for try await change in library.fetchPersistentChanges(since: token) { origins.append(change.origin) }
      #expect(origins.contains("client:app"))
      // The edit began before that of another program.
      await #expect(throws: PhotoLibraryError.self) {
        try await library.performChanges(ifUnchangedSince: token) { $0.edit([ids[1]]) { $0.revert() } }
      }
      try await library.performChanges { $0.edit(forum) { $0.revert() } }
      #expect(try await library.fetchAssets(withIDs: [ids[1]]).firstObject?.rating == nil)
    }
  }

  @Test func aDeletedAlbumIsEmptyAndADeletedOrEditedFileHasDetails() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<3 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let library = PhotoLibrary(socketPath: fixture.socket)
      let photos = try await library.fetchAssets()
      let ids = try await photos.ids
      var album: CollectionPlaceholder?
      let made = try await library.performChanges { album = $0.createAlbum(title: "Mine", assets: ids) }
      let albumID = made[try #require(album)]
      var inAlbum = try await library.fetchAssets(with: FetchOptions(collection: "id:\(albumID)"))
      var ofAlbum = library.changes(for: [inAlbum]).makeAsyncIterator()
      let fetched = inAlbum
      try await library.performChanges { $0.deleteCollection(albumID) }
      let deleted = try #require(await ofAlbum.next()?.details(for: inAlbum))
      #expect(deleted.isCollectionDeleted && deleted.after.isEmpty)
      #expect(deleted.removedIDs == ids && deleted.deletedIDs.isEmpty)
      inAlbum = deleted.after
      // An observer that comes later finds the deletion, too.
      var late = library.changes(for: [fetched]).makeAsyncIterator()
      let found = try #require(await late.next()?.details(for: fetched))
      #expect(found.isCollectionDeleted && found.after.isEmpty && found.removedIDs == ids)
      try await library.undoChange(try #require(try await library.undoableChanges().first).id)
      let back = try #require(await ofAlbum.next()?.details(for: inAlbum))
      #expect(!back.isCollectionDeleted && back.insertedIDs == ids)
      #expect(try await late.next()?.details(for: found.after)?.after.ids == ids)

      var (result, edited) = (photos, false)
      let (first, second) = (try #require(try await photos[0]), try #require(try await photos[1]))
      var changes = library.changes(for: [result]).makeAsyncIterator()
      try fixture.write(try #require(first.resources.first).filename, 77)
      while !edited {
        let change = try #require(await changes.next())
        if let details = change.details(for: result) { result = details.after }
        edited = try await change.details(for: first)?.assetContentChanged ?? false
      }
      unlink(second.resources[0].path)
      var isDeleted = false
      while !isDeleted {
        let change = try #require(await changes.next())
        if let details = change.details(for: result) { result = details.after }
        isDeleted = try await change.details(for: second)?.objectWasDeleted ?? false
      }
      #expect(result.count == 2)
    }
  }
}
