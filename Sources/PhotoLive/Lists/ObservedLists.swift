import PhotoCatalog
import Synchronization

/// The memory of the lists that observations hold. Each holds the list that its client was last sent.
///
/// A client chooses how many different lists it observes, and when it reads, so each observation may hold a list of its
/// own that is as long as the library. There is one bound for all of them. Above it, the newest observation of the
/// process that holds the most ends, until the rest fits. So no process takes the lists of another.
///
/// A list counts once, however many observations hold it. Of lists that were made from each other, the oldest counts
/// as a whole and the others with their differences.
package final class ObservedLists: Sendable {
  /// One observation.
  package final class Holder: Sendable {
    let process: Int32
    /// It is finished when the observation must end.
    fileprivate let expiry = ChangeFeed(sequence: 0)

    package init(process: Int32) { self.process = process }

    /// Returns when the observation must end, or the task is cancelled.
    package func untilExpired() async { _ = await expiry.next(after: 0) }

    package var isExpired: Bool { expiry.isFinished }
  }

  fileprivate struct Item {
    /// Lists with different origins share nothing.
    let origin: ObjectIdentifier
    let editedByteCount: Int
    let byteCount: Int
    /// Keeps the identifiers valid. nil for ids that a client sent.
    let list: OrderedList?
    /// The number of holders of each process.
    var holderCounts: [Int32: Int] = [:]
  }

  fileprivate struct Held {
    let holder: Holder
    let item: ObjectIdentifier
    /// Later observations have higher numbers.
    let number: Int
  }

  fileprivate struct State {
    var limit: Int
    var items: [ObjectIdentifier: Item] = [:]
    /// The items of each origin.
    var families: [ObjectIdentifier: Set<ObjectIdentifier>] = [:]
    var held: [ObjectIdentifier: Held] = [:]
    var lastNumber = 0
    var byteCount = 0
  }

  /// About fifty lists of 100,000 photos.
  package static let maximumBytes = 128 << 20
  /// If so many copies of the longest list exceed the bound, they are the bound. The library is so large then that the
  /// unit needs a larger `MemoryMax` anyway.
  fileprivate static let fewestLists = 10

  private let state: Mutex<State>

  package init(maximumBytes: Int = ObservedLists.maximumBytes) { state = Mutex(State(limit: maximumBytes)) }

  /// About how much memory the lists take, in bytes.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// Tests lower the bound.
  func setMaximumBytes(_ limit: Int) { state.withLock { $0.limit = limit } }

  /// Records the list that an observation holds, instead of the one before. It may expire this observation or others.
  package func hold(_ list: OrderedList, by holder: Holder) {
    hold(list.entries.identity, by: holder) {
      Item(
        origin: ObjectIdentifier(list.origin), editedByteCount: list.editedByteCount, byteCount: list.byteCount,
        list: list)
    }
  }

  /// Records ids that a client sent, which only its observation holds, instead of the list before.
  package func hold(idCount: Int, by holder: Holder) {
    let identity = ObjectIdentifier(holder)
    hold(identity, by: holder) {
      Item(origin: identity, editedByteCount: 0, byteCount: idCount * MemoryLayout<Int64>.stride, list: nil)
    }
  }

  package func release(_ holder: Holder) { state.withLock { _ = $0.release(holder) } }

  /// Whether an observation holds this list.
  func isHeld(_ list: OrderedList) -> Bool { state.withLock { $0.items[list.entries.identity] != nil } }

  private func hold(_ identity: ObjectIdentifier, by holder: Holder, _ make: () -> Item) {
    let expired = state.withLock { state -> [Holder] in
      // An observation that has expired ends by itself, and holds its list only until then.
      guard !holder.isExpired else { return [] }
      state.hold(identity, by: holder, make)
      return state.takeExcess()
    }
    for holder in expired { holder.expiry.finish() }
  }
}

extension ObservedLists.State {
  fileprivate mutating func hold(
    _ identity: ObjectIdentifier, by holder: ObservedLists.Holder, _ make: () -> ObservedLists.Item
  ) {
    let number = release(holder)
    if items[identity] == nil {
      let item = make()
      changeFamily(item.origin) { state in
        state.items[identity] = item
        state.families[item.origin, default: []].insert(identity)
      }
    }
    items[identity]?.holderCounts[holder.process, default: 0] += 1
    if number == nil { lastNumber += 1 }
    held[ObjectIdentifier(holder)] = .init(holder: holder, item: identity, number: number ?? lastNumber)
  }

  /// - Returns: the holder's number; nil if it held nothing.
  fileprivate mutating func release(_ holder: ObservedLists.Holder) -> Int? {
    guard let held = held.removeValue(forKey: ObjectIdentifier(holder)), let item = items[held.item] else { return nil }
    let count = item.holderCounts[holder.process] ?? 1
    items[held.item]?.holderCounts[holder.process] = count > 1 ? count - 1 : nil
    if items[held.item]?.holderCounts.isEmpty ?? false {
      changeFamily(item.origin) { state in
        state.items[held.item] = nil
        state.families[item.origin]?.remove(held.item)
        if state.families[item.origin]?.isEmpty ?? false { state.families[item.origin] = nil }
      }
    }
    return held.number
  }

  private mutating func changeFamily(_ origin: ObjectIdentifier, _ body: (inout Self) -> Void) {
    byteCount -= familyBytes(origin)
    body(&self)
    byteCount += familyBytes(origin)
  }

  private func familyBytes(_ origin: ObjectIdentifier) -> Int {
    let lists = (families[origin] ?? []).compactMap { items[$0] }.sorted { $0.editedByteCount < $1.editedByteCount }
    guard let oldest = lists.first else { return 0 }
    return zip(lists, lists.dropFirst()).reduce(oldest.byteCount) { bytes, pair in
      bytes + min(pair.1.byteCount, pair.1.editedByteCount - pair.0.editedByteCount)
    }
  }

  /// Releases the newest holders of the process that holds the most, until the rest fits.
  ///
  /// - Returns: these holders.
  fileprivate mutating func takeExcess() -> [ObservedLists.Holder] {
    guard byteCount > limit else { return [] }
    let longest = items.values.reduce(0) { max($0, $1.byteCount) }
    let most = max(limit, ObservedLists.fewestLists * longest)
    var expired: [ObservedLists.Holder] = []
    while byteCount > most, let holder = newestHolderOfBusiestProcess() {
      _ = release(holder)
      expired.append(holder)
    }
    return expired
  }

  private func newestHolderOfBusiestProcess() -> ObservedLists.Holder? {
    var bytes: [Int32: Int] = [:]
    for item in items.values { for process in item.holderCounts.keys { bytes[process, default: 0] += item.byteCount } }
    let busiest = bytes.max { $0.value < $1.value }?.key
    return held.values.filter { $0.holder.process == busiest }.max { $0.number < $1.number }?.holder
  }
}
