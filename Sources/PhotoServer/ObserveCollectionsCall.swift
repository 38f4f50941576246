import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Varlink

// The observation of the list of collections: all of them, then differences from what this client was last sent.
extension LibraryService {
  func observeCollections(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let kinds: [AssetCollection.Kind]? }
    let kinds = try call.parameters(Parameters.self).kinds.map(Set.init)
    guard call.wantsMore else { throw VarlinkError.expectedMore }

    observers.withLock { $0 += 1 }
    defer { observers.withLock { $0 -= 1 } }
    library.collections.beginObserving()
    defer { library.collections.endObserving() }
    connections.beginStream(call, .init(options: kinds?.summary, feed: library.feed))
    var observation = LiveCollectionList(library: library, differences: differences, kinds: kinds)
    let send: LiveCollectionList.Send = { [connections] observation, encoded in
      connections.updateStream(call, token: observation.token)
      try await call.replyContinuing(encoded: encoded)
    }
    try await observation.begin(send)
    connections.updateStream(call, reached: observation.checkedSequence)
    while await library.feed.next(after: observation.checkedSequence) != nil {
      // As of lists.
      try await call.drained()
      let hasChanged = try await observation.advance(send)
      connections.updateStream(call, reached: observation.checkedSequence)
      // While photos come by the thousand, counts rise a hundred times a second at most.
      if hasChanged { try await Task.sleep(for: Self.gatheringTime) }
    }
    try Task.checkCancellation()
    throw library.ended
  }
}

extension Set<AssetCollection.Kind> {
  /// In short, for a person.
  fileprivate var summary: String {
    isEmpty ? "none" : AssetCollection.Kind.allCases.filter(contains).map(\.rawValue).joined(separator: ", ")
  }
}

/// What one client was last sent of the list of collections, and how it gets from there to now.
struct LiveCollectionList {
  private let library: Library
  private let differences: SharedDifferences
  private let kinds: Set<AssetCollection.Kind>
  private var sent: LiveCollections.Version?
  private var sentToken = ""

  /// - Parameter kinds: nil: all.
  init(library: Library, differences: SharedDifferences, kinds: Set<AssetCollection.Kind>?) {
    self.library = library
    self.differences = differences
    self.kinds = kinds ?? Set(AssetCollection.Kind.allCases)
  }

  /// Up to here the list is as it was sent; the token that was sent may be older.
  var checkedSequence: Int64 { sent?.sequence ?? 0 }

  /// An observation, and the reply that tells it.
  typealias Send = (CollectionObservation, VarlinkEncoded) async throws -> Void

  /// The list as it is now.
  mutating func begin(_ send: Send) async throws { try await sendList(reload: nil, send) }

  /// The difference to what is true now.
  ///
  /// - Returns: whether there was any.
  mutating func advance(_ send: Send) async throws -> Bool {
    guard let before = sent else { return false }
    let (now, change) = try library.collections.change(since: before)
    sent = now
    guard let change else { return false }
    let token = library.catalog.token(now.sequence).description
    let observation = CollectionObservation(
      token: token, previousToken: sentToken, count: now.order.count, digest: now.order.digest.description,
      details: change.details, inserted: change.inserted, updated: change.updated, deleted: change.deleted)
    let key = SharedDifferences.Key(
      plan: "collections " + kinds.map(\.rawValue).sorted().joined(separator: ","), previousToken: sentToken,
      after: before.sequence, through: now.sequence, objects: true)
    let difference = try differences.difference(key) {
      let encoded = try VarlinkEncoded(encoding: observation)
      return ListDifference(encoded: encoded.byteCount <= ReplyLimits.maximumBytes ? encoded : nil)
    }
    guard let encoded = difference.encoded else {
      try await sendList(reload: .tooManyChanges, send)
      return true
    }
    sentToken = token
    try await send(observation, encoded)
    return true
  }

  /// All collections, in pages.
  private mutating func sendList(reload: Observation.Reload?, _ send: Send) async throws {
    let (list, collections) = try library.collections.list(kinds)
    let previous = reload == nil ? nil : sentToken
    let digest = list.order.digest.description
    sent = list
    sentToken = library.catalog.token(list.sequence).description
    var rest = collections[...]
    repeat {
      var page = CollectionObservation(
        token: sentToken, count: collections.count, digest: digest, offset: rest.startIndex)
      if rest.startIndex == 0 { (page.previousToken, page.reload) = (previous, reload) }
      func filled(_ part: ArraySlice<AssetCollection>) -> CollectionObservation {
        var filled = page
        filled.collections = Array(part)
        filled.complete = part.endIndex == collections.endIndex
        return filled
      }
      let (encoded, taken) = try ReplyLimits.page(rest.prefix(ReplyLimits.defaultPage), filled)
      try await send(filled(rest.prefix(taken)), encoded)
      rest = rest.dropFirst(taken)
    } while !rest.isEmpty
  }
}
