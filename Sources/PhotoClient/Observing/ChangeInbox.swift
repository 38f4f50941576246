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
/// A change waits until each other list is known to be at its token, or has a later change. So the changes of one
/// commit come together, however late one of them arrives.
///
/// It holds one change of each list at most. A list whose change was not taken waits, and its connection is not read. photod
/// then merges the changes that follow, so a slow app costs bounded memory on both sides.
final class ChangeInbox: Sendable {
  /// The next thing for the reader.
  enum Event: Sendable {
    case change(Change)
    /// An error after which a list tries again.
    case problem(PhotoLibraryError)
  }

  /// How far a list is known.
  private enum Progress {
    /// The list has no connection, or photod has not sent it yet. `failures` counts the attempts that failed since
    /// another list got its connection.
    case awaited(failures: Int)
    /// The list is known up to this token.
    case known(token: String)
    /// photod refuses the list, or does not send the tokens that left it as it was. No change waits for it.
    case notAwaited
  }

  private struct Entry {
    let step: ObservedStep
    let taken: PendingValue<Void>
    let number: Int
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var progress: [Progress]
    var problems: [PhotoLibraryError] = []
    /// The number of changes so far.
    var count = 0
    /// Resolved, and replaced, when something may have become ready for the reader.
    var arrival = PendingValue<Void>()
  }

  /// After so many failed attempts, a list does not delay the others. photod may accept no further connection.
  private static let mostFailures = 5
  /// The problems that are kept for a busy reader. The oldest are dropped.
  private static let mostProblems = 100

  private let state: Mutex<State>
  private let keepsProblems: Bool

  /// - Parameter keepsProblems: whether the reader wants problems.
  init(listCount: Int, keepsProblems: Bool = false) {
    state = Mutex(State(progress: Array(repeating: .awaited(failures: 0), count: listCount)))
    self.keepsProblems = keepsProblems
  }

  // MARK: - The lists

  /// Hands over a change. Returns when it was taken.
  ///
  /// - Parameter isKnown: whether the list is known up to the token of the change.
  /// - Throws: `CancellationError`.
  func put(_ step: ObservedStep, from list: Int, isKnown: Bool = true) async throws {
    let taken = PendingValue<Void>()
    signal { state in
      state.count += 1
      state.entries[list] = Entry(step: step, taken: taken, number: state.count)
      if isKnown { Self.know(list, at: step.token, &state) }
    }
    try await taken.value()
  }

  /// Notes that a list has no further change up to this token.
  func reached(_ token: String, by list: Int) { signal { Self.know(list, at: token, &$0) } }

  /// Notes that the connection of a list was lost, or that another one could not be made.
  func lost(_ list: Int) {
    signal { state in
      var failures = 0
      if case .awaited(let before) = state.progress[list] { failures = before + 1 }
      state.progress[list] = .awaited(failures: failures)
    }
  }

  /// Notes that the changes of other lists need not wait for this one, until it is known again.
  func release(_ list: Int) { signal { $0.progress[list] = .notAwaited } }

  func report(_ problem: PhotoLibraryError) {
    guard keepsProblems else { return }
    signal { state in
      if state.problems.count == Self.mostProblems { state.problems.removeFirst() }
      state.problems.append(problem)
    }
  }

  /// photod answers. If all lists were lost, photod may have been restarted, so the others will come back, too. If
  /// another list is there, photod may accept no connection for those that are missing.
  ///
  /// Another list whose change was not taken does not read its connection, so it may have lost it, too.
  private static func know(_ list: Int, at token: String, _ state: inout State) {
    let isFirst = state.progress.enumerated().allSatisfy { other, progress in
      guard case .known = progress else { return true }
      return other != list && state.entries[other] != nil
    }
    if isFirst {
      for other in state.progress.indices {
        if case .awaited = state.progress[other] { state.progress[other] = .awaited(failures: 0) }
      }
    }
    state.progress[list] = .known(token: token)
  }

  /// Changes the state, and wakes the reader if there is something that may be ready.
  private func signal(_ change: (inout State) -> Void) {
    let arrival = state.withLock { state -> PendingValue<Void>? in
      change(&state)
      guard !state.entries.isEmpty || !state.problems.isEmpty else { return nil }
      defer { state.arrival = PendingValue() }
      return state.arrival
    }
    arrival?.resolve(.success(()))
  }

  // MARK: - The reader

  /// Waits for a problem, or for changes, of which it takes those that lead to the earliest token.
  ///
  /// - Throws: `CancellationError`, also if there is something to take.
  func next() async throws -> Event {
    while true {
      // The arrival is read before `poll()`. Otherwise a change between the two would wake nothing.
      let arrival = state.withLock { $0.arrival }
      try Task.checkCancellation()
      if let event = poll() { return event }
      try await arrival.value()
    }
  }

  /// Takes the next event if there is one now.
  ///
  /// - Returns: nil if the reader would wait.
  func poll() -> Event? {
    let (event, taken) = state.withLock { state -> (Event?, [Entry]) in
      if !state.problems.isEmpty { return (.problem(state.problems.removeFirst()), []) }
      let taken = Self.takeReady(&state)
      return (Self.change(taken).map(Event.change), taken)
    }
    for entry in taken { entry.taken.resolve(.success(())) }
    return event
  }

  /// The number of changes that were not taken, for tests.
  var waitingCount: Int { state.withLock { $0.entries.count } }

  private static func takeReady(_ state: inout State) -> [Entry] {
    guard let first = state.entries.values.min(by: precedes) else { return [] }
    let token = first.step.token
    for (list, progress) in state.progress.enumerated() where state.entries[list] == nil {
      switch progress {
      case .awaited(let failures) where failures < mostFailures: return []
      case .known(let known) where isEarlier(known, than: token): return []
      default: break
      }
    }
    let taken = state.entries.filter { $0.value.step.token == token }
    for list in taken.keys { state.entries[list] = nil }
    return taken.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func change(_ entries: [Entry]) -> Change? {
    guard let token = entries.first?.step.token else { return nil }
    return Change(
      token: token,
      assetLists: entries.compactMap { if case .assets(let step) = $0.step { step } else { nil } },
      collectionLists: entries.compactMap { if case .collections(let step) = $0.step { step } else { nil } })
  }

  /// Tokens of one library have the order of its commits. Others have the order in which they came.
  private static func precedes(_ one: Entry, _ other: Entry) -> Bool {
    guard let left = ChangeToken(one.step.token), let right = ChangeToken(other.step.token),
      left.library == right.library, (left.epoch, left.sequence) != (right.epoch, right.sequence)
    else { return one.number < other.number }
    return (left.epoch, left.sequence) < (right.epoch, right.sequence)
  }

  /// Whether a list at the first token may still get a change to the second one.
  ///
  /// 1. The epochs are equal. photod replies for each higher sequence.
  /// 2. The second epoch is later, and its sequence higher. An epoch that ends while photod runs changes no sequence, so
  ///    the list gets the commit of the later epoch, too. The same holds if photod was restarted.
  /// 3. The second epoch is later, and its sequence lower: a catalog was restored. photod closes all connections for
  ///    that. So the list gets the restored state, or its follower reports that it was lost.
  /// 4. The second epoch is later, and its sequence is the same. The epoch ended without a commit, and photod sends
  ///    nothing to a list that is at the sequence.
  /// 5. The second epoch is earlier. No list that has a token of a later one gets a token of it.
  ///
  /// Only a restore leads to the third case. If an epoch ends without a commit, photod gives a list that was read at an
  /// earlier commit a token of the epoch that ended.
  static func isEarlier(_ one: String, than other: String) -> Bool {
    guard let left = ChangeToken(one), let right = ChangeToken(other), left.library == right.library else {
      return false
    }
    if left.epoch == right.epoch { return left.sequence < right.sequence }
    return left.epoch < right.epoch && left.sequence != right.sequence
  }
}
