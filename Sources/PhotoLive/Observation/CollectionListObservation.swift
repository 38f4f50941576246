import PhotoCatalog
import PhotoContract
import PhotoModel
import Varlink

/// The list of collections that one client was last sent, and the steps from it to the current one.
package struct CollectionListObservation {
  private let live: LiveLibrary
  private let reads: any ReadExecutor
  private let kinds: Set<AssetCollection.Kind>
  private let holder: ClientLists.Holder
  /// Whether there are also replies for commits that left the list as it was.
  private let sendsUnchanged: Bool
  private var sent: LiveCollections.Version? {
    didSet { if let sent { live.lists.held.hold(sent.order, by: holder) } }
  }
  private var sentToken = ""

  /// - Parameters:
  ///   - kinds: the kinds to observe, or nil for all of them.
  ///   - unchanged: whether the tokens of commits that left the list as it was are sent, too.
  ///   - holder: holds the lists of this observation. The caller releases it at the end.
  package init(
    of live: LiveLibrary, reads: any ReadExecutor, kinds: Set<AssetCollection.Kind>?, unchanged: Bool = false,
    holder: ClientLists.Holder
  ) {
    self.live = live
    self.reads = reads
    self.holder = holder
    sendsUnchanged = unchanged
    self.kinds = kinds ?? Set(AssetCollection.Kind.allCases)
  }

  /// The newest sequence at which the list was still as it was sent. The token that was sent may be older.
  package var checkedSequence: Int64 { sent?.sequence ?? 0 }

  /// Sends an observation, with its encoded reply.
  package typealias Send = (CollectionObservation, VarlinkEncoded) async throws -> Void

  /// Sends the list as it is now.
  package mutating func begin(_ send: Send) async throws { try await sendList(reload: nil, send) }

  /// Sends the difference to the current list, if there is one.
  ///
  /// - Returns: whether there was a reply: with a difference, or with the token only.
  package mutating func advance(_ send: Send) async throws -> Bool {
    guard let before = sent else { return false }
    let (now, change) = try await reads.run { [self] in try self.change(since: before) }
    sent = now
    guard let (observation, encoded) = change else {
      guard sendsUnchanged, now.sequence > before.sequence else { return false }
      try await sendUnchanged(now, send)
      return true
    }
    guard let encoded else {
      try await sendList(reload: .tooManyChanges, send)
      return true
    }
    sentToken = observation.token
    try await send(observation, encoded)
    return true
  }

  /// Sends only the token of a list that is as it was sent.
  private mutating func sendUnchanged(_ list: LiveCollections.Version, _ send: Send) async throws {
    let same = CollectionObservation(
      token: live.catalog.token(ofListAt: list.sequence).description, previousToken: sentToken, count: list.order.count,
      digest: list.order.digest.description)
    sentToken = same.token
    try await send(same, try VarlinkEncoded(encoding: same))
  }

  /// - Returns: nil if nothing differs. The reply is nil if it would be too large.
  private func change(since before: LiveCollections.Version) throws
    -> (LiveCollections.Version, (CollectionObservation, VarlinkEncoded?)?)
  {
    let (now, change) = try live.collections.change(since: before)
    guard let change else { return (now, nil) }
    let observation = CollectionObservation(
      token: live.catalog.token(ofListAt: now.sequence).description, previousToken: sentToken, count: now.order.count,
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

  /// Sends all collections, in pages.
  private mutating func sendList(reload: Observation.Reload?, _ send: Send) async throws {
    let (list, collections) = try await reads.run { [live, kinds, holder] in
      let (list, collections) = try live.collections.list(kinds)
      // Until all pages are sent, the collections are held, and not only their order.
      live.lists.held.hold(byteCount: collections.byteCount, by: holder)
      return (list, collections)
    }
    let previous = reload == nil ? nil : sentToken
    let digest = list.order.digest.description
    sentToken = live.catalog.token(ofListAt: list.sequence).description
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
    sent = list
  }
}
