import ChangeDetails
import PhotoCatalog
import PhotoContract
import PhotoModel
import Varlink

/// The list that one client was last sent, and the steps from it to the current one.
package struct ListObservation {
  private let live: LiveLibrary
  private let reads: any ReadExecutor
  private let endTokens: EndTokens
  private let holder: ClientLists.Holder
  /// The fetch. If it follows the query of a smart album, each new query makes it another one.
  package private(set) var plan: FetchPlan
  /// Whether the list was last sent with another plan, so that the commits do not name each asset that differs.
  private var isRedefined = false
  private let sendsObjects: Bool
  private let sendsReloadsOnly: Bool
  /// Whether the last reply said that the collection of the list no longer exists.
  private var sentIsDeleted = false
  /// Whether there are also replies for commits that left the list as it was.
  private let sendsUnchanged: Bool
  /// The list that the client has from an earlier connection, until the first reply. It may be as long as the library.
  private var resumption: ObserveRequest?
  /// The list that the client has.
  private var sent = Sent.ids([]) {
    didSet {
      switch sent {
      case .ids(let ids):
        live.lists.held.hold(byteCount: ids.count * MemoryLayout<AssetID>.stride, by: holder)
      case .list(let list): live.lists.held.hold(list, by: holder)
      }
    }
  }
  private var sentToken = ""
  /// The sequence of the token that was sent.
  private var sentSequence: Int64 = 0
  /// The newest sequence at which the list was still as it was sent. The token that was sent may be older.
  package private(set) var checkedSequence: Int64 = 0
  /// The number of assets that came, went or changed in the last reply.
  package private(set) var lastChangeCount = 0
  /// Whether ``advance(_:)`` sent only the token.
  package private(set) var lastWasUnchanged = false

  /// Ends the tokens that were issued until now, if a client's token is ahead of the library. Returns whether it did.
  package typealias EndTokens = @Sendable (ChangeToken) async throws -> Bool

  /// - Parameter holder: holds the lists of this observation. The caller releases it at the end.
  package init(
    of live: LiveLibrary, reads: any ReadExecutor, plan: FetchPlan, request: ObserveRequest,
    holder: ClientLists.Holder, endTokens: @escaping EndTokens
  ) {
    self.live = live
    self.reads = reads
    self.endTokens = endTokens
    self.holder = holder
    self.plan = plan
    sendsObjects = request.objects == true
    sendsReloadsOnly = request.reloadOnly == true
    sendsUnchanged = request.unchanged == true
    resumption = request.since == nil ? nil : request
  }

  /// The number of ids held for this client alone: none after the first reply.
  package var heldIDCount: Int {
    let sentCount = if case .ids(let ids) = sent { ids.count } else { 0 }
    return sentCount + (resumption?.sinceIDs?.count ?? 0)
  }

  private enum Sent: Sendable {
    /// The list that the client named in its request, until the first reply.
    case ids([AssetID])
    /// A list that photod read itself.
    case list(OrderedList)
  }

  /// Sends an observation, with its encoded reply.
  package typealias Send = (Observation, VarlinkEncoded) async throws -> Void

  private func encoded(_ observation: Observation) -> VarlinkEncoded {
    VarlinkEncoded(ObserveReply(observation: observation))
  }

  /// Sends the list as it is now or, if the list at `since` is known, the difference to it.
  package mutating func begin(_ send: Send) async throws {
    guard let resumption, let since = resumption.since else {
      try await sendList(try await takeCurrentList(), reload: nil, previousToken: nil, send)
      return
    }
    self.resumption = nil
    switch try await base(resumption, since: since) {
    case .foreign(let reason):
      if plan.isOfDeletedCollection {
        // No list of this library has this token. So the client did not observe the collection, and gets the error of
        // an unknown one. The deletion may also have been undone in the meantime.
        let options = resumption.options ?? FetchOptions()
        plan = try await reads.run { [live] in try live.catalog.read { try $0.plan(options) } }
      }
      try await sendList(try await takeCurrentList(), reload: reason, previousToken: since, send)
    case .reload(let reason):
      try await sendList(try await takeCurrentList(), reload: reason, previousToken: since, send)
    case .sent(let known, let sequence, let list):
      sent = known
      (sentToken, sentSequence) = (since, sequence)
      checkedSequence = sequence
      let (difference, isDeleted) = try await reads.run { [self] () throws -> (Difference, Bool) in
        (try self.difference(to: list), try isOfDeletedCollection(list))
      }
      // The client may know that already. The first reply says it in any case.
      sentIsDeleted = isDeleted
      if try await !sendDifference(difference, to: list, send) {
        sent = .list(list.list)
        try await sendUnchanged(list, send)
      }
    }
  }

  /// Sends the difference to the current list, if there is one.
  package mutating func advance(_ send: Send) async throws {
    if let (list, difference) = madeDifference() {
      try await sendAdvance(.known(difference), to: list, send)
      return
    }
    let (now, list, difference) = try await reads.run { [self] () throws -> (Self, FetchedList, Difference) in
      var now = self
      let list = try now.currentList()
      return (now, list, try now.difference(to: list))
    }
    (plan, isRedefined) = (now.plan, now.isRedefined)
    try await sendAdvance(difference, to: list, send)
  }

  private mutating func sendAdvance(_ difference: Difference, to list: FetchedList, _ send: Send) async throws {
    lastWasUnchanged = false
    if try await sendDifference(difference, to: list, send) { return }
    guard sendsUnchanged, list.sequence > sentSequence else { return }
    try await sendUnchanged(list, send)
    lastWasUnchanged = true
  }

  /// Sends only the token of a list that is as it was sent.
  private mutating func sendUnchanged(_ list: FetchedList, _ send: Send) async throws {
    let same = Observation(
      token: token(list), previousToken: sentToken, count: list.count, digest: list.digest,
      collectionDeleted: sentIsDeleted ? true : nil)
    (sentToken, sentSequence) = (same.token, list.sequence)
    try await send(same, encoded(same))
  }

  /// The difference to the current list, if another client has already caused its computation. It needs no read, so a
  /// thousand observers of one fetch do not queue for a thread.
  private func madeDifference() -> (FetchedList, ListDifference)? {
    guard !plan.followsQuery, case .list = sent, let list = live.lists.known(plan), list.sequence > checkedSequence,
      let difference = live.differences.made(key(of: list))
    else { return nil }
    return (list, difference)
  }

  private mutating func takeCurrentList() async throws -> FetchedList {
    let (now, list) = try await reads.run { [self] () throws -> (Self, FetchedList) in
      var now = self
      return (now, try now.currentList())
    }
    plan = now.plan
    return list
  }

  /// Reads the list by the query that its album has at the commit of the list.
  private mutating func currentList(atLeast sequence: Int64 = 0) throws -> FetchedList {
    while true {
      let list = try live.lists.current(plan, atLeast: sequence)
      guard plan.followsQuery else { return list }
      let now = try live.catalog.read { try $0.current(plan) }
      if now == plan { return list }
      (plan, isRedefined) = (now, true)
    }
  }

  private enum Base: Sendable {
    /// The list that the client has, the commit that it belongs to, and the current list, which is of that commit or a
    /// later one.
    case sent(Sent, sequence: Int64, now: FetchedList)
    /// The token is of this library, but the list at that time is not known.
    case reload(Observation.Reload)
    /// The token is none of this library and its epoch.
    case foreign(Observation.Reload)
  }

  private mutating func base(_ resumption: ObserveRequest, since: String) async throws -> Base {
    guard let token = ChangeToken(since) else { return .foreign(.tokenExpired) }
    guard token.library == live.catalog.uuid, token.epoch == live.catalog.epoch else {
      return .foreign(.libraryReplaced)
    }
    let (now, base) = try await reads.run { [self] () throws -> (Self, Base?) in
      var now = self
      let (isAhead, isInHistory) = try live.catalog.read {
        (try $0.sequence() < token.sequence, try $0.historyReaches(token.sequence))
      }
      if isAhead { return (now, nil) }
      return (now, isInHistory ? try now.base(resumption, at: token) : .reload(.tokenExpired))
    }
    plan = now.plan
    if let base { return base }
    return .foreign(try await endTokens(token) ? .libraryReplaced : .tokenExpired)
  }

  private mutating func base(_ resumption: ObserveRequest, at token: ChangeToken) throws -> Base {
    // A commit can be read, and its token sent to a client, just before the feed announces it.
    let list = try currentList(atLeast: token.sequence)
    let known = live.lists.recent(plan, sequence: token.sequence)?.list
    let digest: String
    let sent: Sent
    if let ids = resumption.sinceIDs {
      (sent, digest) = (.ids(ids), ListDigest(of: ids).description)
      // The ids are of another fetch, or of another time.
      if let known, known.digest != digest { return .reload(.digestMismatch) }
    } else if let known {
      (sent, digest) = (.list(known), known.digest)
    } else if resumption.sinceDigest == list.digest {
      // The list of that time is no longer kept. But its digest is the current one, so its ids are the current ones.
      (sent, digest) = (.ids(list.ids), list.digest)
    } else {
      return .reload(.tokenExpired)
    }
    if let expected = resumption.sinceDigest, expected != digest { return .reload(.digestMismatch) }
    return .sent(sent, sequence: token.sequence, now: list)
  }

  // MARK: Sending

  private enum Difference: Sendable {
    case known(ListDifference)
    /// The client did not read for so long that the history of these changes was pruned.
    case forgotten
    /// The list is not newer than the one that was sent.
    case notNewer
  }

  /// - Returns: whether there was a difference.
  private mutating func sendDifference(
    _ difference: Difference, to list: FetchedList, _ send: Send
  ) async throws -> Bool {
    switch difference {
    case .notNewer: return false
    case .forgotten: try await sendList(list, reload: .tokenExpired, previousToken: sentToken, send)
    case .known(let difference):
      isRedefined = false
      checkedSequence = list.sequence
      lastChangeCount = difference.changeCount
      let isDeleted = difference.isOfDeletedCollection ?? sentIsDeleted
      let isNewlyDeleted = isDeleted != sentIsDeleted
      sentIsDeleted = isDeleted
      let observation = difference.observation
      if observation == nil {
        // The list may have been fetched anew, with the same ids. Then all observations hold the new one.
        sent = .list(list.list)
        if !isNewlyDeleted { return false }
      }
      if sendsReloadsOnly {
        try await sendList(list, reload: .notWanted, previousToken: sentToken, send)
      } else if observation == nil {
        try await sendUnchanged(list, send)
      } else if let observation, let encoded = difference.encoded {
        sent = .list(list.list)
        (sentToken, sentSequence) = (observation.token, list.sequence)
        try await send(observation, encoded)
      } else {
        try await sendList(list, reload: .tooManyChanges, previousToken: sentToken, send)
      }
    }
    return true
  }

  private func difference(to list: FetchedList) throws -> Difference {
    guard list.sequence > checkedSequence else { return .notNewer }
    do { return .known(try sharedDifference(to: list)) } catch is ForgottenHistory { return .forgotten }
  }

  /// Returns the same difference for all clients that were sent the same list of one fetch.
  private func sharedDifference(to list: FetchedList) throws -> ListDifference {
    switch sent {
    case .ids(let ids):
      return try makeDifference(to: list) {
        FetchResultChangeDetails.full(from: ids, to: list.ids, touched: $0.touched)
      }
    case .list(let before):
      return try live.differences.difference(key(of: list)) {
        try makeDifference(to: list) { effects in
          let placed = plan.isWindow || isRedefined ? nil : plan.albumID.map(effects.placed) ?? []
          guard let placed else {
            // The history does not list the assets that came, went or moved in an album that was edited long ago. No
            // commit lists those that enter or leave a window because of others, or a smart album because of its new query.
            return FetchResultChangeDetails.full(from: before.ids, to: list.ids, touched: effects.touched)
          }
          return FetchResultChangeDetails.incremental(
            from: before.entries, to: list.list.entries, limit: list.list.limit, touched: effects.touched,
            placed: Array(placed))
        }
      }
    }
  }

  private func key(of list: FetchedList) -> SharedDifferences.Key {
    SharedDifferences.Key(
      plan: plan.key, previousToken: sentToken, after: checkedSequence, through: list.sequence, objects: sendsObjects)
  }

  private func makeDifference(
    to list: FetchedList, _ details: (CommitEffects) -> FetchResultChangeDetails?
  ) throws -> ListDifference {
    let effects = try live.commits.effects(after: checkedSequence, through: list.sequence)
    let details = details(effects)
    // The commits that deleted the collection, or brought it back, name it. Its assets may leave with a later one.
    let mayDiffer =
      details != nil || plan.isOfDeletedCollection || plan.collectionID.map(effects.collections.contains) == true
    let isDeleted = mayDiffer ? try isOfDeletedCollection(list) : nil
    guard let details else { return ListDifference(isOfDeletedCollection: isDeleted) }
    var observation = Observation(
      token: token(list), previousToken: sentToken, count: list.count, digest: list.digest,
      origin: effects.origins.count == 1 ? effects.origins.first : nil, details: details,
      collectionDeleted: isDeleted == true ? true : nil)
    let changeCount =
      details.insertedIDs.count + (details.removedBefore + details.changedAfter).reduce(0) { $0 + $1.count }
    var encoded = self.encoded(observation)
    let byteCount = encoded.byteCount
    if byteCount > 1 << 20 || (byteCount > 16 << 10 && byteCount > Self.byteCount(of: list.list)) {
      // It is kept for the other observers, but the details are never sent. They may be as long as the list.
      observation.details = nil
      return ListDifference(
        observation: observation, encoded: nil, changeCount: changeCount, isOfDeletedCollection: isDeleted)
    }
    if sendsObjects, let whole = try addObjects(to: observation, list, besides: byteCount) {
      (observation, encoded) = whole
    }
    return ListDifference(
      observation: observation, encoded: encoded, changeCount: changeCount, isOfDeletedCollection: isDeleted)
  }

  /// Whether the collection of the list no longer exists. The catalog is read as it is now, which may be later than the
  /// list. So the deletion of the collection of an empty list may be reported one commit early.
  private func isOfDeletedCollection(_ list: FetchedList) throws -> Bool {
    guard list.count == 0, let id = plan.collectionID else { return false }
    return try !live.catalog.read { try $0.hasCollection(id) }
  }

  /// Sends all ids, in pages.
  private mutating func sendList(
    _ list: FetchedList, reload: Observation.Reload?, previousToken previous: String?, _ send: Send
  ) async throws {
    sent = .list(list.list)
    (sentToken, sentSequence) = (token(list), list.sequence)
    checkedSequence = list.sequence
    isRedefined = false
    if reload == .notWanted {
      let none = Observation(
        token: sentToken, previousToken: previous, count: list.count, digest: list.digest, offset: 0, ids: [],
        complete: true, reload: reload, collectionDeleted: sentIsDeleted ? true : nil)
      try await send(none, encoded(none))
      return
    }
    if list.count == 0 {
      // Such a list has one page. The pages that are shared do not say whether the collection exists.
      let page = try await reads.run { [self] () throws -> SharedPages.Page in
        self.page(
          of: list, at: 0, reload: reload, previousToken: previous, isDeleted: try isOfDeletedCollection(list))
      }
      sentIsDeleted = page.observation.collectionDeleted == true
      try await send(page.observation, page.encoded)
      return
    }
    sentIsDeleted = false
    let shared = SharedPages.List(plan: plan.key, token: sentToken)
    live.differences.pages.beginReading(shared)
    defer { live.differences.pages.endReading(shared) }
    var position = 0
    repeat {
      // The first page says why this client gets the whole list, so it cannot be shared.
      let page = try await reads.run { [self, position] () throws -> SharedPages.Page in
        position == 0 && reload != nil
          ? self.page(of: list, at: 0, reload: reload, previousToken: previous)
          : live.differences.pages.page(of: shared, at: position) { self.page(of: list, at: position) }
      }
      try await send(page.observation, page.encoded)
      position += ReplyLimits.idsPerPage
    } while position < list.count
  }

  /// A page of the list whose token is ``sentToken``.
  private func page(
    of list: FetchedList, at position: Int, reload: Observation.Reload? = nil, previousToken: String? = nil,
    isDeleted: Bool = false
  ) -> SharedPages.Page {
    let end = min(position + ReplyLimits.idsPerPage, list.count)
    let observation = Observation(
      token: sentToken, previousToken: previousToken, count: list.count, digest: list.digest, offset: position,
      ids: list.list.entries.ids(in: position..<end), complete: end == list.count, reload: reload,
      collectionDeleted: isDeleted ? true : nil)
    return SharedPages.Page(observation: observation, encoded: encoded(observation))
  }

  /// Adds whole assets beside the details, while the message stays under 512 KiB.
  ///
  /// The assets are as they are now, which may be later than the list. The next difference then reports those changes.
  /// If one of them has been deleted since, none is sent, because `insertedAssets` is parallel to the ids or absent.
  private func addObjects(
    to observation: Observation, _ list: FetchedList, besides byteCount: Int
  ) throws -> (Observation, VarlinkEncoded)? {
    guard let details = observation.details else { return nil }
    let limit = 512 << 10
    // No asset is shorter than this. If there are more than can fit, they are not read.
    let most = (limit - byteCount) / 200
    let changed = details.changedAfter.flatMap { list.list.entries.ids(in: $0.start..<$0.start + $0.count) }
    guard most > 0, details.insertedIDs.count + changed.count <= most else { return nil }
    let (inserted, updated) = try live.catalog.read {
      (try $0.assets(details.insertedIDs), try $0.assets(changed))
    }
    guard inserted.missing.isEmpty, updated.missing.isEmpty else { return nil }
    var whole = observation
    whole.insertedAssets = inserted.assets
    whole.changedAssets = updated.assets
    let encoded = self.encoded(whole)
    return encoded.byteCount < limit ? (whole, encoded) : nil
  }

  private func token(_ list: FetchedList) -> String { live.catalog.token(ofListAt: list.sequence).description }

  /// The size of the ids as JSON, each with a comma.
  private static func byteCount(of list: OrderedList) -> Int {
    var (total, left) = (0, list.count)
    for id in list.entries {
      guard left > 0 else { break }
      left -= 1
      var digits = 2
      var rest = id.rawValue
      while rest >= 10 {
        digits += 1
        rest /= 10
      }
      total += digits
    }
    return total
  }
}
