import ChangeDetails
import Foundation
import Glibc
import PhotoCatalog
import PhotoContract
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing
import Varlink

/// Tests `photoctl watch` in pipes that break, fill up and exist longer than photod.
@Suite(.timeLimit(.minutes(10))) struct WatchTests {
  /// photoctl with a pipe that the test reads.
  private final class Watch {
    let process = TestProcess()
    private let output = Pipe()
    private let errors: String
    private var received = Data()

    init(_ fixture: DaemonFixture, _ arguments: [String]) throws {
      process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
      process.arguments = ["--socket", fixture.socket, "watch", "--format", "jsonl"] + arguments
      process.standardOutput = output
      errors = fixture.directory + "/" + UUID().uuidString
      try Data().write(to: URL(fileURLWithPath: errors))
      let standardError = try #require(FileHandle(forWritingAtPath: errors))
      process.standardError = standardError
      try process.run()
    }

    deinit { if process.isRunning { process.terminate() } }

    func next<Line: Decodable>(_ type: Line.Type) async throws -> Line {
      while true {
        if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
          let line = received[..<end]
          received = Data(received[(end + 1)...])
          return try JSONDecoder().decode(Line.self, from: line)
        }
        let more = try await output.fileHandleForReading.availableData(within: .seconds(120))
        let said = more.isEmpty ? try errorText() : ""
        try #require(!more.isEmpty, "it ended: \(said)")
        received += more
      }
    }

    /// The next line that meets a condition. photod may make other commits at any time.
    func line(where condition: (LineWithPaths) -> Bool) async throws -> LineWithPaths {
      while true {
        let line = try await next(LineWithPaths.self)
        if condition(line) { return line }
      }
    }

    func closePipe() throws { try output.fileHandleForReading.close() }

    func errorText() throws -> String { try String(contentsOfFile: errors, encoding: .utf8) }

    func end() -> Int32 {
      process.waitUntilExit()
      return process.terminationStatus
    }

    func residentBytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/\(process.processIdentifier)/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") })
      return try #require(line.split(separator: " ").dropFirst().first.flatMap { Int($0) }) << 10
    }
  }

  private struct LineWithPaths: Decodable {
    let insertedAssets, updatedAssets, deletedAssets: [AssetID]
    let paths: [String: String]

    var names: [String: String] { paths.mapValues { ($0 as NSString).lastPathComponent } }
  }

  /// Before the first change, a person might believe that the command hangs.
  @Test(arguments: [[], ["--favorite"]]) func aWatchOnATerminalPrintsThatItWaits(query: [String]) async throws {
    try await DaemonFixture.with { fixture in
      try await fixture.start()
      try await fixture.synchronize()
      var (controller, terminal): (CInt, CInt) = (-1, -1)
      try #require(openpty(&controller, &terminal, nil, nil, nil) == 0)
      defer {
        close(controller)
        close(terminal)
      }
      for (arguments, isGreeted) in [(query, true), (query + ["--json"], false)] {
        let process = TestProcess()
        process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
        process.arguments = ["--socket", fixture.socket, "watch"] + arguments
        process.standardOutput = FileHandle(fileDescriptor: terminal, closeOnDealloc: false)
        let errors = Pipe()
        process.standardError = errors
        try process.run()
        if isGreeted {
          let said = try await errors.fileHandleForReading.availableData(within: .seconds(60))
          #expect(String(decoding: said, as: UTF8.self) == "Waiting for changes. Ctrl-C ends the command.\n")
        }
        try await eventually("the watch is connected") {
          try await fixture.status().connectionCount > 1
        }
        process.terminate()
        await process.waitUntilExit()
        if !isGreeted { #expect(errors.fileHandleForReading.readDataToEndOfFile().isEmpty) }
      }
    }
  }

  @Test func linesOfTheHistoryHavePaths() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("old.jpg", 1)
      try await fixture.start()
      let token = try await fixture.synchronize()
      let old = try #require(try await fixture.ids().ids.first)
      let watch = try Watch(fixture, ["--paths", "--since", token])
      // The first line shows that the watch has read the paths of the present photos.
      try fixture.write("new.jpg", 2)
      let inserted = try await watch.line { !$0.insertedAssets.isEmpty }
      let new = try #require(inserted.insertedAssets.first)
      #expect(inserted.names == ["\(new)": "new.jpg"])

      try FileManager.default.removeItem(atPath: fixture.photos + "/old.jpg")
      let deleted = try await watch.line { !$0.deletedAssets.isEmpty }
      #expect(deleted.deletedAssets == [old] && deleted.names == ["\(old)": "old.jpg"])
    }
  }

  /// The folder has the name of another one that was renamed before. The watch reads the present paths first, and then the
  /// old commits.
  @Test func oldRenamesDoNotChangePresentPaths() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a/1.jpg", 1)
      try fixture.write("b/2.jpg", 2)
      try await fixture.start()
      let token = try await fixture.synchronize()
      try fixture.move("a", "old")
      try await fixture.synchronize()
      try fixture.move("b", "a")
      try await fixture.synchronize()
      let watch = try Watch(fixture, ["--paths", "--since", token])
      try fixture.write("new.jpg", 3)
      _ = try await watch.line { !$0.insertedAssets.isEmpty }

      try FileManager.default.removeItem(atPath: fixture.path("a/2.jpg"))
      let deleted = try await watch.line { !$0.deletedAssets.isEmpty }
      #expect(Array(deleted.paths.values) == [fixture.path("a/2.jpg")])
    }
  }

  /// Removes all commits but the last from the history.
  private func prune(_ fixture: DaemonFixture) throws {
    fixture.kill(SIGTERM)
    let catalog = try Catalog(path: fixture.catalog)
    try catalog.pruneHistory(olderThan: .latest, keeping: 1)
    try catalog.close()
  }

  @Test func expiredTokenIsReportedByEveryMethod() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<5 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      let token = try await fixture.synchronize()
      let ids = try await fixture.ids().ids
      let file = fixture.directory + "/ids"
      try Data("\(ids)".utf8).write(to: URL(fileURLWithPath: file))
      for isFavorite in [true, false, true] { try await fixture.setFavorite([ids[0]], isFavorite) }
      let before = try await fixture.changes(since: token)
      #expect(before.count == 3)
      try prune(fixture)
      try await fixture.start()

      let error = await #expect(throws: VarlinkError.self) { _ = try await fixture.changes(since: token) }
      #expect(error?.name == "org.photod.library.ChangeTokenExpired")
      let history = try Watch(fixture, ["--since", token])
      #expect(history.end() == 65)
      let text = try history.errorText()
      #expect(
        text.hasPrefix("photoctl: The history no longer reaches back to this token\n  Take the current token,"),
        "\(text)")
      let now = try await fixture.status().token
      #expect(text.contains(now))
      // This also holds with --reconnect, because waiting would not help.
      #expect(try Watch(fixture, ["--since", token, "--reconnect"]).end() == 65)
      // A list is sent again as a whole, with the reason.
      for options in [[], ["--since-ids", file], ["--since-digest", ListDigest(of: ids).description]] {
        let list = try Watch(fixture, ["--limit", "100", "--since", token] + options)
        let line = try await list.next(Observation.self)
        #expect(line.reload == .tokenExpired && line.previousToken == token && line.token == now && line.ids == ids)
        #expect(line.complete == true)
      }
      // The last commit is still there, and the commit before it is known by its token.
      let last = try Watch(fixture, ["--since", before[1].token])
      #expect(try await last.next(PersistentChange.self) == before[2])
    }
  }

  @Test func listContinuesAfterARestartFromItsIDsOrItsDigest() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let query = ["--sort", "filename"]
      let first = try Watch(fixture, query)
      let list = try await first.next(Observation.self)
      let ids = try #require(list.ids)
      #expect(ids.count == 20 && list.complete == true && list.offset == 0)
      let file = fixture.directory + "/ids"
      try Data(ids.map { "\($0)\n" }.joined().utf8).write(to: URL(fileURLWithPath: file))
      fixture.kill(SIGTERM)
      #expect(first.end() == 69)
      #expect(
        try first.errorText().contains("When photod runs again, continue with `--since \(list.token)`."))
      try await fixture.start()
      try await fixture.synchronize()
      // The change of a favorite is reported, with the same ids.
      try await fixture.setFavorite([ids[3]])
      let byDigest = try Watch(fixture, query + ["--since", list.token, "--since-digest", list.digest])
      let favorite = try await byDigest.next(Observation.self)
      #expect(favorite.previousToken == list.token && favorite.details?.changedFields == ["favorite"])
      #expect(try favorite.details?.applied(to: ids) == ids && favorite.changedAssets?.map(\.id) == [ids[3]])

      unlink(fixture.path("4.jpg"))
      try await fixture.synchronize()
      let now = try await fixture.ids(
        FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)])
      ).ids
      #expect(try await byDigest.next(Observation.self).details?.applied(to: ids) == now)
      fixture.kill(SIGTERM)
      try await fixture.start()
      try await fixture.synchronize()
      let byIDs = try Watch(fixture, query + ["--since", list.token, "--since-ids", file])
      let difference = try await byIDs.next(Observation.self)
      #expect(try difference.previousToken == list.token && difference.details?.applied(to: ids) == now)
      // The digest alone refers to a list that is no longer kept.
      let other = try Watch(fixture, query + ["--since", list.token, "--since-digest", list.digest])
      let whole = try await other.next(Observation.self)
      #expect(whole.reload == .tokenExpired && whole.ids == now)
      try Data("1, 2, x".utf8).write(to: URL(fileURLWithPath: file))
      let wrong = try Watch(fixture, query + ["--since", list.token, "--since-ids", file])
      #expect(wrong.end() == 65)
      #expect(try wrong.errorText().hasPrefix("photoctl: line 1 of \(file): 'x' is no id\n"))
    }
  }

  @Test func reconnectingWatchMissesNothingAndRepeatsNothing() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<20 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      let token = try await fixture.synchronize()
      var ids = try await fixture.ids().ids
      fixture.kill(SIGTERM)
      // The watches start before photod.
      let history = try Watch(fixture, ["--since", token, "--reconnect"])
      let list = try Watch(fixture, ["--sort", "filename", "--reconnect"])
      var (commits, tokens): ([String], [String]) = ([], [])
      var replica = Replica()
      for round in 0..<6 {
        try await fixture.start()
        let favorite = try await fixture.setFavorite([ids[round]])
        unlink(fixture.path("\(round).jpg"))
        let final = try await fixture.synchronize()
        commits += try await fixture.changes(since: commits.last ?? token).map(\.token)
        #expect(commits.contains(favorite))
        while tokens.last != final { tokens.append(try await history.next(PersistentChange.self).token) }
        while replica.token != final { try replica.apply(try await list.next(Observation.self)) }
        ids = try await fixture.ids(
          FetchOptions(sortDescriptors: [SortDescriptor(key: "filename", ascending: true)])
        ).ids
        #expect(replica.ids == ids)
        fixture.kill(round % 2 == 0 ? SIGKILL : SIGTERM)
      }
      #expect(tokens == commits)
      history.process.terminate()
      #expect(history.end() == 0)
    }
  }

  @Test func watchEndsWithoutAnErrorWhenItsReaderHasGone() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      let token = try await fixture.synchronize()
      let id = try #require(try await fixture.ids().ids.first)
      // The reader goes while nothing happens, and while there is something to write.
      let idle = try Watch(fixture, ["--since", token])
      try idle.closePipe()
      #expect(idle.end() == 0)
      for index in 0..<600 { try await fixture.setFavorite([id], index % 2 == 0) }
      let busy = try Watch(fixture, ["--since", token])
      #expect(try await busy.next(PersistentChange.self).updatedAssets == [id])
      try busy.closePipe()
      #expect(busy.end() == 0)
      #expect(try idle.errorText() + busy.errorText() == "")
    }
  }

  @Test func fullPipeTakesBoundedMemory() async throws {
    let count = effort("PHOTOD_FULL_PIPE_COMMITS", 600)
    try await DaemonFixture.with { fixture in
      for index in 0..<10 { try fixture.write("\(index).jpg", index) }
      try await fixture.start()
      let token = try await fixture.synchronize()
      let ids = try await fixture.ids().ids
      let history = try Watch(fixture, ["--since", token])
      let list = try Watch(fixture, ["--favorite"])
      var replica = Replica()
      try replica.apply(try await list.next(Observation.self))
      var commits = [try await fixture.setFavorite(ids)]
      #expect(try await history.next(PersistentChange.self).token == commits[0])
      let before = (try history.residentBytes(), try list.residentBytes())
      for index in 0..<count { commits.append(try await fixture.setFavorite(ids, index % 2 == 1)) }
      let grown = (try history.residentBytes() - before.0, try list.residentBytes() - before.1)
      print("\(count) commits into full pipes: photoctl grew by \(grown.0 >> 10) and \(grown.1 >> 10) KiB")
      #expect(grown.0 < 8 << 20 && grown.1 < 8 << 20)
      for token in commits.dropFirst() { #expect(try await history.next(PersistentChange.self).token == token) }
      let final = try #require(commits.last)
      var lines = 0
      while replica.token != final {
        try replica.apply(try await list.next(Observation.self))
        lines += 1
      }
      #expect(try await replica.ids == fixture.ids(FetchOptions(predicate: "isFavorite == true")).ids)
      print("the list took \(lines) lines")
      #expect(lines < count / 2)
    }
  }
}
