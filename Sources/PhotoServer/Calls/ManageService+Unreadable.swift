import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

// The call that lists unreadable files and folders.
extension ManageService {
  /// The number of files in a reply. With some 300 bytes each, a reply takes only a moment.
  private static let page = 500

  func listUnreadable(_ call: VarlinkServiceCall) async throws {
    guard let library else {
      throw Self.unavailable("There is no library to look into. Do what `photoctl status` says first.")
    }
    let reads = ClientReads(threads: threads, peer: call.peer)
    let troubled = await library.troubledPaths()
    let files: [UnreadableFile]
    do {
      files = try await reads.run { try library.unreadableEntries(troubled).map(UnreadableFile.init) }
    } catch is WorkBudget.Spent {
      throw Self.unavailable("Too much can't be read to list it within two seconds of processor time. Mend some of it.")
    }
    let count = files.count
    func page(_ files: ArraySlice<UnreadableFile>) async throws -> (VarlinkEncoded, taken: Int) {
      try await reads.run { try ReplyLimits.page(files) { UnreadablePage(files: Array($0), count: count) } }
    }
    guard call.wantsMore else { return try await call.reply(encoded: try await page(files[...]).0) }
    connections.beginStream(call, .init(feed: nil))
    var rest = files[...]
    while true {
      let (reply, taken) = try await page(rest.prefix(Self.page))
      rest = rest.dropFirst(taken)
      if rest.isEmpty { return try await call.reply(encoded: reply) }
      try await call.replyContinuing(encoded: reply)
    }
  }
}

extension UnreadableFile {
  fileprivate init(_ entry: UnreadableEntry) {
    self.init(
      path: FilePath.text(entry.path), kind: entry.kind.rawValue, reason: entry.reason, since: entry.since,
      remedy: entry.remedy, assetID: entry.assetID)
  }
}
