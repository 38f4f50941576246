// SPDX-License-Identifier: Apache-2.0

import PhotoWatch
import Synchronization
import Testing
import WatchRecords

@Suite struct InputChannelTests {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  private func records(_ input: WatchInput) -> [WatchRecord]? {
    if case .batch(let records) = input { records } else { nil }
  }

  @Test func recordsComeInOrderAndThenTheEnd() async {
    let channel = InputChannel(capacity: 4) {}
    channel.add(.started(session: 1))
    for number in 0..<10 { channel.add(.batch([.synced(number: UInt64(number))])) }
    channel.finish()
    channel.add(.started(session: 9))
    var received: [WatchInput] = []
    while let input = await channel.next() { received.append(input) }
    #expect(received.first == .started(session: 1))
    #expect(received.compactMap(records).joined().elementsEqual((0..<10).map { .synced(number: UInt64($0)) }))
    // Waiting batches are merged, except the last ones.
    #expect(received.compactMap(records).map(\.count) == [7, 1, 1, 1])
  }

  /// A death also keeps its place behind the records that preceded it.
  @Test func batchesAreBoundedAndNotMergedAcrossAStart() async {
    let channel = InputChannel(capacity: 4) {}
    let batch = [WatchRecord](repeating: .overflow, count: 900)
    for _ in 0..<12 { channel.add(.batch(batch)) }
    channel.add(.died(session: 1, reason: "test"))
    for _ in 0..<6 { channel.add(.batch([.overflow])) }
    channel.finish()
    var received: [WatchInput] = []
    while let input = await channel.next() { received.append(input) }
    // A batch has at most 2,048 records, and at most a quarter of those that wait.
    let counts = [1_800, 1_800, 1_800, 900, 900, 900, 900, 900, 900, nil, 3, 1, 1, 1]
    #expect(received.map { records($0)?.count } == counts)
  }

  @Test func theReaderIsWokenOnceWhenHalfIsTaken() async {
    let woken = Count()
    let channel = InputChannel(capacity: 4) { woken.value.add(1, ordering: .relaxed) }
    for _ in 0..<3 { channel.add(.batch([])) }
    #expect(!channel.isFull)
    channel.add(.batch([]))
    #expect(channel.isFull)
    _ = await channel.next()
    #expect(woken.value.load(ordering: .relaxed) == 0)
    _ = await channel.next()
    #expect(woken.value.load(ordering: .relaxed) == 1)
    _ = await channel.next()
    #expect(woken.value.load(ordering: .relaxed) == 1)
  }

  @Test func aWaitingConsumerIsResumedByAnInput() async {
    let channel = InputChannel(capacity: 4) {}
    async let input = channel.next()
    channel.add(.started(session: 1))
    #expect(await input == .started(session: 1))
  }

  @Test func aCancelledConsumerGetsTheEnd() async {
    let channel = InputChannel(capacity: 4) {}
    let consumer = Task { await channel.next() }
    consumer.cancel()
    #expect(await consumer.value == nil)
    channel.add(.started(session: 1))
    #expect(await channel.next() == .started(session: 1))
  }
}
