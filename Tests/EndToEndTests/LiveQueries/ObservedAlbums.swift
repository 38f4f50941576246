import PhotoClient
import PhotoContract
import PhotoModel
import Synchronization

/// A client that observes the list of collections and holds a copy of it.
final class ObservedAlbums: Sendable {
  private struct State {
    var replica = CollectionListReplica()
    var failure: (any Error)?
    var differenceCount = 0
    var task: Task<Void, Never>?
  }

  let kinds: [AssetCollection.Kind]?
  private let library: PhotoLibrary
  private let state = Mutex(State())

  init(_ kinds: [AssetCollection.Kind]?, library: PhotoLibrary) {
    self.kinds = kinds
    self.library = library
  }

  func begin() {
    state.withLock { state in
      (state.replica, state.failure) = (CollectionListReplica(), nil)
      let stream = library.observeCollections(kinds: kinds)
      state.task = Task { await run(stream) }
    }
  }

  func die() async {
    let task = state.withLock { $0.task }
    task?.cancel()
    await task?.value
  }

  private func run(_ stream: LibraryReplies<CollectionObservation>) async {
    do {
      for try await observation in stream {
        try state.withLock { state in
          if case .details = try state.replica.apply(observation) { state.differenceCount += 1 }
        }
      }
    } catch {
      if !(error is CancellationError) { state.withLock { $0.failure = error } }
    }
  }

  var collections: [AssetCollection] {
    get throws {
      try state.withLock { state in
        if let failure = state.failure { throw failure }
        return state.replica.collections
      }
    }
  }

  /// The number of differences since the first observation.
  var differenceCount: Int { state.withLock { $0.differenceCount } }
}
