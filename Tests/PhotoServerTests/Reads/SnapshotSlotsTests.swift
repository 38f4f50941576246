import Dispatch
import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog
@testable import PhotoServer

/// The number of streams of pages that hold a snapshot.
@Suite(.timeLimit(.minutes(10))) struct SnapshotSlotsTests {
  private func list(_ fixture: ServerFixture) throws -> PagedList {
    let snapshot = try fixture.catalog.snapshot()
    let pages = try snapshot.read { try FetchPages(try $0.plan(FetchOptions()), from: 0, $0) }
    return PagedList(snapshot, "token", pages, from: 0)
  }

  @Test func aFurtherSnapshotEndsTheOldestOfTheBusiestProcess() async throws {
    let fixture = try ServerFixture()
    let slots = SnapshotSlots()
    func held(_ process: Int32) throws -> SnapshotSlots.Slot {
      let slot = SnapshotSlots.Slot(process: process)
      slot.put(try list(fixture))
      slots.hold(slot)
      return slot
    }
    let normal = try held(1)
    let hostile = try (0..<SnapshotSlots.most).map { _ in try held(2) }
    #expect(slots.count == SnapshotSlots.most)
    await hostile[0].untilExpired()
    #expect(hostile[0].take() == nil)
    // A list that was being read when its slot ended is not kept either.
    hostile[0].put(try list(fixture))
    #expect(hostile[0].take() == nil)
    // Cancelling a wait does not end a slot.
    for slot in [normal, hostile[1]] {
      let wait = Task { await slot.untilExpired() }
      wait.cancel()
      await wait.value
      let list = try #require(slot.take())
      slot.put(list)
      slots.giveBack(slot)
      #expect(slot.take() == nil)
    }
    #expect(slots.count == SnapshotSlots.most - 2)
  }

  /// The calls of one process are read in the order in which they came, so all of them begin before one is read on.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), arguments: [10, 41_000])
  func aProcessHasFewSnapshotsHoweverManyListsItFetches(photos: Int) async throws {
    let fixture = try ServerFixture()
    try fixture.insert(photos)
    let threads = ReadThreads(count: 2)
    let reads = ClientReads(threads: threads, decoders: fixture.reads.decoders, peer: fixture.reads.peer)
    let calls = 100
    try await fixture.serving(threads: threads) { path, failures in
      // This process has one thread. The first read begins after all calls wait, and this one after their first turn.
      let mayEnd = DispatchSemaphore(value: 0)
      async let blocked: Void = reads.run { mayEnd.wait() }
      while threads.begunCount < 1 { await Task.yield() }
      let before = try Self.openFiles(in: fixture.folder)
      var sockets: [RawSocket] = []
      for _ in 0..<calls {
        let socket = try RawSocket(path: path)
        try socket.send(#"{"method":"org.photod.library.FetchIDs","parameters":{},"more":true}"#)
        sockets.append(socket)
      }
      while threads.waitingCount < calls { await Task.yield() }
      async let after = reads.run { try Self.openFiles(in: fixture.folder) }
      while threads.waitingCount < calls + 1 { await Task.yield() }
      mayEnd.signal()
      try await blocked
      let count = try await after - before
      #expect(count <= 2 * (SnapshotSlots.most + ReadThreads.standardCount), "A snapshot has two files.")
      for socket in sockets {
        var last = Data()
        repeat { last = try await socket.receive() } while last.range(of: Data(#""continues":true"#.utf8)) != nil
        let text = String(decoding: last.prefix(100), as: UTF8.self)
        #expect(text.contains(#""ids""#) || (photos > 40_000 && text.contains("SnapshotExpired")), "\(text)")
      }
      #expect(failures() == [])
    }
  }

  private static func openFiles(in folder: String) throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { name in
      var target = [UInt8](repeating: 0, count: folder.utf8.count)
      let count = readlink("/proc/self/fd/" + name, &target, target.count)
      return count == target.count && target.elementsEqual(folder.utf8)
    }
  }
}
