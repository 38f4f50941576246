import Foundation
import Glibc
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

/// User data survives every loss of the catalog.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DurabilityTests {
  /// Creates the photos `0.jpg`, `1.jpg` and so on. Two of them are favorites.
  private func fill(_ fixture: DaemonFixture, _ count: Int = 6) async throws -> (ids: [String: AssetID], token: String)
  {
    for index in 0..<count { try fixture.write("\(index).jpg", index) }
    try await fixture.start()
    try await fixture.synchronize()
    let ids = Dictionary(
      uniqueKeysWithValues: try await fixture.assets().map { ($0.resources[0].filename, $0.id) })
    let token = try await fixture.setFavorite([try #require(ids["1.jpg"]), try #require(ids["4.jpg"])])
    return (ids, token)
  }

  private func favorites(_ fixture: DaemonFixture) async throws -> [String: AssetID] {
    let assets = try await fixture.assets(FetchOptions(collection: "smart:favorites"))
    return Dictionary(uniqueKeysWithValues: assets.map { ($0.resources[0].filename, $0.id) })
  }

  private func errorName(_ body: () async throws -> Void) async throws -> String? {
    do { try await body() } catch let error as VarlinkError { return error.name }
    return nil
  }

  /// Repeats until the condition holds. photod closes connections while it opens its library again.
  private func until(
    _ fixture: DaemonFixture, _ what: String, _ condition: () async throws -> Bool
  ) async throws {
    try await eventually(what, every: .milliseconds(20), isNotYet: { _ in true }, condition)
  }

  private func manage<Reply: Decodable>(
    _ fixture: DaemonFixture, _ method: String, _ parameters: some Encodable = VarlinkEmpty(), returning: Reply.Type
  ) async throws -> Reply {
    let client = try await fixture.connect()
    return try await client.call("org.photod.manage." + method, parameters, returning: Reply.self)
  }

  private static func fetch(_ socket: String) async throws {
    struct Page: Decodable { let total: Int }
    let client = try await VarlinkClient.connect(path: socket)
    _ = try await client.call("org.photod.library.Fetch", VarlinkEmpty(), returning: Page.self)
  }

  @Test func favoritesAndTheirIDsComeBackWithADeletedCatalog() async throws {
    try await DaemonFixture.with { fixture in
      let (ids, token) = try await fill(fixture)
      fixture.kill(SIGKILL)
      for suffix in ["", "-wal", "-shm"] { unlink(fixture.catalog + suffix) }
      // One photo is moved and renamed while photod does not run.
      try FileManager.default.createDirectory(atPath: fixture.path("new"), withIntermediateDirectories: true)
      #expect(rename(fixture.path("4.jpg"), fixture.path("new/four.jpg")) == 0)
      try await fixture.start()
      try await fixture.synchronize()
      #expect(try await favorites(fixture) == ["1.jpg": ids["1.jpg"], "four.jpg": ids["4.jpg"]])
      let others = try await fixture.assets().filter { !$0.isFavorite }
      #expect(others.count == 4 && others.allSatisfy { $0.id > 10_000 }, "an id is used again")
      #expect(try await fixture.status().warnings.contains { $0.contains("was gone, and photod has made a new one") })
      #expect(
        try await errorName { _ = try await fixture.changes(since: token) } == "org.photod.library.ChangeTokenExpired")
      // A check without errors ends the warning.
      struct Report: Decodable { let findings: [[String: String]] }
      let findings = try await manage(fixture, "Check", returning: Report.self).findings
      #expect(findings.count == 1 && findings[0]["what"]?.contains("was gone, and photod has made a new one") == true)
      #expect(try await fixture.status().warnings.isEmpty)
      fixture.kill(SIGTERM)
    }
  }

  @Test(arguments: [0, 1]) func aCatalogFileWithRandomBytesIsMovedAside(kind: Int) async throws {
    try await DaemonFixture.with { fixture in
      let (ids, _) = try await fill(fixture)
      fixture.kill(kind == 0 ? SIGKILL : SIGTERM)
      for suffix in ["-wal", "-shm"] { unlink(fixture.catalog + suffix) }
      try Data((0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }).write(to: URL(fileURLWithPath: fixture.catalog))
      try await fixture.start()
      try await fixture.synchronize()
      #expect(try await favorites(fixture) == ids.filter { ["1.jpg", "4.jpg"].contains($0.key) })
      let warning = try #require(try await fixture.status().warnings.first)
      let aside = try #require(
        try FileManager.default.contentsOfDirectory(atPath: fixture.directory).first { $0.hasSuffix(".damaged.sqlite") }
      )
      #expect(warning.contains("damaged") && warning.contains(aside))
      fixture.kill(SIGTERM)
    }
  }

  /// After a regular stop, photod does not check every page when it opens the catalog. It finds the damage when it
  /// reads the page.
  @Test(arguments: [5, 12, 20, 40, 60]) func theFirstStartRepairsADamagedPage(page: Int) async throws {
    try await DaemonFixture.with { fixture in
      let (ids, _) = try await fill(fixture, 40)
      fixture.kill(SIGTERM)
      let pageSize = 4096
      let pages =
        try #require(try FileManager.default.attributesOfItem(atPath: fixture.catalog)[.size] as? Int) / pageSize
      let descriptor = open(fixture.catalog, O_WRONLY)
      let garbage = (0..<4 * pageSize).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
      let offset = page * pages / 100 * pageSize
      #expect(pwrite(descriptor, garbage, garbage.count, off_t(offset)) == garbage.count)
      close(descriptor)
      try await fixture.start()
      // If photod has not read the page, the check finds it and reports the damage, or its repair.
      struct Report: Decodable { let findings: [[String: String]] }
      try await until(fixture, "the damage is said") {
        try await fixture.synchronize()
        if try await fixture.status().warnings.contains(where: { $0.contains("damaged") }) { return true }
        return try await manage(fixture, "Check", returning: Report.self).findings.contains {
          $0["what"]?.contains("damaged") == true || $0["remedy"]?.contains("made anew now") == true
        }
      }
      try await until(fixture, "the favorites are back") {
        _ = try await fixture.synchronize()
        return try await favorites(fixture) == ids.filter { ["1.jpg", "4.jpg"].contains($0.key) }
      }
      fixture.kill(SIGTERM)
    }
  }

  @Test func aCatalogThatIsOverwrittenWhileItRunsIsRebuilt() async throws {
    try await DaemonFixture.with { fixture in
      let (ids, _) = try await fill(fixture, 40)
      let (before, socket) = (fixture.processID, fixture.socket)
      // The catalog is overwritten in place, as a foreign program would do it, and the log is truncated.
      let descriptor = open(fixture.catalog, O_WRONLY)
      let garbage = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ $0 >> 7) }
      #expect(pwrite(descriptor, garbage, garbage.count, 0) == garbage.count)
      close(descriptor)
      #expect(truncate(fixture.catalog + "-wal", 0) == 0)
      try await until(fixture, "the catalog is rebuilt") {
        // New connections read the file itself.
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<10 { group.addTask { try await Self.fetch(socket) } }
          try await group.waitForAll()
        }
        return try await fixture.status().warnings.contains { $0.contains("was damaged") }
      }
      try await fixture.synchronize()
      #expect(try await favorites(fixture) == ids.filter { ["1.jpg", "4.jpg"].contains($0.key) })
      #expect(try await fixture.assets().count == 40)
      #expect(fixture.processID == before)
      #expect(
        try await fixture.status().warnings.contains {
          $0.hasSuffix("Run `photoctl check`; the warning then goes away.")
        })
      let check = try fixture.photoctl("check")
      let text = String(decoding: check.output, as: UTF8.self)
      #expect(
        check.status == 0 && text.contains("warning: The catalog was damaged") && text.contains("No action"), "\(text)")
      #expect(!text.contains("Run `photoctl check`"), "\(text)")
      #expect(try await !fixture.status().warnings.contains { $0.contains("was damaged") })
      fixture.kill(SIGTERM)
    }
  }

  @Test func aCatalogThatIsDeletedWhileItRunsIsWrittenAnew() async throws {
    try await DaemonFixture.with { fixture in
      let (ids, token) = try await fill(fixture)
      for suffix in ["", "-wal", "-shm"] { #expect(unlink(fixture.catalog + suffix) == 0) }
      try await fixture.setFavorite([try #require(ids["2.jpg"])])
      try await until(fixture, "the file is there again") {
        let status = try await fixture.status()
        return access(fixture.catalog, F_OK) == 0 && status.state == .live
      }
      #expect(try await favorites(fixture) == ids.filter { ["1.jpg", "2.jpg", "4.jpg"].contains($0.key) })
      #expect(try await fixture.changes(since: token).flatMap(\.updatedAssets) == [try #require(ids["2.jpg"])])
      fixture.kill(SIGKILL)
      try await fixture.start()
      try await fixture.synchronize()
      #expect(try await favorites(fixture).count == 3)
      #expect(try await fixture.assets().map(\.id).sorted() == ids.values.sorted())
      fixture.kill(SIGTERM)
    }
  }

  @Test func aRestoreReplacesTheLibraryAndRejectsOldTokens() async throws {
    struct File: Decodable { let path: String }
    struct Made: Decodable { let backup: File }
    struct Restored: Decodable {
      let assetCount: Int
      let previous: File
    }
    struct Path: Encodable { let path: String }
    try await DaemonFixture.with { fixture in
      let (ids, _) = try await fill(fixture)
      let backup = try await manage(fixture, "Backup", returning: Made.self).backup.path
      try await fixture.setFavorite([try #require(ids["1.jpg"])], false)
      try fixture.write("later.jpg", 99)
      try await fixture.synchronize()
      let later = try #require(try await fixture.assets().first { $0.resources[0].filename == "later.jpg" }).id
      let token = try await fixture.setFavorite([later])
      let reply = try await manage(fixture, "Restore", Path(path: backup), returning: Restored.self)
      #expect(reply.assetCount == 6)
      try await until(fixture, "the restored library is live") {
        let status = try await fixture.status()
        return status.state == .live && ChangeToken(status.token)?.epoch == 2
      }
      try await fixture.synchronize()
      #expect(try await favorites(fixture) == ids.filter { ["1.jpg", "4.jpg"].contains($0.key) })
      let found = try #require(try await fixture.assets().first { $0.resources[0].filename == "later.jpg" })
      #expect(found.id > later, "an id is used again")
      #expect(
        try await errorName { _ = try await fixture.changes(since: token) } == "org.photod.library.ChangeTokenExpired")
      #expect(access(reply.previous.path, F_OK) == 0)
      fixture.kill(SIGTERM)
    }
  }

  /// Catalog and journal of the copy agree with each other. Only the state directory shows that later commits were made.
  @Test func anOldCopyOfTheWholeFolderEndsTokensAndNoIDIsUsedTwice() async throws {
    struct Since: Encodable { let since: String }
    struct Reply: Decodable { let observation: Observation }
    try await DaemonFixture.with { fixture in
      let (folder, copy) = (fixture.directory + "/library", fixture.directory + "/copy")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      fixture.catalogFolder = folder
      let (ids, before) = try await fill(fixture)
      fixture.kill(SIGTERM)
      try FileManager.default.copyItem(atPath: folder, toPath: copy)
      let names = try FileManager.default.contentsOfDirectory(atPath: copy)
      #expect(names.contains("catalog.sqlite") && names.contains("catalog.userdata"), "\(names)")

      try await fixture.start()
      try fixture.write("later.jpg", 99)
      try await fixture.synchronize()
      let later = try #require(try await fixture.assets().first { $0.resources[0].filename == "later.jpg" }).id
      let token = try await fixture.setFavorite([later])
      fixture.kill(SIGTERM)
      try FileManager.default.removeItem(atPath: folder)
      try FileManager.default.moveItem(atPath: copy, toPath: folder)

      try await fixture.start()
      try await fixture.synchronize()
      for old in [before, token] {
        // The end of a stream closes its connection.
        let client = try await fixture.connect()
        var replies = client.stream("org.photod.library.Observe", Since(since: old), of: Reply.self).makeAsyncIterator()
        let first = try #require(try await replies.next()).observation
        #expect(first.reload == .libraryReplaced && first.previousToken == old)
        #expect(
          try await errorName { _ = try await fixture.changes(since: old) } == "org.photod.library.ChangeTokenExpired")
      }
      #expect(try await fixture.status().warnings.contains { $0.contains("an older copy than the one") })
      var found = Dictionary(
        uniqueKeysWithValues: try await fixture.assets().map { ($0.resources[0].filename, $0.id) })
      let again = found.removeValue(forKey: "later.jpg")
      #expect(try #require(again) > later, "an id is used again")
      #expect(found == ids)
      #expect(try await favorites(fixture) == ids.filter { ["1.jpg", "4.jpg"].contains($0.key) })
      fixture.kill(SIGTERM)
    }
  }

  /// The catalog is on a file system of four megabytes that only photod sees. The test fills it through /proc.
  @Test(.enabled(if: Namespace.canMount, "mounts in a user namespace are not permitted here"))
  func fullDiskIsReportedAndNeedsNoRestart() async throws {
    try await DaemonFixture.with { fixture in
      let small = fixture.directory + "/small"
      try FileManager.default.createDirectory(atPath: small, withIntermediateDirectories: true)
      fixture.catalogFolder = small
      fixture.launcher = [
        "unshare", "-Urm", "sh", "-c", "mount -t tmpfs -o size=4m none \"$0\" && exec \"$@\"", small,
      ]
      let (ids, _) = try await fill(fixture)
      let process = fixture.processID
      let filler = "/proc/\(process)/root\(small)/filler"
      let descriptor = open(filler, O_WRONLY | O_CREAT, 0o600)
      #expect(descriptor >= 0, "\(errno)")
      defer { close(descriptor) }
      let zeros = [UInt8](repeating: 0, count: 4096)
      func fillUp() { while write(descriptor, zeros, zeros.count) > 0 {} }
      fillUp()

      // Changes that fit into allocated blocks succeed. Then photod refuses them.
      var acknowledged = false
      var refusal: String?
      for round in 0..<5_000 where refusal == nil {
        refusal = try await errorName {
          try await fixture.setFavorite([try #require(ids["0.jpg"])], round % 2 == 0)
          acknowledged = round % 2 == 0
        }
        fillUp()
      }
      #expect(refusal == "org.photod.library.StorageFull")
      #expect(try await favorites(fixture)["0.jpg"] == (acknowledged ? ids["0.jpg"] : nil), "half of it is visible")
      #expect(try await fixture.assets().count == 6)
      try fixture.write("new.jpg", 50)
      try await until(fixture, "the warning is there") {
        fillUp()
        return try await fixture.status().warnings.contains { $0.contains("can't be written") }
      }
      #expect(try await fixture.assets().count == 6)
      let catalog = "The catalog \(small)/"
      #expect(try await fixture.status().warnings.contains { $0.hasPrefix(catalog) && $0.contains("is full") })
      let sync = try fixture.photoctl("sync", "--timeout", "0.5")
      #expect(
        sync.status == 75 && sync.errors.contains("within 0.5 s, because the catalog can't be written"), "\(sync)")
      let why = String(decoding: try fixture.photoctl("why", fixture.path("new.jpg")).output, as: UTF8.self)
      #expect(why.hasPrefix("pending: ") && why.contains("because the catalog can't be written"), "\(why)")

      #expect(ftruncate(descriptor, 0) == 0)
      try await until(fixture, "it has recovered") {
        let status = try await fixture.status()
        return status.warnings.isEmpty && status.assetCount == 7
      }
      try await fixture.setFavorite([try #require(ids["0.jpg"])])
      #expect(try await favorites(fixture).count == 3)
      #expect(fixture.processID == process && fixture.process?.isRunning == true)
      struct Report: Decodable { let findings: [[String: String]] }
      #expect(try await manage(fixture, "Check", returning: Report.self).findings.isEmpty)
      fixture.kill(SIGTERM)
    }
  }
}
