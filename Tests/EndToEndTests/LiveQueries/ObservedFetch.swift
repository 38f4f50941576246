import PhotoClient
import PhotoContract
import PhotoModel
import Synchronization

/// One fetch, observed on its own connection by a client that may sleep, die and come back with its list.
final class ObservedFetch: Sendable {
  /// How a client begins to observe.
  enum Beginning: Hashable, Sendable {
    case anew
    /// The client sends the token and the digest of its list.
    case byToken
    /// The client sends its whole list.
    case byList
  }

  /// The kind of the first answer.
  enum Answer: Hashable, Sendable {
    case list(Observation.Reload?)
    case details
    case unchanged
    /// The collection no longer exists.
    case noSuchCollection
  }

  struct State: Sendable {
    var replica = FetchResultReplica()
    /// The assets of the replica, if the client holds whole assets.
    var objects: [AssetID: Asset] = [:]
    /// The answer to the present beginning.
    var answer: Answer?
    var failure: (any Error)?
    var messageCount = 0
    fileprivate var task: Task<Void, Never>?
  }

  let options: FetchOptions
  /// Whether the client holds whole assets, as they come with the details.
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

  /// Stops reading. The daemon's messages then fill the client's buffer, and after it the socket.
  func sleep() { gate.close() }

  func wake() { gate.open() }

  /// Ends the observation at once, whatever is under way.
  func die() async {
    let task = current.withLock { $0.task }
    task?.cancel()
    gate.open()
    await task?.value
  }

  /// Reads everything that was sent, until the connection ends with the daemon.
  func readToEnd() async {
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

  // MARK: Observations

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
        let came: [AssetID: Asset]
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

  /// The assets that still exist.
  private func assets(_ ids: [AssetID]) async throws -> [AssetID: Asset] {
    Dictionary(try await library.assets(ids).map { ($0.id, $0) }) { $1 }
  }

  struct WrongAssets: Error { let ids: [AssetID] }
}

/// Lets a task pass, or holds it back.
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
