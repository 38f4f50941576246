import PhotoContract
import PhotoLive
import Varlink

/// An array that is sent page by page.
struct PagedArray: Sendable {
  /// About how much memory the elements take, in bytes.
  let byteCount: Int
  private let pageAt: @Sendable (_ position: Int) throws -> (VarlinkEncoded, next: Int?)

  /// - Parameters:
  ///   - pageSize: the most elements of a page.
  ///   - reply: the reply with some of the elements.
  init<Element: Sendable, Reply: Encodable & SendableMetatype>(
    _ elements: [Element], byteCount: Int, pageSize: Int, _ reply: @escaping @Sendable (ArraySlice<Element>) -> Reply
  ) {
    self.byteCount = byteCount
    pageAt = { position in
      let (encoded, taken) = try ReplyLimits.page(elements[position...].prefix(pageSize), reply)
      let next = position + taken
      return (encoded, next < elements.count ? next : nil)
    }
  }

  /// - Returns: the page, and the position of the next one; nil after the last.
  func page(at position: Int) throws -> (VarlinkEncoded, next: Int?) { try pageAt(position) }
}

extension ClientReads {
  /// Sends an array in pages, or only its first page if the caller takes one reply. The array is held for the client,
  /// and released before the last page, which may be read at any time.
  ///
  /// - Parameter read: runs on a read thread.
  /// - Throws: ``ClientLists/Excess``, and the errors of `read`.
  func sendPages(
    on call: VarlinkServiceCall, holding lists: ClientLists, _ read: @escaping @Sendable () throws -> PagedArray
  ) async throws {
    let last = try await lists.withHolder(ofProcess: peer.pid) { holder in
      let (array, first) = try await self.run {
        let array = try read()
        // If this were done after the job, each connection could have an array before the first one counts.
        lists.hold(byteCount: array.byteCount, by: holder)
        return (array, try array.page(at: 0))
      }
      var (reply, next) = first
      while call.wantsMore, let position = next {
        try await call.replyContinuing(encoded: reply)
        (reply, next) = try await self.run { try array.page(at: position) }
      }
      return reply
    }
    try await call.reply(encoded: last)
  }
}
