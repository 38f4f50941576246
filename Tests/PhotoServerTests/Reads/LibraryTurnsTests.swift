import Dispatch
import Glibc
import PhotoIndexer
import PhotoModel
import Synchronization
import Testing
import Varlink

@testable import PhotoServer

/// The calls that work in the library's own queue.
@Suite(.timeLimit(.minutes(10))) struct LibraryTurnsTests {
  /// Calls whose work lasts until the test ends it.
  private final class Calls: Sendable {
    let turns = LibraryTurns()
    private let begun = Mutex<[String]>([])
    /// How many of them may end, in the order in which they began.
    private let mayEnd = ChangeFeed(sequence: 0)

    var order: [String] { begun.withLock { $0 } }

    func endOne() { mayEnd.publish(mayEnd.sequence + 1) }

    /// Returns when the call has begun, or waits.
    func add(_ name: String, of process: Int32, waiting: Bool) async -> Task<Void, any Error> {
      let (begunBefore, waitingBefore) = (order.count, turns.waitingCount)
      let task = Task {
        let peer = VarlinkPeer(connection: 1, uid: geteuid(), gid: getegid(), pid: process)
        try await turns.run(for: peer) {
          let place = begun.withLock { begun in
            begun.append(name)
            return Int64(begun.count)
          }
          _ = await mayEnd.next(after: place - 1)
        }
      }
      while waiting ? turns.waitingCount == waitingBefore : order.count == begunBefore { await Task.yield() }
      return task
    }
  }

  @Test func aProcessWithManyCallsHasOneOfThemInTheQueue() async throws {
    let calls = Calls()
    var tasks = [await calls.add("a1", of: 1, waiting: false)]
    for number in 2...50 { tasks.append(await calls.add("a\(number)", of: 1, waiting: true)) }
    tasks.append(await calls.add("b1", of: 2, waiting: false))
    tasks.append(await calls.add("c1", of: 3, waiting: true))
    #expect(calls.order == ["a1", "b1"])
    for _ in tasks { calls.endOne() }
    for task in tasks { try await task.value }
    #expect(calls.order.count == 52 && calls.turns.waitingCount == 0)
    // The third process does not wait for those of the first.
    #expect(try #require(calls.order.firstIndex(of: "c1")) <= 3)
  }

  @Test func aCallThatIsCancelledWhileItWaitsIsNotBegun() async throws {
    let calls = Calls()
    let first = await calls.add("first", of: 1, waiting: false)
    let second = await calls.add("second", of: 1, waiting: true)
    second.cancel()
    await #expect(throws: CancellationError.self) { try await second.value }
    calls.endOne()
    try await first.value
    let third = await calls.add("third", of: 1, waiting: false)
    calls.endOne()
    try await third.value
    #expect(calls.order == ["first", "third"])
  }

  /// Fifty connections change something. Other work that enters the library's queue then, such as new photos, waits for
  /// one of the changes and not for all.
  @Test func workOfTheLibraryWaitsForOneChangeOfAProcess() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(50)
    let (library, ids, turns) = (fixture.library, try fixture.ids(), LibraryTurns())
    try await fixture.serving(libraryTurns: turns) { path, failures in
      let mayGoOn = DispatchSemaphore(value: 0)
      library.whenAlive { mayGoOn.wait() }
      let sockets = try ids.map { id in
        let socket = try RawSocket(path: path)
        let edit = #"{"editAsset":{"ids":[\#(id)],"isFavorite":true}}"#
        try socket.send(
          #"{"method":"org.photod.library.PerformChanges","parameters":{"requests":[\#(edit)]}}"#)
        return socket
      }
      while turns.waitingCount < sockets.count - 1 { await Task.yield() }
      let before = library.commits.feed.sequence
      let changes = await withCheckedContinuation { continuation in
        library.whenAlive { continuation.resume(returning: library.commits.feed.sequence - before) }
        mayGoOn.signal()
      }
      #expect(changes <= 1)
      for socket in sockets { #expect(!String(decoding: try await socket.receive(), as: UTF8.self).contains("error")) }
      #expect(library.commits.feed.sequence - before == Int64(ids.count))
      #expect(failures() == [])
    }
  }

  /// The folders of a rescan are found in the library's queue, so that is done in the turn of its process.
  @Test func aRescanFindsItsFoldersInTheTurnOfItsProcess() async throws {
    let fixture = try ServerFixture()
    let turns = LibraryTurns()
    let (begun, end, ended) = (ChangeFeed(sequence: 0), ChangeFeed(sequence: 0), ChangeFeed(sequence: 0))
    try await fixture.serving(libraryTurns: turns) { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let peer = VarlinkPeer(connection: 99, uid: getuid(), gid: getgid(), pid: getpid())
          try await turns.run(for: peer) {
            begun.publish(1)
            _ = await end.next(after: 0)
          }
        }
        _ = await begun.next(after: 0)
        group.addTask {
          _ = try await client.call("org.photod.library.Rescan", returning: VarlinkEmpty.self)
          ended.publish(1)
        }
        while turns.waitingCount == 0, ended.sequence == 0 { await Task.yield() }
        #expect(ended.sequence == 0)
        end.publish(1)
        try await group.waitForAll()
      }
    }
  }

  /// Only the copy of a list is made in the library's queue. The catalog is read on a read thread.
  @Test(arguments: ["org.photod.manage.ListUnreadable", "org.photod.library.FetchUndoableChanges"])
  func aListIsCopiedInTheTurnOfItsProcessAndReadOnAReadThread(_ method: String) async throws {
    let fixture = try ServerFixture()
    let (turns, threads) = (LibraryTurns(), ReadThreads())
    let (begun, end, ended) = (ChangeFeed(sequence: 0), ChangeFeed(sequence: 0), ChangeFeed(sequence: 0))
    try await fixture.serving(threads: threads, libraryTurns: turns) { socket, _ in
      let client = try await VarlinkClient.connect(path: socket)
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask {
          let peer = VarlinkPeer(connection: 99, uid: getuid(), gid: getgid(), pid: getpid())
          try await turns.run(for: peer) {
            begun.publish(1)
            _ = await end.next(after: 0)
          }
        }
        _ = await begun.next(after: 0)
        group.addTask {
          _ = try await client.call(method, returning: VarlinkEmpty.self)
          ended.publish(1)
        }
        while turns.waitingCount == 0, ended.sequence == 0 { await Task.yield() }
        #expect(ended.sequence == 0 && threads.begunCount == 0)
        end.publish(1)
        try await group.waitForAll()
        #expect(threads.begunCount == 1)
      }
    }
  }
}
