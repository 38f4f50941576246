import PhotoIndexer
import PhotoLive
import Synchronization

/// The snapshots that streams of pages hold. Each has an SQLite connection with a cache of 4 MB.
///
/// At most ``most`` exist at a time. One more ends the oldest snapshot of the process that has the most of them. So no
/// process takes the snapshots of another.
final class SnapshotSlots: Sendable {
  static let most = 32

  final class Slot: Sendable {
    let process: Int32
    /// It is finished when the snapshot must be released. Any number of tasks may wait for it.
    private let expiry = ChangeFeed(sequence: 0)

    init(process: Int32) { self.process = process }

    fileprivate func expire() { expiry.finish() }

    /// Returns when the snapshot must be released, or the task is cancelled.
    func untilExpired() async { _ = await expiry.next(after: 0) }
  }

  /// Oldest first.
  private let slots = Mutex<[Slot]>([])

  var count: Int { slots.withLock { $0.count } }

  func take(for process: Int32) -> Slot {
    let slot = Slot(process: process)
    let excess = slots.withLock { slots -> Slot? in
      slots.append(slot)
      guard slots.count > Self.most else { return nil }
      let counts = Dictionary(grouping: slots, by: \.process).mapValues(\.count)
      let busiest = counts.max { $0.value < $1.value }?.key
      return slots.firstIndex { $0.process == busiest }.map { slots.remove(at: $0) }
    }
    excess?.expire()
    return slot
  }

  func giveBack(_ slot: Slot) { slots.withLock { $0.removeAll { $0 === slot } } }
}
