import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoCatalog
@testable import PhotoServer

/// FetchUserData on a real socket.
@Suite(.timeLimit(.minutes(10))) struct FetchUserDataTests {
  private func page(
    _ client: VarlinkClient, ids: [AssetID]? = nil, after: AssetID? = nil
  ) async throws -> UserDataPage {
    try await client.call(
      "org.photod.library.FetchUserData", FetchUserDataRequest(ids: ids, after: after), returning: UserDataPage.self)
  }

  private func perform(_ client: VarlinkClient, _ edits: [ChangeRequest.EditAsset]) async throws {
    _ = try await client.call(
      "org.photod.library.PerformChanges",
      PerformChangesRequest(requests: edits.map { ChangeRequest(editAsset: $0) }), returning: ChangeResult.self)
  }

  @Test func onlyTypedValuesAreReturned() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(5, titleLength: 3)
    try await fixture.serving { path, failures in
      let client = try await VarlinkClient.connect(path: path)
      var edit = ChangeRequest.EditAsset(ids: [ids[3]])
      (edit.title, edit.caption, edit.rating, edit.addKeywords) = ("", "c", 0, ["k"])
      edit.creationDate = "2024-07-21T10:00:00+02:00"
      edit.removeLocation = true
      try await perform(client, [edit, .init(ids: [ids[1]], isFavorite: true), .init(ids: [ids[2]], isHidden: true)])
      let typed = UserData(
        assetID: ids[3], rating: 0, title: "", caption: "c", addedKeywords: ["k"],
        creationDate: PhotoDate("2024-07-21T10:00:00+02:00"), hasNoLocation: true)
      let favorite = UserData(assetID: ids[1], isFavorite: true)
      let all = try await page(client)
      #expect(all.assets == [favorite, UserData(assetID: ids[2], isHidden: true), typed] && all.next == nil)
      #expect(all.token == (try fixture.token()))
      // With ids, also assets about which nothing was said.
      let some = try await page(client, ids: [ids[3], 99, ids[0], ids[3]])
      #expect(some.assets == [UserData(assetID: ids[0]), typed] && some.next == nil)
      #expect(try await page(client, after: ids[2]).assets == [typed])
      #expect(try await page(client, after: -5).assets.count == 3)
      #expect(try await page(client, ids: []).assets == [])
      #expect(failures() == [])
      await client.close()
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func longTextsTakeSeveralPages() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(40)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let caption = String(repeating: "\"", count: 60_000)
      for id in ids {
        var edit = ChangeRequest.EditAsset(ids: [id])
        edit.caption = caption
        try await perform(client, [edit])
      }
      for wanted in [nil, ids] {
        var (found, after, pages): ([AssetID], AssetID?, Int) = ([], nil, 0)
        repeat {
          let reply = try await page(client, ids: wanted, after: after)
          found += reply.assets.map(\.assetID)
          (after, pages) = (reply.next, pages + 1)
        } while after != nil && pages < 100
        // Each quote takes two bytes in JSON, so a page of 1 MiB has at most eight assets.
        #expect(found == ids && (5...8).contains(pages), "\(pages) pages")
      }
      await client.close()
    }
  }

  @Test func hashOfTheFirstFileIsReturned() async throws {
    let fixture = try ServerFixture()
    let id = try fixture.insert()[0]
    var row = try #require(try fixture.catalog.read { try $0.file(ofAsset: id) })
    row.marks.hash = ContentDigest(high: 1, low: 2)
    try fixture.commit { [row] in try $0.keepMarks(of: row) }
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      #expect(
        try await page(client, ids: [id]).assets
          == [UserData(assetID: id, contentHash: "00000000000000010000000000000002")])
      await client.close()
    }
  }
}
