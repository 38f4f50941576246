import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Varlink

// One observation: the list, then differences from what this client was last sent.
extension LibraryService {
  /// What more than this changes is one commit of many, as a copy makes them: what follows is gathered for a moment, so
  /// that a client redraws a hundred times a second at most. A photo or two are told at once.
  private static let fewChanges = 4
  static let gatheringTime = Duration.milliseconds(10)

  func observe(_ call: VarlinkServiceCall) async throws {
    let parameters = try call.parameters(ObserveParameters.self)
    guard call.wantsMore else { throw VarlinkError.expectedMore }
    if let ids = parameters.sinceIDs, Set(ids).count != ids.count { throw VarlinkError.invalidParameter("sinceIDs") }
    let plan = try library.catalog.read { try $0.plan(parameters.options ?? FetchOptions()) }

    observers.withLock { $0 += 1 }
    defer { observers.withLock { $0 -= 1 } }
    library.lists.beginObserving(plan)
    defer { library.lists.endObserving(plan) }
    connections.beginStream(call, .init(options: parameters.options?.summary, feed: library.feed))
    let send: LiveObservation.Send = { [connections] observation, encoded in
      connections.updateStream(call, token: observation.token)
      try await call.replyContinuing(encoded: encoded)
    }
    var observation = LiveObservation(library: library, differences: differences, plan: plan, parameters: parameters)
    try await observation.begin(send)
    connections.updateStream(call, reached: observation.checkedSequence)
    while await library.feed.next(after: observation.checkedSequence) != nil {
      // Who does not read gets one difference when they do, and not those of the time in between.
      try await call.drained()
      try await observation.advance(send)
      connections.updateStream(call, reached: observation.checkedSequence)
      if observation.lastChangeCount > Self.fewChanges { try await Task.sleep(for: Self.gatheringTime) }
    }
    try Task.checkCancellation()
    throw library.ended
  }
}

struct ObserveParameters: Decodable, Sendable {
  let options: FetchOptions?
  let since: String?
  let sinceDigest: String?
  let sinceIDs: [Int64]?
  let objects: Bool?
  let reloadOnly: Bool?
}

private struct ObserveReply: JSONWritable {
  let observation: Observation

  func write(to writer: inout JSONWriter) { writer.object { $0.member("observation", observation) } }
}

/// What one client was last sent of one list, and how it gets from there to now.
struct LiveObservation {
  private let library: Library
  private let differences: SharedDifferences
  private let plan: FetchPlan
  private let parameters: ObserveParameters
  /// What the client has.
  private var sent = Sent.ids([])
  private var sentToken = ""
  /// Up to here the list is as it was sent; the token that was sent may be older.
  private(set) var checkedSequence: Int64 = 0
  /// Assets that came, went or changed with what was sent last.
  private(set) var lastChangeCount = 0

  init(library: Library, differences: SharedDifferences, plan: FetchPlan, parameters: ObserveParameters) {
    self.library = library
    self.differences = differences
    self.plan = plan
    self.parameters = parameters
  }

  private enum Sent {
    /// What it says that it has.
    case ids([Int64])
    /// A list that is known.
    case list(OrderedList)
  }

  /// An observation, and the reply that tells it.
  typealias Send = (Observation, VarlinkEncoded) async throws -> Void

  private func encoded(_ observation: Observation) -> VarlinkEncoded {
    VarlinkEncoded(ObserveReply(observation: observation))
  }

  /// The list as it is now, or where `since` is known the difference to it.
  mutating func begin(_ send: Send) async throws {
    guard let since = parameters.since else {
      try await sendList(try library.lists.current(plan), reload: nil, send)
      return
    }
    switch try base(since: since) {
    case .reload(let reason):
      try await sendList(try library.lists.current(plan), reload: reason, send)
    case .sent(let known, let sequence, let list):
      sent = known
      sentToken = since
      checkedSequence = sequence
      if try await !sendDifference(to: list, send) {
        sentToken = token(list)
        let same = Observation(token: sentToken, previousToken: since, count: list.count, digest: list.digest)
        try await send(same, encoded(same))
      }
    }
  }

  /// The difference to what is true now, if there is any.
  mutating func advance(_ send: Send) async throws {
    let list = try library.lists.current(plan)
    _ = try await sendDifference(to: list, send)
  }

  private enum Base {
    /// What the client has, of which commit, and the list as it is now: of that commit or a later one.
    case sent(Sent, sequence: Int64, now: FetchedList)
    case reload(Observation.Reload)
  }

  private func base(since: String) throws -> Base {
    guard let token = ChangeToken(since) else { return .reload(.tokenExpired) }
    guard token.library == library.catalog.uuid, token.epoch == library.catalog.epoch else {
      return .reload(.libraryReplaced)
    }
    guard try library.catalog.read({ try $0.historyReaches(token.sequence) }) else { return .reload(.tokenExpired) }
    // A commit can be read, and its token be handed out, just before the feed announces it.
    let list = try library.lists.current(plan, atLeast: token.sequence)
    let known = library.lists.recent(plan, sequence: token.sequence)?.list
    let digest: String
    let sent: Sent
    if let ids = parameters.sinceIDs {
      (sent, digest) = (.ids(ids), ListDigest(of: ids).description)
      // Of another fetch, or another time.
      if let known, known.digest != digest { return .reload(.digestMismatch) }
    } else if let known {
      (sent, digest) = (.list(known), known.digest)
    } else if parameters.sinceDigest == list.digest {
      // What it was then is kept no longer; but it is the same now, whatever happened to what is in it.
      (sent, digest) = (.ids(list.ids), list.digest)
    } else {
      return .reload(.tokenExpired)
    }
    if let expected = parameters.sinceDigest, expected != digest { return .reload(.digestMismatch) }
    return .sent(sent, sequence: token.sequence, now: list)
  }

  // MARK: Sending

  /// - Returns: whether there was a difference.
  private mutating func sendDifference(to list: FetchedList, _ send: Send) async throws -> Bool {
    guard list.sequence > checkedSequence else { return false }
    let difference: ListDifference
    do {
      difference = try self.difference(to: list)
    } catch is ForgottenHistory {
      // It did not read for so long that what changed of what is in both lists is known no more.
      try await sendList(list, reload: .tokenExpired, send)
      return true
    }
    checkedSequence = list.sequence
    lastChangeCount = difference.changeCount
    guard let observation = difference.observation else { return false }
    if parameters.reloadOnly == true {
      try await sendList(list, reload: .notWanted, send)
    } else if let encoded = difference.encoded {
      sent = .list(list.list)
      sentToken = observation.token
      try await send(observation, encoded)
    } else {
      try await sendList(list, reload: .tooManyChanges, send)
    }
    return true
  }

  /// The same for all who were sent the same of one fetch.
  private func difference(to list: FetchedList) throws -> ListDifference {
    switch sent {
    case .ids(let ids):
      return try makeDifference(to: list) {
        FetchResultChangeDetails.full(from: ids, to: list.ids, touched: $0.touched)
      }
    case .list(let before):
      let key = SharedDifferences.Key(
        plan: plan.key, previousToken: sentToken, after: checkedSequence, through: list.sequence,
        objects: parameters.objects == true)
      return try differences.difference(key) {
        try makeDifference(to: list) { effects in
          let placed = plan.albumID.map(effects.placed) ?? []
          guard let placed else {
            // What came, went or moved in an album that was edited long ago is named nowhere.
            return FetchResultChangeDetails.full(from: before.ids, to: list.ids, touched: effects.touched)
          }
          return FetchResultChangeDetails.incremental(
            from: before.entries, to: list.list.entries, limit: list.list.limit, touched: effects.touched,
            placed: Array(placed))
        }
      }
    }
  }

  private func makeDifference(
    to list: FetchedList, _ details: (CommitEffects) -> FetchResultChangeDetails?
  ) throws -> ListDifference {
    let effects = try library.recentCommits.effects(after: checkedSequence, through: list.sequence)
    guard let details = details(effects) else { return .none }
    var observation = Observation(
      token: token(list), previousToken: sentToken, count: list.count, digest: list.digest,
      origin: effects.origins.count == 1 ? effects.origins.first : nil, details: details)
    let changeCount =
      details.insertedIDs.count + (details.removedBefore + details.changedAfter).reduce(0) { $0 + $1.count }
    var encoded = self.encoded(observation)
    let byteCount = encoded.byteCount
    if byteCount > 1 << 20 || (byteCount > 16 << 10 && byteCount > Self.byteCount(of: list.list)) {
      return ListDifference(observation: observation, encoded: nil, changeCount: changeCount)
    }
    if parameters.objects == true, let whole = try addObjects(to: observation, list, besides: byteCount) {
      (observation, encoded) = whole
    }
    return ListDifference(observation: observation, encoded: encoded, changeCount: changeCount)
  }

  /// All ids, in pages.
  private mutating func sendList(_ list: FetchedList, reload: Observation.Reload?, _ send: Send) async throws {
    let previous = sentToken.isEmpty ? parameters.since : sentToken
    sent = .list(list.list)
    sentToken = token(list)
    checkedSequence = list.sequence
    if reload == .notWanted {
      let none = Observation(
        token: sentToken, previousToken: previous, count: list.count, digest: list.digest, offset: 0, ids: [],
        complete: true, reload: reload)
      try await send(none, encoded(none))
      return
    }
    let shared = SharedPages.List(plan: plan.key, sequence: list.sequence)
    differences.pages.beginReading(shared)
    defer { differences.pages.endReading(shared) }
    var position = 0
    repeat {
      // What is new to this client alone is in the first.
      let page =
        position == 0 && reload != nil
        ? self.page(of: list, at: 0, reload: reload, previousToken: previous)
        : differences.pages.page(of: shared, at: position) { self.page(of: list, at: position) }
      try await send(page.observation, page.encoded)
      position += ReplyLimits.idsPerPage
    } while position < list.count
  }

  private func page(
    of list: FetchedList, at position: Int, reload: Observation.Reload? = nil, previousToken: String? = nil
  ) -> SharedPages.Page {
    let end = min(position + ReplyLimits.idsPerPage, list.count)
    let observation = Observation(
      token: token(list), previousToken: previousToken, count: list.count, digest: list.digest, offset: position,
      ids: list.list.entries.ids(in: position..<end), complete: end == list.count, reload: reload)
    return SharedPages.Page(observation: observation, encoded: encoded(observation))
  }

  /// Whole assets beside the details, while the message stays under 512 KiB.
  ///
  /// They are as of now, which may be later than the list; the next difference then names what changed. Where one of them
  /// is gone since, none are sent: `insertedAssets` is parallel to the ids, or absent.
  private func addObjects(
    to observation: Observation, _ list: FetchedList, besides byteCount: Int
  ) throws -> (Observation, VarlinkEncoded)? {
    guard let details = observation.details else { return nil }
    let limit = 512 << 10
    // No asset is shorter than this; more of them than fit are not even read.
    let most = (limit - byteCount) / 200
    let changed = details.changedAfter.flatMap { list.list.entries.ids(in: $0.start..<$0.start + $0.count) }
    guard most > 0, details.insertedIDs.count + changed.count <= most else { return nil }
    let (inserted, updated) = try library.catalog.read {
      (try $0.assets(details.insertedIDs), try $0.assets(changed))
    }
    guard inserted.missing.isEmpty, updated.missing.isEmpty else { return nil }
    var whole = observation
    whole.insertedAssets = inserted.assets
    whole.changedAssets = updated.assets
    let encoded = self.encoded(whole)
    return encoded.byteCount < limit ? (whole, encoded) : nil
  }

  private func token(_ list: FetchedList) -> String { library.catalog.token(list.sequence).description }

  /// Of the ids as JSON, with a comma each.
  private static func byteCount(of list: OrderedList) -> Int {
    var (total, left) = (0, list.count)
    for id in list.entries {
      guard left > 0 else { break }
      left -= 1
      var digits = 2
      var rest = id
      while rest >= 10 {
        digits += 1
        rest /= 10
      }
      total += digits
    }
    return total
  }
}
