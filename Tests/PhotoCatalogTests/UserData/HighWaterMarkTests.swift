import Foundation
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// Old copies of the catalog's whole folder. Each copy is consistent in itself.
@Suite struct HighWaterMarkTests {
  private let fixture: UserDataFixture
  private let state: UserDataFixture
  private let copy: UserDataFixture

  init() throws { (fixture, state, copy) = (try UserDataFixture(), try UserDataFixture(), try UserDataFixture()) }

  private func open(bootID: String = "boot", isSuspect: Bool = false) throws -> Catalog {
    try Catalog(
      path: fixture.path, bootID: bootID, isSuspect: isSuspect, stateFolder: state.folder,
      date: .init(microseconds: 1_763_720_100_000_000)
    ) { _ in }
  }

  /// Ends the catalog as a kill does. The mark stays as it was while the catalog was open, and SQLite releases its
  /// files.
  private func kill(_ catalog: Catalog) throws {
    let before = try state.bytes(mark(catalog))
    try catalog.close()
    try state.write(before, to: mark(catalog))
  }

  private func mark(_ catalog: Catalog) -> String { "\(state.folder)/\(catalog.uuid).mark" }

  /// Puts the copy back, as files with the same inodes or with new ones.
  private func putBack(inPlace: Bool) throws {
    try fixture.remove("-wal", "-shm")
    for name in try copy.names() {
      let (from, to) = ("\(copy.folder)/\(name)", "\(fixture.folder)/\(name)")
      if !inPlace, FileManager.default.fileExists(atPath: to) { try FileManager.default.removeItem(atPath: to) }
      let descriptor = Glibc.open(to, O_RDWR | O_CREAT | O_TRUNC, 0o600)
      try #require(descriptor >= 0)
      defer { Glibc.close(descriptor) }
      let bytes = try fixture.bytes(from)
      try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }
  }

  enum CopyTime: CaseIterable { case closed, open }
  enum Ending: CaseIterable { case closed, killed }

  @Test(arguments: CopyTime.allCases, [true, false])
  func anOldCopyOfTheWholeFolderIsDetected(copied: CopyTime, inPlace: Bool) throws {
    for ending in Ending.allCases {
      let first = try open()
      let ids = try first.addPhotos(1)
      if copied == .open { try fixture.copy(to: copy) }
      try first.close()
      if copied == .closed { try fixture.copy(to: copy) }

      let second = try open()
      #expect(second.epoch == first.epoch)
      let later = try second.addPhotos(1, from: 2)
      try second.set(ids, favorite: true)
      let token = try second.read { try $0.token() }
      switch ending {
      case .closed: try second.close()
      case .killed: try kill(second)
      }
      try putBack(inPlace: inPlace)

      let third = try open()
      #expect(third.uuid == token.library && third.epoch == token.epoch + 1, "\(ending)")
      #expect(try third.addPhotos(1, from: 2)[0] > later[0], "an id is used again")
      #expect(try third.messages().contains { $0.contains("an older copy than the one") })
      try third.close()
      let fourth = try open()
      #expect(fourth.epoch == third.epoch)
      try fourth.close()
      for name in try fixture.names() { try FileManager.default.removeItem(atPath: "\(fixture.folder)/\(name)") }
      for name in try copy.names() { try FileManager.default.removeItem(atPath: "\(copy.folder)/\(name)") }
      for name in try state.names() { try FileManager.default.removeItem(atPath: "\(state.folder)/\(name)") }
    }
  }

  @Test func aProcessThatIsKilledEndsNoToken() throws {
    var epochs: Set<Int64> = []
    for number in 1...5 {
      let catalog = try open()
      try catalog.addPhotos(1, from: number)
      epochs.insert(catalog.epoch)
      if number == 3 { try catalog.set([1], favorite: true) }
      // The catalog is not closed.
    }
    #expect(epochs == [1])
  }

  /// photod was killed between COMMIT and the mark.
  @Test func aMarkThatIsOneCommitBehindEndsNoToken() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    let before = try state.bytes(mark(catalog))
    try catalog.addPhotos(1, from: 2)
    #expect(try state.bytes(mark(catalog)) != before)
    let descriptor = Glibc.open(mark(catalog), O_RDWR)
    defer { Glibc.close(descriptor) }
    try #require(pwrite(descriptor, before, before.count, 0) == before.count)
    #expect(try open().epoch == catalog.epoch)
  }

  @Test func aFolderThatIsMovedAfterItWasClosedEndsNoToken() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    try catalog.close()
    try fixture.copy(to: copy)
    try putBack(inPlace: false)
    let moved = try open()
    #expect(moved.epoch == catalog.epoch)
    #expect(try moved.notices().isEmpty)
    try moved.close()
  }

  /// The other file has all commits that the mark knows. But it was copied while photod went on, and the mark may have
  /// been late.
  @Test func anotherFileInThePlaceOfOneThatWasNotClosedEndsTokens() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    try fixture.copy(to: copy)
    try kill(catalog)
    try putBack(inPlace: false)
    let other = try open()
    #expect(other.epoch == catalog.epoch + 1)
    try other.close()
  }

  /// The mark is not synced with each commit. After a power failure it may be as old as the copy.
  @Test func anOldCopyAfterAPowerFailureEndsTokens() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    try catalog.close()
    try fixture.copy(to: copy)
    let again = try open()
    let late = try state.bytes(mark(catalog))
    try again.addPhotos(1, from: 2)
    try again.close()
    try putBack(inPlace: true)
    try state.write(late, to: mark(catalog))
    let old = try open(bootID: "the next boot")
    #expect(old.epoch == catalog.epoch + 1)
    try old.close()
  }

  /// Commits are not synced. After a power failure, the mark may have reached the disk and the last commit not.
  @Test func aCommitLostInAPowerFailureIsNotTakenForAnOldCopy() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    try fixture.copy(to: copy)
    let later = try catalog.addPhotos(1, from: 2)
    try kill(catalog)
    try putBack(inPlace: true)
    let again = try open(bootID: "the next boot")
    #expect(try again.read { try $0.sequence() } == 1)
    #expect(again.epoch == catalog.epoch + 1)
    #expect(try again.notices().isEmpty)
    #expect(try again.addPhotos(1, from: 2)[0] > later[0])
    try again.close()
  }

  /// The journal is the other library's. Only the mark has the ids that were given since the backup.
  @Test func aBackupOfAnEarlierLibraryGivesNoIDAgain() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    let backup = try catalog.backup(to: copy.folder + "/b.sqlite")
    try catalog.write { try $0.reserve(assets: 70_000, collections: 70_000) }
    let later = try catalog.addPhotos(1, from: 2)
    try catalog.close()
    for name in try fixture.names() { try FileManager.default.removeItem(atPath: "\(fixture.folder)/\(name)") }
    let other = try open()
    #expect(other.uuid != catalog.uuid)
    try other.addPhotos(1)
    _ = try other.prepareRestore(from: backup.path)
    try other.close()
    let restored = try open()
    #expect(restored.uuid == catalog.uuid)
    #expect(try restored.addPhotos(1, from: 2)[0] > later[0])
    try restored.close()
  }

  @Test func aDamagedMarkEndsTokensAndAMissingOneDoesNot() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    try catalog.close()
    try FileManager.default.removeItem(atPath: mark(catalog))
    let second = try open()
    #expect(second.epoch == catalog.epoch)
    try second.close()
    var bytes = try state.bytes(mark(catalog))
    bytes[40] ^= 1
    try state.write(bytes, to: mark(catalog))
    let third = try open()
    #expect(third.epoch == catalog.epoch + 1)
    try third.close()
  }

  @Test func anOldJournalWithoutItsCatalogIsDetected() throws {
    let first = try open()
    try first.addPhotos(1)
    try first.set([1], favorite: true)
    try first.close()
    try fixture.copy(to: copy)
    try fixture.remove("")
    let rebuilt = try open()
    let later = try rebuilt.addPhotos(1)
    let epoch = rebuilt.epoch
    try rebuilt.close()
    try putBack(inPlace: false)
    try fixture.remove("")
    let old = try open()
    #expect(old.epoch == epoch + 1)
    #expect(try old.addPhotos(1)[0] > later[0])
    try old.close()
  }

  @Test func aRestoreAndACatalogThatIsWrittenAnewAreNoOldCopies() throws {
    let catalog = try open()
    try catalog.addPhotos(1)
    let backup = try catalog.backup(to: fixture.folder + "/b.sqlite")
    try catalog.addPhotos(1, from: 2)
    _ = try catalog.prepareRestore(from: backup.path)
    try catalog.close()
    let restored = try open()
    #expect(restored.epoch == catalog.epoch + 1)
    #expect(try restored.notices().isEmpty)
    try fixture.remove("", "-wal", "-shm")
    try restored.rescue()
    try restored.close()
    let rescued = try open()
    #expect(rescued.epoch == restored.epoch)
    #expect(try rescued.notices().isEmpty)
    try rescued.close()
  }

  @Test func anUnusableFolderCausesAWarningAndNoFailure() throws {
    let catalog = try Catalog(path: fixture.path, stateFolder: "/nowhere/photod")
    #expect(catalog.markProblem?.contains("/nowhere/photod") == true)
    try catalog.addPhotos(1)
    try catalog.close()
    let again = try open()
    #expect(again.markProblem == nil)
    try again.close()
    try FileManager.default.removeItem(atPath: mark(again))
    try #require(mkfifo(mark(again), 0o600) == 0)
    let piped = try open()
    #expect(piped.markProblem?.contains("not a regular file") == true)
    try piped.close()
  }

  /// The mark was lost with the catalog, and the token of a client is ahead of both.
  @Test func aTokenThatIsAheadEndsAllTokensOnce() throws {
    let first = try open()
    try first.addPhotos(1)
    #expect(try !first.endTokens(), "the epoch is of this opening: the token is made up")
    try first.close()
    let second = try open()
    #expect(try second.endTokens())
    #expect(second.epoch == first.epoch + 1)
    #expect(try !second.endTokens())
    try second.addPhotos(1, from: 2)
    try second.close()
    let third = try open()
    #expect(third.epoch == second.epoch)
    #expect(try third.check(deep: true).findings.isEmpty)
    try third.close()
  }

  @Test func journalThatIsRewrittenAtTheEndOfAllTokensHasTheNewEpoch() throws {
    try open().close()
    let catalog = try open()
    try catalog.addPhotos(1)
    catalog.pool.writeWithoutTransaction { _ in catalog.journal?.mustRewrite = true }
    #expect(try catalog.endTokens())
    try catalog.close()
    #expect(try UserDataJournal.read(fixture.journal, after: 0)?.epoch == catalog.epoch)
  }

  /// The cost of the mark for each commit.
  @Test func aMarkCostsFewMicroseconds() throws {
    let mark = try HighWaterMark(of: "0123456789abcdef", in: state.folder)
    var record = HighWaterMark.Record(
      epoch: 3, sequence: 0, reservedAssets: 20_000, reservedCollections: 10_000,
      file: FileNumbers(device: 65_024, inode: 77, birthTime: 1_763_720_100_000_000_000), isClosed: false,
      bootID: "e0b5e1f2-7c0e-4b0c-9a35-0c7d2f6f7a11")
    let time = try measuringProcessorTime {
      for sequence in 1...1_000 {
        record.sequence = Int64(sequence)
        try mark.write(record, durable: false)
      }
    }.time
    print("a mark takes", time / 1_000)
    #expect(try mark.read() == .record(record))
    #expect(time < .seconds(1))
  }
}
