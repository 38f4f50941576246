import PhotoModel
import TestTools
import Testing

@testable import PhotoClient

/// How the changes of several lists are grouped, without a photod.
@Suite(.timeLimit(.minutes(10))) struct ChangeInboxTests {
  private let inbox: ChangeInbox
  private var chains: [ListChain]

  init() {
    let library = PhotoLibrary(socketPath: "/nonexistent")
    inbox = ChangeInbox(listCount: 3, keepsProblems: true)
    chains = (0..<3).map { _ in
      ListChain(FetchResult(FetchLineage(of: library, FetchOptions()), SnapshotIDs([1], token: "l.1.1")))
    }
  }

  /// Hands over the next change of a list, and returns when it waits in the inbox. The task ends when it was taken.
  private mutating func put(_ list: Int, _ token: String) async throws -> Task<Void, any Error> {
    let step = chains[list].advance(to: [1, 2], token: token, .reload(.unknown), origin: nil)
    let count = inbox.waitingCount
    let task = Task { [inbox] in try await inbox.put(.assets(step), from: list) }
    try await eventually("the change waits") { [inbox] in inbox.waitingCount == count + 1 }
    return task
  }

  /// The token and the number of lists of the change that is ready.
  private func ready() -> (token: String, lists: Int)? {
    guard case .change(let change) = inbox.poll() else { return nil }
    return (change.token, change.assetLists.count)
  }

  @Test mutating func aChangeWaitsUntilEachOtherListIsKnownAtItsToken() async throws {
    let first = try await put(0, "l.1.3")
    #expect(ready() == nil)
    inbox.reached("l.1.3", by: 1)
    inbox.reached("l.1.2", by: 2)
    #expect(ready() == nil)
    let third = try await put(2, "l.1.3")
    #expect(try #require(ready()) == ("l.1.3", 2))
    #expect(inbox.waitingCount == 0 && inbox.poll() == nil)
    for task in [first, third] { try await task.value }
  }

  @Test mutating func theEarliestTokenComesFirst() async throws {
    inbox.reached("l.1.9", by: 2)
    let later = try await put(0, "l.1.5")
    let earlier = try await put(1, "l.1.4")
    #expect(try #require(ready()) == ("l.1.4", 1))
    try await earlier.value
    // The second list may still have a change of the other token.
    #expect(ready() == nil)
    inbox.reached("l.1.10", by: 1)
    #expect(try #require(ready()) == ("l.1.5", 1))
    try await later.value
  }

  @Test mutating func aListThatPhotodRefusesIsNotAwaited() async throws {
    let change = try await put(0, "l.1.3")
    inbox.reached("l.1.3", by: 1)
    inbox.reached("l.1.2", by: 2)
    #expect(ready() == nil)
    inbox.release(2)
    #expect(try #require(ready()) == ("l.1.3", 1))
    try await change.value
  }

  /// After a restart, the first list that is back does not overtake the others.
  @Test mutating func aListThatWasLostIsAwaitedForSomeAttempts() async throws {
    for list in 0..<3 { inbox.reached("l.1.2", by: list) }
    // photod is away for long.
    for _ in 0..<20 { for list in 0..<3 { inbox.lost(list) } }
    let change = try await put(0, "l.1.3")
    #expect(ready() == nil)
    for list in 1...2 {
      for _ in 0..<4 { inbox.lost(list) }
    }
    #expect(ready() == nil)
    inbox.lost(1)
    #expect(ready() == nil)
    inbox.lost(2)
    #expect(try #require(ready()) == ("l.1.3", 1))
    try await change.value
  }

  /// A list at the same commit gets no change to it, also if its token has an earlier epoch. A higher sequence of an
  /// earlier epoch is not among the arguments: it is from before a restore, and the list gets the restored state.
  @Test(arguments: ["l.1.8", "l.2.8", "l.2.9", "l.3.1", "other.2.1", "no token"])
  mutating func aTokenThatIsNotEarlierDelaysNothing(token: String) async throws {
    inbox.reached(token, by: 1)
    inbox.reached(token, by: 2)
    let change = try await put(0, "l.2.8")
    #expect(try #require(ready()) == ("l.2.8", 1))
    try await change.value
  }

  /// The change was read before a backup was restored. Its epoch is later, and its sequences are lower.
  @Test mutating func aListOfARestoredCatalogDelaysNoChangeFromBeforeIt() async throws {
    for list in 0..<3 { inbox.reached("l.1.99", by: list) }
    let change = try await put(0, "l.1.100")
    inbox.reached("l.1.100", by: 2)
    inbox.lost(1)
    #expect(ready() == nil)
    inbox.reached("l.2.40", by: 1)
    #expect(try #require(ready()) == ("l.1.100", 1))
    try await change.value
    // The other lists come back, and their changes to the restored catalog come together.
    for list in [0, 2] { inbox.lost(list) }
    let second = try await put(2, "l.2.40")
    #expect(ready() == nil)
    let first = try await put(0, "l.2.40")
    #expect(try #require(ready()) == ("l.2.40", 2))
    for task in [first, second] { try await task.value }
  }

  /// The follower of a list may not have noticed yet that a restore closed its connection.
  @Test mutating func aListFromBeforeARestoreIsAwaited() async throws {
    for list in 0..<3 { inbox.reached("l.1.100", by: list) }
    let second = try await put(1, "l.2.40")
    #expect(ready() == nil)
    for list in [0, 2] { inbox.lost(list) }
    #expect(ready() == nil)
    inbox.reached("l.2.40", by: 2)
    let first = try await put(0, "l.2.40")
    #expect(try #require(ready()) == ("l.2.40", 2))
    for task in [first, second] { try await task.value }
  }

  /// An epoch may end while photod runs. The next commit then concerns lists whose tokens have the epoch before.
  @Test mutating func theChangesOfTheFirstCommitOfAnEpochComeTogether() async throws {
    for list in 0..<3 { inbox.reached("l.1.7", by: list) }
    let first = try await put(0, "l.2.8")
    #expect(ready() == nil)
    inbox.reached("l.2.8", by: 2)
    #expect(ready() == nil)
    let second = try await put(1, "l.2.8")
    #expect(try #require(ready()) == ("l.2.8", 2))
    for task in [first, second] { try await task.value }
  }

  /// photod may accept no connection for one list. The others come back without it after each loss of a connection.
  @Test mutating func aListThatPhotodDoesNotAcceptIsNotAwaitedAnewForEachOtherOne() async throws {
    inbox.reached("l.1.2", by: 0)
    inbox.reached("l.1.2", by: 1)
    for _ in 0..<5 { inbox.lost(2) }
    inbox.lost(1)
    inbox.reached("l.1.3", by: 1)
    let change = try await put(0, "l.1.3")
    #expect(try #require(ready()) == ("l.1.3", 1))
    try await change.value
  }

  /// A list whose change was not taken does not notice that photod was restarted, so it does not count as connected.
  @Test mutating func aListThatWasLostIsAwaitedThoughTheReaderIsBusy() async throws {
    for list in 0..<3 { inbox.reached("l.1.2", by: list) }
    let first = try await put(0, "l.1.3")
    // photod is away for long.
    for _ in 0..<20 { for list in 1...2 { inbox.lost(list) } }
    let second = try await put(1, "l.1.4")
    #expect(ready() == nil)
    inbox.reached("l.1.3", by: 2)
    #expect(try #require(ready()) == ("l.1.3", 1))
    #expect(ready() == nil)
    let third = try await put(2, "l.1.4")
    #expect(ready() == nil)
    inbox.reached("l.1.4", by: 0)
    #expect(try #require(ready()) == ("l.1.4", 2))
    for task in [first, second, third] { try await task.value }
  }

  @Test mutating func problemsComeFirstAndTheOldestAreDropped() async throws {
    inbox.reached("l.1.3", by: 1)
    inbox.reached("l.1.3", by: 2)
    let change = try await put(0, "l.1.3")
    for number in 1...102 { inbox.report(.timedOut(message: "\(number)")) }
    for number in 3...102 {
      guard case .problem(.timedOut("\(number)")) = inbox.poll() else {
        Issue.record("problem \(number) does not come")
        return
      }
    }
    #expect(try #require(ready()) == ("l.1.3", 1))
    try await change.value
    let silent = ChangeInbox(listCount: 1)
    silent.report(.connectionClosed)
    #expect(silent.poll() == nil)
  }

  @Test func aCancelledReaderStopsWaiting() async throws {
    let reading = Task { [inbox] in try await inbox.next() }
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
  }

  @Test mutating func aCancelledReaderDoesNotTakeAChangeThatWaits() async throws {
    for list in 1...2 { inbox.reached("l.1.3", by: list) }
    let change = try await put(0, "l.1.3")
    let reading = Task { [inbox] in
      while !Task.isCancelled { await Task.yield() }
      return try await inbox.next()
    }
    reading.cancel()
    await #expect(throws: CancellationError.self) { try await reading.value }
    #expect(try #require(ready()) == ("l.1.3", 1))
    try await change.value
  }
}
