import PhotoClient
import PhotoContract
import PhotoModel
import Synchronization

/// One fetch that is observed over a connection of its own, by a client that may sleep, die and come back with what it has.
final class ObservedFetch: Sendable {
  /// How a client begins.
  enum Beginning: Hashable, Sendable {
    case anew
    /// With the token and the digest of what it has.
    case byToken
    /// With all that it has.
    case byList
  }

  /// What the first answer was.
  enum Answer: Hashable, Sendable {
    case list(Observation.Reload?)
    case details
    case unchanged
    /// The collection is gone.
    case noSuchCollection
  }

  struct State: Sendable {
    var replica = FetchResultReplica()
    /// Of those who hold them, all of the replica.
    var objects: [Int64: Asset] = [:]
    /// To this beginning.
    var answer: Answer?
    var failure: (any Error)?
    var messageCount = 0
    fileprivate var task: Task<Void, Never>?
  }

  let options: FetchOptions
  /// It holds whole assets, as they come beside the details.
  let holdsObjects: Bool
  private let library: PhotoLibrary
  private let gate = Gate()
  private let current = Mutex(State())

  init(_ options: FetchOptions, holdsObjects: Bool, library: PhotoLibrary) {
    self.options = options
    self.holdsObjects = holdsObjects
    self.library = library
  }

  var state: State { current.withLock { $0 } }

  // MARK: Life

  func begin(_ beginning: Beginning) {
    gate.open()
    current.withLock { state in
      if beginning == .anew { (state.replica, state.objects) = (FetchResultReplica(), [:]) }
      (state.answer, state.failure) = (nil, nil)
      let stream = stream(beginning, state.replica)
      state.task = Task { await run(stream) }
    }
  }

  private func stream(_ beginning: Beginning, _ replica: FetchResultReplica) -> LibraryReplies<Observation> {
    switch beginning {
    case .anew: library.observe(options, objects: holdsObjects)
    case .byToken:
      library.observe(
        options, since: replica.token, sinceDigest: replica.digest.description, objects: holdsObjects)
    case .byList: library.observe(options, resuming: replica, objects: holdsObjects)
    }
  }

  /// Reads no more: what is sent fills its buffer, then the socket.
  func sleep() { gate.close() }

  func wake() { gate.open() }

  /// Breaks off, with whatever is under way.
  func die() async {
    let task = current.withLock { $0.task }
    task?.cancel()
    gate.open()
    await task?.value
  }

  /// Reads what was sent until the daemon, which is gone, closes the connection.
  func outlive() async {
    gate.open()
    await current.withLock { $0.task }?.value
  }

  private func run(_ stream: LibraryReplies<Observation>) async {
    do {
      var observations = stream.makeAsyncIterator()
      while true {
        await gate.pass()
        guard let observation = try await observations.next() else { throw PhotoLibraryError.connectionClosed }
        try await take(observation)
      }
    } catch PhotoLibraryError.noSuchCollection {
      current.withLock { $0.answer = .noSuchCollection }
    } catch {
      if !(error is CancellationError) { current.withLock { $0.failure = error } }
    }
  }

  // MARK: What comes

  private func take(_ observation: Observation) async throws {
    var (replica, objects) = current.withLock { ($0.replica, $0.objects) }
    let answer: Answer?
    switch try replica.apply(observation) {
    case .list(let reload):
      answer = .list(reload)
      if holdsObjects { objects = try await assets(replica.ids) }
    case .details(let details):
      answer = .details
      if holdsObjects {
        let changed = details.changedAfter.flatMap { replica.ids[$0.start..<$0.start + $0.count] }
        let ids = details.insertedIDs + changed
        let came: [Int64: Asset]
        if let inserted = observation.insertedAssets, let updated = observation.changedAssets {
          guard (inserted + updated).map(\.id) == ids else { throw WrongAssets(ids: ids) }
          came = Dictionary((inserted + updated).map { ($0.id, $0) }) { $1 }
        } else {
          came = try await assets(ids)
        }
        objects.merge(came) { $1 }
        let present = Set(replica.ids)
        objects = objects.filter { present.contains($0.key) }
      }
    case .unchanged: answer = .unchanged
    case .partOfList, .stale: answer = nil
    }
    current.withLock { state in
      (state.replica, state.objects) = (replica, objects)
      state.answer = state.answer ?? answer
      state.messageCount += 1
    }
  }

  /// Those that are still there.
  private func assets(_ ids: [Int64]) async throws -> [Int64: Asset] {
    Dictionary(try await library.assets(ids).map { ($0.id, $0) }) { $1 }
  }

  struct WrongAssets: Error { let ids: [Int64] }
}

/// Lets through, or not.
private final class Gate: Sendable {
  private struct State {
    var isOpen = true
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func pass() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func close() { state.withLock { $0.isOpen = false } }

  func open() {
    let waiting = state.withLock { state in
      defer { state.waiting = [] }
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}
