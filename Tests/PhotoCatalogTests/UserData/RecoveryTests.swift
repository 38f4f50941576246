import Foundation
import GRDB
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// Whatever happens to the files, all user data is there again, and no other data.
@Suite struct RecoveryTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  /// A closed library of six photos, of which two are favorites and one is hidden.
  private func make() throws -> Catalog {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(6)
    try catalog.set([ids[0]], favorite: true)
    try catalog.set([ids[1], ids[2]], favorite: true)
    try catalog.set([ids[2]], favorite: false, hidden: true)
    try catalog.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try catalog.close()
    return catalog
  }

  private let typed: [AssetID: String] = [1: "favorite", 2: "favorite", 3: "hidden"]
  private var waiting: [AssetID: String] { typed.mapValues { $0 + " waits" } }

  // MARK: - The journal

  @Test func aTornEndIsCutAtEveryByte() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(4)
    try catalog.set([ids[0]], favorite: true)
    let before = try fixture.bytes(fixture.journal).count
    try catalog.set([ids[1], ids[2]], favorite: true)
    let bytes = try fixture.bytes(fixture.journal)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    for length in before...bytes.count {
      let contents = UserDataContents(parsing: Array(bytes[..<length]), after: 0)
      #expect(!contents.isDamaged, "\(length)")
      #expect(contents.end == (length == bytes.count ? length : before), "\(length)")
      #expect(contents.entries.keys.sorted() == (length == bytes.count ? [1, 2, 3] : [1]), "\(length)")
    }
    // One of the truncated journals is continued.
    try fixture.write(bytes[..<(bytes.count - 7)], to: fixture.journal)
    let reopened = try fixture.open()
    #expect(try reopened.typed() == [1: "favorite waits"])
    let id = try reopened.addPhotos(1)[0]
    try reopened.set([id], hidden: true)
    try reopened.close()
    let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(!contents.isDamaged)
    #expect(contents.entries.keys.sorted() == [1, id])
  }

  /// The line is lost that moved a folder out of another one. The line that moved the other folder into it is there.
  @Test func aLostLineLeavesNoFolderInItself() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    let created = try catalog.perform(
      .createFolder(title: "B", parent: nil), .createFolder(title: "A", parent: -1),
      .createAlbum(title: "Rome", assets: [1], parent: -2))
    let length = try fixture.bytes(fixture.journal).count
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(parent: .top, position: .end)
    try catalog.perform(.editCollection(created[1], edit))
    edit.place = CollectionPlacement(parent: .folder(created[1]), position: .end)
    try catalog.perform(.editCollection(created[0], edit))
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    var bytes = try fixture.bytes(fixture.journal)
    bytes[length] ^= 1
    try fixture.write(bytes, to: fixture.journal)
    let rebuilt = try fixture.open()
    let tree = try rebuilt.read { reader in
      try [nil, created[0], created[1]].map { try reader.userCollections(in: $0).map(\.title) }
    }
    #expect(tree == [["B"], ["A"], ["Rome"]])
    try rebuilt.close()
  }

  /// The line is lost that moved an album out of a folder, which was deleted later.
  @Test(arguments: [true, false]) func aLostLineLosesNoAlbumThatLeftADeletedFolder(hasOldCatalog: Bool) throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let created = try catalog.perform(
      .createFolder(title: "Trips", parent: nil), .createAlbum(title: "Rome", assets: [1, 2], parent: -1),
      .createAlbum(title: "Oslo", assets: [1], parent: -1))
    try catalog.close()
    let yesterday = try fixture.bytes(fixture.path)
    let today = try fixture.open()
    let length = try fixture.bytes(fixture.journal).count
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(parent: .top, position: .end)
    try today.perform(.editCollection(created[1], edit))
    try today.perform(.deleteCollection(created[0]))
    try today.close()
    try fixture.remove("", "-wal", "-shm")
    if hasOldCatalog { try fixture.write(yesterday, to: fixture.path) }
    var bytes = try fixture.bytes(fixture.journal)
    bytes[length] ^= 1
    try fixture.write(bytes, to: fixture.journal)
    let reopened = try fixture.open()
    #expect(try reopened.read { try $0.userCollections(in: nil).map(\.title) } == ["Rome"])
    if hasOldCatalog { #expect(try reopened.write { try $0.members(ofAlbum: created[1]) } == [1, 2]) }
    try reopened.close()
  }

  /// Tries every bit. With the catalog intact, nothing is lost. Without the catalog, at most one line is lost.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func aFlippedBitCostsAtMostItsLine() throws {
    let catalog = try make()
    let bytes = try fixture.bytes(fixture.journal)
    for index in bytes.indices {
      for bit in 0..<8 {
        var damaged = bytes
        damaged[index] ^= 1 << bit
        var contents = UserDataContents(parsing: damaged, after: 0)
        contents.finish()
        #expect(contents.library == catalog.uuid, "byte \(index), bit \(bit)")
        // A damaged newline joins two lines.
        let lost = typed.keys.filter { contents.entries[$0] == nil }
        #expect(lost.count <= 2, "byte \(index), bit \(bit)")
        for entry in contents.entries.values {
          // An older line of the same asset may remain.
          #expect(
            (1...3).contains(entry.id) && (entry.data.isFavorite || entry.data.isHidden),
            "byte \(index), bit \(bit): invented")
        }
      }
    }
    for index in stride(from: 0, to: bytes.count, by: 37) {
      var damaged = bytes
      damaged[index] ^= 4
      try fixture.write(damaged, to: fixture.journal)
      let reopened = try fixture.open()
      #expect(try reopened.typed() == typed, "byte \(index)")
      #expect(reopened.epoch == catalog.epoch, "byte \(index)")
      #expect(try reopened.notices().count == 1, "byte \(index)")
      try reopened.acknowledgeNotices()
      #expect(try reopened.check(deep: false).isOK)
      try reopened.close()
      try fixture.write(bytes, to: fixture.journal)
      // The journal that was put back is older than the catalog. It is written anew with the same content.
      let again = try fixture.open()
      #expect(try again.typed() == typed)
      try again.close()
      try fixture.write(bytes, to: fixture.journal)
    }
    #expect(try fixture.names().contains { $0.hasSuffix(".damaged.userdata") })
  }

  @Test func theReadablePartOfADamagedJournalIsRestored() throws {
    let catalog = try make()
    var bytes = try fixture.bytes(fixture.journal)
    let text = String(decoding: bytes, as: UTF8.self)
    let line = try #require(text.range(of: "asset id=2 "))
    bytes[text.utf8.distance(from: text.startIndex, to: line.lowerBound) + 9] ^= 1
    try fixture.write(bytes, to: fixture.journal)
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(rebuilt.uuid == catalog.uuid)
    #expect(try rebuilt.typed() == [1: "favorite waits", 3: "hidden waits"])
    #expect(try rebuilt.messages().contains { $0.contains("journal of user data was damaged") })
    try rebuilt.close()
  }

  @Test func aLostJournalIsWrittenFromTheCatalog() throws {
    _ = try make()
    try FileManager.default.removeItem(atPath: fixture.journal)
    let reopened = try fixture.open()
    try reopened.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed() == waiting)
    try rebuilt.close()
  }

  @Test func theJournalOfAnotherLibraryIsIgnored() throws {
    let other = try UserDataFixture()
    let stranger = try other.open()
    try stranger.addPhotos(4)
    try stranger.set([4], favorite: true)
    try stranger.close()
    let catalog = try make()
    try fixture.write(try other.bytes(other.journal), to: fixture.journal)
    let reopened = try fixture.open()
    #expect(try reopened.typed() == typed)
    #expect(reopened.uuid == catalog.uuid && reopened.epoch == catalog.epoch)
    #expect(try fixture.names().contains { $0.hasSuffix(".other.userdata") })
    try reopened.close()
  }

  // MARK: - The catalog

  @Test(arguments: ["empty with a log", "cut", "garbage", "page", "header", "no tables"])
  func aDamagedCatalogIsMovedAsideAndMadeAnew(kind: String) throws {
    let catalog = try make()
    var bytes = try fixture.bytes(fixture.path)
    switch kind {
    case "empty with a log": bytes = []
    case "cut": bytes = Array(bytes[..<(bytes.count / 3)])
    case "garbage": bytes = (0..<bytes.count).map { UInt8(truncatingIfNeeded: $0 &* 31 ^ ($0 >> 5)) }
    case "page": for index in 8192..<12_288 { bytes[index] = 0x5a }
    case "header": for index in 0..<16 { bytes[index] = 0 }
    default:
      let queue = try DatabaseQueue(path: fixture.path)
      try queue.write { try $0.execute(sql: "DROP TABLE library") }
      try queue.close()
      bytes = try fixture.bytes(fixture.path)
    }
    try fixture.remove("-wal", "-shm")
    try fixture.write(bytes, to: fixture.path)
    if bytes.isEmpty { try fixture.write([1, 2, 3], to: fixture.path + "-wal") }
    // Only a check of all pages finds damage in a middle page. Such a check follows a crash.
    let rebuilt = try fixture.open(isSuspect: true)
    #expect(rebuilt.uuid == catalog.uuid)
    #expect(rebuilt.epoch == catalog.epoch + 1)
    #expect(try rebuilt.typed() == waiting)
    let aside = try #require(try fixture.names().first { $0.hasSuffix(".damaged.sqlite") })
    #expect(aside == "catalog-2025-11-21T10-15-00.damaged.sqlite")
    #expect(try fixture.bytes(fixture.folder + "/" + aside).count >= bytes.count)
    #expect(try rebuilt.notices().first?.contains(aside) == true)
    #expect(try rebuilt.check(deep: true).findings.isEmpty)
    // Removing the file ends the notice.
    try FileManager.default.removeItem(atPath: fixture.folder + "/" + aside)
    #expect(try rebuilt.notices().isEmpty)
    try rebuilt.close()
  }

  /// If the disk is full, each attempt to make a new catalog leaves such a file.
  @Test(arguments: [["-wal", "-shm"], []])
  func anEmptyCatalogIsMadeAnewAndNotKept(beside: [String]) throws {
    let catalog = try make()
    try fixture.remove("-wal", "-shm")
    for suffix in [""] + beside { try fixture.write([], to: fixture.path + suffix) }
    let rebuilt = try fixture.open()
    #expect(rebuilt.uuid == catalog.uuid)
    #expect(rebuilt.epoch == catalog.epoch + 1)
    #expect(try rebuilt.typed() == waiting)
    #expect(try fixture.names().filter { $0.contains("damaged") } == [])
    try rebuilt.close()
  }

  @Test func aLogIsMovedAsideWithItsCatalogOrNotAtAll() throws {
    _ = try make()
    func beside() throws -> [String] { try fixture.names().filter { $0.contains("damaged") } }
    // Without its catalog, the file is of no use.
    try fixture.remove("")
    try fixture.write([1, 2, 3], to: fixture.path + "-wal")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed() == waiting)
    let left = "catalog-2025-11-21T10-15-00.left.sqlite-wal"
    #expect(try rebuilt.notices().contains { $0.hasSuffix("It is \(fixture.folder)/\(left).") })
    #expect(try fixture.bytes(fixture.folder + "/" + left) == [1, 2, 3])
    try FileManager.default.removeItem(atPath: fixture.folder + "/" + left)
    #expect(try rebuilt.notices().count == 1, "what is removed is known")
    try rebuilt.close()
    #expect(try beside() == [])
    for suffix in ["-wal", "-shm"] { try fixture.write([4], to: fixture.path + suffix) }
    let files = CatalogFiles(catalog: fixture.path)
    // Any of the renames may fail, and the file may be renamed nevertheless.
    for (failing, isRenamed) in [(fixture.path, false), (fixture.path + "-wal", false), (fixture.path + "-wal", true)] {
      #expect(throws: Failing.Hit.self) {
        try files.moveCatalogAside(because: "damaged", date: .init(microseconds: 0)) { path, other in
          if path != failing || isRenamed { try PrivateFile.rename(path, to: other) }
          if path == failing { throw Failing.Hit() }
        }
      }
      #expect(try beside() == [])
      #expect(try fixture.bytes(fixture.path + "-wal") == [4])
    }
    let aside = try #require(try files.moveCatalogAside(because: "damaged", date: .init(microseconds: 0)))
    #expect(try beside() == [aside, aside + "-wal"].map { String($0.dropFirst(fixture.folder.count + 1)) })
    #expect(try files.moveCatalogAside(because: "damaged", date: .init(microseconds: 0)) == nil)
  }

  enum JournalLeft: CaseIterable { case whole, cut, unreadable, gone }

  /// The notice about a new catalog says what happened to the user data, and which backups exist.
  @Test(arguments: JournalLeft.allCases, [true, false])
  func theNoticeOfARebuildReportsTheUserDataAndTheBackups(left: JournalLeft, isDamaged: Bool) throws {
    _ = try make()
    let first = try fixture.open()
    let backup = try first.backup(to: nil).path
    try first.close()
    switch left {
    case .whole: break
    case .cut: try fixture.write(Array(try fixture.bytes(fixture.journal).dropFirst(150)), to: fixture.journal)
    case .unreadable: try fixture.write(Array("nothing\nto read\n".utf8), to: fixture.journal)
    case .gone: try FileManager.default.removeItem(atPath: fixture.journal)
    }
    try fixture.remove("", "-wal", "-shm")
    if isDamaged { try fixture.write(Array(repeating: 7, count: 9000), to: fixture.path) }
    let rebuilt = try fixture.open()
    let notice = try #require(try rebuilt.notices().first)
    #expect(
      notice.hasPrefix("The catalog was \(isDamaged ? "damaged (" : "gone, and photod has made a new one. ")"),
      "\(notice)")
    let comesBack = try rebuilt.typed().count
    #expect(
      notice.contains("The user data of \(counted(comesBack, "photo", "photos")) comes back from the journal")
        == (comesBack > 0))
    #expect(notice.contains("Your favorites, albums and edits are not in it") == (comesBack == 0), "\(notice)")
    #expect((comesBack == 0) == (left == .unreadable || left == .gone))
    #expect(notice.contains("`photoctl restore '\(backup)'`") == (left != .whole), "\(notice)")
    try rebuilt.close()
  }

  @Test func anUncleanEndCausesACheckOfEveryPage() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(400)
    try catalog.set([7], favorite: true)
    try catalog.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    let copy = try UserDataFixture()
    try fixture.copy(to: copy)
    try catalog.close()
    var bytes = try copy.bytes(copy.path)
    let middle = bytes.count / 4096 / 2 * 4096
    for index in middle..<middle + 4096 { bytes[index] = 0 }
    try copy.write(bytes, to: copy.path)
    let rebuilt = try copy.open()
    #expect(rebuilt.epoch == catalog.epoch + 1)
    #expect(try rebuilt.typed() == [7: "favorite waits"])
    try rebuilt.close()
  }

  @Test func aDatabaseOfAnotherProgramIsLeftAlone() throws {
    let queue = try DatabaseQueue(path: fixture.path)
    try queue.write { try $0.execute(sql: "CREATE TABLE bookmark (url TEXT)") }
    try queue.close()
    let bytes = try fixture.bytes(fixture.path)
    #expect(throws: PhotoError.self) { try fixture.open() }
    #expect(try fixture.bytes(fixture.path) == bytes)
    #expect(try fixture.names() == ["catalog.sqlite"])
  }

  @Test func aNewerJournalIsNotTouched() throws {
    try fixture.write(Array("photod user data 2\n\u{1}\u{2}binary".utf8), to: fixture.journal)
    let error = #expect(throws: PhotoError.self) { try fixture.open() }
    #expect(error?.code == "catalogTooNew")
  }

  /// Statements do not help a reader of the status or the log, and they contain paths.
  @Test func messageOfSQLiteHasNoStatement() async throws {
    let damage = DatabaseError(resultCode: .SQLITE_CORRUPT, message: "malformed", sql: "SELECT secret")
    let full = DatabaseError(resultCode: .SQLITE_FULL, message: "full", sql: "UPDATE secret")
    let other = try UserDataFixture()
    let unopened = #expect(throws: PhotoError.self) { try other.open { if $0 == .rewrite { throw full } } }
    #expect(unopened?.description.hasSuffix("(SQLite error 13: full)") == true, "\(String(describing: unopened))")

    _ = try make()
    let reopened = try fixture.open()
    let snapshot = try reopened.snapshot()
    let read = #expect(throws: DatabaseError.self) { try reopened.read { _ in throw damage } }
    let written = #expect(throws: DatabaseError.self) { try reopened.write { _ in throw full } }
    let paged = #expect(throws: DatabaseError.self) { try snapshot.read { _ in throw damage } }
    #expect(read?.description == "SQLite error 11: malformed" && paged?.description == read?.description)
    #expect(written?.description == "SQLite error 13: full")
    #expect(Catalog.isDamage(try #require(read)))
    #expect(Catalog.isFull(try #require(written)))
    var said = reopened.damage.makeAsyncIterator()
    #expect(await said.next() == "SQLite error 11: malformed")
    try reopened.close()
  }

  // MARK: - Copies of another day

  @Test func anUpgradedCatalogRejectsOldTokens() throws {
    let catalog = try make()
    let yesterday = try UserDataFixture()
    try fixture.copy(to: yesterday)
    // Since then, 4 became a favorite, 1 stopped being one, and the journal was compacted.
    let today = try fixture.open()
    try today.set([4], favorite: true)
    try today.set([1], favorite: false)
    for round in 0..<600 { try today.set([5], favorite: round % 2 == 0) }
    let token = try today.read { try $0.token() }
    try today.close()

    try fixture.remove("", "-wal", "-shm")
    try fixture.write(try yesterday.bytes(yesterday.path), to: fixture.path)
    let reopened = try fixture.open()
    #expect(try reopened.typed() == [2: "favorite", 3: "hidden", 4: "favorite"])
    #expect(reopened.uuid == catalog.uuid)
    #expect(reopened.epoch > token.epoch)
    #expect(try reopened.addPhotos(1, from: 7)[0] > 10_000)
    try reopened.close()
  }

  /// The journal has the rename of a folder as one line, after the lines of its photos.
  @Test func anOlderCatalogLearnsPathsAfterTheLastRename() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    try catalog.close()
    let yesterday = try fixture.bytes(fixture.path)
    let today = try fixture.open()
    let ids = try today.addPhotos(1, from: 2)
    try today.write { writer in
      let folder = try writer.insertDirectory(
        parentID: 1, rootID: nil, name: Array("a".utf8), volumeID: 1, inode: 50, birthTime: 1
      )
      try writer.moveFile(
        try #require(try writer.file(1, Array("2.jpg".utf8))), to: folder, name: Array("2.jpg".utf8),
        changesAvailability: false)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try today.set(ids, favorite: true)
    try today.write { writer in
      try writer.database.execute(sql: "UPDATE directory SET name = 'b' WHERE inode = 50")
      writer.record.renamedDirectories.append(
        .init(directoryID: 2, fromPath: Array("/p/a".utf8), toPath: Array("/p/b".utf8)))
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try today.close()
    try fixture.remove("", "-wal", "-shm")
    try fixture.write(yesterday, to: fixture.path)
    let reopened = try fixture.open()
    #expect(try reopened.write { try $0.tombstone(of: ids[0])?.path } == Array("/p/b/2.jpg".utf8))
    try reopened.close()
  }

  @Test func aDamagedCatalogIsFoundInAFolderWithAnyName() throws {
    for folder in ["Photos", "Büro 📷"] {
      let path = "\(fixture.folder)/\(folder)"
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      let aside = "\(path)/catalog-2026-11-21T10-15-00.damaged.sqlite"
      try fixture.write([1], to: aside)
      #expect(CatalogFiles(catalog: path + "/catalog.sqlite").catalogOfUnfinishedOpening == aside)
    }
  }

  @Test func aLargerEpochInTheJournalIsExceeded() throws {
    let catalog = try make()
    let old = try fixture.bytes(fixture.path)
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(rebuilt.epoch == catalog.epoch + 1)
    try rebuilt.close()
    try fixture.remove("", "-wal", "-shm")
    try fixture.write(old, to: fixture.path)
    let reopened = try fixture.open()
    #expect(reopened.epoch == rebuilt.epoch + 1)
    #expect(try reopened.typed() == typed)
    try reopened.close()
  }

  @Test func powerFailureRaisesTheEpochAndKeepsWhatWasAcknowledged() throws {
    let catalog = try fixture.open(bootID: "one")
    try catalog.addPhotos(6)
    try catalog.set([1], favorite: true)
    try catalog.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    try catalog.set([2], favorite: true)
    try catalog.addPhotos(1, from: 7)
    try catalog.set([7], favorite: true)
    let after = try UserDataFixture()
    try fixture.copy(to: after)
    try catalog.close()
    // SQLite's log was not synced, so it is lost. The journal was synced.
    try after.remove("-wal", "-shm")
    let reopened = try after.open(bootID: "two")
    #expect(reopened.epoch == 2)
    #expect(try reopened.typed() == [1: "favorite", 2: "favorite", 7: "favorite waits"])
    #expect(try reopened.addPhotos(1, from: 8)[0] > 10_000, "7 is used again")
    try reopened.close()
    // After a kill within the same boot, nothing can be missing.
    let killed = try UserDataFixture()
    try after.copy(to: killed)
    let clean = try killed.open(bootID: "three")
    #expect(clean.epoch == 2)
    try clean.close()
  }

  /// A sandbox that hides the boot id leaves open whether the machine went down.
  @Test func anUnknownBootCountsAsAnotherBoot() throws {
    let catalog = try fixture.open(bootID: "unknown")
    try catalog.addPhotos(3)
    let killed = try UserDataFixture()
    try fixture.copy(to: killed)
    try catalog.close()
    let reopened = try killed.open(bootID: "unknown")
    #expect(reopened.epoch == catalog.epoch + 1)
    try reopened.close()
    let closed = try fixture.open(bootID: "unknown")
    #expect(closed.epoch == catalog.epoch)
    try closed.close()
  }

  /// If a daemon can't open its catalog, it tries again every few seconds as long as the disk is full.
  @Test func anOpeningThatFailsKeepsNoCopyOfADamagedJournal() throws {
    _ = try make()
    var bytes = try fixture.bytes(fixture.journal)
    bytes[bytes.count / 2] ^= 1
    try fixture.write(bytes, to: fixture.journal)
    let failing = Failing()
    failing.at = .rewrite
    for _ in 0..<3 { #expect(throws: (any Error).self) { try fixture.open(hook: failing.hook) } }
    #expect(try fixture.names().filter { $0.contains("damaged") } == [])
    #expect(try fixture.bytes(fixture.journal) == bytes)
    let reopened = try fixture.open()
    #expect(try fixture.names().filter { $0.contains("damaged") }.count == 1)
    try reopened.close()
  }

  /// The opening finds the damage, moves the catalog away, and then fails before or after it writes the journal.
  @Test(arguments: [nil, .rewrite, .written, .renamed] as [UserDataJournal.Step?])
  func aDamagedCatalogThatAFailedOpeningMovedAsideIsNamed(failsAt step: UserDataJournal.Step?) throws {
    _ = try make()
    // This file is of another day. It must not count as the damaged catalog of this opening.
    let older = fixture.folder + "/catalog-2024-01-01T00-00-00.damaged.sqlite"
    try fixture.write([1], to: older)
    let first = try fixture.open()
    try first.set([1], hidden: true)
    try first.close()
    try fixture.remove("-wal", "-shm")
    try fixture.write(Array(repeating: 7, count: 9000), to: fixture.path)
    if let step {
      let failing = Failing()
      failing.at = step
      for _ in 0..<2 { #expect(throws: (any Error).self) { try fixture.open(hook: failing.hook) } }
    } else {
      // photod was killed at once.
      let files = CatalogFiles(catalog: fixture.path)
      _ = try files.moveCatalogAside(because: "damaged", date: .init(microseconds: 1_763_720_100_000_000))
    }
    let opened = try fixture.open()
    let aside = fixture.folder + "/catalog-2025-11-21T10-15-00.damaged.sqlite"
    let notice = try #require(try opened.notices().first)
    #expect(notice.hasPrefix("The catalog was damaged ("), "\(notice)")
    #expect(notice.contains("The damaged one is \(aside)."), "\(notice)")
    try opened.close()
    // The damage is known by now. If a catalog is removed later, it was not damaged.
    let again = try fixture.open()
    try again.set([2], hidden: true)
    try again.close()
    try fixture.remove("", "-wal", "-shm")
    let last = try fixture.open()
    #expect(try last.notices().first?.hasPrefix("The catalog was gone") == true)
    try last.close()
  }

  @Test func idsAreReservedBeforeTheyAreGiven() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(20)
    var contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(contents.reservedAssets >= 20)
    try catalog.write { try $0.reserveIDs(through: contents.reservedAssets.advanced(by: 1)) }
    contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(contents.reservedAssets > 20_000)
    try catalog.close()
  }
}
