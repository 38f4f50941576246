import Glibc
import PhotoModel
import Synchronization
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The walk of dry runs.
@Suite struct DiskCrawlTests {
  /// Folders that exist only in memory. /share/hung can't be read.
  private final class Share: PhotoFiles {
    let memory = MemoryDisk()
    let listed = Mutex<[String]>([])

    func list(_ folder: [UInt8]) -> FolderLookup {
      let path = String(decoding: folder, as: UTF8.self)
      listed.withLock { $0.append(path) }
      switch path {
      case "/share": return .entries([entry("a.jpg", DT_REG), entry("x", DT_UNKNOWN), entry("hung", DT_DIR)])
      case "/share/x": return .entries([entry("b.jpg", DT_REG), entry("c.jpg", DT_REG)])
      case "/share/hung": return .unknown
      default: return .absent
      }
    }

    private func entry(_ name: String, _ type: Int) -> FolderEntry {
      FolderEntry(name: Array(name.utf8), type: UInt8(type))
    }

    func look(_ path: [UInt8]) -> FileLookup {
      if path == Array("/share/x/c.jpg".utf8) { return .unknown }
      return memory.stat(path).map { .there($0) } ?? .absent
    }

    func isFolder(_ path: [UInt8]) -> Bool { path == Array("/share/x".utf8) }
    func stat(_ path: [UInt8]) -> FileStat? { memory.stat(path) }
    func exists(_ path: [UInt8]) -> Bool { memory.exists(path) }
    func volumeIdentity(device: UInt64, path: [UInt8]) -> String { memory.volumeIdentity(device: device, path: path) }
    func read(_ path: [UInt8], expecting expected: FileStat, isSampled: Bool) -> ContentReading { .raced }
    func marks(
      _ path: [UInt8], expecting expected: FileStat, isWhole: Bool, while shouldGoOn: () -> Bool
    ) -> ContentMarks? { nil }
    var readCount: Int { 0 }
  }

  private func crawl(_ share: Share, _ body: (DiskCrawl.Finding) -> Void) throws {
    let root = Array("/share".utf8)
    try DiskCrawl.forEachFinding(
      below: root, ofRoot: root, by: WatchRules.nameRules(ignoring: []), in: share, body)
  }

  /// photod itself opens no folder of a share.
  @Test func foldersAreReadOnlyThroughTheLibrarysFiles() throws {
    let share = Share()
    for path in ["/share/a.jpg", "/share/x/b.jpg"] { share.memory.write(path) }
    var (files, unreadable): ([String], [String]) = ([], [])
    try crawl(share) { finding in
      switch finding {
      case .file(let path, _): files.append(String(decoding: path, as: UTF8.self))
      case .unreadable(let path): unreadable.append(String(decoding: path, as: UTF8.self))
      }
    }
    #expect(files.sorted() == ["/share/a.jpg", "/share/x/b.jpg"])
    #expect(unreadable.sorted() == ["/share/hung", "/share/x/c.jpg"])
  }

  @Test func walkEndsWhenItsCallerHasGone() throws {
    let share = Share()
    share.memory.write("/share/a.jpg")
    let budget = WorkBudget(.seconds(60))
    #expect(throws: WorkBudget.Spent.cancelled) {
      try WorkBudget.$current.withValue(budget) { try crawl(share) { _ in budget.cancel() } }
    }
    #expect(share.listed.withLock { $0 } == ["/share"])
  }
}
