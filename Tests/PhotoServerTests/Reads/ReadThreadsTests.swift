import CThread
import ChangeDetails
import Dispatch
import Foundation
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Synchronization
import SystemThreads
import Testing

@testable import PhotoLive
@testable import PhotoServer
@testable import Varlink

/// Long reads, and the calls that must be answered meanwhile.
@Suite(.timeLimit(.minutes(10))) struct ReadThreadsTests {
  /// Takes more than a minute over the texts of ``expensiveFixture()``.
  private static let predicate = #"title MATCHES '.*(t|tt|ttt){60}x'"#
  private static let options = #"{"options":{"predicate":"\#(predicate)"}}"#
  private static let fetch = #"{"method":"org.photod.library.Fetch","parameters":\#(options)}"#

  /// - Parameter count: 400 are enough for a budget of a fraction of a second.
  private func expensiveFixture(_ count: Int = 4_000) throws -> ServerFixture {
    let fixture = try ServerFixture()
    try fixture.insert(count, titleLength: 4_000)
    return fixture
  }

  private struct Reply: Decodable {
    struct Parameters: Decodable { let message: String? }
    let error: String?
    let parameters: Parameters?
  }

  private func reply(_ socket: RawSocket) async throws -> Reply {
    try JSONDecoder().decode(Reply.self, from: try await socket.receive())
  }

  private func peer(_ process: Int32) -> VarlinkPeer {
    VarlinkPeer(connection: Int(process), uid: geteuid(), gid: getegid(), pid: process)
  }

  @Test func statusAndGetInfoAnswerWhileEveryThreadIsBusy() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(3)
    let threads = ReadThreads()
    let (isBusy, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for process in 1...Int32(ReadThreads.standardCount) {
        group.addTask {
          try await threads.run(for: self.peer(-process)) {
            isBusy.signal()
            mayGoOn.wait()
          }
        }
      }
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "test").async {
          for _ in 0..<ReadThreads.standardCount { isBusy.wait() }
          continuation.resume()
        }
      }
      try await fixture.serving(threads: threads) { path, failures in
        // There are more of them than threads that answer calls.
        let fetching = try (0..<64).map { _ in try RawSocket(path: path) }
        for socket in fetching { try socket.send(#"{"method":"org.photod.library.Fetch"}"#) }
        let other = try RawSocket(path: path)
        try other.send(#"{"method":"org.varlink.service.GetInfo"}"#)
        #expect(try await reply(other).error == nil)
        try other.send(#"{"method":"org.photod.library.Status"}"#)
        #expect(try await reply(other).error == nil)
        for _ in 0..<ReadThreads.standardCount { mayGoOn.signal() }
        for socket in fetching { #expect(try await reply(socket).error == nil) }
        #expect(failures() == [])
      }
      try await group.waitForAll()
    }
  }

  /// Threads of other clients that wake preempt a thread with a longer time slice.
  @Test(.enabled(if: cthread_slice_of(0) > 0, "Linux before 6.12 has no time slices of threads"))
  func onlyTheReadsOfAHeavyProcessHaveLongerTimeSlices() async throws {
    let threads = ReadThreads(count: 2)
    let isQueued = DispatchSemaphore(value: 0)
    async let first = threads.run(for: peer(1)) {
      isQueued.wait()
      // The process is heavy after this. The next job begins at once, because a process is light again after a while.
      let start = WorkBudget.threadTime()
      while WorkBudget.threadTime() - start < 1_000_000_000 {}
      return cthread_slice_of(0)
    }
    while threads.begunCount < 1 { await Task.yield() }
    async let second = threads.run(for: peer(1)) { cthread_slice_of(0) }
    while threads.waitingCount < 1 { await Task.yield() }
    isQueued.signal()
    let standard = try await first
    #expect(standard < TimeSlice.medium)
    #expect(try await second == TimeSlice.medium)
    for _ in 0..<4 { #expect(try await threads.run(for: peer(2)) { cthread_slice_of(0) } == standard) }
  }

  private struct Priority: Equatable {
    var nice = cthread_nice()
    var slice = cthread_slice_of(0)
  }

  /// The priority of the current job when it has taken this much processor time, in nanoseconds.
  @Sendable private static func priority(after time: Int64) -> Priority {
    let start = WorkBudget.threadTime()
    while WorkBudget.threadTime() - start < time, WorkBudget.mayGoOn {}
    return Priority()
  }

  @Test func aReadThatTakesLongGoesOnWithALowerPriority() async throws {
    let threads = ReadThreads(count: 2)
    let standard = try await threads.run(for: peer(1)) { Priority() }
    let short = try await threads.run(for: peer(1)) { Self.priority(after: 5_000_000) }
    #expect(short.nice == standard.nice)
    for _ in 0..<3 {
      let long = try await threads.run(for: peer(1)) { Self.priority(after: 30_000_000) }
      #expect(long.nice == standard.nice + WorkThread.niceness)
      if standard.slice > 0 { #expect(long.slice == TimeSlice.long) }
      // The next read has another thread.
      #expect(try await threads.run(for: peer(1)) { cthread_nice() } == standard.nice)
    }
  }

  /// The process of a long read may have only one thread. A read that waits for it must find the thread that replaces it.
  @Test func aReadThatWaitsForALongOneHasTheStandardPriority() async throws {
    let threads = ReadThreads(count: 2)
    let standard = try await threads.run(for: peer(1)) { cthread_nice() }
    let mayGoOn = DispatchSemaphore(value: 0)
    async let first = threads.run(for: peer(1)) {
      mayGoOn.wait()
      return Self.priority(after: 30_000_000).nice
    }
    while threads.begunCount < 2 { await Task.yield() }
    async let second = threads.run(for: peer(1)) { cthread_nice() }
    async let third = threads.run(for: peer(1)) { cthread_nice() }
    while threads.waitingCount < 2 { await Task.yield() }
    mayGoOn.signal()
    let (long, others) = (try await first, try await [second, third])
    #expect(long == standard + WorkThread.niceness)
    #expect(others == [standard, standard])
  }

  /// The decoder does not check the budget of its read.
  @Test func longParametersAreDecodedWithALowPriority() async throws {
    let threads = ReadThreads(count: 2)
    let standard = try await threads.run(for: peer(1)) { cthread_nice() }
    #expect(try await threads.run(for: peer(1), isLong: true) { cthread_nice() } == standard + WorkThread.niceness)
    #expect(try await threads.run(for: peer(1)) { cthread_nice() } == standard)
  }

  @Test func anExpensivePredicateTimesOutAndOthersAreAnswered() async throws {
    let fixture = try expensiveFixture(400)
    let threads = ReadThreads(budget: .milliseconds(100))
    try await fixture.serving(threads: threads) { path, failures in
      let hostile = try (0..<8).map { _ in try RawSocket(path: path) }
      for socket in hostile { try socket.send(Self.fetch) }
      let stream = try RawSocket(path: path)
      try stream.send(
        #"{"method":"org.photod.library.Observe","more":true,"parameters":\#(Self.options)}"#)
      for socket in hostile + [stream] {
        let reply = try await reply(socket)
        #expect(reply.error == "org.photod.library.TimedOut")
        #expect(reply.parameters?.message?.contains("two seconds of processor time") == true)
        // The connection remains usable.
        try socket.send(#"{"method":"org.photod.library.Fetch","parameters":{"count":1}}"#)
        #expect(try await self.reply(socket).error == nil)
      }
      #expect(failures() == [])
    }
  }

  /// With hours of budget and one thread for each process, the second call is answered only if the first read has
  /// ended.
  @Test func aClosedConnectionInterruptsItsRead() async throws {
    let fixture = try expensiveFixture()
    let threads = ReadThreads(count: 2, budget: .seconds(36_000))
    try await fixture.serving(threads: threads) { path, failures in
      do {
        let hostile = try RawSocket(path: path)
        try hostile.send(Self.fetch)
        while threads.begunCount == 0 { await Task.yield() }
      }
      let other = try RawSocket(path: path)
      try other.send(#"{"method":"org.photod.library.Fetch","parameters":{"count":1}}"#)
      #expect(try await reply(other).error == nil)
      #expect(failures() == [])
    }
  }

  @Test func readsThatWaitAreDroppedWhenTheirConnectionCloses() async throws {
    let fixture = try expensiveFixture()
    let threads = ReadThreads(count: 2, budget: .seconds(36_000))
    try await fixture.serving(threads: threads) { path, _ in
      do {
        let hostile = try (0..<20).map { _ in try RawSocket(path: path) }
        for socket in hostile { try socket.send(Self.fetch) }
        while threads.waitingCount < 19 { await Task.yield() }
      }
      let other = try RawSocket(path: path)
      try other.send(#"{"method":"org.photod.library.Fetch","parameters":{"count":1}}"#)
      #expect(try await reply(other).error == nil)
      #expect(threads.waitingCount == 0)
    }
  }

  @Test func aCallerDoesNotWaitForCancelledWorkThatCannotStop() async throws {
    let threads = ReadThreads(count: 2, waitsForCancelled: false)
    let mayGoOn = DispatchSemaphore(value: 0)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let caller = Task {
      try await threads.run(for: peer(1)) {
        begin.yield()
        mayGoOn.wait()
      }
    }
    for await _ in begun { break }
    caller.cancel()
    await #expect(throws: CancellationError.self) { try await caller.value }
    mayGoOn.signal()
  }

  @Test func aOnewayReadIsNotBegun() async throws {
    let fixture = try expensiveFixture()
    let threads = ReadThreads(count: 2, budget: .seconds(36_000))
    try await fixture.serving(threads: threads) { path, _ in
      let socket = try RawSocket(path: path)
      for _ in 0..<5 { try socket.send(#"{"oneway":true,"# + Self.fetch.dropFirst()) }
      try socket.send(#"{"method":"org.photod.library.Status"}"#)
      #expect(try await reply(socket).error == nil)
      #expect(threads.begunCount == 0)
    }
  }

  /// One text can take longer than the budget, within one step of SQLite.
  @Test func aPatternOverOneLongTextTimesOut() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(1, titleLength: 8 << 20)
    let patterns = [
      #"title MATCHES '.*(t|tt|ttt){60}x'"#, #"title CONTAINS[c] '\#(String(repeating: "t", count: 60_000))x'"#,
      #"title LIKE '*\#(String(repeating: "t", count: 990))x'"#,
    ]
    for pattern in patterns {
      await #expect(throws: WorkBudget.Spent.timedOut) {
        try await fixture.reads.threads.run(for: fixture.reads.peer, budget: .milliseconds(100)) {
          try fixture.catalog.read { reader in
            try reader.ids(try reader.plan(FetchOptions(predicate: pattern)))
          }
        }
      }
    }
  }

  /// An observer gets the error if its list can no longer be computed within the budget.
  @Test func anObserverWhoseListTakesTooLongGetsTheError() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(3)
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions()) }
    let slow = ClientReads(
      threads: ReadThreads(budget: .zero), decoders: fixture.reads.decoders, peer: fixture.reads.peer)
    var observation = ListObservation(
      of: fixture.live, reads: slow, plan: plan, request: ObserveRequest(), holder: .init(process: getpid())
    ) { _ in false }
    var error: (any Error)?
    do { try await observation.begin { _, _ in } } catch let thrown { error = thrown }
    #expect(error as? WorkBudget.Spent == .timedOut)
  }

  /// A commit that touches more than a few photos makes the observer's list be computed again.
  @Test func anObserverWhoseListTakesTooLongAfterACommitGetsTheError() async throws {
    let fixture = try ServerFixture()
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions(predicate: Self.predicate)) }
    let reads = ClientReads(
      threads: ReadThreads(budget: .milliseconds(200)), decoders: fixture.reads.decoders, peer: fixture.reads.peer)
    var observation = ListObservation(
      of: fixture.live, reads: reads, plan: plan, request: ObserveRequest(), holder: .init(process: getpid())
    ) { _ in false }
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }
    #expect(sent.map(\.count) == [0])
    try fixture.insert(400, titleLength: 4_000)
    var error: (any Error)?
    do { try await observation.advance { observation, _ in sent.append(observation) } } catch let thrown {
      error = thrown
    }
    #expect(error as? WorkBudget.Spent == .timedOut)
    #expect(sent.count == 1)
  }

  @Test func differencesOfListsStopWithoutBudget() {
    let (before, after) = (Array(AssetID(1)...200_000), Array((AssetID(1)...200_000).reversed()))
    let spent = WorkBudget(.seconds(1), clock: { 0 })
    spent.cancel()
    let details = WorkBudget.$current.withValue(spent) {
      FetchResultChangeDetails.full(from: before, to: after, touched: TouchedAssets())
    }
    #expect(details == nil)
    #expect(throws: WorkBudget.Spent.cancelled) { try spent.check() }
  }

  /// A stream goes on for days. Its call is released, whether it was short, or long and decoded on a thread.
  @Test(arguments: [100, 5_000]) func aResumedStreamReleasesItsCall(count: Int) async throws {
    let fixture = try ServerFixture()
    try fixture.insert(count)
    let (ids, token) = (try fixture.ids(), try fixture.token())
    try await fixture.serving { path, failures in
      let socket = try RawSocket(path: path)
      let list = ids.map(String.init).joined(separator: ",")
      try socket.send(
        #"{"method":"org.photod.library.Observe","parameters":{"since":"\#(token)","sinceIDs":[\#(list)]},"more":true}"#
      )
      #expect(try await reply(socket).error == nil)
      let service = try #require(fixture.service.withLock { $0 })
      #expect(service.load.activeCallCount == 1)
      // The reply is held until the socket has taken it.
      try await eventually("nothing is held: \(service.memory.total)") { service.memory.total == 0 }
      #expect(failures() == [])
    }
  }

  @Test func aResumedStreamReleasesTheClientsIDs() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(100)
    let (ids, token) = (try fixture.ids(), try fixture.token())
    var observation = try fixture.observation(ObserveRequest(since: token, sinceIDs: ids))
    #expect(observation.heldIDCount == 100)
    var sent: [Observation] = []
    try await observation.begin { observation, _ in sent.append(observation) }
    #expect(sent.count == 1 && sent[0].previousToken == token && sent[0].details == nil)
    #expect(observation.heldIDCount == 0)
    try fixture.insert()
    try await observation.advance { observation, _ in sent.append(observation) }
    #expect(sent.last?.details?.insertedIDs.count == 1)
  }
}
