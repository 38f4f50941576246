import Foundation
import PhotoContract
import PhotoLive
import PhotoModel
import Synchronization
import Testing

@testable import PhotoServer
@testable import Varlink

/// The descriptions of connections that calls of Clients share.
@Suite(.timeLimit(.minutes(10))) struct ClientSnapshotsTests {
  private final class Log: Sendable {
    let arrived = Atomic(0)
    let described = Atomic(0)
    let pauses = Atomic(0)
    let mayEnd = ChangeFeed(sequence: 0)

    /// A description that lasts until the test ends it.
    func describe() async throws -> [ConnectedClient] {
      let number = described.add(1, ordering: .relaxed).newValue
      _ = await mayEnd.next(after: Int64(number - 1))
      try Task.checkCancellation()
      return []
    }
  }

  private let log: Log
  private let snapshots: ClientSnapshots

  init() {
    let log = Log()
    self.log = log
    snapshots = ClientSnapshots { _ in log.pauses.add(1, ordering: .relaxed) }
  }

  private func begin(_ count: Int) async -> Task<Int, any Error> {
    let task = Task { [log, snapshots] in try await snapshots.next { try await log.describe() }.number }
    while log.described.load(ordering: .relaxed) < count { await Task.yield() }
    return task
  }

  @Test func aThousandCallsShareADescriptionThatBeganAfterThem() async throws {
    let first = await begin(1)
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<1_000 {
        group.addTask { [log, snapshots] in
          log.arrived.add(1, ordering: .relaxed)
          return try await snapshots.next { try await log.describe() }.number
        }
      }
      while log.arrived.load(ordering: .relaxed) < 1_000 { await Task.yield() }
      log.mayEnd.publish(1_001)
      #expect(try await first.value == 1)
      var numbers: Set<Int> = []
      for try await number in group { numbers.insert(number) }
      // A call whose thread was interrupted on its way may need a later one.
      #expect(!numbers.contains(1) && numbers.count < 20)
    }
    #expect(log.described.load(ordering: .relaxed) < 20)
    #expect(log.pauses.load(ordering: .relaxed) == log.described.load(ordering: .relaxed) - 1)
  }

  @Test func anotherCallTakesOverFromOneThatIsCancelled() async throws {
    let first = await begin(1)
    let second = Task { [log, snapshots] in try await snapshots.next { try await log.describe() }.number }
    first.cancel()
    await #expect(throws: CancellationError.self) { try await first.value }
    log.mayEnd.publish(2)
    #expect(try await second.value >= 1)
  }

  @Test func aStreamGetsTheNextSnapshot() async throws {
    log.mayEnd.publish(10)
    let first = try await snapshots.next { try await log.describe() }
    let next = try await snapshots.next(after: first.number) { try await log.describe() }
    #expect(next.number == first.number + 1)
    // A snapshot that another call took counts.
    #expect(try await snapshots.next(after: first.number) { try await log.describe() }.number == next.number)
  }

  /// A text of control characters takes six bytes for each.
  @Test func clientsThatDoNotFitIntoAReplyAreCounted() throws {
    let options = String(repeating: "\u{1}", count: 500)
    let clients = (1...2_048).map { number in
      ConnectedClient(
        number: number, pid: 1, uid: 1, since: PhotoDate(microseconds: 0),
        streams: [.init(method: "org.photod.library.Observe", options: options, behind: false, bytesUnsent: 0)])
    }
    let few = Array(clients.prefix(10))
    #expect(try decoded(ManageService.reply(few).encoded) == ClientList(clients: few))
    let (encoded, taken) = try ManageService.reply(clients)
    #expect(encoded.byteCount <= 1 << 20 && taken > 200)
    #expect(try decoded(encoded) == ClientList(clients: Array(clients.prefix(taken)), omitted: 2_048 - taken))
  }

  private func decoded(_ reply: VarlinkEncoded) throws -> ClientList {
    try JSONDecoder().decode(ClientList.self, from: Data(reply.buffer.readableBytesView))
  }
}
