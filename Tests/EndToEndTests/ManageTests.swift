import Foundation
import Glibc
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing
import Varlink

/// `org.photod.manage` of a real daemon with a real folder.
@Suite(.timeLimit(.minutes(10))) struct ManageTests {
  private struct Clients: Decodable {
    struct Client: Decodable {
      struct Stream: Decodable {
        let method: String
        let options: String?
        let token: String?
        let behind: Bool
      }
      let pid: Int32
      let program: String?
      let method: String?
      let streams: [Stream]
      let isSelf: Bool
    }
    let clients: [Client]
  }

  private struct Event: Decodable {
    let number: Int
    let kind: String
    let path: String?
    let fromPath: String?
    let assetID: AssetID?
    let detail: String
  }

  private struct Events: Decodable {
    let events: [Event]
    let missed: Int
  }

  private func events(_ fixture: DaemonFixture) async throws -> Events {
    try await fixture.connect().call("org.photod.manage.Events", returning: Events.self)
  }

  /// Syncs, and returns the events after this number.
  private func newEvents(_ fixture: DaemonFixture, after number: Int) async throws -> [Event] {
    try await fixture.synchronize()
    return try await events(fixture).events.filter { $0.number > number }
  }

  private func last(_ fixture: DaemonFixture) async throws -> Int {
    try await fixture.synchronize()
    return try await events(fixture).events.last?.number ?? 0
  }

  @Test func clientsListsTheObserverOfFavoritesAndTheCaller() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      struct Parameters: Encodable { let options: FetchOptions }
      struct Anything: Decodable {}
      let observer = try await fixture.connect()
      var replies = observer.stream(
        "org.photod.library.Observe", Parameters(options: FetchOptions(collection: "smart:favorites")),
        of: Anything.self
      ).makeAsyncIterator()
      _ = try await replies.next()
      let other = try await fixture.connect()
      // The connections of earlier calls are closed, but the daemon may not have noticed that yet.
      var clients: [Clients.Client] = []
      repeat {
        clients = try await other.call("org.photod.manage.Clients", returning: Clients.self).clients
      } while clients.count > 2
      #expect(clients.map(\.pid) == [getpid(), getpid()])
      #expect(clients.allSatisfy { $0.program?.isEmpty == false })
      #expect(clients.map(\.isSelf) == [false, true])
      #expect(clients.map(\.method) == [nil, "org.photod.manage.Clients"])
      let stream = try #require(clients[0].streams.first)
      #expect(clients[1].streams.isEmpty)
      #expect(stream.method == "org.photod.library.Observe")
      #expect(stream.options == "smart:favorites")
      #expect(stream.token == (try await fixture.status().token))

      // The shown token advances to that of the new observation.
      let token = try await fixture.setFavorite([try #require(try await fixture.ids().ids.first)])
      _ = try await replies.next()
      let after = try await other.call("org.photod.manage.Clients", returning: Clients.self).clients
      #expect(after[0].streams.first?.token == token)
      await observer.close()
    }
  }

  @Test func eventsIncludeARenameAndAnIgnoredTouch() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("d/a.jpg")
      try await fixture.start()
      var number = try await last(fixture)
      let id = try #require(try await fixture.ids().ids.first)

      try fixture.move("d/a.jpg", "d/b.jpg")
      let rename = try await newEvents(fixture, after: number)
      #expect(rename.map(\.kind) == ["fileMoved", "renamed", "committed"])
      #expect(rename[1].fromPath == fixture.path("d/a.jpg") && rename[1].path == fixture.path("d/b.jpg"))
      #expect(rename[1].assetID == id)
      #expect(rename[2].detail.hasSuffix("by watcher: 1 updated"))

      // The file is opened for writing and closed. The kernel reports it, but nothing differs.
      number = try await last(fixture)
      let file = open(fixture.path("d/b.jpg"), O_WRONLY)
      try #require(file >= 0)
      close(file)
      // On a busy machine, the file may be read only later.
      let touch = try await newEvents(fixture, after: number).filter { $0.kind != "deferred" }
      #expect(touch.map(\.kind) == ["fileSeen", "ignored"])
      #expect(touch.map(\.path) == [fixture.path("d/b.jpg"), fixture.path("d/b.jpg")])
      #expect(touch[1].assetID == id)
    }
  }

  @Test func eventsIncludeAnOverflowAndTheScanAfterIt() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      let number = try await last(fixture)
      // The watcher is stopped while more events happen than the kernel's queue holds (16,384 by default).
      let queue = try String(contentsOfFile: "/proc/sys/fs/inotify/max_queued_events", encoding: .utf8)
      let size = try #require(Int(queue.trimmingCharacters(in: .whitespacesAndNewlines)))
      let watcher = try fixture.watchProcessID()
      Glibc.kill(watcher, SIGSTOP)
      defer { Glibc.kill(watcher, SIGCONT) }
      for index in 0...(size / 2) {
        // Each file is created and removed: two events, and nothing to read afterwards.
        let path = fixture.path("\(index).jpg")
        let file = open(path, O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
        unlink(path)
      }
      try fixture.write("b.jpg")
      Glibc.kill(watcher, SIGCONT)
      let story = try await newEvents(fixture, after: number)
      let overflow = try #require(story.first { $0.kind == "overflow" })
      let scan = try #require(story.first { $0.kind == "scanStarted" && $0.number > overflow.number })
      #expect(scan.path == fixture.photos && scan.detail == "because events were lost")
      #expect(story.contains { $0.kind == "scanEnded" && $0.number > scan.number })
      #expect(try await fixture.pathsInLibrary() == [fixture.path("a.jpg"), fixture.path("b.jpg")])
    }
  }

  @Test func theRingKeepsTheLastEventsOfAStorm() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      for round in 0..<600 {
        try fixture.move(round % 2 == 0 ? "a.jpg" : "b.jpg", round % 2 == 0 ? "b.jpg" : "a.jpg")
        // The sync makes each rename an event of its own. Otherwise one would cancel the other.
        try await fixture.synchronize()
      }
      let kept = try await events(fixture)
      #expect(kept.events.count == 1_000)
      #expect(kept.missed > 700)
      #expect(kept.events.first?.number == kept.missed + 1)
      #expect(kept.events.last?.kind == "committed")
      let renamed = kept.events.filter { $0.kind == "renamed" }
      #expect(renamed.last?.path == fixture.path("a.jpg"))
      #expect(renamed.count > 300)
    }
  }

  @Test func aFirstScanOfManyFilesIsAFewEvents() async throws {
    try await DaemonFixture.with { fixture in
      for index in 0..<60 { try fixture.write("d\(index % 3)/\(index).jpg", index) }
      try await fixture.start()
      try await fixture.synchronize()
      let all = try await events(fixture)
      #expect(all.missed == 0)
      #expect(!all.events.contains { $0.kind == "inserted" || $0.kind == "fileSeen" })
      let listed = all.events.filter { $0.kind == "listed" }
      #expect(Set(listed.compactMap(\.path)) == Set((0..<3).map { fixture.path("d\($0)") }))
      #expect(listed.allSatisfy { $0.detail == "20 files, 20 new (scan)" })
      #expect(all.events.last { $0.kind == "scanEnded" }?.detail == "the scan is complete; 0 removed")
    }
  }

  // MARK: photoctl

  private func photoctl(_ fixture: DaemonFixture, _ arguments: String...) throws -> (output: String, status: Int32) {
    let process = TestProcess()
    process.executableURL = URL(fileURLWithPath: BuiltPrograms.path("photoctl"))
    process.arguments = ["--socket", fixture.socket] + arguments
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = try #require(try pipe.fileHandleForReading.readToEnd())
    process.waitUntilExit()
    return (String(decoding: output, as: UTF8.self), process.terminationStatus)
  }

  @Test func photoctlListsClientsAndEvents() async throws {
    try await DaemonFixture.with { fixture in
      try fixture.write("a.jpg")
      try await fixture.start()
      try await fixture.synchronize()
      let clients = try photoctl(fixture, "clients", "--format", "table")
      #expect(clients.status == 0)
      #expect(clients.output.hasPrefix("   PID  PROGRAM"))
      #expect(clients.output.contains("  photoctl (this)  "))
      let lines = try photoctl(fixture, "clients").output.split(separator: "\n")
      let own = try lines.map { try JSONDecoder().decode(Clients.Client.self, from: Data($0.utf8)) }.filter(\.isSelf)
      #expect(own.map(\.program) == ["photoctl"])

      let text = try photoctl(fixture, "debug", "events", "--format", "text")
      #expect(text.status == 0)
      #expect(text.output.contains("  listed          \(fixture.photos)  1 file, 1 new (scan)\n"))
      let events = try photoctl(fixture, "debug", "events").output.split(separator: "\n").map {
        try JSONDecoder().decode(Event.self, from: Data($0.utf8))
      }
      #expect(events.map(\.number) == Array(1...events.count))
      #expect(events.first?.kind == "watcherStarted")
      // `debug` alone prints its help.
      #expect(try photoctl(fixture, "debug").output.contains("photoctl debug events"))
    }
  }
}
