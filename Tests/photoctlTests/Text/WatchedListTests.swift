import ChangeDetails
import PhotoContract
import PhotoModel
import Testing

@testable import photoctl

/// The observations that `watch` prints, and the state from which it continues.
struct WatchedListTests {
  private func page(_ ids: [AssetID], at offset: Int, of all: [AssetID], token: String = "l.1.2") -> Observation {
    Observation(
      token: token, count: all.count, digest: ListDigest(of: all).description, offset: offset, ids: ids,
      complete: offset + ids.count == all.count)
  }

  @Test func pagesBecomeOneLineWithTheFactsOfTheFirst() throws {
    var list = WatchedList(since: "l.1.1")
    var first = page([5, 4], at: 0, of: [5, 4, 3])
    first.reload = .tokenExpired
    first.previousToken = "l.1.1"
    #expect(try list.take(first) == nil)
    // A page's token does not cover all previous lines.
    #expect(list.token == "l.1.1")
    let told = try #require(try list.take(page([3], at: 2, of: [5, 4, 3])))
    #expect(told.ids == [5, 4, 3] && told.offset == 0 && told.complete == true)
    #expect(told.reload == .tokenExpired && told.previousToken == "l.1.1" && told.token == "l.1.2")
    #expect(list.token == "l.1.2")
  }

  @Test func differenceThatDoesNotFitTheListIsNotPrinted() throws {
    var list = WatchedList(since: "l.1.1", ids: [3, 2, 1])
    let details = try #require(
      FetchResultChangeDetails.full(from: [3, 2, 1], to: [3, 1], touched: TouchedAssets()))
    let right = Observation(
      token: "l.1.2", previousToken: "l.1.1", count: 2, digest: ListDigest(of: [3, 1]).description, details: details)
    var wrong = right
    wrong.digest = ListDigest(of: [2, 1]).description
    #expect(throws: Failure.self) { try list.take(wrong) }
    #expect(list.token == "l.1.1")
    #expect(try list.take(right) == right)
    // Without the list, the observation is passed on unchanged.
    var unknown = WatchedList(since: "l.1.1")
    #expect(try unknown.take(right) == right)
    #expect(unknown.token == "l.1.2")
  }

  @Test func idsAreParsedFromLinesOrJSON() throws {
    func parse(_ text: String) throws -> [AssetID] { try ListedIDs.parse(Array(text.utf8), name: "ids.txt") }
    #expect(try parse("3\n1\n2\n") == [3, 1, 2])
    #expect(try parse("[3, 1,\r\n 2]") == [3, 1, 2])
    #expect(try parse("") == [] && parse("[]") == [])
    for (text, problem) in [
      ("3\n1\nx2\n", "line 3 of ids.txt: 'x2' is no id"), ("-1", "line 1 of ids.txt: '-1' is no id"),
      ("1 9223372036854775808", "line 1 of ids.txt: '9223372036854775808' is no id"),
      ("1\n2\n1", "ids.txt has an id twice"),
    ] {
      let failure = #expect(throws: Failure.self) { try parse(text) }
      #expect(failure?.problem == problem && failure?.status == .data)
    }
  }
}
