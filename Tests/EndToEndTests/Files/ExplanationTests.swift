import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import Testing

/// The explanations and remedies that photod gives a person for a changed or missing path or folder.
@Suite(.timeLimit(.minutes(10))) struct ExplanationTests {
  private func why(_ fixture: DaemonFixture, _ path: String) throws -> String {
    let result = try fixture.photoctl("why", path)
    #expect(result.status == 0, "\(result.errors)")
    return String(decoding: result.output, as: UTF8.self)
  }

  private func until(_ fixture: DaemonFixture, logs text: String) async throws {
    try await eventually("'\(text)' in the log", within: .seconds(120), every: .milliseconds(20)) {
      try fixture.logText().contains(text)
    }
  }

  private func count(_ text: String, in log: String) -> Int { log.components(separatedBy: text).count - 1 }

  @Test func pathBelowALinkIsExplained() async throws {
    try await DaemonFixture.with { fixture in
      let elsewhere = fixture.directory + "/elsewhere"
      try FileManager.default.createDirectory(atPath: elsewhere + "/sub", withIntermediateDirectories: true)
      try DaemonFixture.photo(1).write(to: URL(fileURLWithPath: elsewhere + "/sub/a.jpg"))
      try fixture.write("kept/b.jpg")
      #expect(symlink(elsewhere, fixture.path("kept/link")) == 0)
      #expect(symlink(elsewhere + "/sub/a.jpg", fixture.path("kept/a.jpg")) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      let folder = "ignored: \(fixture.path("kept/link")) is a symbolic link, and photod follows no links"
      for path in ["kept/link", "kept/link/sub", "kept/link/sub/a.jpg", "kept/link/nothing.jpg"] {
        #expect(try why(fixture, fixture.path(path)).hasPrefix(folder), "\(path)")
      }
      #expect(
        try why(fixture, fixture.path("kept/a.jpg")).hasPrefix(
          "ignored: \(fixture.path("kept/a.jpg")) is a symbolic link"))
      #expect(try why(fixture, fixture.path("kept/b.jpg")).hasPrefix("indexed: "))
    }
  }

  @Test func fileThatIsNoRegularFileIsExplained() async throws {
    try await DaemonFixture.with { fixture in
      #expect(mkfifo(fixture.path("pipe.jpg"), 0o644) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      #expect(
        try why(fixture, fixture.path("pipe.jpg")) == """
          notMedia: \(fixture.path("pipe.jpg")) is no regular file. photod never opens pipes, sockets and devices.

          """)
      #expect(
        try why(fixture, fixture.path("gone.jpg")) == "missing: There is no file \(fixture.path("gone.jpg")).\n")
    }
  }

  @Test func aFileWithAnotherExtensionIsExplainedInOneLine() async throws {
    try await DaemonFixture.with { fixture in
      for name in ["notes.txt", "README", "My.Notes.XMP"] {
        try "x".write(toFile: fixture.path(name), atomically: false, encoding: .utf8)
      }
      try await fixture.start()
      try await fixture.synchronize()
      let text = try why(fixture, fixture.path("notes.txt"))
      #expect(text.hasPrefix("notMedia: Names that end with .txt are not those of photos or videos. "), "\(text)")
      #expect(text.utf8.count < 400 && text.hasSuffix("`photoctl help why` lists all extensions.\n"), "\(text)")
      #expect(try why(fixture, fixture.path("My.Notes.XMP")).hasPrefix("notMedia: Names that end with .XMP are not"))
      #expect(try why(fixture, fixture.path("README")).hasPrefix("notMedia: A name without an extension is not that"))
      let help = String(decoding: try fixture.photoctl("help", "why").output, as: UTF8.self)
      for ending in ["jpg", "k25", "ogv"] { #expect(help.contains(" \(ending)"), "\(ending)") }
    }
  }

  @Test func explanationOfARemovedFolderHasARemedy() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try fixture.write("damaged.jpg")
      try Data("no photo at all".utf8).write(to: URL(fileURLWithPath: fixture.path("damaged.jpg")))
      let other = fixture.directory + "/other"
      try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: true)
      try await fixture.start(roots: [fixture.photos, other])
      try await fixture.synchronize()
      #expect(try why(fixture, fixture.path("damaged.jpg")).hasPrefix("unreadable: "))
      #expect(rename(fixture.photos, fixture.directory + "/gone") == 0)
      let status = try await fixture.status { status in
        status.roots.contains { $0.path == fixture.photos && $0.state == .offline } && status.state == .live
      }
      let remedy = "take it out of `roots` in the configuration"
      let then = "`photoctl rescan '\(fixture.photos)' --confirm` removes its photos from the library"
      #expect(status.warnings.contains { $0.contains(remedy) && $0.contains(then) }, "\(status.warnings)")
      for options in [[], ["--confirm"], ["--dry-run"]] {
        let refused = try fixture.photoctl(["rescan"] + options + [fixture.photos])
        #expect(refused.status == 69)
        #expect(refused.errors.contains(remedy) && refused.errors.contains(then), "\(refused.errors)")
        // A rescan of everything skips an offline root, and says so.
        let all = try fixture.photoctl(["rescan"] + options)
        #expect(all.status == 0 && all.errors.contains("\(fixture.photos) is offline. It was not compared"))
        #expect(!all.errors.contains(other))
      }
      let damaged = try why(fixture, fixture.path("damaged.jpg"))
      #expect(damaged.hasPrefix("offline: ") && damaged.contains("photod could not read its content: "))
      #expect(try await fixture.status().assetCount == 2)

      #expect(rename(fixture.directory + "/gone", fixture.photos) == 0)
      try await fixture.status { $0.state == .live && $0.roots.allSatisfy { $0.state == .online } }
      try await until(fixture, logs: "root online")
      let log = try fixture.logText()
      #expect(count("root offline", in: log) == 1 && count("root online", in: log) == 1)
      let all = try fixture.photoctl("rescan")
      #expect(all.status == 0 && all.errors.isEmpty)
    }
  }

  @Test func emptyFolderAtARootIsReportedAsAnotherFolder() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      #expect(rename(fixture.photos, fixture.directory + "/away") == 0)
      #expect(mkdir(fixture.photos, 0o755) == 0)
      let status = try await fixture.status { status in
        status.state == .live && status.warnings.contains { $0.contains("another folder than before") }
      }
      let warning = try #require(status.warnings.first)
      #expect(status.warnings.count == 1 && status.roots[0].state == .offline)
      #expect(!warning.contains("file system") && warning.contains("photoctl rescan '\(fixture.photos)' --confirm"))

      // The original folder is put back. The log must say once that the root went offline, and once that it is online
      // again.
      #expect(rmdir(fixture.photos) == 0)
      #expect(rename(fixture.directory + "/away", fixture.photos) == 0)
      try await fixture.status { $0.state == .live && $0.roots[0].state == .online && $0.warnings.isEmpty }
      try await until(fixture, logs: "root online")
      let log = try fixture.logText()
      #expect(count("root offline", in: log) == 1 && count("root online", in: log) == 1, "\(log)")

      #expect(rename(fixture.photos, fixture.directory + "/away") == 0)
      #expect(mkdir(fixture.photos, 0o755) == 0)
      try await fixture.status { status in
        status.state == .live && status.warnings.contains { $0.contains("another folder than before") }
      }
      let confirmed = try fixture.photoctl("rescan", fixture.photos, "--confirm")
      #expect(confirmed.status == 0 && String(decoding: confirmed.output, as: UTF8.self).contains("1 removed"))
    }
  }

  /// A program may sync all the time. Its syncs are no activity in the folders, for whose end photod waits.
  @Test func syncsDoNotKeepARootSuspectWhosePhotosAreBack() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<130 { try fixture.write("\(number).jpg", number) }
      try await fixture.start(grace: 600)
      try await fixture.synchronize()
      fixture.kill(SIGTERM)
      let away = fixture.directory + "/away"
      try FileManager.default.createDirectory(atPath: away, withIntermediateDirectories: true)
      for number in 0..<120 { try #require(rename(fixture.path("\(number).jpg"), "\(away)/\(number).jpg") == 0) }
      try await fixture.start(grace: 600)
      let suspect = try await fixture.status { $0.roots[0].state == .suspect }
      let example = fixture.path("0.jpg")
      let warning = try #require(suspect.warnings.first { $0.contains("lacks 120 photos") })
      #expect(warning.contains("For example, \(example), ") && warning.contains(" are missing."), "\(warning)")
      try await until(fixture, logs: "root suspect")
      let logged = try fixture.logText().split(separator: "\n").first { $0.contains("root suspect") }
      #expect(logged?.contains(example) == true, "\(logged ?? "")")
      let wouldBe = String(decoding: try fixture.photoctl("rescan", "--dry-run").output, as: UTF8.self)
      #expect(wouldBe.contains("Missing photos:\n  \(example)\n") && wouldBe.contains("and 117 others"), "\(wouldBe)")
      for number in 0..<120 { try #require(rename("\(away)/\(number).jpg", fixture.path("\(number).jpg")) == 0) }
      try await eventually("the root is online", within: .seconds(60), every: .milliseconds(100)) {
        try await fixture.synchronize()
        return try await fixture.status().roots[0].state == .online
      }
      try await until(fixture, logs: "missing photos back")
      #expect(try await fixture.assets().count == 130)
    }
  }

  @Test func explanationOfAHiddenPhotoSaysThatItIsHidden() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let path = fixture.path("a.jpg")
      let shown = try why(fixture, path)
      #expect(!shown.contains("hidden"))
      #expect(try fixture.photoctl("hide", path).status == 0)
      let id = try #require(try await fixture.ids(FetchOptions(includeHidden: true)).ids.first)
      let hidden = try why(fixture, "\(id)")
      #expect(hidden.hasPrefix("\(path): indexed: "), "\(hidden)")
      #expect(hidden.contains("It is hidden") && hidden.contains("`photoctl unhide \(id)`"), "\(hidden)")
    }
  }

  @Test func rootThatWasNeverThereIsNamedWithARemedy() async throws {
    try await DaemonFixture.with { fixture in
      let pictures = fixture.directory + "/Pictures"
      try await fixture.start(roots: [pictures])
      let warning = "\(pictures) does not exist. Create it, and photod indexes it by itself."
      let status = try await fixture.status { !$0.warnings.isEmpty }
      #expect(status.warnings.contains { $0.hasPrefix(warning) && $0.contains("`roots`") }, "\(status.warnings)")
      #expect(status.roots[0].state == .missing && status.roots[0].since == nil)
      try await until(fixture, logs: "root missing")
      let log = try fixture.logText()
      #expect(count("root missing", in: log) == 1 && count("root offline", in: log) == 0, "\(log)")
      let refused = try fixture.photoctl(["rescan", pictures])
      #expect(refused.status == 69)
      #expect(refused.errors.contains("\(pictures) does not exist\n  Create it"), "\(refused.errors)")
      #expect(try why(fixture, pictures + "/a.jpg").contains("\(pictures) does not exist"))
      try FileManager.default.createDirectory(atPath: pictures, withIntermediateDirectories: true)
      try DaemonFixture.photo(1).write(to: URL(fileURLWithPath: pictures + "/a.jpg"))
      try await fixture.status { $0.assetCount == 1 && $0.warnings.isEmpty }
      // Now it was there, and its drive may be away.
      #expect(rename(pictures, fixture.directory + "/gone") == 0)
      let gone = try await fixture.status { !$0.warnings.isEmpty }
      #expect(gone.roots[0].state == .offline)
      #expect(gone.warnings.contains { $0.hasPrefix("\(pictures) can't be opened") }, "\(gone.warnings)")
    }
  }

  @Test func logReportsTheRemovalAfterTheGracePeriod() async throws {
    try await DaemonFixture.with { fixture in
      for number in 0..<130 { try fixture.write("\(number).jpg", number) }
      try await fixture.start(grace: 600)
      try await fixture.synchronize()
      fixture.kill(SIGTERM)
      for number in 0..<120 { try FileManager.default.removeItem(atPath: fixture.path("\(number).jpg")) }
      try await fixture.start(grace: 1)
      let suspect = try await fixture.status { $0.roots[0].state == .suspect || $0.assetCount == 10 }
      if let reason = suspect.roots[0].reason {
        #expect(reason.contains("photod scans again and removes the photos that are still missing"))
      }
      try await fixture.status { $0.state == .live && $0.assetCount == 10 }
      try await until(fixture, logs: "missing photos removed")
      let lines = try fixture.logText().split(separator: "\n")
      let line = try #require(lines.first { $0.contains("missing photos removed") })
      #expect(line.contains("notice") && line.contains("removed=120") && line.contains(fixture.photos), "\(line)")
    }
  }
}
