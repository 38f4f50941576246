import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// Names, depths, links and dates that occur in file systems.
@Suite(.timeLimit(.minutes(10))) struct NameTests {
  private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func ids(_ fixture: DaemonFixture) async throws -> [String: AssetID] {
    try await fixture.synchronize()
    return Dictionary(uniqueKeysWithValues: try await fixture.assets().map { ($0.resources[0].path, $0.id) })
  }

  @Test func photosBeyondPathMaxAreReadAndTheirPathsOpen() async throws {
    try await DaemonFixture.with { fixture in
      var inodes: [[UInt8]: UInt64] = [:]
      func add(_ folder: RawFolder, _ name: String, _ variant: Int) throws {
        try folder.write(bytes(name), DaemonFixture.photo(variant))
        inodes[folder.path + bytes("/" + name)] = try folder.inode(bytes(name))
      }
      func nest(_ name: [UInt8], _ count: Int) throws -> RawFolder {
        var folder = try RawFolder(fixture.photos)
        for _ in 0..<count { folder = try folder.folder(name) }
        return folder
      }
      let wide = try nest([UInt8](repeating: UInt8(ascii: "n"), count: 255), 24)
      let deep = try nest(bytes("d"), 2500)
      try add(wide, "before.jpg", 1)
      try add(deep, "before.jpg", 2)
      try await fixture.start()
      try await fixture.synchronize()
      try add(wide, "after.jpg", 3)
      try add(try deep.folder(bytes("new")), "after.jpg", 4)
      let paths = try fixture.paths0()
      #expect(paths == Set(inodes.keys))
      #expect(paths.allSatisfy { $0.count > Int(PATH_MAX) })
      for path in paths { #expect(try RawFolder.inode(at: path) == inodes[path]) }
      for asset in try await fixture.assets() {
        #expect((asset.pixelWidth ?? 0) > 0, "it was read, not only found")
      }
      #expect(try await fixture.status().failedCount == 0)
      // The top folder is renamed. That must be one rename, and nothing else.
      let before = try await ids(fixture)
      try RawFolder(fixture.photos).rename(bytes("d"), bytes("e"))
      let after = try await ids(fixture)
      #expect(Set(after.values) == Set(before.values))
      #expect(after.keys.contains { $0.hasPrefix(fixture.photos + "/e/d/") })
      try fixture.removePhotos()
    }
  }

  @Test func namesAreBytes() async throws {
    try await DaemonFixture.with { fixture in
      let top = try RawFolder(fixture.photos)
      let stems: [[UInt8]] = [
        [0xFF, 0xFE], [0xC3, 0x28], [0xED, 0xA0, 0x80], bytes("line\nbreak"), bytes("tab\t\"quoted\" 'it' \\"),
        bytes("-rf"), bytes(" "), bytes("%41"), bytes("*?[a]"), bytes("\u{1F4F7}"), bytes("file:x"), [1, 2, 0x7F],
        // These two look equal to a person, but are two names to the file system.
        bytes("caf\u{E9}"), bytes("cafe\u{301}"), [UInt8](repeating: UInt8(ascii: "x"), count: 251),
      ]
      var expected: Set<[UInt8]> = []
      for (index, stem) in stems.enumerated() {
        try top.write(stem + bytes(".jpg"), DaemonFixture.photo(index))
        expected.insert(top.path + bytes("/") + stem + bytes(".jpg"))
        // The same name is used for a folder that is found while photod runs.
        if index == 0 { try await fixture.start() }
        let folder = try top.folder(stem + bytes(".dir"))
        try folder.write(bytes("a.jpg"), DaemonFixture.photo(index))
        expected.insert(folder.path + bytes("/a.jpg"))
      }
      #expect(try fixture.paths0() == expected)
      for path in expected { _ = try RawFolder.inode(at: path) }
      // The names are unchanged after a restart.
      fixture.kill(SIGTERM)
      try await fixture.start()
      #expect(try fixture.paths0() == expected)
    }
  }

  @Test func aRenameThatChangesOnlyCaseOrNormalisationKeepsTheIdentifier() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("photo.jpg", 1)
      try fixture.write("caf\u{E9}.jpg", 2)
      try fixture.write("Stra\u{DF}e/a.jpg", 3)
      try fixture.write("\u{C5}land/b.jpg", 4)
      try await fixture.start()
      let before = try await ids(fixture)
      let top = try RawFolder(fixture.photos)
      let renames = [
        ("photo.jpg", "PHOTO.JPG", ""), ("caf\u{E9}.jpg", "cafe\u{301}.jpg", ""),
        ("Stra\u{DF}e", "stra\u{DF}e", "/a.jpg"), ("\u{C5}land", "A\u{30A}land", "/b.jpg"),
      ]
      for (from, to, _) in renames { try top.rename(bytes(from), bytes(to)) }
      func known(_ ids: [String: AssetID], _ name: String) -> AssetID? {
        ids.first { Array($0.key.utf8) == bytes(fixture.path(name)) }?.value
      }
      let after = try await ids(fixture)
      #expect(after.count == 4)
      for (from, to, file) in renames {
        #expect(known(after, to + file) == known(before, from + file), "\(to)")
        #expect(known(after, to + file) != nil, "\(to)")
      }
      // The names are swapped back while photod does not run.
      fixture.kill(SIGTERM)
      for (from, to, _) in renames { try top.rename(bytes(to), bytes(from)) }
      try await fixture.start()
      let again = try await ids(fixture)
      for (from, _, file) in renames { #expect(known(again, from + file) == known(before, from + file), "\(from)") }
    }
  }

  @Test func fileDatesOfAnyYearAreKept() async throws {
    try await DaemonFixture.with { fixture in
      let top = try RawFolder(fixture.photos)
      // The times are in 1970, before it, in 1901, 2038, 2106 and beyond, and ten years from now.
      let times = [0, -1, -2_147_483_648, 2_147_483_648, 4_294_967_296, 6_000_000_000, Int(time(nil)) + 315_360_000]
      for (index, time) in times.enumerated() {
        try top.write(bytes("\(index).jpg"), DaemonFixture.photo(index))
        try top.setModificationTime(bytes("\(index).jpg"), time)
      }
      try await fixture.start()
      let before = try await ids(fixture)
      #expect(before.count == times.count)
      let token = try await fixture.synchronize()
      fixture.kill(SIGTERM)
      try await fixture.start()
      try await fixture.synchronize()
      #expect(try await fixture.changes(since: token).isEmpty, "nothing is new after a restart")
      // The file's new date is older than before. It counts as changed nevertheless.
      try top.write(bytes("5.jpg"), DaemonFixture.photo(5) + Data("more".utf8))
      try top.setModificationTime(bytes("5.jpg"), -3_600)
      let after = try await ids(fixture)
      #expect(after == before)
      let changes = try await fixture.changes(since: token)
      let changed = try #require(before[fixture.path("5.jpg")])
      #expect(changes.allSatisfy { $0.updatedAssets == [changed] } && !changes.isEmpty)
      #expect(changes.allSatisfy { $0.insertedAssets.isEmpty && $0.deletedAssets.isEmpty })
    }
  }

  @Test func linksAreNotFollowedButARootThatIsOneIs() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("real/a.jpg", 1)
      try #require(symlink("real", fixture.path("folder-link")) == 0)
      try #require(symlink("a.jpg", fixture.path("real/link.jpg")) == 0)
      try #require(symlink("..", fixture.path("real/loop")) == 0)
      try #require(link(fixture.path("real/a.jpg"), fixture.path("real/hard.jpg")) == 0)
      let root = fixture.directory + "/root"
      try #require(symlink("photos", root) == 0)
      try await fixture.start(roots: [root])
      var known = try await ids(fixture)
      #expect(Set(known.keys) == [fixture.path("real/a.jpg"), fixture.path("real/hard.jpg")])
      #expect(Set(known.values).count == 2)
      // Links are also found by events. A hard link is an asset of its own, and the first name keeps its asset.
      let first = known[fixture.path("real/a.jpg")]
      try #require(symlink("real/a.jpg", fixture.path("later.jpg")) == 0)
      try #require(link(fixture.path("real/a.jpg"), fixture.path("second.jpg")) == 0)
      known = try await ids(fixture)
      #expect(known.count == 3 && Set(known.values).count == 3)
      #expect(known[fixture.path("real/a.jpg")] == first)
      unlink(fixture.path("real/a.jpg"))
      known = try await ids(fixture)
      #expect(Set(known.keys) == [fixture.path("real/hard.jpg"), fixture.path("second.jpg")])
    }
  }
}
