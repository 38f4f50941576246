import Foundation
import Glibc
import TestTools
import Testing
import WatchRecords

@testable import PhotoIndexer

/// Paths that are too long for one system call.
@Suite struct LongPathTests {
  /// A new folder with a chain of folders and a file at its end. rm(1) removes it, which also walks in pieces.
  private func withDeepFolder(_ name: String, _ count: Int, _ body: ([UInt8], Int32) throws -> Void) throws {
    let top = NSTemporaryDirectory() + "photod-deep-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: top, withIntermediateDirectories: true)
    var path = Array(top.utf8)
    var folder = open(top, O_RDONLY | O_DIRECTORY)
    for _ in 0..<count {
      try #require(mkdirat(folder, name, 0o755) == 0)
      let next = openat(folder, name, O_RDONLY | O_DIRECTORY)
      close(folder)
      folder = next
      path += Array("/\(name)".utf8)
    }
    defer {
      close(folder)
      let remove = TestProcess()
      remove.executableURL = URL(fileURLWithPath: "/bin/rm")
      remove.arguments = ["-rf", top]
      do { try remove.run() } catch { Issue.record(error) }
      remove.waitUntilExit()
    }
    try body(path, folder)
  }

  @Test(arguments: [
    (String(repeating: "n", count: 255), 17), (String(repeating: "n", count: 255), 40), ("d", 3000), ("d", 2),
  ])
  func filesAreFoundAndReadAtAnyDepth(name: String, count: Int) throws {
    try withDeepFolder(name, count) { path, folder in try checkFile(path, folder) }
  }

  private func checkFile(_ path: [UInt8], _ folder: Int32) throws {
    let file = openat(folder, "a.jpg", O_WRONLY | O_CREAT, 0o644)
    let written = write(file, "hello", 5)
    #expect(written == 5)
    var status = Glibc.stat()
    fstat(file, &status)
    close(file)
    let disk = DiskFiles()
    let photo = path + Array("/a.jpg".utf8)
    let seen = try #require(disk.stat(photo))
    #expect(seen.identity.inode == UInt64(status.st_ino) && seen.byteCount == 5)
    let other = path + Array("/b.jpg".utf8)
    #expect(disk.exists(photo))
    #expect(!disk.exists(other))
    #expect(disk.isFolder(path))
    #expect(!disk.isFolder(photo))
    guard case .content(let content, _, _, _) = disk.read(photo, expecting: seen, isSampled: false) else {
      Issue.record("not read")
      return
    }
    #expect(content.failure?.contains("can't be opened") != true, "\(content.failure ?? "")")
    let several = [NamedStat(name: Array("a.jpg".utf8), stat: seen)]
    guard case .content? = disk.read(several[...], in: path + [UInt8(ascii: "/")]).first else {
      Issue.record("not read in its folder")
      return
    }
    // A missing file is reported as missing, and the descriptors of the walk are closed.
    let none = path + Array("/none/b.jpg".utf8)
    for _ in 0..<2000 where disk.stat(none) != nil { Issue.record("found") }
  }

  @Test func invalidPathIsRefused() {
    let disk = DiskFiles()
    for path in [
      [UInt8](repeating: UInt8(ascii: "a"), count: 9000), [UInt8](repeating: UInt8(ascii: "/"), count: 9000),
    ] {
      #expect(disk.stat(path) == nil)
    }
  }
}
