import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

@Suite(.timeLimit(.minutes(10))) struct CollectionFetchTests {
  private static let collections = [
    AssetCollection(id: 1, kind: .smartAlbum, subtype: "favorites", title: "Favorites", count: 1),
    AssetCollection(id: 2, kind: .smartAlbum, subtype: "recents", title: "Recents", count: 9),
    AssetCollection(id: 10, kind: .folder, title: "Travel", count: 0),
    AssetCollection(id: 11, kind: .album, title: "Rome", parentID: 10, count: 3),
    AssetCollection(id: 12, kind: .smartAlbum, title: "Best", parentID: 10, count: 3),
    AssetCollection(id: 13, kind: .album, title: "Family", count: 3),
    AssetCollection(id: 20, kind: .folderAlbum, title: "photos", path: "/photos", count: 3),
  ]

  /// Answers as photod does, in two pages.
  private static let answer: ScriptedDaemon.Answer = { call in
    let request = try call.parameters(FetchCollectionsRequest.self)
    let found = collections.filter { collection in
      (request.kinds?.contains(collection.kind.rawValue) ?? true)
        && (request.containingAsset == nil || [11, 20].contains(collection.id))
    }
    try await call.replyContinuing(CollectionPage(token: "l.1.5", collections: Array(found.prefix(2))))
    try await call.reply(CollectionPage(token: "l.1.5", collections: Array(found.dropFirst(2))))
  }

  @Test func collectionsAreSelectedByKindSubtypeAssetAndFolder() async throws {
    try await ScriptedDaemon.with(["FetchCollections": Self.answer]) { daemon in
      let library = daemon.library()
      let all = try await library.fetchAssetCollections()
      #expect(all.map(\.id) == [1, 2, 10, 11, 12, 13, 20] && all.token == "l.1.5")
      #expect(all.firstObject?.id == 1 && all.lastObject?.id == 20)
      #expect(all.index(of: 11) == 3 && all[3].title == "Rome" && !all.contains(99))
      let albums = try await library.fetchAssetCollections(with: .album)
      #expect(albums.map(\.id) == [11, 13])
      let favorites = try await library.fetchAssetCollections(with: .smartAlbum, subtype: "favorites")
      #expect(favorites.map(\.id) == [1])
      let top = try await library.fetchTopLevelUserCollections()
      #expect(top.map(\.id) == [10, 13])
      let travel = try await library.fetchCollections(in: top[0])
      #expect(travel.map(\.id) == [11, 12])
      let containing = try await library.fetchAssetCollections(containing: asset(5), with: .album)
      #expect(containing.map(\.id) == [11])
    }
  }

  @Test func accessIsAskedForAndReportedInItsOwnWords() async throws {
    let status = Mutex(AuthorizationStatus.notDetermined)
    let answers: [String: ScriptedDaemon.Answer] = [
      "AuthorizationStatus": { call in
        try await call.reply(Authorization(status: status.withLock { $0 }, client: "test"))
      },
      "RequestAuthorization": { call in
        let level = try call.parameters(AuthorizationRequest.self).accessLevel
        let new: AuthorizationStatus = level == .readWrite ? .limited : .denied
        status.withLock { $0 = new }
        try await call.reply(AuthorizationReply(status: new))
      },
      "FetchIDs": { _ in
        throw VarlinkError(
          "org.photod.library.NotAuthorized", AuthorizationError(status: "denied", message: "No access. Ask for it."))
      },
    ]
    try await ScriptedDaemon.with(answers) { daemon in
      let library = daemon.library()
      let first = try await library.authorizationStatus(for: .readWrite)
      #expect(first == .notDetermined)
      #expect(try await library.requestAuthorization(for: .readWrite) == .limited)
      #expect(try await library.authorizationStatus(for: .readWrite) == .limited)
      #expect(try await library.requestAuthorization(for: .addOnly) == .denied)
      #expect(try await library.authorizationStatus(for: .addOnly) == .denied)
      let denied = PhotoLibraryError.notAuthorized(status: "denied", message: "No access. Ask for it.")
      await #expect(throws: denied) { try await library.fetchAssets() }
    }
  }

  @Test func persistentChangesComeOneByOneAndAnExpiredTokenIsAnError() async throws {
    let date = PhotoDate(microseconds: 0)
    let answer: ScriptedDaemon.Answer = { call in
      let since = try call.parameters(HistoryRequest.self).since
      guard since == "l.1.3" else {
        throw VarlinkError(
          "org.photod.library.ChangeTokenExpired", TokenError(message: "It is too old.", currentToken: "l.1.6"))
      }
      for page in [[4, 5], [], [6]] {
        try await call.replyContinuing(
          HistoryPage(
            changes: page.map { PersistentChange(token: "l.1.\($0)", date: date, origin: "watcher") }, token: "l.1.6"))
      }
      try await call.reply(HistoryPage(changes: [], token: "l.1.6"))
    }
    try await ScriptedDaemon.with(["FetchPersistentChanges": answer]) { daemon in
      var tokens: [String] = []
      for try await change in daemon.library().fetchPersistentChanges(since: "l.1.3") { tokens.append(change.token) }
      #expect(tokens == ["l.1.4", "l.1.5", "l.1.6"])
      let expired = PhotoLibraryError.changeTokenExpired(message: "It is too old.", currentToken: "l.1.6")
      await #expect(throws: expired) {
        for try await _ in daemon.library().fetchPersistentChanges(since: "l.1.1") {}
      }
    }
  }
}
