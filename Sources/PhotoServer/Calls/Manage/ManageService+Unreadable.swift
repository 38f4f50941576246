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
      throw Self.unavailable("There is no library. Follow the warnings of `photoctl status`.")
    }
    let reads = reads(call)
    let state = try await libraryTurns.run(for: call.peer) { await library.unreadableState() }
    if call.wantsMore { connections.beginStream(call, .init(feed: nil)) }
    do {
      try await reads.sendPages(on: call, holding: heldLists) {
        let files = try library.unreadableEntries(state).map(UnreadableFile.init)
        let count = files.count
        return PagedArray(files, byteCount: files.byteCount, pageSize: call.wantsMore ? Self.page : count) {
          UnreadablePage(files: Array($0), count: count)
        }
      }
    } catch is ClientLists.Excess {
      throw Self.unavailable(ContractError.excess.message)
    } catch is WorkBudget.Spent {
      throw Self.unavailable(
        "The list of unreadable files took more than two seconds of processor time. `photoctl status` names the first one."
      )
    }
  }
}

extension [UnreadableFile] {
  /// About how much memory they take, in bytes. The remedies are constants.
  fileprivate var byteCount: Int {
    reduce(count * MemoryLayout<UnreadableFile>.stride) { $0 + $1.path.heapByteCount + $1.reason.heapByteCount }
  }
}

extension UnreadableFile {
  fileprivate init(_ entry: UnreadableEntry) {
    self.init(
      path: FilePath.text(entry.path), kind: entry.kind.rawValue, reason: entry.reason, since: entry.since,
      remedy: entry.remedy, assetID: entry.assetID)
  }
}
