import Foundation
import PhotoCatalog
import PhotoModel
import Synchronization
import Testing
import Varlink

@testable import PhotoServer

/// Backup, restore and check over a socket, with backups scripted by the test.
@Suite(.timeLimit(.minutes(10))) struct BackupTests {
  private struct ScriptedBackups: LibraryBackups {
    static let report = BackupReport(
      path: "/b/photod-2026-11-21.sqlite", byteCount: 4096, assetCount: 3, date: PhotoDate(microseconds: 0),
      isKept: true)
    var error: BackupError?
    var listed = 2
    let counts = Counts()

    final class Counts: Sendable {
      let listed = Atomic(0)
      let checked = Atomic(0)
    }

    func backup(to path: String?) async throws -> BackupReport {
      if let error { throw error }
      var report = Self.report
      if let path { report.path = path }
      return report
    }
    func backups() throws -> [BackupReport] {
      counts.listed.add(1, ordering: .relaxed)
      var unreadable = Self.report
      unreadable.assetCount = nil
      return [Self.report] + Array(repeating: unreadable, count: listed - 1)
    }
    func restore(from path: String) async throws -> RestoreReport {
      if let error { throw error }
      return RestoreReport(path: path, assetCount: 3, userDataCount: 1, previous: Self.report)
    }
    func check(deep: Bool) async throws -> CheckReport {
      counts.checked.add(1, ordering: .relaxed)
      return CheckReport(
        findings: [.init(.error, "1 file belongs to no asset", place: "resource 7", remedy: "Restore a backup.")],
        counts: ["assets": deep ? 2 : 1])
    }
  }

  private struct Path: Encodable { var path: String? }
  private struct File: Decodable, Equatable {
    let path: String
    let date: PhotoDate
    let byteCount: Int
    let assetCount: Int?
    let isKept: Bool
  }

  private func serving(
    _ backups: (any LibraryBackups)?, _ body: @Sendable (VarlinkClient) async throws -> Void
  ) async throws {
    let service = VarlinkService(
      identity: .init(vendor: "v", product: "p", version: "1", url: "u"),
      interfaces: [ManageService(connections: ConnectionRegistry(), backups: backups)])
    let socket = NSTemporaryDirectory() + "photod-backups-\(UUID().uuidString)"
    let descriptor = try VarlinkSocket.listen(path: socket)
    defer { unlink(socket) }
    try await withThrowingTaskGroup { group in
      group.addTask { try await service.serve(listeningDescriptor: descriptor) }
      defer { service.shutDown(within: .zero) }
      try await body(try await VarlinkClient.connect(path: socket))
    }
  }

  @Test func eachCallAnswersWithTheReportOfTheLibrary() async throws {
    struct Backup: Decodable { let backup: File }
    struct Backups: Decodable { let backups: [File] }
    struct Restored: Decodable { let path: String, assetCount: Int, userDataCount: Int, previous: File }
    struct Deep: Encodable { let deep: Bool }
    struct Check: Decodable {
      struct Finding: Decodable { let severity: String, what: String, place: String, remedy: String }
      let findings: [Finding]
      let counts: [String: Int]
    }
    try await serving(ScriptedBackups()) { client in
      let file = try await client.call("org.photod.manage.Backup", returning: Backup.self).backup
      #expect(
        file
          == File(
            path: "/b/photod-2026-11-21.sqlite", date: PhotoDate(microseconds: 0), byteCount: 4096, assetCount: 3,
            isKept: true))
      let named = try await client.call("org.photod.manage.Backup", Path(path: "/x"), returning: Backup.self)
      #expect(named.backup.path == "/x")
      let all = try await client.call("org.photod.manage.ListBackups", returning: Backups.self).backups
      #expect(all.map(\.assetCount) == [3, nil])
      let restored = try await client.call(
        "org.photod.manage.Restore", Path(path: "/x"), returning: Restored.self)
      #expect(restored.path == "/x" && restored.assetCount == 3 && restored.userDataCount == 1)
      #expect(restored.previous == file)
      let check = try await client.call("org.photod.manage.Check", Deep(deep: true), returning: Check.self)
      #expect(check.counts == ["assets": 2])
      let finding = try #require(check.findings.first)
      #expect(finding.severity == "error" && finding.what == "1 file belongs to no asset")
      #expect(finding.place == "resource 7" && finding.remedy == "Restore a backup.")
    }
  }

  /// SQLite would read a path only up to its NUL.
  @Test(arguments: ["x", "/x\0y"]) func aPathThatIsRelativeOrHasNULIsRefused(path: String) async throws {
    try await serving(ScriptedBackups()) { client in
      for method in ["Backup", "Restore"] {
        let error = await #expect(throws: VarlinkError.self) {
          _ = try await client.call("org.photod.manage." + method, Path(path: path), returning: VarlinkEmpty.self)
        }
        #expect(error?.name == "org.varlink.service.InvalidParameter")
      }
    }
  }

  @Test func aOnewayCallThatOnlyReadsIsSkipped() async throws {
    let backups = ScriptedBackups()
    try await serving(backups) { client in
      for _ in 0..<3 {
        try await client.oneway("org.photod.manage.ListBackups", VarlinkEmpty())
        try await client.oneway("org.photod.manage.Check", VarlinkEmpty())
      }
      _ = try await client.call("org.photod.manage.Check", returning: VarlinkEmpty.self)
      #expect(backups.counts.listed.load(ordering: .relaxed) == 0)
      #expect(backups.counts.checked.load(ordering: .relaxed) == 4)
    }
  }

  /// There may be any number of backups that a person made.
  @Test func backupsThatDoNotFitIntoAReplyAreLeftOut() async throws {
    struct Backups: Decodable { let backups: [File] }
    try await serving(ScriptedBackups(listed: 20_000)) { client in
      let all = try await client.call("org.photod.manage.ListBackups", returning: Backups.self).backups
      #expect((2_000..<20_000).contains(all.count))
    }
  }

  @Test(arguments: [
    (BackupError.notABackup(path: "/x", message: "m"), "NotABackup"),
    (.cannotWrite(path: "/x", message: "m"), "CannotWrite"), (.storageFull(message: "m"), "StorageFull"),
    (.busy(message: "m"), "Busy"),
  ])
  func everyErrorBecomesOneOfTheInterface(_ thrown: BackupError, _ name: String) async throws {
    struct Parameters: Decodable { let path: String?, message: String }
    try await serving(ScriptedBackups(error: thrown)) { client in
      let error = try #require(
        await #expect(throws: VarlinkError.self) {
          _ = try await client.call("org.photod.manage.Restore", Path(path: "/x"), returning: VarlinkEmpty.self)
        })
      #expect(error.name == "org.photod.manage.\(name)")
      let parameters = try error.decodeParameters(Parameters.self)
      #expect(parameters.message == "m" && (parameters.path == "/x") == (name == "NotABackup" || name == "CannotWrite"))
    }
    #expect(ManageService(connections: ConnectionRegistry()).definition.contains("\nerror \(name) ("))
  }

  @Test func backupsAreUnavailableWithoutALibrary() async throws {
    try await serving(nil) { client in
      for method in ["Backup", "ListBackups", "Check", "ListUnreadable"] {
        let error = await #expect(throws: VarlinkError.self) {
          _ = try await client.call("org.photod.manage." + method, returning: VarlinkEmpty.self)
        }
        #expect(error?.name == "org.photod.manage.Unavailable")
      }
    }
  }
}
