import Foundation
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// The size of the journal while albums change, and the fields that it keeps for a later photod.
@Suite struct AlbumJournalTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  /// Adds photos as a real library has them: with long paths, UUIDs, samples and hashes.
  private func addRealPhotos(_ count: Int, to catalog: Catalog) throws -> [AssetID] {
    try catalog.write { writer in
      let path = "/home/photographer/Pictures/2024/2024-07-14 Summer holidays in Rome"
      let directory = try writer.insertDirectory(
        parentID: nil, rootID: try writer.insertRoot(path: Array(path.utf8)), name: [],
        volumeID: try writer.volume(identity: "uuid:9c1e2f7a-5b5d-4a52-8a6e-0f3d1f2b6c77"), inode: 7_340_033,
        birthTime: 1_720_000_000_123_456_789)
      let ids = try (0..<count).map { number in
        let time = WallTime(nanoseconds: 1_720_951_234_567_890_123 + Int64(number))
        var row = FileRow(
          assetID: 0, directoryID: directory, name: Array("DSCF\(10_000 + number) (edited).JPG".utf8),
          byteCount: 14_876_543, modificationTime: time, changeTime: time, inode: UInt64(7_400_000 + number),
          birthTime: time, readTime: time)
        row.marks = ContentMarks(
          fingerprint: 0xfedc_ba98_7654_3210 &+ UInt64(number),
          sample: ContentDigest(high: 0xaaaa_bbbb_cccc_dddd, low: UInt64(number)),
          hash: ContentDigest(high: 0x1111_2222_3333_4444, low: UInt64(number)))
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")
        return try writer.insertAsset(content, file: row, addedDate: time)
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
      return ids
    }
  }

  private func size() throws -> Int { try fixture.bytes(fixture.journal).count }

  /// The journal has the line of a photo once, with its path and hash. Further places cost little.
  @Test func placesOfKnownPhotosAreShort() throws {
    let catalog = try fixture.open()
    let ids = try addRealPhotos(400, to: catalog)
    let albums = try catalog.perform(
      .createAlbum(title: "A", assets: [], parent: nil), .createAlbum(title: "B", assets: [], parent: nil))
    let start = try size()
    for id in ids { try catalog.place([id], in: albums[0]) }
    let placed = try size()
    #expect(placed - start > ids.count * 300, "the paths are long")
    for id in ids { try catalog.place([id], in: albums[1], before: nil) }
    for id in ids.reversed() { try catalog.place([id], in: albums[0], before: ids[0] == id ? nil : ids[0]) }
    var remove = AlbumEdit()
    for id in ids {
      remove.removed = [id]
      try catalog.perform(.editAlbum(albums[1], remove))
    }
    let moved = try size()
    #expect(moved - placed < 3 * ids.count * 100, "\(moved - placed) bytes")
    // A photo that was in no album any more is known, too.
    for id in ids.prefix(100) { try catalog.place([id], in: albums[1]) }
    #expect(try size() - moved < 100 * 100)
    // Its data changes.
    try catalog.set([ids[0]], favorite: true)
    let stored = try catalog.storedUserData()
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData() == stored)
    try rebuilt.close()
  }

  /// The journal would bring the user data of an expired tombstone back after a loss of the catalog, and keep its line.
  @Test func userDataOfExpiredTombstonesLeavesTheJournal() throws {
    let catalog = try fixture.open()
    let ids = try addRealPhotos(1_000, to: catalog)
    let album = try catalog.perform(.createAlbum(title: "A", assets: Array(ids[..<600]), parent: nil))[0]
    try catalog.set(Array(ids[400...]), favorite: true)
    let full = try size()
    #expect(full > 250_000)
    try catalog.write { writer in
      for id in ids.dropFirst() {
        let row = try #require(try writer.file(ofAsset: id))
        try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 2))
    }
    #expect(try catalog.storedUserData().data.count == 1_000)
    #expect(try catalog.write { try $0.pruneTombstones(before: .microseconds(Int64.max)) } == 999)
    let stored = try catalog.storedUserData()
    #expect(stored.inAlbums == [ids[0]] && stored.data.count == 1 && stored.members == [album: [ids[0]]])
    #expect(try catalog.check(deep: true).findings.isEmpty)
    let expired = try size()
    #expect(expired < 4_000, "\(full) bytes before, and \(expired) bytes after the tombstones expired")
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData() == stored)
    try rebuilt.close()
  }

  /// A few lines are no reason for a compaction. They say that the user data is gone.
  @Test func userDataOfAnExpiredTombstoneDoesNotReturn() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(3)
    try catalog.perform(.createAlbum(title: "A", assets: [1, 2, 3], parent: nil))
    try catalog.set([2], favorite: true)
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: 2))
      try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
      try writer.append(origin: "watcher", date: .init(microseconds: 2))
    }
    // If the transaction fails, the journal stays as it was.
    struct Failure: Error {}
    let former = try catalog.storedUserData()
    #expect(throws: Failure.self) {
      try catalog.write { writer in
        try writer.pruneTombstones(before: .microseconds(Int64.max))
        throw Failure()
      }
    }
    #expect(try catalog.storedUserData() == former)
    _ = try catalog.write { try $0.pruneTombstones(before: .microseconds(Int64.max)) }
    let stored = try catalog.storedUserData()
    #expect(stored.data.keys.sorted() == [1, 3])
    // The catalog is an older copy, or it is lost.
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData() == stored)
    try rebuilt.close()
  }

  /// The journal has at most twice its live data and 1 MiB, also if most of that goes with an album.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func journalOfADeletedAlbumIsCompacted() throws {
    let catalog = try fixture.open()
    let ids = try addRealPhotos(6_000, to: catalog)
    let album = try catalog.perform(.createAlbum(title: "Long", assets: [], parent: nil))[0]
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      try catalog.place(Array(ids[start..<start + 1_000]), in: album)
    }
    try catalog.set([ids[0]], favorite: true)
    let full = try size()
    #expect(full > 2 << 20)
    try catalog.perform(.deleteCollection(album))
    let deleted = try size()
    #expect(deleted < 65_536, "\(full) bytes before the deletion, and \(deleted) after it")
    #expect(try catalog.check(deep: true).findings.isEmpty)

    // The same if they are removed.
    let again = try catalog.perform(.createAlbum(title: "Long", assets: [], parent: nil))[0]
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      try catalog.place(Array(ids[start..<start + 1_000]), in: again)
    }
    for start in stride(from: 0, to: ids.count, by: 1_000) {
      var remove = AlbumEdit()
      remove.removed = Array(ids[start..<start + 1_000])
      try catalog.perform(.editAlbum(again, remove))
    }
    let removed = try size()
    #expect(removed < 1 << 20, "\(removed)")
    let stored = try catalog.storedUserData()
    #expect(stored.data.keys.sorted() == [ids[0]])
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData() == stored)
    try rebuilt.close()
  }

  /// A call that places thousands of photos writes its batch in parts. If a part or the sync fails, nothing of it is left.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func batchOfManyPhotosIsWholeOrCut() throws {
    let failing = Failing()
    let catalog = try fixture.open(hook: failing.hook)
    let ids = try addRealPhotos(8_000, to: catalog)
    let start = try size()
    for step in [UserDataJournal.Step.append, .sync, .commit] {
      failing.at = step
      #expect(throws: (any Error).self) {
        try catalog.perform(.createAlbum(title: "A", assets: ids, parent: nil))
      }
      #expect(try size() == start, "\(step)")
    }
    failing.at = nil
    try catalog.perform(.createAlbum(title: "A", assets: ids, parent: nil))
    #expect(try size() - start > 2 << 20)
    let stored = try catalog.storedUserData()
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData() == stored)
    try rebuilt.close()
  }

  /// The deletion of an album is one line, however many photos it has.
  @Test func deletionOfAnAlbumIsOneLine() throws {
    let catalog = try fixture.open()
    let ids = try addRealPhotos(100, to: catalog)
    let album = try catalog.perform(.createAlbum(title: "A", assets: ids, parent: nil))[0]
    let before = try size()
    try catalog.perform(.deleteCollection(album))
    #expect(try size() - before < 100)
    try catalog.close()
  }

  /// Lines and fields that a later photod wrote stay, through changes, compactions and the loss of the catalog.
  @Test func linesOfALaterVersionStay() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(6)
    let created = try catalog.perform(
      .createAlbum(title: "A", assets: [1, 2], parent: nil), .createAlbum(title: "C", assets: [], parent: nil))
    let (album, child) = (created[0], created[1])
    let (uuid, epoch) = (catalog.uuid, catalog.epoch)
    let number = try #require(try UserDataJournal.read(fixture.journal, after: 0)).number
    try catalog.close()
    // A later photod adds a colour to the album, a collection of another kind with photos, and an album in it.
    let kind = CollectionID(rawValue: 9_000)
    var lines = try fixture.bytes(fixture.journal)
    func record(_ text: String) -> UserDataRecord { UserDataRecord(parsing: Array(text.utf8)[...]) }
    let records = [
      record("asset id=3 inalbum=1 added=5 volume=uuid:v inode=3 birth=3 size=10 modified=7 print=3 path=/p/3.jpg"),
      record("collection id=\(album) kind=album title=A colour=red"),
      record("collection id=\(kind) kind=slideshow title=Show seconds=3"),
      record("collection id=\(child) kind=album title=C parent=\(kind)"),
      record("placed album=\(kind) ids=3,1"), record("mood of=3 is=happy"),
    ]
    lines += UserDataContents.lines(of: records, number: number + 2)
    try fixture.write(lines, to: fixture.journal)

    func expectAll(_ comment: String) throws {
      let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
      #expect(
        contents.collections[album]?.others == [UserDataField(key: "colour", value: Array("red".utf8))], "\(comment)")
      #expect(contents.collections[child]?.others.map(\.key) == ["parent"], "\(comment)")
      #expect(contents.otherAlbums[kind]?.ids == [3, 1], "\(comment)")
      #expect(contents.entries[3]?.isInAlbum == true, "\(comment)")
      let others = contents.others.map { String(decoding: $0, as: UTF8.self) }
      #expect(
        others == ["mood of=3 is=happy", "collection id=\(kind) kind=slideshow title=Show seconds=3"], "\(comment)")
    }
    let older = try fixture.open()
    #expect(older.uuid == uuid && older.epoch >= epoch)
    try expectAll("opened")
    #expect(try older.collections().first { $0.id == child }?.parentID == nil)
    var rename = CollectionEdit()
    rename.title = "B"
    try older.perform(.editCollection(album, rename))
    rename.title = "D"
    try older.perform(.editCollection(child, rename))
    try older.set([3], favorite: true)
    try older.set([3], favorite: false)
    try expectAll("renamed")
    #expect(try older.check(deep: true).findings.isEmpty)
    // Many moves make it compact the journal.
    let before = try size()
    for round in 0..<3_000 where try round == 0 || size() > before {
      try older.place([round % 2 == 0 ? 1 : 2], in: album)
    }
    #expect(try size() <= before)
    try expectAll("compacted")
    try older.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    try expectAll("rebuilt")
    #expect(try rebuilt.perform(.createAlbum(title: "New", assets: [], parent: nil))[0] > kind)
    try rebuilt.close()
  }

  /// A later photod wrote half stars, a date by its season, and places with a fourth number.
  @Test func valuesOfALaterVersionStayUntilAnotherOneIsTyped() throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    try catalog.set([1], favorite: true)
    let number = try #require(try UserDataJournal.read(fixture.journal, after: 0)).number
    try catalog.close()
    let line =
      "asset id=1 favorite=1 rating=4.5 title=Rome taken=2024-summer place=1,2,3,4 added=5 volume=uuid:v inode=1 birth=3 "
      + "size=10 modified=7 print=1 path=/p/1.jpg"
    let record = UserDataRecord(parsing: Array(line.utf8)[...])
    try fixture.write(
      try fixture.bytes(fixture.journal) + UserDataContents.lines(of: [record], number: number + 2),
      to: fixture.journal)

    func others(_ comment: String) throws -> [String] {
      let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
      #expect(contents.entries[1]?.data.edits.title == "Rome", "\(comment)")
      return contents.entries[1]?.others.map { "\($0.key)=\(String(decoding: $0.value, as: UTF8.self))" } ?? []
    }
    let older = try fixture.open()
    #expect(try older.read { try $0.userData(of: 1) }?.edits.rating == nil)
    try older.set([1], favorite: false)
    #expect(try others("edited") == ["rating=4.5", "taken=2024-summer", "place=1,2,3,4"])
    var edit = AssetEdit()
    edit.location = .set(Location(latitude: 41, longitude: 12))
    try older.perform(.editAssets([1], edit))
    #expect(try others("typed") == ["rating=4.5", "taken=2024-summer"])
    try older.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try others("rebuilt") == ["rating=4.5", "taken=2024-summer"])
    try rebuilt.close()
  }
}
