import ChangeDetails
import PhotoCatalog
import PhotoModel
import Synchronization

/// The memory of the lists that photod holds for its clients.
///
/// An observation holds its plan, and the list that its client was last sent. A reply of many pages may hold an array
/// until its client has read it. A client chooses how many different lists it asks for, and when it reads. So each call
/// may hold a list and a predicate of its own, and the list may be as long as the library. There is one bound for all of
/// them. Above it, the newest call of the process that holds the most ends, until the rest fits. So no process takes the
/// lists of another.
///
/// A list counts once, however many calls hold it. If lists were made from each other, the oldest counts as a whole, and
/// the others count with their differences.
package final class ClientLists: Sendable {
  /// The call ended, because its process holds the most of too many lists.
  package struct Excess: Error, Hashable {}

  /// One call.
  package final class Holder: Sendable {
    let process: Int32
    /// It is finished when the call must end.
    fileprivate let expiry = ChangeFeed(sequence: 0)

    package init(process: Int32) { self.process = process }

    /// Returns when the call must end, or the task is cancelled.
    fileprivate func untilExpired() async { _ = await expiry.next(after: 0) }

    package var isExpired: Bool { expiry.isFinished }
  }

  fileprivate struct Item {
    /// Lists with different origins share nothing.
    let origin: ObjectIdentifier
    let editedByteCount: Int
    let byteCount: Int
    /// The list. It keeps the identifiers valid.
    let list: any Sendable
    /// The number of holders of each process.
    var holderCounts: [Int32: Int] = [:]
  }

  fileprivate enum Content {
    case shared(ObjectIdentifier)
    /// The size of an array that no other call holds.
    case own(byteCount: Int)
  }

  fileprivate struct Held {
    let holder: Holder
    /// Later calls have higher numbers.
    let number: Int
    var content = Content.own(byteCount: 0)
    var planByteCount = 0
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

  package init(maximumBytes: Int = ClientLists.maximumBytes) { state = Mutex(State(limit: maximumBytes)) }

  /// About how much memory the lists take, in bytes.
  package var byteCount: Int { state.withLock { $0.byteCount } }

  /// Tests lower the bound.
  package func setMaximumBytes(_ limit: Int) { state.withLock { $0.limit = limit } }

  /// Runs a call that holds lists, and releases them at its end.
  ///
  /// The call may have to end while it waits for a thread, for a commit, or for its client. So it is cancelled.
  ///
  /// - Throws: ``Excess`` if the call had to end; otherwise the errors of `body`.
  package func withHolder<Value: Sendable>(
    ofProcess process: Int32, _ body: @escaping @Sendable (Holder) async throws -> Value
  ) async throws -> Value {
    let holder = Holder(process: process)
    return try await withThrowingTaskGroup(of: Value.self) { group in
      group.addTask {
        defer { self.release(holder) }
        return try await body(holder)
      }
      group.addTask {
        await holder.untilExpired()
        try Task.checkCancellation()
        throw Excess()
      }
      defer { group.cancelAll() }
      guard let value = try await group.next() else { throw CancellationError() }
      return value
    }
  }

  /// Records the list that a call holds, instead of the one before. It may expire this call or others.
  package func hold(_ list: OrderedList, by holder: Holder) {
    hold(.shared(list.entries.identity), by: holder) {
      Item(
        origin: ObjectIdentifier(list.origin), editedByteCount: list.editedByteCount, byteCount: list.byteCount,
        list: list)
    }
  }

  /// Records ids without keys, such as the order of collections, instead of the list before.
  package func hold(_ ids: OrderedIDs, by holder: Holder) {
    hold(.shared(ids.identity), by: holder) {
      Item(
        origin: ids.identity, editedByteCount: 0, byteCount: OrderedList.byteCount(ofEntries: ids.count), list: ids)
    }
  }

  /// Records an array that only this call holds, such as ids that a client sent, instead of the list before.
  package func hold(byteCount: Int, by holder: Holder) { hold(.own(byteCount: byteCount), by: holder) { nil } }

  /// Records the plan of an observation, beside its list. Equal plans of two observations share nothing.
  package func hold(_ plan: FetchPlan, by holder: Holder) {
    let byteCount = plan.byteCount
    change(holder) { $0.hold(planOf: byteCount, by: holder) }
  }

  package func release(_ holder: Holder) { state.withLock { $0.release(holder) } }

  /// Whether a call holds this list.
  func isHeld(_ list: OrderedList) -> Bool { state.withLock { $0.items[list.entries.identity] != nil } }

  private func hold(_ content: Content, by holder: Holder, _ make: () -> Item?) {
    change(holder) { $0.hold(content, by: holder, make) }
  }

  private func change(_ holder: Holder, _ body: (inout State) -> Void) {
    let expired = state.withLock { state -> [Holder] in
      // A call that has expired ends by itself, and holds its list only until then.
      guard !holder.isExpired else { return [] }
      body(&state)
      return state.takeExcess()
    }
    for holder in expired { holder.expiry.finish() }
  }
}

extension ClientLists.State {
  fileprivate mutating func hold(
    _ content: ClientLists.Content, by holder: ClientLists.Holder, _ make: () -> ClientLists.Item?
  ) {
    var held = held(by: holder)
    drop(held)
    held.content = content
    self.held[ObjectIdentifier(holder)] = held
    byteCount += held.ownByteCount
    switch content {
    case .own: break
    case .shared(let identity):
      if items[identity] == nil, let item = make() {
        changeFamily(item.origin) { state in
          state.items[identity] = item
          state.families[item.origin, default: []].insert(identity)
        }
      }
      items[identity]?.holderCounts[holder.process, default: 0] += 1
    }
  }

  fileprivate mutating func hold(planOf byteCount: Int, by holder: ClientLists.Holder) {
    var held = held(by: holder)
    self.byteCount += byteCount - held.planByteCount
    held.planByteCount = byteCount
    self.held[ObjectIdentifier(holder)] = held
  }

  fileprivate mutating func release(_ holder: ClientLists.Holder) {
    if let held = held.removeValue(forKey: ObjectIdentifier(holder)) { drop(held) }
  }

  private mutating func held(by holder: ClientLists.Holder) -> ClientLists.Held {
    if let held = held[ObjectIdentifier(holder)] { return held }
    lastNumber += 1
    return ClientLists.Held(holder: holder, number: lastNumber)
  }

  private mutating func drop(_ held: ClientLists.Held) {
    byteCount -= held.ownByteCount
    if case .shared(let identity) = held.content { releaseItem(identity, of: held.holder.process) }
  }

  private mutating func releaseItem(_ identity: ObjectIdentifier, of process: Int32) {
    guard let item = items[identity] else { return }
    let count = item.holderCounts[process] ?? 1
    items[identity]?.holderCounts[process] = count > 1 ? count - 1 : nil
    guard items[identity]?.holderCounts.isEmpty ?? false else { return }
    changeFamily(item.origin) { state in
      state.items[identity] = nil
      state.families[item.origin]?.remove(identity)
      if state.families[item.origin]?.isEmpty ?? false { state.families[item.origin] = nil }
    }
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
  fileprivate mutating func takeExcess() -> [ClientLists.Holder] {
    guard byteCount > limit else { return [] }
    let longest = held.values.reduce(0) { max($0, byteCount(of: $1)) }
    let most = max(limit, ClientLists.fewestLists * longest)
    var expired: [ClientLists.Holder] = []
    while byteCount > most, let holder = newestHolderOfBusiestProcess() {
      release(holder)
      expired.append(holder)
    }
    return expired
  }

  /// The memory of one call, if no other shared it.
  private func byteCount(of held: ClientLists.Held) -> Int {
    guard case .shared(let identity) = held.content else { return held.ownByteCount }
    return held.ownByteCount + (items[identity]?.byteCount ?? 0)
  }

  private func newestHolderOfBusiestProcess() -> ClientLists.Holder? {
    var bytes: [Int32: Int] = [:]
    for item in items.values { for process in item.holderCounts.keys { bytes[process, default: 0] += item.byteCount } }
    for held in held.values { bytes[held.holder.process, default: 0] += held.ownByteCount }
    let busiest = bytes.max { $0.value < $1.value }?.key
    return held.values.filter { $0.holder.process == busiest }.max { $0.number < $1.number }?.holder
  }
}

extension ClientLists.Held {
  /// The memory that no other call shares.
  fileprivate var ownByteCount: Int {
    if case .own(let bytes) = content { planByteCount + bytes } else { planByteCount }
  }
}
