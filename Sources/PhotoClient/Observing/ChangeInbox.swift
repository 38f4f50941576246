import PhotoModel
import Synchronization

/// A change of one of the observed lists.
enum ObservedStep: Sendable {
  case assets(ListStep)
  case collections(CollectionListStep)

  var token: String {
    switch self {
    case .assets(let step): step.after.token
    case .collections(let step): step.change.after.token
    }
  }
}

/// Collects the changes of several lists, and groups those that lead to the same token.
///
/// It holds one change of each list at most. A list whose change was not taken waits, and its connection is not read. photod
/// then merges the changes that follow, so a slow app costs bounded memory on both sides.
final class ChangeInbox: Sendable {
  /// How long the changes of other lists are awaited, so that the changes of one commit come together. The messages of one
  /// commit reach the connections of a program one after another.
  private static let gatheringTime = Duration.milliseconds(5)

  private struct Entry {
    let step: ObservedStep
    let taken: PendingValue<Void>
    let number: Int
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var count = 0
    var arrival = PendingValue<Void>()
  }

  private let state = Mutex(State())
  private let listCount: Int

  init(listCount: Int) { self.listCount = listCount }

  /// Hands over a change. Returns when it was taken.
  ///
  /// - Throws: `CancellationError`.
  func put(_ step: ObservedStep, from list: Int) async throws {
    let taken = PendingValue<Void>()
    state.withLock { state in
      state.count += 1
      state.entries[list] = Entry(step: step, taken: taken, number: state.count)
      state.arrival.resolve(.success(()))
    }
    try await taken.value()
  }

  /// Waits for changes, and takes those that lead to the earliest token.
  ///
  /// - Throws: `CancellationError`.
  func take() async throws -> Change {
    while true {
      let arrival = state.withLock { $0.arrival }
      try await arrival.value()
      if state.withLock({ $0.entries.count < listCount }) { try await Task.sleep(for: Self.gatheringTime) }
      let taken = state.withLock { state -> [Entry] in
        guard let first = state.entries.values.min(by: Self.precedes) else { return [] }
        let taken = state.entries.filter { $0.value.step.token == first.step.token }
        for list in taken.keys { state.entries[list] = nil }
        if state.entries.isEmpty { state.arrival = PendingValue() }
        return taken.sorted { $0.key < $1.key }.map(\.value)
      }
      guard let token = taken.first?.step.token else { continue }
      for entry in taken { entry.taken.resolve(.success(())) }
      return Change(
        token: token,
        assetLists: taken.compactMap { if case .assets(let step) = $0.step { step } else { nil } },
        collectionLists: taken.compactMap { if case .collections(let step) = $0.step { step } else { nil } })
    }
  }

  /// The number of changes that were not taken, for tests.
  var waitingCount: Int { state.withLock { $0.entries.count } }

  /// Tokens of one library have the order of its commits. Others have the order in which they came.
  private static func precedes(_ one: Entry, _ other: Entry) -> Bool {
    guard let left = ChangeToken(one.step.token), let right = ChangeToken(other.step.token),
      left.library == right.library, (left.epoch, left.sequence) != (right.epoch, right.sequence)
    else { return one.number < other.number }
    return (left.epoch, left.sequence) < (right.epoch, right.sequence)
  }
}
