import Foundation
import GRDB
import PhotoModel
import Synchronization
import TestTools
import Testing

@testable import PhotoCatalog

@Suite struct UserDataTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  @Test func crcIsThatOfTheStandard() {
    #expect(CRC32C.checksum(of: Array("123456789".utf8)) == 0xE306_9283)
    #expect(CRC32C.checksum(of: [UInt8](repeating: 0, count: 32)) == 0x8A91_36AA)
  }

  /// Several bytes are processed at a time, but the result is that of the polynomial, bit by bit.
  @Test func checksumIsThatOfThePolynomial() {
    var random = SeededGenerator(seed: 1)
    for count in 0..<40 {
      let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
      for start in 0...min(count, 3) {
        var value: UInt32 = 0xFFFF_FFFF
        for byte in bytes[start...] {
          value ^= UInt32(byte)
          for _ in 0..<8 { value = value & 1 == 0 ? value >> 1 : (value >> 1) ^ 0x82F6_3B78 }
        }
        #expect(CRC32C.checksum(of: bytes[start...]) == ~value, "\(count) bytes from \(start)")
      }
    }
  }

  @Test func entriesKeepEveryByteOfAPathAndFieldsOfLaterVersions() {
    var entry = UserDataEntry(id: 7)
    entry.data.isHidden = true
    entry.deletedDate = WallTime(microseconds: 99)
    entry.file.path = Array("/a b%c\n=".utf8) + [0xff, 0x00, 0x7f]
    entry.file.inode = .max
    entry.file.marks = ContentMarks(
      fingerprint: 1 << 63, sample: ContentDigest(high: 1, low: .max), hash: ContentDigest(high: 1 << 63, low: 0))
    entry.others = [UserDataField(key: "later", value: Array("Zürich am See".utf8))]
    var line = RecordLine()
    UserDataRecord.asset(entry).write(to: &line)
    let payload = line.bytes
    #expect(payload.allSatisfy { $0 >= 0x20 && $0 < 0x7f })
    #expect(UserDataRecord(parsing: payload[...]) == .asset(entry))
    #expect(UserDataRecord(parsing: Array("album id=3 title=x".utf8)[...]) == .other(Array("album id=3 title=x".utf8)))
  }

  @Test func favoritesComeBackWithADeletedCatalog() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(5)
    try catalog.set([ids[1], ids[3]], favorite: true)
    try catalog.set([ids[3]], hidden: true)
    try catalog.set([ids[4]], favorite: true)
    try catalog.set([ids[4]], favorite: false)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")

    let rebuilt = try fixture.open()
    #expect(rebuilt.uuid == catalog.uuid)
    #expect(rebuilt.epoch == catalog.epoch + 1)
    #expect(try rebuilt.typed() == [2: "favorite waits", 4: "favorite hidden waits"])
    let tombstone = try #require(try rebuilt.write { try $0.tombstone(of: 4) })
    #expect(tombstone.path == Array("/p/4.jpg".utf8))
    #expect(
      tombstone.inode == 4 && tombstone.byteCount == 10 && tombstone.marks.fingerprint == 4
        && tombstone.addedDate == WallTime(microseconds: 5))
    #expect(tombstone.deletedDate == nil && tombstone.volumeID != nil)
    #expect(try rebuilt.addPhotos(1)[0] > 10_000, "an id is used again")
    #expect(try rebuilt.messages().count == 1)
    try rebuilt.close()
    // The data stays after another opening.
    let again = try fixture.open()
    #expect(again.epoch == rebuilt.epoch)
    #expect(try again.typed() == [2: "favorite waits", 4: "favorite hidden waits"])
    try again.close()
  }

  @Test func aNewLibraryHasNoMessages() throws {
    let catalog = try fixture.open()
    #expect(try catalog.messages().isEmpty)
    #expect(catalog.epoch == 1)
    try catalog.close()
    let again = try fixture.open()
    #expect(try again.messages().isEmpty)
    #expect(again.epoch == 1 && again.uuid == catalog.uuid)
    try again.close()
    #expect(try fixture.names().filter { !$0.hasPrefix("catalog.sqlite") } == ["catalog.userdata"])
    let mode = try FileManager.default.attributesOfItem(atPath: fixture.journal)[.posixPermissions] as? Int
    #expect(mode == 0o600)
  }

  @Test func libraryWithoutCatalogAndJournalIsNew() throws {
    let catalog = try fixture.open()
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    try FileManager.default.removeItem(atPath: fixture.journal)
    let other = try fixture.open()
    #expect(other.uuid != catalog.uuid)
    try other.close()
  }

  @Test func placesFollowMovesOfFilesAndFolders() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(2)
    try catalog.set(ids, favorite: true)
    try catalog.write { writer in
      let folder = try writer.insertDirectory(
        parentID: 1, rootID: nil, name: Array("a b".utf8), volumeID: 1, inode: 50, birthTime: 1
      )
      let row = try #require(try writer.file(1, Array("1.jpg".utf8)))
      try writer.moveFile(row, to: folder, name: Array("ü.jpg".utf8), changesAvailability: false)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try catalog.write { writer in
      try writer.database.execute(sql: "UPDATE directory SET name = 'c' WHERE inode = 50")
      writer.record.renamedDirectories.append(
        .init(directoryID: 2, fromPath: Array("/p/a b".utf8), toPath: Array("/p/c".utf8)))
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: ids[1]))
      try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 77))
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try catalog.close()
    let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(contents.entries[1]?.file.path == Array("/p/c/ü.jpg".utf8))
    #expect(contents.entries[2]?.deletedDate == WallTime(microseconds: 77))
    #expect(contents.isClosed)
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.write { try $0.tombstone(of: 1)?.path } == Array("/p/c/ü.jpg".utf8))
    #expect(try rebuilt.write { try $0.tombstone(of: 2)?.deletedDate } == WallTime(microseconds: 77))
    try rebuilt.close()
  }

  /// A commit names each folder that moved with its first and its last path, as if all of it had happened at once.
  @Test func placesFollowFoldersThatExchangeTheirNames() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(3)
    try catalog.set(ids, favorite: true)
    func name(_ directory: DirectoryID, _ name: String, _ writer: CatalogWriter) throws {
      try writer.database.execute(
        sql: "UPDATE directory SET name = ? WHERE id = ?", arguments: [name, directory.rawValue])
    }
    try catalog.write { writer in
      for index in 0..<2 {
        let folder = try writer.insertDirectory(
          parentID: 1, rootID: nil, name: [UInt8(ascii: "a") + UInt8(index)], volumeID: 1, inode: UInt64(50 + index),
          birthTime: 1
        )
        let name = Array("\(index + 1).jpg".utf8)
        try writer.moveFile(try #require(try writer.file(1, name)), to: folder, name: name, changesAvailability: false)
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    try catalog.write { writer in
      for (directory, to) in [(DirectoryID(rawValue: 2), "t"), (3, "a"), (2, "b")] { try name(directory, to, writer) }
      for (directory, from, to) in [(DirectoryID(rawValue: 3), "/p/b", "/p/a"), (2, "/p/a", "/p/b")] {
        writer.record.renamedDirectories.append(
          .init(directoryID: directory, fromPath: Array(from.utf8), toPath: Array(to.utf8)))
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    func paths() throws -> [String] {
      let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
      return ids.map { String(decoding: contents.entries[$0]?.file.path ?? [], as: UTF8.self) }
    }
    #expect(try paths() == ["/p/b/1.jpg", "/p/a/2.jpg", "/p/3.jpg"])
    // A folder leaves, and another one with a photo takes its place at once.
    try catalog.write { writer in
      try name(3, "c", writer)
      writer.record.renamedDirectories.append(
        .init(directoryID: 3, fromPath: Array("/p/a".utf8), toPath: Array("/p/c".utf8)))
      let folder = try writer.insertDirectory(
        parentID: 1, rootID: nil, name: Array("a".utf8), volumeID: 1, inode: 60, birthTime: 1
      )
      let name = Array("3.jpg".utf8)
      try writer.moveFile(try #require(try writer.file(1, name)), to: folder, name: name, changesAvailability: false)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    #expect(try paths() == ["/p/b/1.jpg", "/p/c/2.jpg", "/p/a/3.jpg"])
    // The same exchange, of which the end is found a moment later.
    func commit(_ body: (CatalogWriter) throws -> Void) throws {
      try catalog.write { writer in
        try body(writer)
        try writer.append(origin: "watcher", date: .init(microseconds: 1))
      }
    }
    var rows = try catalog.read { try $0.directories() }
    let (one, other) = (1, 2)
    #expect(rows[one].id == 2 && rows[other].id == 3)
    try commit { try $0.parkDirectory(&rows[one]) }
    rows[other].name = Array("b".utf8)
    try commit { try $0.moveDirectory(&rows[other]) }
    rows[one].name = Array("c".utf8)
    try commit { try $0.moveDirectory(&rows[one]) }
    #expect(try paths() == ["/p/c/1.jpg", "/p/b/2.jpg", "/p/a/3.jpg"])
    // A later commit without a rename writes nothing about photos that it does not touch.
    let size = try fixture.bytes(fixture.journal).count
    try catalog.addPhotos(1, from: 4)
    #expect(try fixture.bytes(fixture.journal).count == size)
    try catalog.close()
  }

  @Test func compactionKeepsTheLatestAndWhatLaterVersionsWrote() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(3)
    try catalog.set(ids, favorite: true)
    try catalog.close()
    // A later version of photod gave one photo another field, and wrote another record.
    let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    var entry = try #require(contents.entries[2])
    entry.others = [UserDataField(key: "later", value: Array("x y".utf8))]
    let more = UserDataContents.lines(
      of: [.asset(entry), .other(Array("album id=9 title=A".utf8))], number: contents.number + 1)
    try fixture.write(try fixture.bytes(fixture.journal) + more, to: fixture.journal)

    let later = try fixture.open()
    for round in 0..<1_200 { try later.set([ids[0]], favorite: round % 2 == 1) }
    try later.set([ids[1]], favorite: false)
    let size = try fixture.bytes(fixture.journal).count
    #expect(size < 80_000, "\(size) bytes")
    try later.close()
    let text = String(decoding: try fixture.bytes(fixture.journal), as: UTF8.self)
    #expect(text.contains("later=x%20y"))
    #expect(text.contains(" album id=9 title=A\n"))
    let kept = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(kept.entries.keys.sorted() == [1, 2, 3] && kept.entries[1]?.data.isFavorite == true)
    #expect(kept.entries[2]?.data.isFavorite == false)
  }

  // MARK: - Failures in between

  /// At each step, the disk's state is opened as the next photod would open it after kill -9.
  @Test func killedBetweenAnyTwoStepsNothingAcknowledgedIsLost() throws {
    let copies = Mutex<[(step: UserDataJournal.Step, fixture: UserDataFixture)]>([])
    let isWatched = Mutex(false)
    let catalog = try fixture.open { [fixture] step in
      guard isWatched.withLock({ $0 }) else { return }
      let copy = try UserDataFixture()
      try fixture.copy(to: copy)
      copies.withLock { $0.append((step, copy)) }
    }
    let ids = try catalog.addPhotos(4)
    try catalog.set([ids[0], ids[1]], favorite: true)
    isWatched.withLock { $0 = true }
    try catalog.set([ids[2], ids[3]], favorite: true)
    isWatched.withLock { $0 = false }
    let token = try catalog.read { try $0.sequence() }
    try catalog.close()

    let made = copies.withLock { $0 }
    #expect(made.map(\.step) == [.append, .sync, .commit, .committed])
    for (step, copy) in made {
      let reopened = try copy.open()
      let typed = try reopened.typed()
      let all: [AssetID: String] = [1: "favorite", 2: "favorite", 3: "favorite", 4: "favorite"]
      // Before the append nothing was written to the disk. After it, both changed photos are favorites.
      #expect(typed == (step == .append ? [1: "favorite", 2: "favorite"] : all), "\(step)")
      #expect(reopened.epoch == 1, "\(step)")
      #expect(try reopened.messages().isEmpty, "\(step)")
      if step != .append {
        // A client that continues from an old token gets the change.
        #expect(
          try reopened.read { try $0.persistentChanges(after: token - 1, limit: 9).flatMap(\.updatedAssets) } == [3, 4])
      }
      try reopened.close()
    }
  }

  @Test func aFailedStepLeavesNothing() throws {
    let failing = Failing()
    let catalog = try fixture.open(hook: failing.hook)
    let ids = try catalog.addPhotos(2)
    for step in [UserDataJournal.Step.append, .sync, .commit] {
      failing.at = step
      #expect(throws: Failing.Hit.self) { try catalog.set(ids, favorite: true) }
      failing.at = nil
      #expect(try catalog.typed().isEmpty)
      let copy = try UserDataFixture()
      try fixture.copy(to: copy)
      let reopened = try copy.open()
      #expect(try reopened.typed().isEmpty, "\(step): invented")
      try reopened.close()
    }
    try catalog.set([ids[0]], favorite: true)
    #expect(try catalog.typed() == [1: "favorite"])
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed() == [1: "favorite waits"])
    try rebuilt.close()
  }

  /// The disk fails after the new journal has its name. The new file may not last, and the open one has no name.
  @Test func aJournalThatWasRenamedAndNotSyncedHasOnlyCompletedChanges() throws {
    let failing = Failing()
    let catalog = try fixture.open(hook: failing.hook)
    let ids = try catalog.addPhotos(3)
    try catalog.set([ids[0]], favorite: true)
    // This causes a new journal.
    try FileManager.default.removeItem(atPath: fixture.journal)
    failing.fail(at: .renamed, times: 1)
    #expect(throws: Failing.Hit.self) { try catalog.set([ids[1]], favorite: true) }
    failing.at = nil
    let killed = try UserDataFixture()
    try fixture.copy(to: killed)
    try killed.remove("", "-wal", "-shm")
    let refused = try killed.open()
    #expect(try refused.typed() == [1: "favorite waits"], "what was refused is there")
    try refused.close()
    try catalog.set([ids[2]], favorite: true)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed() == [1: "favorite waits", 3: "favorite waits"])
    try rebuilt.close()
  }

  @Test func aCompactionThatWasRenamedAndNotSyncedLosesNoLaterLine() throws {
    let failing = Failing()
    let catalog = try fixture.open(hook: failing.hook)
    let ids = try catalog.addPhotos(2)
    try catalog.set([ids[0]], favorite: true)
    failing.fail(at: .renamed, times: 1)
    for round in 0..<1_200 where !failing.hasFailed { try catalog.set([ids[1]], favorite: round % 2 == 0) }
    #expect(failing.hasFailed)
    // The journal that is not durable is not examined again. The next line goes to the open file.
    try catalog.write { writer in
      let row = try #require(try writer.file(1, Array("1.jpg".utf8)))
      try writer.moveFile(row, to: 1, name: Array("new.jpg".utf8), changesAvailability: false)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(contents.entries[ids[0]]?.file.path == Array("/p/new.jpg".utf8))
    try catalog.close()
  }

  @Test func aJournalThatWasRemovedWhileRunningIsWrittenAnew() throws {
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(3)
    try catalog.set([ids[0]], favorite: true)
    try FileManager.default.removeItem(atPath: fixture.journal)
    try catalog.set([ids[1]], favorite: true)
    let copy = try UserDataFixture()
    try fixture.copy(to: copy)
    try copy.remove("", "-wal", "-shm")
    let rebuilt = try copy.open()
    #expect(try rebuilt.typed() == [1: "favorite waits", 2: "favorite waits"])
    try rebuilt.close()
    try catalog.close()
  }
}
