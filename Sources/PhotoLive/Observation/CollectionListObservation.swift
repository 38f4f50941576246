import PhotoCatalog
import PhotoContract
import PhotoModel
import Varlink

/// What one client was last sent of the list of collections, and how it gets from there to now.
package struct CollectionListObservation {
  private let live: LiveLibrary
  private let reads: any ReadExecutor
  private let kinds: Set<AssetCollection.Kind>
  private var sent: LiveCollections.Version?
  private var sentToken = ""

  /// - Parameter kinds: nil: all.
  package init(of live: LiveLibrary, reads: any ReadExecutor, kinds: Set<AssetCollection.Kind>?) {
    self.live = live
    self.reads = reads
    self.kinds = kinds ?? Set(AssetCollection.Kind.allCases)
  }

  /// Up to here the list is as it was sent; the token that was sent may be older.
  package var checkedSequence: Int64 { sent?.sequence ?? 0 }

  /// An observation, and the reply that tells it.
  package typealias Send = (CollectionObservation, VarlinkEncoded) async throws -> Void

  /// The list as it is now.
  package mutating func begin(_ send: Send) async throws { try await sendList(reload: nil, send) }

  /// The difference to what is true now.
  ///
  /// - Returns: whether there was any.
  package mutating func advance(_ send: Send) async throws -> Bool {
    guard let before = sent else { return false }
    let (now, change) = try await reads.run { [self] in try self.change(since: before) }
    sent = now
    guard let (observation, encoded) = change else { return false }
    guard let encoded else {
      try await sendList(reload: .tooManyChanges, send)
      return true
    }
    sentToken = observation.token
    try await send(observation, encoded)
    return true
  }

  /// - Returns: nil where nothing differs. The reply is nil where it would be too large.
  private func change(since before: LiveCollections.Version) throws
    -> (LiveCollections.Version, (CollectionObservation, VarlinkEncoded?)?)
  {
    let (now, change) = try live.collections.change(since: before)
    guard let change else { return (now, nil) }
    let observation = CollectionObservation(
      token: live.catalog.token(now.sequence).description, previousToken: sentToken, count: now.order.count,
      digest: now.order.digest.description, details: change.details, inserted: change.inserted,
      updated: change.updated, deleted: change.deleted)
    let key = SharedDifferences.Key(
      plan: "collections " + kinds.map(\.rawValue).sorted().joined(separator: ","), previousToken: sentToken,
      after: before.sequence, through: now.sequence, objects: true)
    let difference = try live.differences.difference(key) {
      let encoded = try VarlinkEncoded(encoding: observation)
      return ListDifference(encoded: encoded.byteCount <= ReplyLimits.maximumBytes ? encoded : nil)
    }
    return (now, (observation, difference.encoded))
  }

  /// All collections, in pages.
  private mutating func sendList(reload: Observation.Reload?, _ send: Send) async throws {
    let (list, collections) = try await reads.run { [live, kinds] in try live.collections.list(kinds) }
    let previous = reload == nil ? nil : sentToken
    let digest = list.order.digest.description
    sent = list
    sentToken = live.catalog.token(list.sequence).description
    var rest = collections[...]
    repeat {
      var page = CollectionObservation(
        token: sentToken, count: collections.count, digest: digest, offset: rest.startIndex)
      if rest.startIndex == 0 { (page.previousToken, page.reload) = (previous, reload) }
      let (observation, encoded, taken) = try await reads.run { [page, rest] in
        func filled(_ part: ArraySlice<AssetCollection>) -> CollectionObservation {
          var filled = page
          filled.collections = Array(part)
          filled.complete = part.endIndex == collections.endIndex
          return filled
        }
        let (encoded, taken) = try ReplyLimits.page(rest.prefix(ReplyLimits.defaultPage), filled)
        return (filled(rest.prefix(taken)), encoded, taken)
      }
      try await send(observation, encoded)
      rest = rest.dropFirst(taken)
    } while !rest.isEmpty
  }
}
