import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

// The call that lists recent events.
extension ManageService {
  /// The number of events in a reply. With some 300 bytes each, a reply takes only a moment.
  private static let page = 500

  func events(_ call: VarlinkServiceCall) async throws {
    let follows = try call.shortParameters(EventsRequest.self).follow ?? false
    guard call.wantsMore else {
      if follows { throw VarlinkError.expectedMore }
      try await call.reply(encoded: newest())
      return
    }
    connections.beginStream(call, .init(feed: follows ? events.feed : nil))
    var last: Int64 = 0
    while true {
      let (kept, missed) = events.events(after: last, limit: Self.page)
      let (reply, taken) = try ReplyLimits.page(kept.map(DaemonEvent.init)[...]) {
        EventPage(events: Array($0), missed: missed)
      }
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

  /// One reply with the newest events that fit.
  private func newest() throws -> VarlinkEncoded {
    let (kept, missed) = events.events(after: 0, limit: .max)
    let all = kept.map(DaemonEvent.init)
    var count = all.count
    while true {
      let encoded = try VarlinkEncoded(
        encoding: EventPage(events: all.suffix(count), missed: missed + all.count - count))
      if encoded.byteCount <= ReplyLimits.maximumBytes || count <= 1 { return encoded }
      count = count * 9 / 10
    }
  }
}

extension DaemonEvent {
  fileprivate init(_ event: LibraryEvent) {
    self.init(
      number: Int(event.number),
      // A reader needs no more than milliseconds.
      time: PhotoDate(microseconds: event.time.microseconds / 1_000 * 1_000), source: event.source.rawValue,
      kind: event.kind.rawValue, path: event.path, fromPath: event.fromPath, assetID: event.assetID,
      detail: event.detail)
  }
}
