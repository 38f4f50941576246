import PhotoCatalog
import PhotoModel
import Synchronization

/// The differences that a rescan found.
package struct RescanCounts: Sendable, Equatable {
  package var inserted = 0
  package var updated = 0
  package var removed = 0
  /// After a dry run: how many of the missing files would stay for now, until a second scan misses them as well.
  package var heldBack = 0
  /// After a dry run: the paths of some of the removed files, at most ``mostExamples``.
  package var removedExamples: [[UInt8]] = []

  static let mostExamples = 3

  package init() {}
}

/// Callers that wait for rescans, and the scans that photod-watch makes for them.
///
/// 1. Callers that ask for one folder while its scan waits share that scan. A scan that has begun is not shared: it may
///    have passed the files that the caller wants to be seen.
/// 2. A scan that waits is dropped when its last caller goes.
/// 3. photod-watch has at most ``mostRunning`` scans at a time, since it makes all that were requested.
/// 4. A root has one scan at a time. An event is reported after everything that scans have found. So the next scan
///    waits until the library has applied the findings of the one before.
final class RescanRequests: Sendable {
  struct Folder: Hashable, Sendable {
    let root: UInt16
    let directoryID: DirectoryID
    /// Whether a person confirmed that missing files are gone.
    let isConfirmed: Bool
    /// Whether the postponed hashes and samples of its files are requested, too. That reads the rows of all files below
    /// the folder, so it is done once for each scan, and not for each caller.
    var wantsProofs = false
  }

  private typealias Outcome = Result<RescanCounts, any Error>

  /// A caller. Its scan may end before its task is suspended: the outcome is then kept for it.
  private enum Waiter {
    case registered
    case suspended(CheckedContinuation<RescanCounts, any Error>)
  }

  /// A scan keeps its place while its request is sent to photod-watch. Otherwise a caller that is suspended or
  /// cancelled in that moment would not be found.
  private enum Phase: Equatable {
    case waiting
    case beginning
    /// The number is the one by which photod-watch knows the scan.
    case running(UInt32)
  }

  private struct Request {
    let folder: Folder
    /// The number of its first caller.
    let key: Int
    var phase = Phase.waiting
    var waiters: [Int: Waiter]
    var found = RescanCounts()
  }

  private struct State {
    var lastWaiter = 0
    /// The scans in the order in which they were requested.
    var scans: [Request] = []
    /// The outcomes for callers that were not suspended yet when their scan ended.
    var outcomes: [Int: Outcome] = [:]

    func index(of request: UInt32) -> Int? { scans.firstIndex { $0.phase == .running(request) } }
    func index(ofWaiter number: Int) -> Int? { scans.firstIndex { $0.waiters[number] != nil } }
  }

  static let mostRunning = 4

  private let state = Mutex(State())

  /// The number of scans that photod-watch was not asked for yet.
  var waitingCount: Int {
    state.withLock { state in
      state.scans.count { if case .running = $0.phase { false } else { true } }
    }
  }

  /// Returns when a scan of the folder that began after this call has ended.
  ///
  /// - Parameter begin: is called on the caller's executor once the caller is registered; it calls
  ///   ``beginWaiting(_:)``. The handler of a cancellation runs its operation elsewhere, so it begins no scan.
  func wait(
    for folder: Folder, isolation: isolated (any Actor)? = #isolation, begin: () -> Void
  ) async throws -> RescanCounts {
    let number = register(folder)
    begin()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { suspend(number, $0) }
    } onCancel: {
      cancel(number)
    }
  }

  private func register(_ folder: Folder) -> Int {
    state.withLock { state in
      state.lastWaiter += 1
      if let index = state.scans.firstIndex(where: { $0.folder == folder && $0.phase == .waiting }) {
        state.scans[index].waiters[state.lastWaiter] = .registered
      } else {
        state.scans.append(Request(folder: folder, key: state.lastWaiter, waiters: [state.lastWaiter: .registered]))
      }
      return state.lastWaiter
    }
  }

  private func suspend(_ number: Int, _ continuation: CheckedContinuation<RescanCounts, any Error>) {
    let outcome = state.withLock { state -> Outcome? in
      if let outcome = state.outcomes.removeValue(forKey: number) { return outcome }
      guard let index = state.index(ofWaiter: number) else { return .failure(CancellationError()) }
      state.scans[index].waiters[number] = .suspended(continuation)
      return nil
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  private func cancel(_ number: Int) {
    if case .suspended(let continuation)? = remove(number) { continuation.resume(throwing: CancellationError()) }
  }

  private func remove(_ number: Int) -> Waiter? {
    state.withLock { state in
      guard let index = state.index(ofWaiter: number) else { return nil }
      let waiter = state.scans[index].waiters.removeValue(forKey: number)
      if state.scans[index].phase == .waiting, state.scans[index].waiters.isEmpty { state.scans.remove(at: index) }
      return waiter
    }
  }

  /// Begins scans that wait, as many as may run.
  ///
  /// - Parameter start: sends the request to photod-watch, and returns the number of the scan. The callers receive its
  ///   error.
  func beginWaiting(_ start: (Folder) throws -> UInt32) {
    while let (key, folder) = nextScan() {
      let request = Result { try start(folder) }
      let failure = state.withLock { state -> (Request, any Error)? in
        guard let index = state.scans.firstIndex(where: { $0.key == key }) else { return nil }
        switch request {
        case .success(let number):
          state.scans[index].phase = .running(number)
          return nil
        case .failure(let error): return (state.scans.remove(at: index), error)
        }
      }
      if let (scan, error) = failure { resume([scan], with: .failure(error)) }
    }
  }

  private func nextScan() -> (key: Int, folder: Folder)? {
    state.withLock { state in
      let scannedRoots = state.scans.filter { $0.phase != .waiting }.map(\.folder.root)
      guard scannedRoots.count < Self.mostRunning,
        let index = state.scans.firstIndex(where: { $0.phase == .waiting && !scannedRoots.contains($0.folder.root) })
      else { return nil }
      state.scans[index].phase = .beginning
      return (state.scans[index].key, state.scans[index].folder)
    }
  }

  /// Begins a scan once more, with the callers that it has.
  ///
  /// - Parameter start: sends the request to photod-watch, and returns the new number of the scan.
  /// - Returns: that number, or nil if no scan has this one.
  func restart(_ request: UInt32, _ start: () -> UInt32) -> UInt32? {
    guard state.withLock({ $0.index(of: request) != nil }) else { return nil }
    let number = start()
    state.withLock { state in
      if let index = state.index(of: request) { state.scans[index].phase = .running(number) }
    }
    return number
  }

  /// Adds the changes of a commit to the counts of the scans with these numbers.
  func add(_ record: CommitRecord, to requests: some Sequence<UInt32>) {
    state.withLock { state in
      for request in requests {
        guard let index = state.index(of: request) else { continue }
        state.scans[index].found.inserted += record.insertedAssets.count
        state.scans[index].found.updated += record.shownUpdateCount
        state.scans[index].found.removed += record.deletedAssets.count
      }
    }
  }

  func finish(_ request: UInt32) { end(request) { .success($0) } }

  func fail(_ request: UInt32, with error: any Error) { end(request) { _ in .failure(error) } }

  func failAll(with error: any Error) {
    let scans = state.withLock { state in
      defer { state.scans = [] }
      return state.scans
    }
    resume(scans, with: .failure(error))
  }

  private func end(_ request: UInt32, _ outcome: (RescanCounts) -> Outcome) {
    guard let scan = state.withLock({ state in state.index(of: request).map { state.scans.remove(at: $0) } }) else {
      return
    }
    resume([scan], with: outcome(scan.found))
  }

  private func resume(_ scans: [Request], with outcome: Outcome) {
    for (number, waiter) in scans.flatMap(\.waiters) {
      switch waiter {
      case .registered: state.withLock { $0.outcomes[number] = outcome }
      case .suspended(let continuation): continuation.resume(with: outcome)
      }
    }
  }
}
