import Foundation
import PhotoModel
import Testing

@testable import PhotoCatalog

/// Other files in the place of a backup or a journal, and files of other programs beside them.
@Suite struct HostileFileTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  private static let day = Duration.seconds(86_400)
  private static let date = WallTime(seconds: 1_763_720_100)

  private func sparse(_ path: String, beginning bytes: [UInt8], byteCount: Int) throws {
    try fixture.write(bytes, to: path)
    try #require(truncate(path, byteCount) == 0)
  }

  /// `--catalog photo.jpg` is a mistake, and the photo must survive it.
  @Test(arguments: [false, true]) func aFileThatIsNoCatalogIsNamedAndStays(isSuspect: Bool) throws {
    let path = fixture.folder + "/photo.jpg"
    let bytes = Array(repeating: UInt8(7), count: 9_000)
    try fixture.write(bytes, to: path)
    let error = #expect(throws: PhotoError.self) { _ = try Catalog(path: path, isSuspect: isSuspect) }
    #expect(error?.message == "\(path) is no catalog. Give another file with --catalog.")
    #expect(try fixture.bytes(path) == bytes)
  }

  @Test func aSparseFileIsRefusedBeforeItIsCopied() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let path = fixture.folder + "/hole"
    for beginning in ["", "SQLite format 3\0"] {
      try sparse(path, beginning: Array(beginning.utf8), byteCount: 4 << 40)
      let error = #expect(throws: BackupError.self) { try catalog.prepareRestore(from: path) }
      switch error {
      case .notABackup(path, let message): #expect(beginning.isEmpty && message.contains("is no catalog of photod"))
      case .storageFull(let message): #expect(!beginning.isEmpty && message.contains("takes 4.4 TB"), "\(message)")
      default: Issue.record("\(String(describing: error))")
      }
    }
    try catalog.set([1], favorite: true)
    #expect(try fixture.names().filter { $0.contains("restored") }.isEmpty)
    try catalog.close()
  }

  @Test func onlyARegularFileIsABackup() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let pipe = fixture.folder + "/pipe"
    try #require(mkfifo(pipe, 0o600) == 0)
    for path in [pipe, fixture.folder, "/dev/zero"] {
      let error = #expect(throws: BackupError.self) { try catalog.prepareRestore(from: path) }
      guard case .notABackup(path, let message) = error, message.contains("it is not a regular file") else {
        Issue.record("\(path): \(String(describing: error))")
        continue
      }
    }
    try catalog.close()
  }

  @Test func aPipeAmongTheBackupsIsPassedOver() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let first = try #require(try catalog.dailyBackup(date: Self.date))
    try #require(mkfifo(catalog.files.backup("2025-11-22"), 0o600) == 0)
    try #require(mkfifo(catalog.files.backup("2025-11-20"), 0o600) == 0)
    #expect(try catalog.backups().map(\.path) == [first.path])
    try catalog.set([1], favorite: true)
    #expect(try catalog.dailyBackup(date: Self.date)?.path == first.path)
    try catalog.close()
  }

  @Test func aJournalThatIsAPipeOrASparseFileIsReported() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    try catalog.close()
    try FileManager.default.removeItem(atPath: fixture.journal)
    try #require(mkfifo(fixture.journal, 0o600) == 0)
    #expect(throws: PhotoError.self) { try fixture.open() }
    try FileManager.default.removeItem(atPath: fixture.journal)
    try sparse(fixture.journal, beginning: [], byteCount: 4 << 40)
    let error = #expect(throws: PhotoError.self) { try fixture.open() }
    #expect(error?.message.contains("Move it away") == true)
    try FileManager.default.removeItem(atPath: fixture.journal)
    try fixture.open().close()
  }

  @Test func aCopyIsTheFileAlsoBeyondOnePiece() throws {
    let bytes = (0..<(5 << 19) + 7).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) }
    let source = fixture.folder + "/source"
    try fixture.write(bytes, to: source)
    let target = try TemporaryFile(beside: fixture.folder + "/target")
    defer { close(target.descriptor) }
    #expect(try PrivateFile.copy(source, to: target.descriptor, target.path))
    #expect(try fixture.bytes(target.path) == bytes)
    #expect(try !PrivateFile.copy(fixture.folder + "/nothing", to: target.descriptor, target.path))
  }

  // MARK: - Files of other programs

  @Test func filesOfOtherProgramsBesideABackupStay() throws {
    let path = fixture.folder + "/mine.sqlite"
    let others = ["", "-wal", "-shm", "-journal"].flatMap { suffix in
      [path, fixture.folder + "/catalog.restored", fixture.journal].map { $0 + ".new" + suffix }
    }
    for other in others { try fixture.write(Array(other.utf8), to: other) }
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let backup = try catalog.backup(to: path)
    _ = try catalog.prepareRestore(from: backup.path)
    try catalog.close()
    let restored = try fixture.open()
    try restored.set([1], favorite: true)
    try restored.close()
    for other in others { #expect(try fixture.bytes(other) == Array(other.utf8), "\(other)") }
    #expect(try fixture.names().filter { $0.contains(".photod-") }.isEmpty)
  }

  @Test func aFileThatTakesTheNameMeanwhileKeepsIt() throws {
    let (mine, theirs) = (fixture.folder + "/mine", fixture.folder + "/theirs")
    try fixture.write([1], to: mine)
    try fixture.write([2], to: theirs)
    #expect(throws: PrivateFileError.self) { try PrivateFile.renameWithoutReplacing(mine, to: theirs) }
    #expect(try fixture.bytes(mine) == [1] && fixture.bytes(theirs) == [2])
    try PrivateFile.renameWithoutReplacing(mine, to: fixture.folder + "/other")
    #expect(try fixture.bytes(fixture.folder + "/other") == [1] && !PrivateFile.exists(mine))
  }

  @Test func filesOfAKilledProcessAreRemoved() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    _ = try catalog.dailyBackup(date: Self.date)
    try catalog.close()
    let left = [
      fixture.journal + ".photod-00112233445566aa", fixture.folder + "/catalog.restored.photod-00112233445566aa-wal",
      catalog.files.backup("2025-11-20") + ".photod-00112233445566aa-journal",
    ]
    let others = [
      fixture.folder + "/notes.photod-00112233445566aa", fixture.journal + ".photod-", fixture.journal + ".photod-1122",
      catalog.files.backups + "/second-2025-11-20.sqlite.photod-00112233445566aa",
    ]
    for path in left + others { try fixture.write([1], to: path) }
    let again = try fixture.open()
    try again.set([1], favorite: true)
    _ = try again.dailyBackup(date: Self.date + Self.day)
    try again.close()
    for path in left { #expect(!PrivateFile.exists(path), "\(path)") }
    for path in others { #expect(PrivateFile.exists(path), "\(path)") }
  }

  // MARK: - Clocks that were wrong

  /// - Parameter ahead: the error of the clock in days. The names and the dates of the files have the same error.
  private func backUp(_ catalog: Catalog, now: WallTime, daysAhead ahead: Int64) throws -> BackupReport? {
    let report = try catalog.dailyBackup(date: now + Self.day * ahead)
    if let report {
      let date = Date(timeIntervalSince1970: Double(now.microseconds / 1_000_000 + ahead * 86_400))
      try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: report.path)
    }
    return report
  }

  @Test func backupsOfDaysToComeMakeNoOtherBackupEachTime() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    let now = WallTime.now
    for ahead in (40..<60) as Range<Int64> {
      try catalog.set([1], favorite: ahead % 2 == 0)
      _ = try #require(try backUp(catalog, now: now, daysAhead: ahead))
    }
    #expect(try !catalog.hasFreshBackup(at: now))
    try catalog.set([1], hidden: true)
    let today = try #require(try backUp(catalog, now: now, daysAhead: 0))
    try catalog.set([1], hidden: false)
    #expect(try catalog.hasFreshBackup(at: now))
    #expect(PrivateFile.exists(today.path), "the backup of today was dropped in favor of days to come")
    for days in (1...30) as ClosedRange<Int64> {
      try catalog.set([1], favorite: days % 2 == 0)
      #expect(try !catalog.hasFreshBackup(at: now + Self.day * days))
      _ = try #require(try backUp(catalog, now: now + Self.day * days, daysAhead: 0))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: catalog.files.backups)
    #expect(names.count == Catalog.keptDaily + Catalog.keptWeekly)
    try catalog.close()
  }

  /// A file server whose clock is ahead gives each backup such a date.
  @Test(arguments: [600, 3 * 86_400] as [Int64]) func aBackupThatIsDatedAheadCountsAsMadeNow(ahead: Int64) throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    let now = WallTime.now
    let report = try #require(try catalog.dailyBackup(date: now))
    let date = Date(timeIntervalSince1970: Double(now.microseconds / 1_000_000 + ahead))
    try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: report.path)
    #expect(try catalog.hasFreshBackup(at: now))
    let isFarAhead = ahead > 86_400
    #expect(try catalog.hasFreshBackup(at: now + Self.day) != isFarAhead)
    try catalog.close()
  }
}
