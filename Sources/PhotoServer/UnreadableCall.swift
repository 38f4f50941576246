import PhotoIndexer
import PhotoModel
import Varlink

// What can't be read.
extension ManageService {
  private struct File: Encodable {
    let path: String
    let kind: String
    let reason: String
    let since: PhotoDate?
    let remedy: String
    let assetID: Int64?

    init(_ entry: UnreadableEntry) {
      path = FilePath.text(entry.path)
      kind = entry.kind.rawValue
      reason = entry.reason
      since = entry.since
      remedy = entry.remedy
      assetID = entry.assetID
    }
  }

  private struct Reply: Encodable {
    let files: [File]
    let count: Int
  }

  /// Some 300 bytes each: one reply is a moment's work.
  private static let page = 500

  func listUnreadable(_ call: VarlinkServiceCall) async throws {
    guard let library else {
      throw Self.unavailable("There is no library to look into. Do what `photoctl status` says first.")
    }
    let files = try await library.unreadableEntries().map(File.init)
    func page(_ files: ArraySlice<File>) throws -> (VarlinkEncoded, taken: Int) {
      try ReplyLimits.page(files) { Reply(files: Array($0), count: count) }
    }
    let count = files.count
    guard call.wantsMore else { return try await call.reply(encoded: try page(files[...]).0) }
    connections.beginStream(call, .init(feed: nil))
    var rest = files[...]
    while true {
      let (reply, taken) = try page(rest.prefix(Self.page))
      rest = rest.dropFirst(taken)
      if rest.isEmpty { return try await call.reply(encoded: reply) }
      try await call.replyContinuing(encoded: reply)
    }
  }
}
