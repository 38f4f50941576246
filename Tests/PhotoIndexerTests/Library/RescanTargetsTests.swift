import PhotoModel
import TestTools
import Testing

@testable import PhotoIndexer

/// The folders that a rescan looks at.
@Suite struct RescanTargetsTests {
  /// The deepest known folder is scanned. A look at each folder above the path split the whole path each time, so the time
  /// was the square of the path's length.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds"), .timeLimit(.minutes(10)))
  func theTimeToFindTheFolderGrowsWithThePath() async throws {
    let fixture = try LibraryFixture()
    try await fixture.begin()
    var path = "/pics"
    for _ in 0..<2_048 {
      path += "/d"
      try #require(fixture.disk.makeDirectory(path))
    }
    let bytes = Array(path.utf8)
    let short = try await fixture.library.timeToBeginRescan(Array(bytes.prefix(5 + 2 * 256)))
    let long = try await fixture.library.timeToBeginRescan(bytes)
    #expect(long < 16 * short, "\(short) and \(long) ns of the library's queue")
  }
}

extension Library {
  /// The processor time of the library's queue to find the folder, in nanoseconds: the shortest of five.
  fileprivate func timeToBeginRescan(_ path: [UInt8]) throws -> Int64 {
    let top = reconciler.roots.watched.compactMap { reconciler.tree.top(ofRoot: $0.root.id) }
    var shortest = Int64.max
    for _ in 0..<5 {
      let start = WorkBudget.threadTime()
      let targets = try rescanTargets(path)
      shortest = min(shortest, WorkBudget.threadTime() - start)
      #expect(targets.map(\.directoryID) == top)
    }
    return shortest
  }
}
