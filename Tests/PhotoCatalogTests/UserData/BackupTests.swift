import Foundation
import GRDB
import PhotoModel
import Testing

@testable import PhotoCatalog

/// Backups, restores and checks.
@Suite struct BackupTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  private static let day = Duration.seconds(86_400)

  @Test func aBackupIsCompleteWithoutOtherFiles() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(30)
    try catalog.set([3], favorite: true)
    let report = try catalog.backup(to: fixture.folder + "/copy.sqlite")
    #expect(report.assetCount == 30 && report.isKept && report.byteCount > 0)
    let names = try fixture.names().filter { $0.hasPrefix("copy") }
    #expect(names == ["copy.sqlite"])
    let mode = try FileManager.default.attributesOfItem(atPath: report.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    let error = #expect(throws: BackupError.self) { try catalog.backup(to: report.path) }
    guard case .cannotWrite = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(
      throws: BackupError.cannotWrite(
        path: "/nowhere/x.sqlite",
        message: "/nowhere/x.sqlite can't be made: No such file or directory. Choose a folder in which you may write.")
    ) { try catalog.backup(to: "/nowhere/x.sqlite") }
    try catalog.close()
  }

  @Test func dailyBackupsAreMadeAfterChangesAndTheOldestAreRemoved() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(3)
    let start = WallTime(seconds: 1_763_720_100)
    for day in 0..<60 {
      try catalog.set([1], favorite: day % 2 == 0)
      #expect(try catalog.dailyBackup(date: start + Self.day * day) != nil)
      #expect(try catalog.dailyBackup(date: start + Self.day * day + .microseconds(1)) == nil, "nothing changed")
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: catalog.files.backups).sorted()
    #expect(names.count == Catalog.keptDaily + Catalog.keptWeekly)
    #expect(names.last == "photod-2026-01-19.sqlite")
    #expect(names.suffix(7).first == "photod-2026-01-13.sqlite")
    let kept = try catalog.backup(to: nil, date: start)
    #expect(kept.path.hasSuffix("/backups/photod-2025-11-21T10-15-00.sqlite") && kept.isKept)
    #expect(try catalog.backups().count == names.count + 1)
    #expect(try catalog.backups().allSatisfy { $0.assetCount == 3 })
    try catalog.close()
  }

  /// The catalog keeps the user data of a deleted photo, which may come back. A person does not find it there.
  @Test func aRestoreCountsOnlyPhotosThatAreThere() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    try catalog.set([1, 2], favorite: true)
    try catalog.set([2, 3], hidden: true)
    try catalog.set([4, 5], favorite: true)
    try catalog.write { writer in
      for id: AssetID in [4, 5] {
        let row = try #require(try writer.file(ofAsset: id))
        try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 77))
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    let backup = try catalog.backup(to: fixture.folder + "/b.sqlite")
    let report = try catalog.prepareRestore(from: backup.path)
    #expect(report.assetCount == 3 && report.userDataCount == 3)
    try catalog.close()
  }

  @Test func aRestoredLibraryEqualsTheBackupWithANewEpoch() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    try catalog.set([1, 2], favorite: true)
    let backup = try catalog.backup(to: fixture.folder + "/b.sqlite")
    try catalog.set([1], favorite: false)
    try catalog.set([3], favorite: true)
    try catalog.addPhotos(2, from: 6)
    let report = try catalog.prepareRestore(from: backup.path)
    #expect(report.assetCount == 5 && report.userDataCount == 2 && report.previous.assetCount == 7)
    // After the reply, user data that would be lost is rejected.
    #expect(throws: PhotoError.self) { try catalog.set([4], favorite: true) }
    try catalog.close()

    let restored = try fixture.open()
    #expect(restored.uuid == catalog.uuid && restored.epoch == catalog.epoch + 1)
    #expect(try restored.typed() == [1: "favorite", 2: "favorite"])
    #expect(try restored.check(deep: true).findings.isEmpty)
    #expect(try restored.addPhotos(1, from: 6)[0] > 7, "an id is used again")
    // The restore can be undone.
    _ = try restored.prepareRestore(from: report.previous.path)
    try restored.close()
    let again = try fixture.open()
    #expect(again.epoch == restored.epoch + 1)
    #expect(try again.typed() == [2: "favorite", 3: "favorite"])
    try again.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed() == [2: "favorite waits", 3: "favorite waits"])
    try rebuilt.close()
  }

  @Test func aRestoredBackupOfAnotherLibraryHasTheIdentityOfThatLibrary() throws {
    let other = try UserDataFixture()
    let stranger = try other.open()
    try stranger.addPhotos(3)
    try stranger.set([3], favorite: true)
    let backup = try stranger.backup(to: other.folder + "/b.sqlite")
    try stranger.close()
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    try catalog.set([1], favorite: true)
    let previous = try catalog.prepareRestore(from: backup.path).previous
    try catalog.close()
    let restored = try fixture.open()
    #expect(restored.uuid == stranger.uuid)
    #expect(try restored.typed() == [3: "favorite"])
    #expect(try fixture.names().contains { $0.hasSuffix(".other.userdata") })
    #expect(previous.assetCount == 2)
    try restored.close()
  }

  @Test func aRestoreIsDecidedAlsoIfTheProcessEndsThen() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    let backup = try catalog.backup(to: fixture.folder + "/b.sqlite")
    try catalog.set([1], favorite: true)
    _ = try catalog.prepareRestore(from: backup.path)
    let killed = try UserDataFixture()
    try fixture.copy(to: killed)
    try catalog.close()
    let restored = try killed.open()
    #expect(try restored.typed().isEmpty)
    #expect(restored.epoch == catalog.epoch + 1)
    try restored.close()
  }

  @Test func invalidBackupIsRefusedAndTheLibraryContinues() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let text = fixture.folder + "/text"
    try fixture.write(Array("no database at all, but long enough to have a header".utf8), to: text)
    let cut = fixture.folder + "/cut.sqlite"
    let whole = try catalog.backup(to: cut)
    try fixture.write(try fixture.bytes(whole.path).dropLast(9000), to: cut)
    let other = fixture.folder + "/other.sqlite"
    let queue = try DatabaseQueue(path: other)
    try queue.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
    try queue.close()
    for path in [text, cut, other] {
      let error = #expect(throws: BackupError.self) { try catalog.prepareRestore(from: path) }
      guard case .notABackup(path, _) = error else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
    try catalog.set([1], favorite: true)
    #expect(try fixture.names().filter { $0.contains("restored") }.isEmpty)
    try catalog.close()
  }

  /// The copy of a backup is verified on the disk of the catalog, which may be full.
  @Test func aFullDiskDoesNotMakeABackupUnreadable() throws {
    func fault(_ code: ResultCode) -> any Error { Catalog.fault(DatabaseError(resultCode: code), in: "/b.sqlite") }
    #expect(Catalog.isFull(fault(.SQLITE_FULL)))
    #expect((fault(.SQLITE_IOERR) as? DatabaseError)?.resultCode == .SQLITE_IOERR)
    for code in [ResultCode.SQLITE_CORRUPT, .SQLITE_NOTADB, .SQLITE_ERROR] {
      guard case .notABackup(path: "/b.sqlite", _)? = fault(code) as? BackupError else {
        Issue.record("\(code)")
        continue
      }
    }
  }

  @Test func aCancelledCheckEnds() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(400)
    _ = try catalog.backup(to: nil)
    let budget = WorkBudget(.seconds(1)) { 0 }
    budget.cancel()
    WorkBudget.$current.withValue(budget) {
      #expect(throws: WorkBudget.Spent.cancelled) { try catalog.check(deep: true) }
      #expect(throws: WorkBudget.Spent.cancelled) { try catalog.backups() }
    }
    #expect(try catalog.check(deep: true).isOK)
    try catalog.close()
  }

  @Test func catalogsInOneFolderKeepTheirBackupsApart() throws {
    let first = try fixture.open()
    let second = try Catalog(path: fixture.folder + "/second.sqlite")
    let date = WallTime(seconds: 1_800_000_000)
    let mine = try #require(try first.dailyBackup(date: date))
    let theirs = try #require(try second.dailyBackup(date: date))
    #expect(mine.path != theirs.path)
    #expect(try first.backups().map(\.path) == [mine.path] && second.backups().map(\.path) == [theirs.path])
    let kept = try second.backup(to: nil, date: date)
    #expect(try Set(second.backups().map(\.path)) == [theirs.path, kept.path] && first.backups().count == 1)
    // A new catalog has no history, so the backup of another catalog is not an earlier state of it.
    let third = try Catalog(path: fixture.folder + "/third.sqlite")
    #expect(try third.notices().isEmpty && third.backups().isEmpty)
  }

  @Test func aCatalogThatWasRemovedWhileRunningIsWrittenAnew() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    try catalog.set([1], favorite: true)
    #expect(!catalog.isReplaced)
    try fixture.remove("", "-wal", "-shm")
    try catalog.set([2], favorite: true)
    #expect(catalog.isReplaced)
    try catalog.rescue()
    try catalog.close()
    let reopened = try fixture.open()
    #expect(try reopened.typed() == [1: "favorite", 2: "favorite"])
    #expect(reopened.epoch == catalog.epoch, "nothing was lost")
    #expect(try reopened.notices().isEmpty)
    try reopened.close()
  }

  /// A catalog that can't be examined now is not gone. Otherwise the library would be closed if a disk fails for a
  /// moment.
  @Test func onlyACatalogThatIsCertainlyGoneIsReplaced() throws {
    let (folder, away) = (fixture.folder + "/a", fixture.folder + "/away")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    let catalog = try Catalog(path: folder + "/catalog.sqlite")
    try FileManager.default.moveItem(atPath: folder, toPath: away)
    #expect(catalog.isReplaced, "no such folder")
    // ELOOP proves as little about the file as EIO and EACCES do.
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: folder)
    #expect(!catalog.isReplaced)
    #expect(!catalog.file.hasItsName)
    try FileManager.default.removeItem(atPath: folder)
    try fixture.write([], to: folder)
    #expect(catalog.isReplaced, "no folder")
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: away, toPath: folder)
    #expect(!catalog.isReplaced && catalog.file.hasItsName)
    try catalog.close()
  }

  /// A connection that is opened now opens the file that has the name now.
  @Test(arguments: [true, false])
  func aCatalogIsWrittenAnewFromWhatIsOpenAlsoWhileAllReadersAreBusy(hasStranger: Bool) async throws {
    let other = try UserDataFixture()
    let stranger = try other.open()
    try stranger.addPhotos(2)
    let backup = try stranger.backup(to: other.folder + "/b.sqlite")
    try stranger.close()
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    try catalog.set([1], favorite: true)
    let (isReading, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let reading = Thread {
      // This read occupies the catalog's only reader.
      _ = Result {
        try catalog.read { _ in
          isReading.signal()
          mayEnd.wait()
        }
      }
    }
    reading.start()
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        isReading.wait()
        continuation.resume()
      }
    }
    defer { mayEnd.signal() }
    try fixture.remove("", "-wal", "-shm")
    if hasStranger { try FileManager.default.moveItem(atPath: backup.path, toPath: fixture.path) }
    let aside = try catalog.rescue()
    #expect((aside != nil) == hasStranger)
    mayEnd.signal()
    try catalog.close()
    let reopened = try fixture.open()
    let notices = try reopened.notices()
    if let aside {
      #expect(notices.count == 1 && notices[0].contains("`photoctl restore '\(aside)'`"), "\(notices)")
      #expect(try fixture.names().contains { aside.hasSuffix("/" + $0) })
      #expect(try reopened.prepareRestore(from: aside).assetCount == 2)
      try FileManager.default.removeItem(atPath: fixture.folder + "/catalog.restored")
      try FileManager.default.removeItem(atPath: aside)
      #expect(try reopened.notices().isEmpty)
    } else {
      #expect(notices.isEmpty)
    }
    #expect(reopened.uuid == catalog.uuid)
    #expect(try reopened.typed() == [1: "favorite"])
    #expect(try reopened.check(deep: true).counts["assets"] == 5)
    try reopened.close()
  }

  /// If photod is killed in the middle of a restore, SQLite's files stay beside the copy. The next opening removes
  /// them.
  @Test func aKilledRestoreLeavesNoFilesForTheNext() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    let backup = try catalog.backup(to: fixture.folder + "/b.sqlite")
    let hot = try UserDataFixture()
    let temporary = fixture.folder + "/catalog.restored.photod-0123456789abcdef"
    // A transaction in rollback mode, copied after its pages were written and before its journal was removed.
    try FileManager.default.copyItem(atPath: backup.path, toPath: hot.path)
    let queue = try DatabaseQueue(path: hot.path)
    try queue.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA cache_size = 1; PRAGMA cache_spill = 1")
      try database.execute(sql: "UPDATE library SET uuid = 'of the restore before'")
      try database.execute(sql: "BEGIN; UPDATE library SET uuid = 'x'; CREATE TABLE big (value)")
      try database.execute(
        sql: "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) "
          + "INSERT INTO big SELECT randomblob(2000) FROM n")
      try FileManager.default.copyItem(atPath: hot.path + "-journal", toPath: temporary + "-journal")
      try database.execute(sql: "ROLLBACK")
    }
    try queue.close()
    _ = try catalog.prepareRestore(from: backup.path)
    try catalog.close()
    let restored = try fixture.open()
    #expect(restored.uuid == catalog.uuid)
    #expect(try fixture.names().filter { $0.contains("restored") }.isEmpty)
    try restored.close()
  }

  @Test func theCheckFindsWhatBreaksARule() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(5)
    try catalog.set([1], favorite: true)
    #expect(try catalog.check(deep: true) == CheckReport(findings: [], counts: try catalog.check(deep: false).counts))
    try catalog.write { writer in
      let database = try writer.database
      try database.execute(sql: "DELETE FROM resource WHERE asset_id = 2")
      try database.execute(sql: "UPDATE resource SET asset_id = 99 WHERE asset_id = 3")
      try database.execute(sql: "UPDATE asset SET is_favorite = 1 WHERE id = 4")
      try database.execute(sql: "UPDATE sqlite_sequence SET seq = 3 WHERE name = 'asset'")
      try database.execute(sql: "UPDATE history SET inserted_assets = x'80'")
      try database.execute(sql: "INSERT INTO keyword (name) VALUES ('lonely')")
      try database.execute(sql: "INSERT INTO asset_edit VALUES (77, 'title=a', NULL)")
      try database.execute(sql: "INSERT INTO collection (kind, title, parent_id) VALUES (1, 'a', 1)")
    }
    let report = try catalog.check(deep: true)
    #expect(!report.isOK)
    let found = report.findings.map(\.what)
    for what in [
      "2 photos have no first file in their folders", "1 file belongs to no photo",
      "2 photos have ids that have not been assigned yet", "2 commits can't be read", "1 keyword has no photo",
      "1 edit belongs to a photo that does not exist", "1 album is in a folder of albums that does not exist",
      "catalog and journal differ in an album",
      "catalog and journal differ in the user data of 1 photo",
    ] {
      #expect(found.contains(what), "\(what) in \(found)")
    }
    #expect(report.findings.last?.severity == .warning)
    #expect(report.counts["assets"] == 5)
    try catalog.close()
  }

  @Test func historyIsForgottenByAgeButNotItsLastCommits() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    try catalog.write { writer in
      for index in 0..<3_000 {
        writer.record.update(asset: 1, .metadata)
        try writer.append(origin: "watcher", date: WallTime(microseconds: Int64(index)))
      }
    }
    try catalog.pruneHistory(olderThan: WallTime(microseconds: 2_500), keeping: 1_000)
    #expect(try catalog.read { try $0.oldestSequence() } == 2_002)
    try catalog.pruneHistory(olderThan: WallTime(microseconds: 2_500), keeping: 100)
    #expect(try catalog.read { try $0.oldestSequence() } == 2_502)
    try catalog.pruneHistory(olderThan: .latest, keeping: 10)
    #expect(try catalog.read { try $0.oldestSequence() } == 2_992)
    try catalog.close()
  }

  @Test func historyIsForgottenBySizeButNotItsLastCommit() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    func append(_ assets: ClosedRange<AssetID>) throws {
      try catalog.write { writer in
        for id in assets { writer.record.update(asset: id, .metadata) }
        writer.record.renamedDirectories = [
          .init(directoryID: 1, fromPath: [UInt8](repeating: 1, count: 500), toPath: [1])
        ]
        try writer.append(origin: "watcher", date: .now)
      }
    }
    func bytes() throws -> Int64 {
      try catalog.read { reader in
        let sum = try RawStatement(
          reader.database,
          "SELECT (SELECT sum(length(updated_assets)) FROM history) + "
            + "(SELECT sum(length(CAST(from_path AS BLOB))) FROM history_directory)")
        return try sum.firstRow { sum.int64(0) } ?? 0
      }
    }
    for _ in 0..<100 { try append(1...2_000) }
    #expect(try bytes() > 400_000)
    #expect(catalog.historyGrowthBytes > 400_000)
    // The history is new and has fewer rows than are kept, but too many bytes.
    try catalog.pruneHistory(olderThan: .unknown, keeping: 10_000, maximumBytes: 100_000)
    #expect((90_000..<100_000).contains(try bytes()))
    #expect(catalog.historyGrowthBytes == 0)
    let oldest = try #require(try catalog.read { try $0.oldestSequence() })
    let reach = try catalog.read { try [oldest - 1, oldest - 2].map($0.historyReaches) }
    #expect(reach == [true, false])
    try catalog.pruneHistory(olderThan: .unknown, keeping: 10_000, maximumBytes: 100_000)
    #expect(try catalog.read { try $0.oldestSequence() } == oldest)
    try catalog.pruneHistory(olderThan: .unknown, keeping: 10_000, maximumBytes: 1)
    #expect(try catalog.read { (try $0.oldestSequence(), try $0.sequence()) } == (101, 101))
    #expect(try catalog.read { try $0.persistentChanges(after: 100, limit: 10).map(\.updatedAssets.count) } == [2_000])
    try catalog.close()
  }

  /// PHOTOD_MEASURE=100000 prints what the checks and copies of this many photos cost.
  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["PHOTOD_MEASURE"] != nil, "a measurement: PHOTOD_MEASURE is not set"))
  func measure() throws {
    let count = Int(ProcessInfo.processInfo.environment["PHOTOD_MEASURE"] ?? "") ?? 100_000
    let clock = ContinuousClock()
    let catalog = try fixture.open()
    for first in stride(from: 1, to: count, by: 10_000) { try catalog.addPhotos(min(10_000, count), from: first) }
    try catalog.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    print("bytes", try fixture.bytes(fixture.path).count)
    for pragma in ["quick_check", "integrity_check"] {
      print(
        pragma, try clock.measure { _ = try catalog.read { try String.fetchAll($0.database, sql: "PRAGMA \(pragma)") } }
      )
    }
    print("favorites", try clock.measure { try catalog.set(Array(1...AssetID(count / 10)), favorite: true) })
    print("favorite", try clock.measure { for id in 1...20 { try catalog.set([AssetID(id)], favorite: false) } } / 20)
    print("backup", try clock.measure { _ = try catalog.backup(to: nil) })
    print("check", try clock.measure { _ = try catalog.check(deep: false) })
    try catalog.close()
    print("open", try clock.measure { try fixture.open().close() })
    try fixture.remove("", "-wal", "-shm")
    print("rebuild", try clock.measure { try fixture.open().close() })
  }
}
