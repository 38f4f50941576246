import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

/// `photoctl watch --exec`: no commit is missed, whatever happens to photoctl or to the command.
@Suite(.timeLimit(.minutes(10))) struct WatchExecTests {
  /// A line of a command's input.
  private struct Item: Decodable, Hashable {
    let change: String
    let id: AssetID?
    let path: String?
    let fromPath: String?
  }

  private final class Watch {
    let process = TestProcess()
    private let errors: String

    init(_ fixture: DaemonFixture, _ arguments: [String]) throws {
      process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      process.arguments = ["--socket", fixture.socket, "watch"] + arguments
      process.environment = ProcessInfo.processInfo.environment.merging([
        "XDG_STATE_HOME": fixture.directory + "/state", "PHOTOD_PATH": "inherited",
      ]) { $1 }
      process.currentDirectoryURL = URL(fileURLWithPath: fixture.directory)
      errors = fixture.directory + "/" + UUID().uuidString
      try Data().write(to: URL(fileURLWithPath: errors))
      let standardError = try #require(FileHandle(forWritingAtPath: errors))
      process.standardError = standardError
      try process.run()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    func errorText() throws -> String { try String(contentsOfFile: errors, encoding: .utf8) }

    func end() -> Int32 {
      process.waitUntilExit()
      return process.terminationStatus
    }

    func stop(_ signal: Int32) {
      kill(process.processIdentifier, signal)
      process.waitUntilExit()
    }

    /// `waitUntilExit` would wait for a command that photoctl left running, because it inherits the descriptor that
    /// Foundation waits for.
    func stopAlone() async throws {
      kill(process.processIdentifier, SIGKILL)
      let path = "/proc/\(process.processIdentifier)/stat"
      try await eventually("photoctl ends") {
        guard let status = FileManager.default.contents(atPath: path) else { return true }
        return String(decoding: status, as: UTF8.self).contains(") Z")
      }
    }
  }

  private func text(_ path: String) -> String {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  private func wait(_ what: String, _ condition: () throws -> Bool) async throws {
    try await eventually(what) { try condition() }
  }

  /// Whether the file has this token or a later one. photod may make another commit at any time.
  private func reached(_ token: String, _ file: String) throws -> Bool {
    let (wanted, stored) = (try #require(ChangeToken(token)), try #require(ChangeToken(self.token(file))))
    return stored.sequence >= wanted.sequence
  }

  private func token(_ file: String) -> String { text(file).trimmingCharacters(in: .newlines) }

  @Test func aCommandGetsEachCommitAndTheTokenFollows() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      let first = try await fixture.synchronize()
      let (state, out) = (fixture.directory + "/deep/er/state", fixture.directory + "/out")
      let command =
        "{ echo \"$PHOTOD_INSERTED/$PHOTOD_UPDATED/$PHOTOD_DELETED $PHOTOD_ORIGIN ${PHOTOD_PATH-none}\"; cat; } >>out"
      let watch = try Watch(fixture, ["--exec", command, "--state", state])
      try await wait("a first token") { FileManager.default.fileExists(atPath: state) }
      #expect(token(state) == first)
      try fixture.write("b.jpg", 1)
      let second = try await fixture.synchronize()
      try await wait("the token of b.jpg") { try reached(second, state) }
      let b = try #require(try await fixture.assets().first { $0.resources[0].path == fixture.path("b.jpg") })
      let lines = text(out).split(separator: "\n").map(String.init)
      #expect(lines.first == "1/0/0 watcher none")
      let items = lines.filter { $0.hasPrefix("{") }.compactMap {
        try? JSONDecoder().decode(Item.self, from: Data($0.utf8))
      }
      #expect(
        items.first == Item(change: "inserted", id: b.id, path: fixture.path("b.jpg"), fromPath: nil), "\(lines)")
      try fixture.move("b.jpg", "c.jpg")
      try await wait("the move") { text(out).contains(#""fromPath":"\#(fixture.path("b.jpg"))""#) }
      unlink(fixture.path("a.jpg"))
      try await wait("the removal, with the path that the watch has seen") {
        text(out).contains(#""change":"deleted""#) && text(out).contains(#""path":"\#(fixture.path("a.jpg"))""#)
      }
      watch.stop(SIGTERM)
      #expect(watch.process.terminationStatus == 0)
    }
  }

  /// A commit of photod itself without photos has no lines. A client's commit without photos changes albums.
  @Test func emptyFoldersRunNoCommand() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      let (state, out) = (fixture.directory + "/state", fixture.directory + "/out")
      let watch = try Watch(fixture, ["--exec", "echo \"$PHOTOD_ORIGIN\" >>out; cat >>out", "--state", state])
      try await wait("a first token") { FileManager.default.fileExists(atPath: state) }
      let before = token(state)
      try FileManager.default.createDirectory(atPath: fixture.path("empty"), withIntermediateDirectories: true)
      let made = try await fixture.synchronize()
      #expect(made != before, "the folder is a commit")
      try await wait("the token of the folder") { try reached(made, state) }
      #expect(text(out).isEmpty)
      let album = try await PhotoctlTests.photoctl(in: fixture.directory, fixture.socket, ["albums", "create", "Rome"])
      #expect(album.status == 0, "\(album.errors)")
      try await wait("the album") { text(out) == "client:photoctl\n" }
      watch.stop(SIGTERM)
    }
  }

  /// photoctl is killed while its command runs, and the command itself fails. Each photo comes at least once.
  @Test func nothingIsMissedByKillsAndFailures() async throws {
    try await DaemonFixture.with { fixture in
      // A folder that comes later could have a commit of its own, whose token would be kept.
      try #require(mkdir(fixture.path("one"), 0o755) == 0)
      try await fixture.start()
      let first = try await fixture.synchronize()
      let (state, out) = (fixture.directory + "/state", fixture.directory + "/out")
      let arguments = [
        "--each", "--state", state, "--since", first, "--exec",
        "[ ! -e fail ] || exit 3; echo \"$PHOTOD_CHANGE $PHOTOD_PATH $(cat | wc -l)\" >>out; [ ! -e slow ] || { echo $$ >pid; exec sleep 100; }",
      ]
      for index in 0..<3 { try fixture.write("one/\(index).jpg", index) }
      var last = try await fixture.synchronize()
      // A killed photoctl leaves the token of the commit before.
      try Data().write(to: URL(fileURLWithPath: fixture.directory + "/slow"))
      var watch = try Watch(fixture, arguments)
      try await wait("the first photo") { text(out).contains("one/") }
      // The command that still runs holds the lock, until its sleep is ended.
      let pid = fixture.directory + "/pid"
      try await wait("the sleep") { pid_t(token(pid)) != nil }
      try await watch.stopAlone()
      #expect(token(state) == first)
      unlink(fixture.directory + "/slow")
      watch = try Watch(fixture, arguments)
      try await wait("the message about the lock") { try watch.errorText().contains("photoctl waits for its end") }
      kill(try #require(pid_t(token(pid))), SIGTERM)
      try await wait("the photos") { (0..<3).allSatisfy { text(out).contains("one/\($0).jpg") } }
      try await wait("the token of the photos") { try reached(last, state) }
      let handled = Set(text(out).split(separator: "\n"))
      for index in 0..<3 { #expect(handled.contains("inserted \(fixture.path("one/\(index).jpg")) 1")) }
      // A failing command ends the watch, and the next one gets the commit again.
      try Data().write(to: URL(fileURLWithPath: fixture.directory + "/fail"))
      try fixture.write("two.jpg", 4)
      last = try await fixture.synchronize()
      #expect(watch.end() == 1)
      let message = try watch.errorText()
      #expect(
        message.contains("photoctl: the command failed (exit status 3)\n  The token in \(state) is"), "\(message)")
      #expect(try !reached(last, state) && !text(out).contains("two.jpg"))
      // With --retry, it is run again until it succeeds.
      watch = try Watch(fixture, arguments + ["--retry"])
      try await wait("the message about the failure") { try watch.errorText().contains("It is run again in 1 s.") }
      unlink(fixture.directory + "/fail")
      try await wait("two.jpg") { try reached(last, state) }
      #expect(text(out).contains("inserted \(fixture.path("two.jpg")) 1"))
      watch.stop(SIGKILL)
    }
  }

  @Test func aQuerySelectsThePhotosAndARestartOfPhotodIsWaitedFor() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      let out = fixture.directory + "/out"
      let watch = try Watch(
        fixture,
        ["--each", "--reconnect", "--where", "filename BEGINSWITH 'yes'", "--exec", "echo \"$PHOTOD_PATH\" >>out"])
      try await wait("the standard state") {
        try watch.errorText().contains("the watch begins now; the token is kept in \(fixture.directory)")
      }
      let folder = fixture.directory + "/state/photoctl"
      try await wait("a first token") {
        FileManager.default.subpaths(atPath: folder)?.contains { $0.hasSuffix(".token") } ?? false
      }
      try fixture.write("no.jpg", 1)
      try fixture.write("yes 1.jpg", 2)
      try await wait("the first photo") { text(out) == fixture.path("yes 1.jpg") + "\n" }
      fixture.kill(SIGTERM)
      try fixture.write("yes 2.jpg", 3)
      try fixture.write("no 2.jpg", 4)
      try await fixture.start()
      try await fixture.synchronize()
      try await wait("the second photo") { text(out).contains("yes 2.jpg") }
      #expect(!text(out).contains("no"))
      watch.stop(SIGTERM)
      let again = try Watch(
        fixture,
        ["--each", "--reconnect", "--where", "filename BEGINSWITH 'yes'", "--exec", "echo \"$PHOTOD_PATH\" >>out"])
      try await wait("the stored token") { try again.errorText().contains("continues from an earlier run; the token") }
      again.stop(SIGTERM)
    }
  }

  @Test func mistakesAreNamed() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let bad = fixture.directory + "/bad"
      try Data("nonsense\n".utf8).write(to: URL(fileURLWithPath: bad))
      let cases: [([String], Int32, String)] = [
        (["--exec", " "], 64, "--exec is ' '; it must be a command."),
        (["--each"], 64, "--each is for a command. Give the command with --exec."),
        (["--state", "x"], 64, "--state is for a command."),
        (["--exec", "x", "--json"], 64, "--exec prints nothing itself, so it takes no format."),
        (["--exec", "x", "--limit", "3"], 64, "takes no --sort and no --limit"),
        (["--exec", "true", "--state", bad], 65, "photoctl: \(bad) has no token\n"),
        (["--exec", "true", "--state", "/proc/none/x"], 74, "/proc/none/x can't be locked: "),
        (["--exec", "true", "--state", bad + "2", "--where", "rating >"], 65, "expected a number for rating"),
        (["--exec", "true", "--state", bad + "3", "--since", "nonsense"], 65, "'nonsense' is no token"),
      ]
      for (arguments, status, message) in cases {
        let watch = try Watch(fixture, arguments)
        #expect(watch.end() == status, "\(arguments)")
        let text = try watch.errorText()
        #expect(text.contains(message), "\(text)")
      }
    }
  }

  /// The example of the article makes a thumbnail of each photo, once a failing `convert` succeeds.
  @Test func theExampleOfTheArticleMakesThumbnails() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      try fixture.linkSocket()
      let tools = fixture.directory + "/tools"
      for folder in ["tools", "thumbnails", ".local/state"] {
        try FileManager.default.createDirectory(
          atPath: fixture.directory + "/" + folder, withIntermediateDirectories: true)
      }
      try Data("#!/bin/sh\n[ -e \"$HOME/tried\" ] || { : >\"$HOME/tried\"; exit 1; }\ncp \"$1\" \"$4\"\n".utf8)
        .write(to: URL(fileURLWithPath: tools + "/convert"))
      try #require(chmod(tools + "/convert", 0o700) == 0)
      let script = try #require(
        try ConsumerTests.listings("bash", in: "FollowingFromScripts").first { $0.contains("--exec") })
      let process = TestProcess()
      process.executableURL = URL(fileURLWithPath: "/bin/sh")
      process.arguments = ["-c", "exec " + script]
      let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
      process.environment = ProcessInfo.processInfo.environment
        .merging(["PATH": "\(tools):\(BuiltPrograms.folder):\(path)", "HOME": fixture.directory]) { $1 }
        .merging(fixture.runtimeEnvironment) { $1 }
      try process.run()
      try await wait("a first token") {
        FileManager.default.fileExists(atPath: fixture.directory + "/.local/state/thumbnails")
      }
      for index in 0..<3 { try fixture.write("a b/\(index).jpg", index) }
      try await fixture.synchronize()
      let ids = try await fixture.ids().ids
      #expect(ids.count == 3)
      try await wait("the thumbnails") {
        ids.allSatisfy { FileManager.default.fileExists(atPath: "\(fixture.directory)/thumbnails/\($0).jpg") }
      }
      process.terminate()
      await process.waitUntilExit()
      #expect(process.terminationStatus == 0)
    }
  }
}
