import PhotoIndexer
import PhotoModel
import Varlink

// What happened.
extension ManageService {
  private struct Event: Encodable {
    let number: Int64
    let time: PhotoDate
    let source: String
    let kind: String
    let path: String?
    let fromPath: String?
    let assetID: Int64?
    let detail: String

    init(_ event: LibraryEvent) {
      number = event.number
      // Milliseconds are what a reader can use.
      time = PhotoDate(microseconds: event.time / 1_000_000 * 1_000)
      source = event.source.rawValue
      kind = event.kind.rawValue
      path = event.path
      fromPath = event.fromPath
      assetID = event.assetID
      detail = event.detail
    }
  }

  private struct Reply: Encodable {
    let events: [Event]
    let missed: Int
  }

  /// Events a reply, of some 300 bytes each: one reply is a moment's work.
  private static let page = 500

  func events(_ call: VarlinkServiceCall) async throws {
    struct Parameters: Decodable { let follow: Bool? }
    let follows = try call.parameters(Parameters.self).follow ?? false
    guard call.wantsMore else {
      if follows { throw VarlinkError.expectedMore }
      try await call.reply(encoded: newest())
      return
    }
    connections.beginStream(call, .init(feed: follows ? events.feed : nil))
    var last: Int64 = 0
    while true {
      let (kept, missed) = events.events(after: last, limit: Self.page)
      let (reply, taken) = try ReplyLimits.page(kept.map(Event.init)[...]) { Reply(events: Array($0), missed: missed) }
      if taken > 0 { last = kept[taken - 1].number }
      let isAll = taken == kept.count && kept.count < Self.page
      if isAll && !follows { return try await call.reply(encoded: reply) }
      if taken > 0 { try await call.replyContinuing(encoded: reply) }
      connections.updateStream(call, reached: last)
      guard isAll else { continue }
      guard await events.feed.next(after: last) != nil else {
        try Task.checkCancellation()
        throw ended()
      }
      try await call.drained()
    }
  }

  /// One reply with the newest that fit.
  private func newest() throws -> VarlinkEncoded {
    let (kept, missed) = events.events(after: 0, limit: .max)
    let all = kept.map(Event.init)
    var count = all.count
    while true {
      let encoded = try VarlinkEncoded(
        encoding: Reply(events: all.suffix(count), missed: missed + all.count - count))
      if encoded.byteCount <= ReplyLimits.maximumBytes || count <= 1 { return encoded }
      count = count * 9 / 10
    }
  }
}
