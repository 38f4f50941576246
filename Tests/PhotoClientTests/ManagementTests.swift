import Foundation
import PhotoContract
import PhotoModel
import Synchronization
import TestTools
import Testing
import Varlink

@testable import PhotoClient

/// The replies of org.photod.manage, as a program receives them.
struct ManagementTests {
  private struct Clients: Encodable {
    let clients: [ConnectedClient]
    var omitted: Int?
  }

  @Test func clientsAreRequestedFromTheManagementInterface() async throws {
    let client = ConnectedClient(
      number: 3, pid: 4242, uid: 1000, program: "photoctl", since: PhotoDate(microseconds: 1_700_000_000_000_000),
      callCount: 2, bytesReceived: 10, bytesSent: 20,
      streams: [
        .init(
          method: "org.photod.library.Observe", options: "smart:favorites", token: "t", behind: true, bytesUnsent: 5)
      ])
    try await ScriptedDaemon.with(["Clients": { try await $0.reply(Clients(clients: [client], omitted: 7)) }]) {
      daemon in
      let clients = try await PhotoDaemonManagement(of: daemon.library()).clients()
      #expect(clients.clients == [client] && clients.omitted == 7)
      #expect(daemon.calls == ["Clients"])
    }
  }

  @Test func photoctlPrintsTheNumberOfOmittedClientsInItsJSON() async throws {
    let client = ConnectedClient(
      number: 3, pid: 4242, uid: 1000, program: "a", since: PhotoDate(microseconds: 0), callCount: 2, bytesReceived: 10,
      bytesSent: 20)
    try await ScriptedDaemon.with(["Clients": { try await $0.reply(Clients(clients: [client], omitted: 7)) }]) {
      daemon in
      for format in ["json", "jsonl", "table"] {
        let (output, errors, _) = try await daemon.photoctl(["clients", "--format", format])
        let isComplete = format == "json"
        #expect(errors.isEmpty == isComplete && errors.contains("7 more") != isComplete, "\(format): \(errors)")
        guard isComplete else { continue }
        let list = try JSONDecoder().decode(ClientList.self, from: output)
        #expect(list == ClientList(clients: [client], omitted: 7))
      }
    }
    try await ScriptedDaemon.with(["Clients": { try await $0.reply(Clients(clients: [client])) }]) { daemon in
      let (output, errors, _) = try await daemon.photoctl(["clients", "--json"])
      #expect(!String(decoding: output, as: UTF8.self).contains("omitted") && errors.isEmpty)
    }
  }

  @Test func clientUpdatesFollowEveryChange() async throws {
    let one = ConnectedClient(number: 1, pid: 1, uid: 1, since: PhotoDate(microseconds: 0), isSelf: true)
    let answer: ScriptedDaemon.Answer = { call in
      try await call.replyContinuing(Clients(clients: [one]))
      try await call.reply(Clients(clients: []))
    }
    try await ScriptedDaemon.with(["Clients": answer]) { daemon in
      var seen: [[ConnectedClient]] = []
      for try await clients in PhotoDaemonManagement(of: daemon.library()).clientUpdates() {
        seen.append(clients.clients)
      }
      #expect(seen == [[one], []])
    }
  }

  @Test func eventsFollowAndEndWithTheDaemonsError() async throws {
    struct Parameters: Decodable { let follow: Bool? }
    struct Message: Encodable { let message: String }
    let event = DaemonEvent(
      number: 7, time: PhotoDate(microseconds: 5_000), source: "library", kind: "renamed", path: "/b", fromPath: "/a",
      assetID: 4, detail: "the same photo in another place")
    let answer: ScriptedDaemon.Answer = { call in
      guard try call.parameters(Parameters.self).follow == true else {
        return try await call.reply(EventPage(events: [], missed: 0))
      }
      try await call.replyContinuing(EventPage(events: [event], missed: 6))
      throw VarlinkError("org.photod.manage.Unavailable", Message(message: "photod is stopping."))
    }
    try await ScriptedDaemon.with(["Events": answer]) { daemon in
      let library = daemon.library()
      var pages: [EventPage] = []
      await #expect(throws: PhotoLibraryError.libraryUnavailable(message: "photod is stopping.")) {
        for try await page in PhotoDaemonManagement(of: library).events(follow: true) { pages.append(page) }
      }
      #expect(pages == [EventPage(events: [event], missed: 6)])
      for try await page in PhotoDaemonManagement(of: library).events() {
        #expect(page == EventPage(events: [], missed: 0))
      }
    }
  }

  @Test func keysComeFromTheDaemon() async throws {
    let keys = ListKeys(predicateKeys: ["id", "camera.model"], sortKeys: ["id"])
    try await ScriptedDaemon.with(["ListKeys": { try await $0.reply(keys) }]) { daemon in
      let known = try await daemon.library().listKeys()
      #expect(known == keys)
    }
  }

  @Test func unreadableFilesComePageByPage() async throws {
    struct Page: Encodable { let files: [UnreadableFile], count: Int }
    let date = PhotoDate(microseconds: 5_000_000)
    let files = [
      UnreadableFile(path: "/p/a", kind: "unreadable", reason: "no", since: date, remedy: "mend"),
      UnreadableFile(path: "/p/b.jpg", kind: "damaged", reason: "cut", remedy: "replace", assetID: 4),
    ]
    try await ScriptedDaemon.with([
      "ListUnreadable": {
        try await $0.replyContinuing(Page(files: [files[0]], count: 2))
        try await $0.reply(Page(files: [files[1]], count: 2))
      }
    ]) { daemon in
      var pages: [[UnreadableFile]] = []
      for try await page in PhotoDaemonManagement(of: daemon.library()).unreadableFiles() { pages.append(page) }
      #expect(pages == [[files[0]], [files[1]]])
    }
  }

  /// A call on the shared connection is repeated if that was closed. So a backup could be made twice.
  @Test func callsThatChangeFilesHaveTheirOwnConnections() async throws {
    struct Backup: Encodable { let backup: BackupFile }
    struct Backups: Encodable { let backups: [BackupFile] }
    let file = BackupFile(path: "/b", date: PhotoDate(microseconds: 0), byteCount: 9, assetCount: nil, isKept: false)
    let connections = Connections()
    try await ScriptedDaemon.with([
      "Backup": {
        connections.add($0)
        try await $0.reply(Backup(backup: file))
      },
      "ListBackups": {
        connections.add($0)
        try await $0.reply(Backups(backups: [file]))
      },
      "Restore": {
        connections.add($0)
        try await $0.reply(RestoredBackup(path: "/b", assetCount: 2, userDataCount: 1, previous: file))
      },
    ]) { daemon in
      let management = PhotoDaemonManagement(of: daemon.library())
      _ = try await management.backups()
      _ = try await management.backUp()
      _ = try await management.restore(from: "/b")
      _ = try await management.backups()
    }
    let numbers = connections.numbers.withLock { $0 }
    #expect(Set(numbers).count == 3 && numbers.first == numbers.last, "\(numbers)")
  }

  private final class Connections: Sendable {
    let numbers = Mutex<[Int]>([])
    func add(_ call: VarlinkServiceCall) { numbers.withLock { $0.append(call.peer.connection) } }
  }

  @Test func backupsAreThoseOfTheInterface() async throws {
    struct Backup: Encodable { let backup: BackupFile }
    struct Backups: Encodable { let backups: [BackupFile] }
    let file = BackupFile(
      path: "/b/x.sqlite", date: PhotoDate(microseconds: 5_000_000), byteCount: 9, assetCount: nil, isKept: false)
    let restored = RestoredBackup(path: file.path, assetCount: 2, userDataCount: 1, previous: file)
    let check = CatalogCheck(
      findings: [.init(severity: "warning", what: "w", place: "p", remedy: "r")], counts: ["assets": 2])
    try await ScriptedDaemon.with([
      "Backup": { try await $0.reply(Backup(backup: file)) },
      "ListBackups": { try await $0.reply(Backups(backups: [file])) },
      "Restore": { try await $0.reply(restored) }, "Check": { try await $0.reply(check) },
    ]) { daemon in
      let library = daemon.library()
      let (made, listed) = (
        try await PhotoDaemonManagement(of: library).backUp(), try await PhotoDaemonManagement(of: library).backups()
      )
      #expect(made == file && listed == [file])
      let outcome = try await PhotoDaemonManagement(of: library).restore(from: "/b/x.sqlite")
      #expect(outcome == restored)
      let found = try await PhotoDaemonManagement(of: library).check(deep: true)
      #expect(found == check && found.isOK)
      #expect(daemon.calls == ["Backup", "ListBackups", "Restore", "Check"])
    }
  }
}
