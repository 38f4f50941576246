import Testing
import WatchRecords

@testable import PhotoIndexer

@Suite struct WatchedPathsTests {
  private static func found(
    _ number: DirectoryNumber, in parent: DirectoryNumber, _ name: String, root: UInt16 = 1
  ) -> WatchRecord {
    .directoryFound(
      number: number, parent: parent, root: root, name: Array(name.utf8),
      identity: FileIdentity(device: 1, inode: 1, birthTime: 1))
  }

  private func text(_ paths: WatchedPaths, _ number: DirectoryNumber) -> String? {
    paths.path(of: number).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func removedDirectoryIsForgottenWithAllBelowIt() {
    var paths = WatchedPaths()
    for record in [Self.found(1, in: 0, "/p"), Self.found(2, in: 1, "a"), Self.found(3, in: 2, "b")] {
      let isOfDirectory = paths.note(record)
      #expect(isOfDirectory)
    }
    #expect(text(paths, 3) == "/p/a/b/")
    _ = paths.note(.directoryMoved(number: 3, parent: 1, name: Array("c".utf8)))
    #expect(text(paths, 3) == "/p/c/")
    _ = paths.note(.directoryGone(number: 2, evidence: .event))
    #expect(text(paths, 3) == "/p/c/" && paths.count == 2)
    _ = paths.note(.directoryMoved(number: 3, parent: 1, name: Array("d".utf8)))
    _ = paths.note(.directoryGone(number: 1, evidence: .event))
    #expect(paths.count == 0)
  }

  @Test func removedAndAddedRootLeavesNoDirectory() {
    var paths = WatchedPaths()
    _ = paths.note(Self.found(1, in: 0, "/other", root: 2))
    for round in 1...100 as ClosedRange<DirectoryNumber> {
      _ = paths.note(Self.found(round * 10, in: 0, "/p"))
      for number in 1...5 as ClosedRange<DirectoryNumber> {
        _ = paths.note(Self.found(round * 10 + number, in: round * 10 + number - 1, "a"))
      }
      // photod-watch also reports a root again if it did not report it as offline.
      if round % 2 == 0 { _ = paths.note(.rootOffline(root: 1, errorNumber: 5)) }
    }
    #expect(paths.count == 1)
    #expect(text(paths, 1) == "/other/")
  }
}
