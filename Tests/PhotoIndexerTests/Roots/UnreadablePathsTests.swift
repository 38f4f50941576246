import Glibc
import PhotoModel
import Testing

@testable import PhotoIndexer

@Suite struct UnreadablePathsTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func newListingForgetsTheErrorsInItsFolder() {
    var paths = UnreadablePaths()
    for path in ["/p/a", "/p/b", "/p/a/deep", "/q"] { paths.insert(bytes(path), errorNumber: 13, at: 7) }
    paths.insert(bytes("/p/a"), errorNumber: 5, at: 7)
    #expect(paths.count == 4 && paths.first?.path == bytes("/p/a"))
    paths.remove(in: bytes("/p"))
    #expect(paths.count == 2)
    paths.insert(bytes("/p/b"), errorNumber: 13, at: 7)
    paths.remove(in: bytes("/p/a/deep"))
    paths.remove(in: bytes("/q"))
    #expect(paths.count == 1 && paths.first?.path == bytes("/p/b") && paths.first?.errorNumber == 13)
    paths.remove(in: bytes("/p"))
    #expect(paths.isEmpty && paths.first == nil)
  }

  @Test func errorsInARemovedFolderAreForgotten() {
    var paths = UnreadablePaths()
    for path in ["/p", "/p/a", "/p/gone/b", "/p/gone/c", "/q"] { paths.insert(bytes(path), errorNumber: 13, at: 7) }
    _ = paths.settle()
    let there: Set = [bytes("/p"), bytes("/p/kept")]
    paths.removeUnlessThere { there.contains($0) }
    #expect(paths.count == 2 && paths.hasChanged && paths.first?.path == bytes("/p"))
    _ = paths.settle()
    paths.removeUnlessThere { there.contains($0) }
    #expect(paths.count == 2 && !paths.hasChanged)
  }

  @Test func logReportsEachPathOnceAndOnlyTheFirstOfMany() {
    var paths = UnreadablePaths()
    for number in 0..<150 { paths.insert(bytes("/p/\(number)"), errorNumber: 13, at: 7) }
    #expect(paths.hasChanged)
    #expect(paths.settle().map(\.count) == [1, 10, 100])
    #expect(!paths.hasChanged)
    paths.remove(in: bytes("/p"))
    #expect(paths.hasChanged)
    for number in 0..<150 { paths.insert(bytes("/p/\(number)"), errorNumber: 13, at: 7) }
    #expect(paths.settle().isEmpty)
  }

  @Test func pathsThatWereLoggedTakeBoundedMemory() {
    var paths = UnreadablePaths()
    for folder in 0..<30 {
      for number in 0..<1_000 { paths.insert(bytes("/p/\(folder)/\(number)"), errorNumber: 13, at: 7) }
      paths.remove(in: bytes("/p/\(folder)"))
    }
    #expect(paths.settle().map(\.count) == [1, 10, 100, 1_000, 10_000])
    #expect(paths.isEmpty && paths.found.count == 10_000)
  }

  @Test func repeatedErrorKeepsItsFirstTime() {
    var paths = UnreadablePaths()
    paths.insert(bytes("/p/a"), errorNumber: 13, at: 5)
    paths.remove(in: bytes("/p"))
    paths.insert(bytes("/p/a"), errorNumber: 5, at: 9)
    #expect(paths.entries == [.init(path: bytes("/p/a"), errorNumber: 5, since: 5)])
    // The folder was readable in between, and no record said otherwise by the end of the scan.
    paths.remove(in: bytes("/p"))
    _ = paths.settle()
    paths.insert(bytes("/p/a"), errorNumber: 13, at: 20)
    #expect(paths.entries.map(\.since) == [20])
  }

  @Test func theFirstUnreadableFolderHidesAPath() {
    var paths = UnreadablePaths()
    for path in ["/p/a", "/p/a/b/c", "/p/ab"] { paths.insert(bytes(path), errorNumber: 13, at: 7) }
    for (path, hiding) in [
      ("/p/a", "/p/a"), ("/p/a/b", "/p/a"), ("/p/a/b/c/d", "/p/a"), ("/p/abc", nil), ("/p", nil), ("/q/a", nil),
    ] {
      #expect(paths.entry(hiding: bytes(path))?.path == hiding.map(bytes), "\(path)")
      #expect(paths.entry(at: bytes(path)) == nil || path == "/p/a")
    }
    paths.remove(in: bytes("/p"))
    #expect(paths.entries.map(\.path) == [bytes("/p/a/b/c")])
    #expect(paths.entry(hiding: bytes("/p/a/b/c/d"))?.path == bytes("/p/a/b/c"))
  }

  @Test func onlyThePathsInAFolderThatLeftAreForgotten() {
    var paths = UnreadablePaths()
    for path in ["/p/a/b", "/p/a/c/d", "/p/ab/c", "/q/x"] { paths.insert(bytes(path), errorNumber: 13, at: 7) }
    paths.removeUnlessThere(below: bytes("/p/nothing")) { _ in false }
    #expect(paths.count == 4)
    // A new folder has the name of the one that left.
    paths.removeUnlessThere(below: bytes("/p/a")) { $0 == bytes("/p/a") }
    #expect(Set(paths.entries.map(\.path)) == Set(["/p/a/b", "/p/ab/c", "/q/x"].map(bytes)))
    paths.removeUnlessThere { _ in false }
    #expect(paths.isEmpty && paths.entries.isEmpty)
  }

  @Test func theFirstPathAndTheSharesAreThoseOfTheLastScan() {
    let share = EREMOTE
    var paths = UnreadablePaths()
    for path in ["/p/b", "/p/a-b", "/p/a/c"] { paths.insert(bytes(path), errorNumber: 13, at: 7) }
    paths.insert(bytes("/p/a"), errorNumber: share, at: 7)
    #expect(paths.settledFirst == nil && paths.settledShares.isEmpty)
    _ = paths.settle()
    #expect(paths.settledFirst?.path == bytes("/p/a-b") && paths.settledCount == 3)
    #expect(paths.settledShares == [bytes("/p/a")])
    #expect(paths.share(of: bytes("/p/a/c/d")) { _ in true } == bytes("/p/a"))
    #expect(paths.share(of: bytes("/p/a/c/d")) { _ in false } == nil)
    // The share is gone, and its folder can't be read.
    paths.insert(bytes("/p/a"), errorNumber: 13, at: 8)
    paths.remove(in: bytes("/p/a-b"))
    #expect(paths.settledCount == 3 && paths.settledShares == [bytes("/p/a")])
    _ = paths.settle()
    #expect(paths.settledFirst == .init(path: bytes("/p/a"), errorNumber: 13, since: 7) && paths.settledCount == 3)
    #expect(paths.settledShares.isEmpty && paths.share(of: bytes("/p/a/c")) { _ in true } == nil)
  }

  /// The library settles after each batch in which an entry changed, and forgets what was in folders that left. A look
  /// at all entries would make n batches cost the square of n.
  @Test func theTimeForEachPathDoesNotGrowWithTheirNumber() {
    let (few, many) = (time(ofPaths: 500), time(ofPaths: 4_000))
    #expect(many < 16 * few, "\(few) and \(many) ns")
  }

  /// The processor time for so many unreadable paths, in nanoseconds: the shortest of three.
  private func time(ofPaths count: Int) -> Int64 {
    (0..<3).map { _ in
      let start = WorkBudget.threadTime()
      var paths = UnreadablePaths()
      for number in 0..<count {
        paths.insert(bytes("/p/\(number)/a"), errorNumber: 13, at: 7)
        _ = paths.settle()
      }
      for number in 0..<count {
        paths.removeUnlessThere(below: bytes("/p/\(number)")) { _ in false }
        _ = paths.settle()
        #expect(paths.settledCount == count - number - 1)
      }
      return WorkBudget.threadTime() - start
    }.min()!
  }
}

extension UnreadablePaths {
  fileprivate var first: Entry? { entries.min { $0.path.lexicographicallyPrecedes($1.path) } }
}
