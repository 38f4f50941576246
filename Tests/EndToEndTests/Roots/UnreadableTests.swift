import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// Each unreadable file and folder is listed with its time, its reason and its remedy.
@Suite(.timeLimit(.minutes(10))) struct UnreadableTests {
  struct Line: Decodable {
    let path: String
    let kind: String
    let reason: String
    let since: PhotoDate?
    let remedy: String
    let assetID: AssetID?
  }

  private func list(_ fixture: DaemonFixture) throws -> [Line] {
    let result = try fixture.photoctl("status", "--unreadable", "--format", "jsonl")
    #expect(result.status == 0, "\(result.errors)")
    return try result.output.split(separator: UInt8(ascii: "\n")).map { try JSONDecoder().decode(Line.self, from: $0) }
  }

  private func until(_ fixture: DaemonFixture, _ holds: ([Line]) -> Bool) async throws -> [Line] {
    var lines: [Line] = []
    // No observation reports changes of this list, so it is polled.
    try await eventually("another list than \(lines)", within: .seconds(120), every: .milliseconds(50)) {
      lines = try list(fixture)
      return holds(lines)
    }
    return lines
  }

  @Test func filesThatCannotBeParsedAreListedWithSinceWhenAndWhy() async throws {
    try await DaemonFixture.with { fixture in
      let top = try RawFolder(fixture.photos)
      let names = [Array("broken.jpg".utf8), [0xFF, 0xFE] + Array(".jpg".utf8)]
      try fixture.write("good.jpg")
      for name in names { try top.write(name, Data("no photo at all".utf8)) }
      try await fixture.start()
      try await fixture.synchronize()
      let lines = try list(fixture)
      let paths = names.map { top.path + [UInt8(ascii: "/")] + $0 }
      #expect(lines.map { FilePath.bytes($0.path) } == paths)
      #expect(lines.map(\.path) == paths.map { FilePath.text($0) })
      let ids = Dictionary(uniqueKeysWithValues: try await fixture.assets().map { ($0.resources[0].path, $0.id) })
      for line in lines {
        #expect(line.kind == "damaged" && !line.reason.isEmpty && line.remedy.hasPrefix("Replace it by an intact copy"))
        #expect(line.assetID == ids[line.path] && line.assetID != nil)
        let age = Date.now.timeIntervalSince1970 - Double(try #require(line.since).microseconds) / 1e6
        #expect((-1..<600).contains(age))
      }
      #expect(try await fixture.status().failedCount == 2)
      let plain = try fixture.photoctl("status", "--unreadable", "--format", "paths0")
      #expect(plain.output.split(separator: 0).map(Array.init) == paths)
      let json = try fixture.photoctl("status", "--unreadable", "--json")
      #expect(try JSONDecoder().decode([Line].self, from: json.output).count == 2)
      let table = String(
        decoding: try fixture.photoctl("status", "--unreadable", "--format", "table").output, as: UTF8.self)
      #expect(table.contains(fixture.path("broken.jpg")) && table.contains("\ndamaged: Replace it by an intact copy"))

      try fixture.write("broken.jpg", 3)
      try top.remove(names[1])
      try await fixture.synchronize()
      #expect(try list(fixture).isEmpty)
      let none = try fixture.photoctl("status", "--unreadable", "--format", "table")
      #expect(String(decoding: none.output, as: UTF8.self) == "Everything can be read.\n")
    }
  }

  @Test(.enabled(if: FaultInjector.isAvailable, "cc is not installed"))
  func aFolderThatCannotBeOpenedIsListedUntilItCan() async throws {
    try await DaemonFixture.with { fixture in
      let injector = try FaultInjector(directory: fixture.directory, program: "photod-watch")
      fixture.environment = try injector.environment
      try fixture.write("good.jpg")
      try await fixture.start()
      injector.arm(.open, error: EACCES, 1 ... .max, below: fixture.path("closed"))
      try fixture.write("closed/a.jpg")
      let lines = try await until(fixture) { !$0.isEmpty }
      #expect(lines.map(\.path) == [fixture.path("closed")])
      #expect(lines[0].kind == "unreadable" && lines[0].reason == "Permission denied")
      #expect(lines[0].since != nil && lines[0].assetID == nil && lines[0].remedy.hasPrefix("Correct the permissions"))
      injector.disarm()
      // The permission never changed in truth, so no event reports that the folder is readable again.
      #expect(chmod(fixture.path("closed"), 0o755) == 0)
      _ = try await until(fixture, \.isEmpty)
      try await fixture.expectEqualToDisk()
    }
  }

  /// The root user reads every folder. Without these capabilities it needs permission, as any user does.
  private static let unprivileged = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
  private static let canBeForbidden = geteuid() != 0 || system("command -v setpriv >/dev/null") == 0

  @Test(.enabled(if: canBeForbidden, "setpriv is not installed"))
  func fileWithoutPermissionIsUnreadableAndNotDamaged() async throws {
    try await DaemonFixture.with { fixture in
      if geteuid() == 0 { fixture.launcher = Self.unprivileged }
      try fixture.write("a.jpg")
      let path = fixture.path("a.jpg")
      try #require(chmod(path, 0) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      let line = try #require(try list(fixture).first)
      #expect(line.path == path && line.kind == "unreadable", "\(line)")
      #expect(line.reason == "can't be opened: Permission denied" && line.remedy.hasPrefix("Correct the permissions."))
      let why = String(decoding: try fixture.photoctl("why", path).output, as: UTF8.self)
      #expect(why.contains("It is in the library, but it can't be opened: Permission denied."), "\(why)")
      #expect(why.hasPrefix("unreadable: ") && why.contains("Correct the permissions."), "\(why)")
      let one = try await fixture.status { !$0.warnings.isEmpty }
      #expect(
        one.warnings == [
          "1 folder or file can't be read: \(path) (Permission denied). Its data in the library is kept. "
            + "Correct the permissions. photod notices that by itself."
        ])
      let other = fixture.path("b.jpg")
      try fixture.write("b.jpg", 1)
      try #require(chmod(other, 0) == 0)
      let both = try await fixture.status { $0.warnings.contains { $0.hasPrefix("2 folders or files can't be read") } }
      #expect(both.warnings.count == 1 && both.warnings[0].contains("the first is \(path) (Permission denied)."))
      try #require(unlink(other) == 0)
      // The remedy is true: nothing else is needed.
      try #require(chmod(path, 0o644) == 0)
      _ = try await until(fixture, \.isEmpty)
      try await fixture.status { $0.warnings.isEmpty }
    }
  }

  /// A folder may forbid both to list its names and to look at its files, or only the latter.
  @Test(.enabled(if: canBeForbidden, "setpriv is not installed"), arguments: [0o000, 0o600])
  func folderThatBecomesForbiddenIsReportedAndKeepsItsPhotos(mode: mode_t) async throws {
    try await DaemonFixture.with { fixture in
      if geteuid() == 0 { fixture.launcher = Self.unprivileged }
      for (index, name) in ["closed/a.jpg", "closed/deep/b.jpg", "open.jpg"].enumerated() {
        try fixture.write(name, index)
      }
      try await fixture.start()
      try await fixture.synchronize()
      let closed = fixture.path("closed")
      try #require(chmod(closed, mode) == 0)
      defer { _ = chmod(closed, 0o755) }
      func expectReport() async throws {
        let lines = try await until(fixture) { !$0.isEmpty }
        #expect(lines.map(\.path) == [closed] && lines.map(\.reason) == ["Permission denied"])
        for path in [closed, closed + "/a.jpg", closed + "/deep/b.jpg", closed + "/new.jpg"] {
          let why = String(decoding: try fixture.photoctl("why", path).output, as: UTF8.self)
          #expect(why.hasPrefix("unreadable: ") && why.contains("\(closed) can't be read: Permission denied"), "\(why)")
        }
        let wouldBe = try fixture.photoctl("rescan", "--dry-run")
        #expect(String(decoding: wouldBe.output, as: UTF8.self) == "would be: 0 inserted, 0 updated, 0 removed\n")
      }
      try await expectReport()
      // A file that may be a marker causes a new listing of the folder above, but not of the folders below.
      try Data("no tag".utf8).write(to: URL(fileURLWithPath: fixture.path("CACHEDIR.TAG")))
      try await fixture.synchronize()
      try await expectReport()
      let scanned = try fixture.photoctl("rescan")
      #expect(String(decoding: scanned.output, as: UTF8.self) == "0 inserted, 0 updated, 0 removed\n")
      try await expectReport()

      try #require(chmod(closed, 0o755) == 0)
      try fixture.write("closed/new.jpg", 9)
      #expect(try await until(fixture, \.isEmpty).isEmpty)
      try await fixture.expectEqualToDisk()
      #expect(try await fixture.status().warnings.isEmpty)
    }
  }

  @Test(.enabled(if: FaultInjector.isAvailable, "cc is not installed"))
  func aFileInWhichTheDiskFailsIsListedUntilItIsRead() async throws {
    try await DaemonFixture.with { fixture in
      let injector = try FaultInjector(directory: fixture.directory, program: "photod-extract")
      fixture.environment = try injector.environment
      try await fixture.start()
      injector.arm(.read, error: EIO, 1 ... .max, below: fixture.path("a.jpg"))
      try fixture.write("a.jpg")
      let lines = try await until(fixture) { !$0.isEmpty }
      #expect(lines.map(\.path) == [fixture.path("a.jpg")])
      #expect(lines[0].kind == "failing" && lines[0].since != nil && lines[0].assetID != nil)
      #expect(lines[0].remedy.hasPrefix("photod tries again by itself"))
      injector.disarm()
      // photod reads the file again by itself, because a sync does not wait for a disk.
      _ = try await until(fixture, \.isEmpty)
    }
  }
}
