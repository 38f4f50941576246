import Foundation
import PhotoModel
import TestTools
import Testing
import Varlink

@testable import PhotoLive
@testable import PhotoServer

/// Replies that cannot contain everything that was requested.
@Suite(.timeLimit(.minutes(10))) struct LargeReplyTests {
  private struct Page: Decodable {
    let token: String
    let total: Int
    let offset: Int
    let assets: [Asset]?
    let ids: [AssetID]?
  }

  private func pages(
    _ path: String, _ method: String, _ parameters: String = "{}", after first: () throws -> Void = {}
  ) async throws -> [Page] {
    let client = try await VarlinkClient.connect(path: path)
    let replies = client.stream("org.photod.library." + method, encoded: VarlinkEncoded(Array(parameters.utf8)))
    var pages: [Page] = []
    for try await reply in replies {
      #expect(reply.count <= 1 << 20)
      pages.append(try JSONDecoder().decode(Page.self, from: Data(reply)))
      if pages.count == 1 { try first() }
    }
    return pages
  }

  @Test(arguments: [1, 7, 500, 5_000])
  func pagesOfAssetsFollowEachOther(_ count: Int) async throws {
    let fixture = try ServerFixture()
    try fixture.insert(count == 1 ? 20 : 1_200, titleLength: 2_300)
    try await fixture.serving { path, failures in
      let pages = try await pages(path, "Fetch", #"{"count":\#(count)}"#)
      let ids = try fixture.ids()
      #expect(pages.flatMap { $0.assets ?? [] }.map(\.id) == ids)
      #expect(pages.allSatisfy { $0.total == ids.count && $0.assets?.count ?? 0 <= count })
      #expect(pages.map(\.offset) == pages.indices.map { pages[..<$0].reduce(0) { $0 + ($1.assets?.count ?? 0) } })
      // Each page but the last is as full as its size allows.
      if count == 5_000 { #expect(pages.dropLast().allSatisfy { $0.assets?.count ?? 0 > 370 }) }
      #expect(failures() == [])
    }
  }

  /// An asset that exceeds the size of a reply comes alone.
  @Test func assetThatFitsInNoReplyComesAlone() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(2)
    let large = try fixture.insert(1, titleLength: 2 << 20)
    try fixture.insert(2)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      var counts: [Int] = []
      for try await reply in client.stream("org.photod.library.Fetch", encoded: VarlinkEncoded(Array("{}".utf8))) {
        let page = try JSONDecoder().decode(Page.self, from: Data(reply))
        counts.append(page.assets?.count ?? 0)
        if reply.count > 1 << 20 { #expect(page.assets?.map(\.id) == large) }
      }
      #expect(counts == [2, 1, 2])
    }
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func idsComeFromOneSnapshot() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(41_000)
    let before = try fixture.ids()
    try await fixture.serving { path, failures in
      let pages = try await pages(path, "FetchIDs") {
        try fixture.delete([ids[0], ids[20_000], ids[40_999]])
        try fixture.insert(5)
      }
      #expect(pages.map { $0.ids?.count } == [1_000, 40_000] && pages.map(\.offset) == [0, 1_000])
      #expect(pages.flatMap { $0.ids ?? [] } == before && pages.allSatisfy { $0.total == 41_000 })
      #expect(Set(pages.map(\.token)).count == 1)
      let now = try await self.pages(path, "FetchIDs")
      #expect(now.flatMap { $0.ids ?? [] } == (try fixture.ids()) && now[0].total == 41_002)
      #expect(failures() == [])
    }
  }

  /// A second page would need a snapshot between the two.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func listThatFitsInAPageIsOnePage() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(40_000)
    try await fixture.serving { path, _ in
      let pages = try await pages(path, "FetchIDs")
      #expect(pages.map { $0.ids?.count } == [40_000])
    }
  }

  @Test func idsOfAnEmptyListAreOnePage() async throws {
    let fixture = try ServerFixture()
    try await fixture.serving { path, _ in
      let pages = try await pages(path, "FetchIDs")
      #expect(pages.count == 1 && pages[0].ids == [] && pages[0].total == 0)
    }
  }

  @Test func getAssetsReportsForEachIDThatFitsWhetherItExists() async throws {
    struct Reply: Decodable {
      let assets: [Asset]
      let missing: [AssetID]
    }
    let fixture = try ServerFixture()
    let ids = try fixture.insert(990, titleLength: 2_300)
    try await fixture.serving { path, _ in
      let client = try await VarlinkClient.connect(path: path)
      let far = AssetID(1 << 40)
      var rest = [-1, far] + ids + [.max]
      var (found, missing): ([AssetID], [AssetID]) = ([], [])
      while !rest.isEmpty {
        let bytes = try await client.call(
          "org.photod.library.GetAssets", encoded: VarlinkEncoded(encoding: ["ids": rest]))
        #expect(bytes.count <= 1 << 20)
        let reply = try JSONDecoder().decode(Reply.self, from: Data(bytes))
        let named = Set(reply.assets.map(\.id) + reply.missing)
        try #require(!named.isEmpty)
        found += reply.assets.map(\.id)
        missing += reply.missing
        rest.removeAll { named.contains($0) }
      }
      #expect(found == ids && missing == [-1, far, .max])
    }
  }

  /// A list is counted once for all clients until the next commit.
  @Test func totalsBelongToTheCommit() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(30)
    try await fixture.serving { path, _ in
      func totals() async throws -> Set<Int> {
        var totals: Set<Int> = []
        for _ in 0..<3 { for page in try await pages(path, "Fetch", #"{"count":20}"#) { totals.insert(page.total) } }
        return totals
      }
      #expect(try await totals() == [30])
      try fixture.insert(announced: false)
      #expect(try await totals() == [31])
      try fixture.delete(Array(ids[..<10]), announced: false)
      #expect(try await totals() == [21])
    }
  }

  @Test func onlyTheTotalsOfRecentListsAreKept() throws {
    let fixture = try ServerFixture()
    let totals = ListTotals()
    try fixture.catalog.read { reader in
      let plans = try (1...1_000).map { try reader.plan(FetchOptions(fetchLimit: $0)) }
      for plan in plans {
        totals.note(1, of: plan, at: 5)
        #expect(totals.total(of: plan, at: 5) == 1 && totals.total(of: plan, at: 6) == nil)
      }
      #expect(plans.count { totals.total(of: $0, at: 5) != nil } <= 256)
      totals.note(2, of: plans[999], at: 4)
      #expect(totals.total(of: plans[999], at: 5) == 1, "the newest is kept")
    }
  }
}
