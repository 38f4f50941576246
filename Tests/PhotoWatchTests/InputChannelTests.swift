// SPDX-License-Identifier: Apache-2.0

import PhotoWatch
import Synchronization
import Testing
import WatchRecords

@Suite struct InputChannelTests {
  private final class Count: Sendable {
    let value = Atomic<Int>(0)
  }

  @Test func inputsComeInOrderAndThenTheEnd() async {
    let channel = InputChannel(capacity: 4) {}
    for number in 0..<10 { channel.add(.batch([.synced(number: UInt64(number))])) }
    channel.finish()
    channel.add(.started(session: 9))
    var received: [WatchInput] = []
    for await input in WatchInputs(channel: channel) { received.append(input) }
    #expect(received == (0..<10).map { .batch([.synced(number: UInt64($0))]) })
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
