import Glibc
import PhotoTestSupport
import Testing

/// Whichever fetch is observed, and whatever happens, the list that a client computes from its observations is correct.
///
/// PHOTOD_LIVE_OPERATIONS sets the number of operations (20,000 in the large run), and PHOTOD_LIVE_FETCHES the number
/// of observed fetches. PHOTOD_LIVE_SEEDS sets the number of libraries, and PHOTOD_LIVE_SEED selects a single one.
@Suite(.serialized, .timeLimit(.minutes(120)))
struct LiveQueryTests {
  private static let seeds =
    effort("PHOTOD_LIVE_SEED", 0) > 0 ? [effort("PHOTOD_LIVE_SEED", 0)] : Array(1...effort("PHOTOD_LIVE_SEEDS", 1))
  private static let operations = effort("PHOTOD_LIVE_OPERATIONS", 400)
  private static let fetches = effort("PHOTOD_LIVE_FETCHES", 200)

  @Test(arguments: seeds)
  func observedListsAreWhatIsFetchedAfterEverySync(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      let queries = try LiveQueries(fixture, fate: .undisturbed, seed: seed)
      try await queries.run(fetches: Self.fetches, operations: Self.operations)
      print("seed \(seed): \(queries.tally)")
      let tally = queries.tally
      #expect(tally.emptyLists < tally.comparisons * 2 / 3 && tally.messages > tally.comparisons / 50)
      #expect(tally.albumDifferences > tally.checks)
      fixture.kill(SIGTERM)
    }
  }

  @Test(arguments: seeds)
  func clientsThatFailAndADaemonThatIsStartedAnewGetInStep(seed: Int) async throws {
    try await DaemonFixture.with { fixture in
      let queries = try LiveQueries(fixture, fate: .clientsAndDaemonFail, seed: seed)
      try await queries.run(fetches: Self.fetches, operations: Self.operations)
      print("seed \(seed): \(queries.tally)")
      let tally = queries.tally
      #expect(tally.count(.byToken, hasOutlivedDaemon: false, isWithoutReload: true) > 0)
      #expect(tally.count(.byList, hasOutlivedDaemon: false, isWithoutReload: true) > 0)
      #expect(tally.count(.byList, hasOutlivedDaemon: true, isWithoutReload: true) > 0)
      #expect(tally.sleeps > 0 && tally.deaths > 0 && tally.restarts.count == 2, "\(tally)")
      #expect(tally.behind > 0, "no socket was ever full")
      fixture.kill(SIGTERM)
    }
  }
}
