import PhotoCatalog
import PhotoIndexer
import PhotoLive
import PhotoModel
import Synchronization

/// The lists that streams of pages still have to send, each with its snapshot. A snapshot has an SQLite connection with
/// a cache of 4 MB.
///
/// At most ``most`` are held at a time. One more ends the oldest of the process that has the most of them. So no process
/// takes the snapshots of another. A slot that ends drops its list at once, although its stream may still wait for a
/// thread, or for its client. Further snapshots exist only while a read thread uses them.
final class SnapshotSlots: Sendable {
  static let most = 32

  final class Slot: Sendable {
    private struct State {
      var list: PagedList?
      var isExpired = false
    }

    let process: Int32
    private let state = Mutex(State())
    /// It is finished when the slot has expired. Any number of tasks may wait for it.
    private let expiry = ChangeFeed(sequence: 0)

    init(process: Int32) { self.process = process }

    /// Takes the list for the time of a read. nil if the slot has expired, or holds no list.
    func take() -> PagedList? {
      state.withLock { state in
        defer { state.list = nil }
        return state.list
      }
    }

    /// Keeps the list until the next page, unless the slot has expired.
    func put(_ list: PagedList) {
      state.withLock { state in
        if !state.isExpired { state.list = list }
      }
    }

    fileprivate func expire() {
      // The snapshot is closed after the lock is released.
      let list = state.withLock { state in
        state.isExpired = true
        defer { state.list = nil }
        return state.list
      }
      withExtendedLifetime(list) { expiry.finish() }
    }

    /// Returns when the slot has expired, or the task is cancelled.
    func untilExpired() async { _ = await expiry.next(after: 0) }
  }

  /// Oldest first.
  private let slots = Mutex<[Slot]>([])

  var count: Int { slots.withLock { $0.count } }

  /// Holds a slot until ``giveBack(_:)``, or until it expires because there are too many.
  func hold(_ slot: Slot) {
    let excess = slots.withLock { slots -> Slot? in
      slots.append(slot)
      guard slots.count > Self.most else { return nil }
      let counts = Dictionary(grouping: slots, by: \.process).mapValues(\.count)
      let busiest = counts.max { $0.value < $1.value }?.key
      return slots.firstIndex { $0.process == busiest }.map { slots.remove(at: $0) }
    }
    excess?.expire()
  }

  /// Drops the list of a slot. It need not be held.
  func giveBack(_ slot: Slot) {
    slots.withLock { $0.removeAll { $0 === slot } }
    slot.expire()
  }
}
