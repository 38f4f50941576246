import PhotoCatalog
import PhotoContract
import PhotoLive
import PhotoModel
import Varlink

/// A list that is sent page by page, all from one snapshot.
struct PagedList: Sendable {
  /// A page of the list, encoded as a reply.
  struct Page: Sendable {
    let reply: VarlinkEncoded
    let isLast: Bool
  }

  /// Reads the next page. It runs on a read thread.
  typealias Read = @Sendable (inout PagedList, CatalogReader) throws -> Page

  let token: String
  private let snapshot: CatalogSnapshot
  private var pages: FetchPages
  private var position: Int
  /// The ids for which the last reply had no room.
  private var rest: ArraySlice<AssetID> = []

  /// - Parameter offset: the index of the first asset to send.
  init(_ snapshot: CatalogSnapshot, _ token: String, _ pages: FetchPages, from offset: Int) {
    self.snapshot = snapshot
    self.token = token
    self.pages = pages
    position = min(offset, pages.total)
  }

  mutating func next(_ read: Read) throws -> Page {
    let snapshot = snapshot
    return try snapshot.read { try read(&self, $0) }
  }

  /// - Parameter count: the most assets.
  mutating func nextAssets(_ count: Int, _ reader: CatalogReader) throws -> Page {
    if rest.count < count { rest += try pages.next(count - rest.count, reader) }
    let (reply, taken) = try reader.fetchReply(rest, token: token, total: pages.total, offset: position)
    rest.removeFirst(taken)
    position += taken
    return Page(reply: reply, isLast: position >= pages.total || taken == 0)
  }

  /// The first page of a long list is short, so that the client need not wait for 40,000 ids before it shows a screen.
  mutating func nextIDs(_ reader: CatalogReader) throws -> Page {
    let isShort = position == 0 && pages.total > ReplyLimits.idsPerPage
    let ids = try pages.next(isShort ? ReplyLimits.idsInShortPage : ReplyLimits.idsPerPage, reader)
    let reply = VarlinkEncoded.idPage(ids, token: token, total: pages.total, offset: position)
    position += ids.count
    return Page(reply: reply, isLast: position >= pages.total || ids.isEmpty)
  }
}
