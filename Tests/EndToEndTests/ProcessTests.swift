import CThread
import Foundation
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing
import Varlink

/// Tests photod as a process.
@Suite(.timeLimit(.minutes(10))) struct ProcessTests {
  @Test func terminationEndsCleanlyWithinTwoSeconds() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<200 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      let watch = try fixture.watchProcessID()
      let client = try await fixture.connect()
      struct Parameters: Encodable { let options = FetchOptions() }
      struct Reply: Decodable { let observation: Observation }
      // A client observes during the stop.
      var replies = client.stream("org.photod.library.Observe", Parameters(), of: Reply.self).makeAsyncIterator()
      _ = try await replies.next()
      let began = ContinuousClock.now
      fixture.kill(SIGTERM)
      #expect(ContinuousClock.now - began < .seconds(2))
      #expect(fixture.process?.terminationStatus == 0 && fixture.process?.terminationReason == .exit)
      #expect(!FileManager.default.fileExists(atPath: fixture.socket))
      #expect(!isRunning(watch), "photod-watch outlived photod")
    }
  }

  /// photod kills a photod-watch that does not end, for example because it waits for a disk.
  @Test func terminationIsCleanIfPhotodWatchDoesNotEnd() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let watch = try fixture.watchProcessID()
      Glibc.kill(watch, SIGSTOP)
      fixture.kill(SIGTERM)
      #expect(fixture.process?.terminationStatus == 0 && fixture.process?.terminationReason == .exit)
      #expect(!isRunning(watch), "photod-watch outlived photod")
    }
  }

  /// No other thread or process has inherited their slices.
  @Test(.enabled(if: cthread_slice_of(0) > 0, "Linux before 6.12 has no time slices of threads"))
  func onlyTheThreadsForWhichCallersWaitHaveShortTimeSlices() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      // A fetch starts threads that read the catalog, and a picture starts photod-image.
      _ = try await fixture.ids()
      let picture = try await PhotoctlTests.photoctl(
        in: fixture.directory, fixture.socket, ["thumbnail", fixture.path("a.jpg"), "--size", "64"])
      #expect(picture.status == 0, "\(picture.errors)")
      // The thread that reads ahead ends when it has been idle for ten seconds.
      try await fixture.synchronize()
      var slices: [String: [UInt64]] = [:]
      let children = try ["photod-watch", "photod-extract", "photod-image"].flatMap {
        try fixture.childProcessIDs(named: $0)
      }
      #expect(children.count >= 3)
      for process in [fixture.processID] + children {
        for thread in try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task") {
          // A thread that has ended meanwhile has no name.
          guard let number = pid_t(thread), let name = name(ofThread: thread, process) else { continue }
          let kinds = [
            "varlink-answer": "answer", "photod-picture": "picture", "photod-library": "sync", "photod-reader": "sync",
            "photod-worker": "sync", "photod-watch": "sync",
          ]
          let kind = name.hasPrefix("NIO-ELT") ? "network" : kinds[name] ?? "other"
          slices[kind, default: []].append(cthread_slice_of(number))
        }
      }
      #expect(slices["network"] == [100_000], "\(slices)")
      // Threads that they start may have inherited their name.
      let answers = slices["answer", default: []].count { $0 == 100_000 }
      #expect((2...4).contains(answers), "\(slices)")
      // The library, its reader, photod-watch, and the thread that talks to it.
      #expect(slices["sync", default: []].count { $0 == 100_000 } == 4, "\(slices)")
      // The threads that find kept pictures have them, and those that wait for a decoder do not.
      #expect(Set(slices["picture", default: []]).count == 2, "\(slices)")
      #expect(slices["other"]?.contains(100_000) == false, "\(slices)")
    }
  }

  private func name(ofThread thread: String, _ process: pid_t) -> String? {
    FileManager.default.contents(atPath: "/proc/\(process)/task/\(thread)/comm").map {
      String(decoding: $0, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
  }

  @Test func secondInstanceNamesTheProcessWithTheLockAndExits75() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let second = TestProcess()
      second.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod"))
      second.arguments = ["--root", fixture.photos, "--catalog", fixture.catalog, "--socket", fixture.directory + "/t"]
      let pipe = Pipe()
      second.standardError = pipe
      let said = try await Self.output(of: second, pipe)
      #expect(second.terminationStatus == 75)
      #expect(said.contains("\(fixture.processID)"), "\(said)")
      #expect([.live, .scanning].contains(try await fixture.status().state))
    }
  }

  @Test func socketOfAKilledPhotodIsReplaced() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      fixture.kill(SIGKILL)
      #expect(FileManager.default.fileExists(atPath: fixture.socket))
      try await fixture.start()
      _ = try await fixture.status()
      var status = stat()
      #expect(stat(fixture.socket, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }
  }

  /// A program that cleans /run or /tmp may delete it.
  @Test func socketThatIsDeletedIsMadeAgainAndClientsContinue() async throws {
    try await DaemonFixture.with { fixture in
      // photod looks for its socket at half of the watchdog's interval.
      fixture.environment["WATCHDOG_USEC"] = "200000"
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      struct Parameters: Encodable { let options = FetchOptions() }
      struct Reply: Decodable { let observation: Observation }
      let client = try await fixture.connect()
      var replies = client.stream("org.photod.library.Observe", Parameters(), of: Reply.self).makeAsyncIterator()
      _ = try await replies.next()
      for _ in 0..<2 {
        try #require(unlink(fixture.socket) == 0)
        try await eventually("photod answers", isNotYet: { $0 is VarlinkClientError }) {
          try await fixture.status().state == .live
        }
      }
      try fixture.write("b.jpg", 1)
      let reply = try #require(try await replies.next())
      #expect(reply.observation.count == 2)
      let lines = try fixture.logText().split(separator: "\n").filter { $0.contains("socket made again") }
      #expect(lines.count == 2 && lines.allSatisfy { $0.hasSuffix("path=\(fixture.socket)") }, "\(lines)")
      fixture.kill(SIGTERM)
      #expect(fixture.process?.terminationStatus == 0)
      #expect(!FileManager.default.fileExists(atPath: fixture.socket))
    }
  }

  /// Two photods with catalogs of their own, and one path for the socket.
  @Test func socketOfAnotherPhotodIsLeftAlone() async throws {
    try await DaemonFixture.with { fixture in
      fixture.environment["WATCHDOG_USEC"] = "200000"
      try await fixture.start()
      // The other one listens in the place of the deleted socket before photod looks for that.
      fixture.kill(SIGSTOP)
      let path = fixture.socket
      try #require(unlink(path) == 0)
      let other = try VarlinkSocket.listen(path: path)
      fixture.kill(SIGCONT)
      try await eventually("photod names the other process") {
        try fixture.logText().contains("socket unreachable")
      }
      let named = try Self.unreachable(fixture)[0]
      #expect(named.contains("already serves \(path)") && named.contains("remedy="), "\(named)")
      #expect(FileManager.default.fileExists(atPath: path))
      close(other)
      unlink(path)
      try await eventually("photod answers", isNotYet: { $0 is VarlinkClientError }) {
        try await fixture.status().state == .live
      }
      let messages = try Self.unreachable(fixture)
      #expect(messages.count == 1, "it is logged once: \(messages)")
    }
  }

  /// The lines of the log that say why clients can't reach the socket.
  private static func unreachable(_ fixture: DaemonFixture) throws -> [String] {
    try fixture.logText().split(separator: "\n").map(String.init).filter { $0.contains("socket unreachable") }
  }

  @Test(arguments: [
    (["--nonsense"], "photod: Unknown option '--nonsense'\n"),
    (["--foo"], "photod: Unknown option '--foo'\n"),
    (["--removal-grace", "-3"], "photod: --removal-grace is -3; it must be 0 to 2,592,000 seconds.\n"),
    (["--log-level", "loud"], "photod: --log-level is 'loud'; it must be one of "),
    (
      ["Pictures"],
      "photod: Unexpected argument 'Pictures'. Name each folder to index after --root, as in: --root 'Pictures'\n"
    ),
    (
      ["a", "b"],
      "photod: 2 unexpected arguments: 'a', 'b'. Name each folder to index after --root, as in: --root 'a'\n"
    ),
  ])
  func errorOfAWrongOptionBeginsWithTheProgramName(arguments: [String], message: String) async throws {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod"))
    process.arguments = arguments
    let errors = Pipe()
    process.standardError = errors
    let text = try await Self.output(of: process, errors)
    #expect(process.terminationStatus == 64 && text.hasPrefix(message), "\(text)")
    #expect(text.hasSuffix("\n  See `photod --help`.\n"), "\(text)")
  }

  /// The file is no catalog, so the log must not call it a damaged one.
  @Test func photoInPlaceOfTheCatalogIsNamedAndStays() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("photo.jpg")
      let photo = fixture.path("photo.jpg")
      let before = try Data(contentsOf: URL(fileURLWithPath: photo))
      let process = TestProcess()
      process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod"))
      process.arguments = ["--root", fixture.photos, "--catalog", photo, "--socket", fixture.socket]
      process.environment = ["XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"].reduce(
        into: ProcessInfo.processInfo.environment
      ) { $0[$1] = fixture.directory }
      let errors = Pipe()
      process.standardError = errors
      let text = try await Self.output(of: process, errors)
      #expect(process.terminationStatus == 74)
      #expect(text.contains("photod: \(photo) is no catalog. Give another file with --catalog.\n"), "\(text)")
      #expect(!text.contains("damaged"), "\(text)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: photo)) == before)
      #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.photos) == ["photo.jpg"])
    }
  }

  @Test func checkOfTheConfigurationPrintsItBesideARunningPhotod() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let process = TestProcess()
      process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod"))
      process.arguments = [
        "--check-config", "--root", fixture.photos, "--catalog", fixture.catalog, "--socket", fixture.socket,
      ]
      let pipe = Pipe()
      process.standardOutput = pipe
      let text = try await Self.output(of: process, pipe)
      #expect(process.terminationStatus == 0 && text.contains("roots = [\"\(fixture.photos)\"]  # option --root\n"))
      #expect(text.contains("catalog = \"\(fixture.catalog)\"  # option --catalog\n"))
      _ = try await fixture.status()

      let wrong = TestProcess()
      wrong.executableURL = process.executableURL
      wrong.arguments = ["--check-config", "--config", fixture.directory + "/none.toml"]
      let errors = Pipe()
      wrong.standardError = errors
      let said = try await Self.output(of: wrong, errors)
      #expect(wrong.terminationStatus == 78, "\(said)")
      #expect(said.hasPrefix("photod: \(fixture.directory)/none.toml: No such file or directory\n  Check the path"))
    }
  }

  @Test func helpHasTheSameLinesAt80Columns() async throws {
    func sections(columns: Int) async throws -> Substring {
      let process = TestProcess()
      process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photod"))
      process.arguments = ["--help"]
      process.environment = ProcessInfo.processInfo.environment.merging(["COLUMNS": "\(columns)"]) { $1 }
      let pipe = Pipe()
      process.standardOutput = pipe
      let text = try await Self.output(of: process, pipe)
      let start = try #require(text.range(of: "CONFIGURATION\n")).lowerBound
      return text[start..<(try #require(text.range(of: "USAGE:"))).lowerBound]
    }
    let narrow = try await sections(columns: 80)
    #expect(try await sections(columns: 300) == narrow)
  }

  /// Runs a program that must end, and returns its output, which must fit into the pipe's buffer. If the program does
  /// not end, because it runs as a daemon, it is killed and the test fails.
  private static func output(of process: TestProcess, _ pipe: Pipe) async throws -> String {
    try process.run()
    defer { if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) } }
    try await eventually("the program has ended") { !process.isRunning }
    return String(decoding: try await pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
  }

  @Test func returnOfARootIsLoggedOnce() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      try FileManager.default.moveItem(atPath: fixture.photos, toPath: fixture.photos + "-away")
      try await fixture.status { $0.roots.first?.state == .offline }
      #expect(try !fixture.logText().contains("root online"))
      try FileManager.default.moveItem(atPath: fixture.photos + "-away", toPath: fixture.photos)
      try await fixture.status { $0.roots.first?.state == .online }
      let lines = try fixture.logText().split(separator: "\n").filter { $0.contains("root online") }
      #expect(lines.count == 1 && lines[0].hasSuffix("root=\(fixture.photos)"), "\(lines)")
    }
  }

  @Test func watcherEndsWhenDaemonIsKilled() async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      let watch = try fixture.watchProcessID()
      fixture.kill(SIGKILL)
      try await eventually("photod-watch ends") { !isRunning(watch) }
    }
  }

  /// Whether the process runs. A zombie has ended, although it still exists.
  private func isRunning(_ process: pid_t) -> Bool {
    guard let status = FileManager.default.contents(atPath: "/proc/\(process)/stat") else { return false }
    let text = String(decoding: status, as: UTF8.self)
    return text.range(of: ") Z ") == nil
  }

  @Test func reloadAddsNewRoots() async throws {
    try await DaemonFixture.with { fixture in
      let config = fixture.directory + "/config.toml"
      try fixture.write("a/1.jpg")
      try fixture.write("b/2.jpg")
      try "roots = ['\(fixture.path("a"))']\n".write(toFile: config, atomically: true, encoding: .utf8)
      try await fixture.start(roots: [], arguments: ["--config", config])
      try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary() == [fixture.path("a/1.jpg")])
      try "roots = ['\(fixture.path("a"))', '\(fixture.path("b"))']\n".write(
        toFile: config, atomically: true, encoding: .utf8)
      fixture.kill(SIGHUP)
      try await fixture.status { $0.roots.count == 2 }
      try await fixture.synchronize()
      #expect(try await fixture.pathsInLibrary() == [fixture.path("a/1.jpg"), fixture.path("b/2.jpg")])
    }
  }

  /// photod-watch gets the roots before the catalog is open. The library must know them by the same numbers, whatever
  /// their order was at the last start. Otherwise each root would be scanned a second time.
  @Test func startScansEachRootOnce() async throws {
    try await DaemonFixture.with { fixture in
      for name in ["a", "b", "c"] { try fixture.write("\(name)/1.jpg") }
      for names in [["a", "b"], ["b", "a"], ["c", "b"]] {
        try await fixture.start(roots: names.map(fixture.path))
        try await fixture.synchronize()
        let status = try await fixture.status()
        #expect(status.counters?.scans == 2, "\(names)")
        #expect(status.roots.filter { $0.state == .online }.map(\.path).sorted() == names.map(fixture.path).sorted())
        fixture.kill(SIGTERM)
      }
    }
  }

  /// A photod that can't open its catalog tries it again every two seconds. It starts photod-watch first only at the first
  /// try, so that the roots are not walked each time.
  @Test func degradedPhotodStartsPhotodWatchWhenItsCatalogIsOpen() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      let program = fixture.directory + "/photod-watch"
      fixture.environment["PHOTOD_WATCH"] = program
      // A service manager started it, so it goes on without a library.
      fixture.environment["NOTIFY_SOCKET"] = fixture.directory + "/notify"
      try FileManager.default.createDirectory(atPath: fixture.catalog, withIntermediateDirectories: false)
      try await fixture.start(arguments: ["--log-level", "debug"])
      try await fixture.status { $0.state == .degraded }
      #expect(try await fixture.status().warnings.joined().contains(program))
      // Both the program and the catalog are missing. The error is that of the step that comes first.
      func retries() throws -> [Substring] {
        try fixture.logText().split(separator: "\n").filter { $0.contains("still degraded") }
      }
      try await eventually("photod tries again") { try retries().count > 1 }
      for line in try retries() { #expect(line.contains(fixture.catalog) && !line.contains(program), "\(line)") }
      rmdir(fixture.catalog)
      let count = try retries().count
      try await eventually("photod tries again") { try retries().count > count + 1 }
      #expect(try retries().last?.contains(program) == true)
      try #require(symlink(BuiltPrograms.path("photod-watch"), program) == 0)
      // The stand-in closes its connections when the library takes its place.
      try await eventually("photod is live", isNotYet: { $0 is VarlinkClientError }) {
        try await fixture.status().state == .live
      }
      try await fixture.expectEqualToDisk()
      let watch = try fixture.watchProcessID()
      fixture.kill(SIGTERM)
      #expect(!isRunning(watch), "photod-watch outlived photod")
    }
  }
}
