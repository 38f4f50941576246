import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing

/// A client that comes back gets the difference to the list that it has.
@Suite struct ResumeTests {
  private struct Parameters: Encodable {
    var options = FetchOptions()
    var since: String?
    var sinceIDs: [AssetID]?
    var sinceDigest: String?
  }

  private struct Reply: Decodable { let observation: Observation }

  private func first(_ parameters: Parameters, _ fixture: DaemonFixture) async throws -> Observation {
    let client = try await fixture.connect()
    for try await reply in client.stream("org.photod.library.Observe", parameters, of: Reply.self) {
      return reply.observation
    }
    throw CancellationError()
  }

  @Test func resumeByTokenAndByListIsExact() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<10 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let start = try await first(Parameters(), fixture)
      let before = try #require(start.ids)
      #expect(before.count == 10 && start.complete == true)

      let nothing = try await first(Parameters(since: start.token), fixture)
      #expect(nothing.details == nil && nothing.ids == nil && nothing.previousToken == start.token)

      // The ids are those of another list, although nothing has changed since.
      let other = try await first(Parameters(since: start.token, sinceIDs: Array(before.dropLast(3))), fixture)
      #expect(other.reload == .digestMismatch && other.ids == before)

      unlink(fixture.path("3.jpg"))
      try fixture.write("new.jpg", 77)
      try await fixture.synchronize()
      let after = try await fixture.ids().ids
      let byToken = try await first(Parameters(since: start.token), fixture)
      #expect(try byToken.details?.applied(to: before) == after)

      fixture.kill(SIGTERM)
      unlink(fixture.path("4.jpg"))
      try await fixture.start()
      try await fixture.synchronize()
      let now = try await fixture.ids().ids
      #expect(try await first(Parameters(since: start.token), fixture).reload == .tokenExpired)
      let byList = try await first(Parameters(since: start.token, sinceIDs: before), fixture)
      #expect(try byList.details?.applied(to: before) == now)
      #expect(byList.details?.deletedBefore.reduce(0) { $0 + $1.count } == 2)
      let wrong = try await first(
        Parameters(since: start.token, sinceIDs: before, sinceDigest: "0000000000000000"), fixture)
      #expect(wrong.reload == .digestMismatch && wrong.ids == now)
      let foreign = try await first(Parameters(since: "another.1.1", sinceIDs: before), fixture)
      #expect(foreign.reload == .libraryReplaced)
    }
  }

  @Test func resumeByTokenOutlivesManyCommits() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<10 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let start = try await first(Parameters(), fixture)
      let before = try #require(start.ids)
      // None of these commits changes the list, but the list is read at each of them.
      var token = ""
      for round in 0..<80 {
        token = try await fixture.setFavorite([before[0]], round % 2 == 0)
        _ = try await first(Parameters(), fixture)
      }
      let touched = try await first(Parameters(since: start.token, sinceDigest: start.digest), fixture)
      #expect(touched.reload == nil && touched.token == token && touched.details?.changedFields == ["favorite"])
      #expect(try touched.details?.applied(to: before) == before)
    }
  }
}
