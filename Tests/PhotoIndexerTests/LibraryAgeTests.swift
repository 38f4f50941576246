import PhotoModel
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Tombstones expire by the library's age, so that a wrong wall clock removes none.
@Suite struct LibraryAgeTests {
  /// A favorite that has left the library and is still on the disk.
  private func departed(clockOff: Int64 = 0) throws -> (ReconcilerFixture, id: AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(id)
    fixture.disk.pass(100)
    fixture.disk.move("/p/a.jpg", "/elsewhere/a.jpg")
    fixture.disk.pass(clockOff)
    try fixture.apply(Fixture.gone("a.jpg"))
    fixture.disk.pass(-clockOff)
    return (fixture, id)
  }

  private func expectReturn(_ fixture: ReconcilerFixture, _ id: AssetID) throws {
    let back = fixture.disk.move("/elsewhere/a.jpg", "/p/a.jpg")
    #expect(try fixture.apply(Fixture.file("a.jpg", back)).insertedAssets == [id])
    #expect(try fixture.asset("/p/a.jpg").isFavorite)
  }

  @Test func commitWithAClockFortyDaysAheadEndsNoTombstone() throws {
    let (fixture, id) = try departed()
    fixture.disk.pass(40 * 86_400)
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg")))
    fixture.disk.pass(-40 * 86_400)
    #expect(try fixture.catalog.read { try $0.tombstoneCount() } == 1)
    try expectReturn(fixture, id)
  }

  @Test(arguments: [-400, 400] as [Int64]) func photoThatLeftWhileTheClockWasWrongComesBack(days: Int64) throws {
    let (fixture, id) = try departed(clockOff: days * 86_400)
    try fixture.apply(Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg")))
    try expectReturn(fixture, id)
  }

  @Test func ageIsTheSumOfStepsOfAtMostOneDay() throws {
    let fixture = try ReconcilerFixture()
    let day = CatalogWriter.longestStep
    var (now, age) = (fixture.disk.time / 1000, Int64(0))
    func commit(after step: Int64, counts: Int64) throws {
      now += step
      age += counts
      var record = CommitRecord()
      record.update(collection: 1)
      try fixture.catalog.write { writer in
        #expect(try writer.libraryAge(at: now) == age)
        _ = try writer.append(record, origin: "test", date: now)
        #expect(try writer.libraryAge(at: now) == age)
      }
    }
    try commit(after: 5 * day, counts: 0)
    try commit(after: 7, counts: 7)
    try commit(after: 5 * day, counts: day)
    try commit(after: -9 * day, counts: 0)
    try commit(after: day / 2, counts: day / 2)
  }

  @Test func tombstonesOfAnOlderPhotodKeepTheAgeThatTheyHad() throws {
    let fixture = try ReconcilerFixture()
    let now = fixture.disk.time / 1000
    let day = CatalogWriter.longestStep
    try fixture.catalog.write { writer in
      let forget = [
        "DROP TRIGGER resource_shares_fingerprint", "DROP INDEX resource_content", "DROP INDEX resource_unsampled",
        "DROP INDEX resource_unhashed", "ALTER TABLE resource DROP COLUMN sample",
        "ALTER TABLE resource DROP COLUMN hash", "ALTER TABLE resource DROP COLUMN proof_state",
        "ALTER TABLE library DROP COLUMN proof_through", "ALTER TABLE history DROP COLUMN age",
        "DROP INDEX tombstone_content", "DROP INDEX tombstone_hash",
        "DROP INDEX tombstone_path", "ALTER TABLE tombstone DROP COLUMN sample",
        "ALTER TABLE tombstone DROP COLUMN hash", "ALTER TABLE tombstone DROP COLUMN deleted_age",
        "CREATE INDEX tombstone_content ON tombstone (fingerprint) WHERE fingerprint IS NOT NULL",
        "DELETE FROM grdb_migrations WHERE identifier = 'v008-identity'",
        "INSERT INTO history (date, origin) VALUES (\(now), 'watcher')",
      ]
      for sql in forget { try RawStatement(writer.database, uncached: sql).run() }
      for (id, date) in [(1, now - 10 * day), (2, now - 40 * day), (3, now + 40 * day)] {
        let old = """
          INSERT INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count,
            modification_time, fingerprint, added_date, is_favorite, is_hidden)
          VALUES (\(id), \(date), '/p/a', NULL, 0, 0, 1, 1, 1, 1, 1, 0)
          """
        try RawStatement(writer.database, uncached: old).run()
      }
    }
    try fixture.reopen()
    let age = try fixture.catalog.read { try $0.libraryAge(at: now + 5) }
    #expect(age == 5)
    let ages = try fixture.catalog.read { reader in try (1...3).map { try reader.tombstone(of: $0)?.deletedAge } }
    #expect(ages == [-10 * day, -29 * day, 0])
  }
}
