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
    var (now, age) = (fixture.disk.wallTime, Duration.zero)
    func commit(after step: Duration, counts: Duration) throws {
      now = now + step
      age += counts
      try fixture.catalog.write { writer in
        writer.record.update(collection: 1)
        #expect(try writer.libraryAge(at: now) == age)
        try writer.append(origin: "test", date: now)
        #expect(try writer.libraryAge(at: now) == age)
      }
    }
    try commit(after: day * 5, counts: .zero)
    try commit(after: .microseconds(7), counts: .microseconds(7))
    try commit(after: day * 5, counts: day)
    try commit(after: day * -9, counts: .zero)
    try commit(after: day / 2, counts: day / 2)
  }

  @Test func tombstonesOfAnOlderPhotodKeepTheirAge() throws {
    let fixture = try ReconcilerFixture()
    let now = fixture.disk.wallTime
    let day = CatalogWriter.longestStep
    try fixture.catalog.write { writer in
      let forget = [
        "DROP TRIGGER resource_shares_fingerprint", "DROP INDEX resource_content", "DROP INDEX resource_unsampled",
        "DROP INDEX resource_unhashed", "DROP INDEX resource_hashed",
        "ALTER TABLE resource DROP COLUMN sample",
        "ALTER TABLE resource DROP COLUMN hash", "ALTER TABLE resource DROP COLUMN proof_state",
        "ALTER TABLE library DROP COLUMN proof_through", "ALTER TABLE history DROP COLUMN age",
        "DROP INDEX tombstone_content", "DROP INDEX tombstone_hash",
        "DROP INDEX tombstone_path", "ALTER TABLE tombstone DROP COLUMN sample",
        "ALTER TABLE tombstone DROP COLUMN hash", "ALTER TABLE tombstone DROP COLUMN deleted_age",
        "CREATE INDEX tombstone_content ON tombstone (fingerprint) WHERE fingerprint IS NOT NULL",
        "DELETE FROM grdb_migrations WHERE identifier = 'v008-identity'",
        "INSERT INTO history (date, origin) VALUES (\(now.microseconds), 'watcher')",
      ]
      for sql in forget { try RawStatement(writer.database, uncached: sql).run() }
      for (id, date) in [(1, now - day * 10), (2, now - day * 40), (3, now + day * 40)] {
        let old = """
          INSERT INTO tombstone (asset_id, deleted_date, path, volume_id, inode, birth_time, byte_count,
            modification_time, fingerprint, added_date, is_favorite, is_hidden)
          VALUES (\(id), \(date.microseconds), '/p/a', NULL, 0, 0, 1, 1, 1, 1, 1, 0)
          """
        try RawStatement(writer.database, uncached: old).run()
      }
    }
    try fixture.reopen()
    let age = try fixture.catalog.read { try $0.libraryAge(at: now + .microseconds(5)) }
    #expect(age == .microseconds(5))
    let ages = try fixture.catalog.read { reader in try (1...3).map { try reader.tombstone(of: $0)?.deletedAge } }
    #expect(ages == [day * -10, day * -29, .zero])
  }
}
