import Foundation
import Glibc
import PhotoTestSupport
import TestTools
import Testing
import WatchRecords

@testable import PhotoIndexer

/// Files that changed between the record of photod-watch and their reading, in a folder whose files are read together.
@Suite struct ChangedFileTests {
  private let folder: TemporaryFolder
  private let files = DiskFiles()

  init() throws { folder = try TemporaryFolder("changed") }

  private func path(_ name: String) -> String { folder.path + "/" + name }

  private func write(_ name: String, _ content: String) throws -> NamedStat {
    try Data(content.utf8).write(to: URL(fileURLWithPath: path(name)))
    return NamedStat(name: Array(name.utf8), stat: try #require(files.stat(Array(path(name).utf8))))
  }

  private func read(_ all: [NamedStat]) -> [ContentReading] {
    files.read(all[...], in: Array((folder.path + "/").utf8))
  }

  @Test func grownFileIsReadWithItsPresentStat() throws {
    let all = [try write("a.jpg", "one"), try write("b.jpg", "two")]
    let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path("a.jpg")))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("more".utf8))
    try handle.close()
    let readings = read(all)
    guard case .content(_, let stat, _, let marks) = readings[0], case .content(_, let other, _, _) = readings[1] else {
      Issue.record("\(readings)")
      return
    }
    #expect(stat.byteCount == 7 && stat.identity == all[0].stat.identity)
    #expect(marks.fingerprint != nil && other == all[1].stat)
  }

  @Test func otherFileUnderTheNameIsNotRead() throws {
    let all = [try write("a.jpg", "one"), try write("b.jpg", "two"), try write("c.jpg", "three")]
    // The first file is kept under another name, so that the second gets another inode.
    #expect(rename(path("a.jpg"), path("kept.jpg")) == 0 && rename(path("b.jpg"), path("a.jpg")) == 0)
    #expect(mkfifo(path("b.jpg"), 0o644) == 0)
    let readings = read(all)
    guard case .raced = readings[0], case .raced = readings[1], case .content = readings[2] else {
      Issue.record("\(readings)")
      return
    }
  }
}
