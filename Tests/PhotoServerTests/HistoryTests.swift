import PhotoContract
import PhotoModel
import Testing
import Varlink

@testable import PhotoServer

/// The history between a commit and its announcement, and the origin of changes.
@Suite struct HistoryTests {
  private struct Since: Encodable { let since: String }
  private struct Reply: Decodable {
    let changes: [PersistentChange]
    let token: String
  }

  @Test func historyContinuesFromATokenAheadOfTheFeed() async throws {
    let fixture = try ServerFixture()
    try fixture.insert()
    try fixture.insert(announced: false)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let token = try fixture.token()
      let reply = try await client.call(
        "org.photod.library.FetchPersistentChanges", Since(since: token), returning: Reply.self)
      #expect(reply.changes.isEmpty && reply.token == token)
      let error = await #expect(throws: VarlinkError.self, "of a commit to come") {
        _ = try await client.call(
          "org.photod.library.FetchPersistentChanges", Since(since: fixture.catalog.token(3).description),
          returning: Reply.self)
      }
      let said = String(decoding: error?.parameters ?? [], as: UTF8.self)
      #expect(said.contains("newer than the library's last commit"))
      await client.close()
    }
  }

  /// An old copy of the catalog was restored. A client that invents tokens after that expires no others.
  @Test func aTokenThatIsAheadOfTheCatalogEndsAllTokensOnce() async throws {
    let fixture = try ServerFixture(isReopened: true)
    let ids = try fixture.insert()
    let epoch = fixture.catalog.epoch
    func begin(since token: String) async throws -> Observation? {
      var observation = try fixture.observation(ObserveRequest(since: token, sinceIDs: ids))
      var sent: [Observation] = []
      try await observation.begin { difference, _ in sent.append(difference) }
      return sent.first
    }
    let genuine = try fixture.token()
    #expect(try await begin(since: fixture.catalog.token(70).description)?.reload == .libraryReplaced)
    #expect(fixture.catalog.epoch == epoch + 1)
    #expect(fixture.library.statusStore.status.token == fixture.catalog.token(1).description)
    #expect(try await begin(since: genuine)?.reload == .libraryReplaced)
    #expect(try await begin(since: fixture.catalog.token(70).description)?.reload == .tokenExpired)
    #expect(fixture.catalog.epoch == epoch + 1)
    #expect(try await begin(since: fixture.token())?.reload == nil)
  }

  @Test func slowFollowerOfThePrunedHistoryGetsAnError() async throws {
    struct Parameters: Encodable {
      let since: String
      let follow = true
    }
    let fixture = try ServerFixture()
    try fixture.insert()
    let token = try fixture.token()
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let stream = client.stream(
        "org.photod.library.FetchPersistentChanges", Parameters(since: token), of: Reply.self)
      var replies = stream.makeAsyncIterator()
      #expect(try await replies.next()?.token == token)
      for _ in 0..<5 { try fixture.insert(announced: false) }
      try fixture.catalog.write { try $0.pruneHistory(before: 4) }
      fixture.live.feed.publish(6)
      let error = await #expect(throws: VarlinkError.self) { _ = try await replies.next() }
      #expect(error?.name == "org.photod.library.ChangeTokenExpired")
      await client.close()
    }
  }

  @Test func clientNamesAreShortAndPrintable() throws {
    for name in ["gallery", "Фото 📷", String(repeating: "x", count: 64), ""] {
      try LibraryService.check(clientName: name)
    }
    try LibraryService.check(clientName: nil)
    for name in [
      String(repeating: "x", count: 65), "a" + String(repeating: "\u{301}", count: 64), "a\nb", "\u{85}", "\0",
    ] {
      #expect(throws: VarlinkError.invalidParameter("clientName")) { try LibraryService.check(clientName: name) }
    }
  }

  @Test func changeWithAnEndlessClientNameIsRefused() async throws {
    struct Parameters: Encodable {
      let requests: [ChangeRequest]
      let clientName: String
    }
    let fixture = try ServerFixture()
    let ids = try fixture.insert()
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      await #expect(throws: VarlinkError.invalidParameter("clientName")) {
        _ = try await client.call(
          "org.photod.library.PerformChanges",
          Parameters(
            requests: [ChangeRequest(editAsset: .init(ids: ids, isFavorite: true))],
            clientName: String(repeating: "x", count: 65)),
          returning: VarlinkEmpty.self)
      }
      await client.close()
    }
  }
}
