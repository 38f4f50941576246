import Testing

@testable import PhotoServer

/// The number of streams of pages that hold a snapshot.
@Suite(.timeLimit(.minutes(10))) struct SnapshotSlotsTests {
  @Test func aFurtherSnapshotEndsTheOldestOfTheBusiestProcess() async {
    let slots = SnapshotSlots()
    let normal = slots.take(for: 1)
    let hostile = (0..<SnapshotSlots.most).map { _ in slots.take(for: 2) }
    #expect(slots.count == SnapshotSlots.most)
    await hostile[0].untilExpired()
    // Cancelling a wait does not end a slot.
    for slot in [normal, hostile[1]] {
      let wait = Task { await slot.untilExpired() }
      wait.cancel()
      await wait.value
      slots.giveBack(slot)
    }
    #expect(slots.count == SnapshotSlots.most - 2)
  }
}
