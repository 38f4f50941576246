import Foundation
import Glibc
import Testing
import WatchRecords

@testable import PhotoIndexer

/// The folders on the way down a path.
@Suite struct FolderOnPathTests {
  private let top = NSTemporaryDirectory() + "photod-path-" + UUID().uuidString

  private func withFolders(_ body: (_ make: () -> [any FolderOnPath]) throws -> Void) throws {
    let manager = FileManager.default
    for name in ["plain", "marked", "tagged", "untagged", "a/b"] {
      try manager.createDirectory(atPath: "\(top)/\(name)", withIntermediateDirectories: true)
    }
    defer { do { try manager.removeItem(atPath: top) } catch { Issue.record(error) } }
    try Data().write(to: URL(fileURLWithPath: top + "/file"))
    try Data().write(to: URL(fileURLWithPath: top + "/marked/.nomedia"))
    try Data(NameRules.cacheTagSignature).write(to: URL(fileURLWithPath: top + "/tagged/CACHEDIR.TAG"))
    try Data("no signature".utf8).write(to: URL(fileURLWithPath: top + "/untagged/CACHEDIR.TAG"))
    try manager.createDirectory(atPath: top + "/plain/.trackerignore", withIntermediateDirectories: false)
    try #require(symlink("a", top + "/link") == 0)
    let path = Array(top.utf8)
    try body { [OpenFolder(path), DistantFolder(path, files: DiskFiles())] }
  }

  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  @Test func bothKindsOfFoldersSeeTheSame() throws {
    try withFolders { make in
      for folder in make() {
        #expect(folder.kind(of: bytes("plain")) == .folder)
        #expect(folder.kind(of: bytes("link")) == .link)
        #expect(folder.kind(of: bytes("file")) == .other)
        #expect(folder.kind(of: bytes("nothing")) == .absent)
        #expect(folder.marker() == nil)
      }
      for (name, marker) in [
        ("plain", nil), ("marked", ".nomedia"), ("tagged", "CACHEDIR.TAG"), ("untagged", nil), ("a", nil),
      ] {
        for var folder in make() {
          folder.enter(bytes(name))
          #expect(folder.marker() == marker.map(bytes), "\(name)")
        }
      }
      for var folder in make() {
        folder.enter(bytes("a"))
        #expect(folder.kind(of: bytes("b")) == .folder && folder.kind(of: bytes("plain")) == .absent)
        folder.enter(bytes("b"))
        #expect(folder.kind(of: bytes("b")) == .absent)
      }
    }
  }

  @Test func nothingIsInAFolderThatIsMissing() throws {
    let folder = OpenFolder(bytes(top))
    #expect(folder.kind(of: bytes("a")) == .absent && folder.marker() == nil)
    folder.enter(bytes("a"))
    #expect(folder.kind(of: bytes("b")) == .absent)
  }

  /// Each look at a path of a share walks the whole path.
  @Test func aFolderOfAShareIsLookedAtOnlySoDeep() throws {
    var folder = DistantFolder(bytes("/p"), files: MemoryDisk())
    for _ in 0..<DistantFolder.mostNames {
      #expect(folder.kind(of: bytes("d")) == .absent)
      folder.enter(bytes("d"))
    }
    #expect(folder.kind(of: bytes("d")) == .unknown && folder.marker() == nil)
  }
}
