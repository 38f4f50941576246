import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

// The observation of the list of collections: the list, followed by differences from the state that was last sent to
// this client.
extension LibraryService {
  func observeCollections(_ call: VarlinkServiceCall) async throws {
    let reads = reads(call)
    let request = try await reads.parameters(call, ObserveCollectionsRequest.self)
    let kinds = try Self.kinds(request.kinds)
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    try await live.lists.held.withHolder(ofProcess: call.peer.pid) { holder in
      let observation = CollectionListObservation(
        of: self.live, reads: reads, kinds: kinds, unchanged: request.unchanged == true, holder: holder)
      try await self.follow(observation, of: kinds, call)
    }
  }

  private func follow(
    _ observation: CollectionListObservation, of kinds: Set<AssetCollection.Kind>?, _ call: VarlinkServiceCall
  ) async throws {
    var observation = observation
    observers.withLock { $0 += 1 }
    defer { observers.withLock { $0 -= 1 } }
    live.collections.beginObserving()
    defer { live.collections.endObserving() }
    connections.beginStream(call, .init(options: kinds?.summary, feed: live.feed))
    let send: CollectionListObservation.Send = { [connections] observation, encoded in
      connections.updateStream(call, token: observation.token)
      try await call.replyContinuing(encoded: encoded)
    }
    try await observation.begin(send)
    connections.updateStream(call, reached: observation.checkedSequence)
    while await live.feed.next(after: observation.checkedSequence) != nil {
      // This is the same as in `observe(_:)`.
      try await call.drained()
      let hasReplied = try await observation.advance(send)
      connections.updateStream(call, reached: observation.checkedSequence)
      // While thousands of photos are added, the counts change at most a hundred times a second.
      if hasReplied { try await Task.sleep(for: Self.gatheringTime) }
    }
    try Task.checkCancellation()
    throw library.ended
  }
}

extension Set<AssetCollection.Kind> {
  /// A short form for a person.
  fileprivate var summary: String {
    isEmpty ? "none" : AssetCollection.Kind.allCases.filter(contains).map(\.rawValue).joined(separator: ", ")
  }
}
