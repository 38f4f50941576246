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
}

extension UnreadablePaths {
  fileprivate var first: Entry? { entries.min { $0.path.lexicographicallyPrecedes($1.path) } }
}
