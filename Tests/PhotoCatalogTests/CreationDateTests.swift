import Foundation
import GRDB
import Migrations
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// The dates of assets in the catalog.
@Suite struct CreationDateTests {
  private let fixture: CatalogFixture
  private let directory: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    directory = try fixture.addRoot("/photos")
  }

  private func content(_ date: String? = nil) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", creationDate: date.flatMap(PhotoDate.init))
  }

  private func row(_ name: String, modified: String = "2021-03-04T05:06:07Z", asset: AssetID = 0) throws -> FileRow {
    FileRow(
      assetID: asset, directoryID: directory, name: Array(name.utf8), byteCount: 5,
      modificationTime: WallTime(microseconds: try #require(PhotoDate(modified)).microseconds), changeTime: 1, inode: 1,
      birthTime: 1,
      readTime: 1)
  }

  private func insert(_ name: String, _ content: AssetContent, modified: String = "2021-03-04T05:06:07Z") throws
    -> AssetID
  {
    let row = try row(name, modified: modified)
    return try fixture.catalog.write {
      try $0.insertAsset(content, file: row, addedDate: .init(microseconds: 1_700_000_000_000_000))
    }
  }

  private func expect(
    _ id: AssetID, _ source: CreationDateSource, _ instant: String, _ comment: Comment? = nil,
    at location: SourceLocation = #_sourceLocation
  ) throws {
    let asset = try #require(try fixture.catalog.read { try $0.assets([id]).assets.first })
    #expect(asset.creationDateSource == source, comment, sourceLocation: location)
    #expect(asset.creationDate.microseconds == PhotoDate(instant)?.microseconds, comment, sourceLocation: location)
  }

  @Test func aNewAssetHasItsBestDate() throws {
    try expect(
      try insert("IMG_20230920_003105.jpg", content("2020-02-02T02:02:02+02:00")), .metadata, "2020-02-02T00:02:02Z")
    try expect(try insert("IMG_20230920_003106.jpg", content()), .filename, "2023-09-20T00:31:06")
    try expect(try insert("a.jpg", content()), .file, "2021-03-04T05:06:07Z")
    try expect(try insert("b.jpg", content(), modified: "1980-01-01T00:00:00Z"), .file, "2023-11-14T22:13:20Z")
  }

  @Test func aRenamedFileKeepsTheDateOfItsNameUntilAnotherNameHasOne() throws {
    let id = try insert("IMG_20230920.jpg", content())
    func rename(_ name: String, to new: String) throws -> Bool {
      let row = try row(name, asset: id)
      return try hasNewDate(row, movedTo: new)
    }
    #expect(try !rename("IMG_20230920.jpg", to: "beach.jpg"))
    try expect(id, .filename, "2023-09-20T12:00:00")
    #expect(try rename("beach.jpg", to: "2022-01-02.jpg"))
    try expect(id, .filename, "2022-01-02T12:00:00")
    #expect(try !rename("2022-01-02.jpg", to: "2022-01-02 beach.jpg"))
    let other = try insert("c.jpg", content("2020-02-02T02:02:02"))
    let source = try row("c.jpg", asset: other)
    #expect(try !hasNewDate(source, movedTo: "20230920.jpg"))
    try expect(other, .metadata, "2020-02-02T02:02:02")
  }

  private func hasNewDate(_ row: FileRow, movedTo name: String) throws -> Bool {
    try fixture.catalog.write { writer in
      try writer.moveFile(row, to: directory, name: Array(name.utf8), changesAvailability: false)
      return writer.record.updatedAssets[row.assetID]?.contains(.metadata) == true
    }
  }

  @Test func onlyAnOlderFileTimeMovesAPhoto() throws {
    let id = try insert("a.jpg", content())
    func touch(_ modified: String, _ content: AssetContent) throws -> ChangedFields {
      let row = try row("a.jpg", modified: modified, asset: id)
      // The file has another time each time.
      return try fixture.catalog.write {
        try $0.updateContent(content, file: row, hasNewBytes: true).subtracting(.content)
      }
    }
    #expect(try touch("2022-01-01T00:00:00Z", content()) == [])
    try expect(id, .file, "2021-03-04T05:06:07Z", "a later time")
    #expect(try touch("2019-01-01T00:00:00Z", content()) == .metadata)
    try expect(id, .file, "2019-01-01T00:00:00Z", "an earlier time")
    #expect(try touch("1970-01-01T00:00:00Z", content()) == [])
    #expect(try touch("2022-01-01T00:00:00Z", content("2020-02-02T02:02:02")) == .metadata)
    try expect(id, .metadata, "2020-02-02T02:02:02")
    #expect(try touch("2001-01-01T00:00:00Z", content()) == [])
    try expect(id, .metadata, "2020-02-02T02:02:02", "the date was removed from the file")
    #expect(try touch("2001-01-01T00:00:00Z", content("2020-02-03T02:02:02")) == .metadata)
    try expect(id, .metadata, "2020-02-03T02:02:02", "another date was written")
  }

  @Test func aDeletedPhotoThatComesBackHasTheDateThatItHad() throws {
    let id = try insert("IMG_20230920.jpg", content())
    let named = try row("IMG_20230920.jpg", asset: id)
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      try writer.moveFile(named, to: directory, name: Array("beach.jpg".utf8), changesAvailability: false)
      try writer.removeWithTombstone(named, directoryPath: Array("/photos/".utf8), date: .init(microseconds: 1))
    }
    let back = try row("beach.jpg", modified: "2024-01-01T00:00:00Z")
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      let tombstone = try #require(try writer.tombstone(of: id))
      try writer.restore(
        tombstone, content: content(), file: back, hasNewBytes: false, path: Array("/photos/beach.jpg".utf8))
    }
    try expect(id, .filename, "2023-09-20T12:00:00")
  }

  // MARK: - Migration

  /// A catalog from before dates had sources. It has an asset with metadata, one with a date in its name, and one with
  /// neither.
  ///
  /// - Returns: the token of its last commit.
  private func oldCatalog(_ path: String) throws -> ChangeToken {
    let step = try #require(Migrations.steps.firstIndex { $0.name == "v009-dates" })
    let old = try Catalog(path: path, lastStep: Migrations.steps[step - 1].name)
    try old.pool.write { database in
      try database.execute(
        sql: """
          INSERT INTO volume (id, identity) VALUES (1, 'test');
          INSERT INTO root (id, path) VALUES (1, '/photos');
          INSERT INTO directory (id, root_id, name, volume_id, inode, birth_time) VALUES (1, 1, '', 1, 1, 0);
          INSERT INTO collection (kind, directory_id) VALUES (2, 1);
          INSERT INTO history (date, origin, inserted_assets) VALUES (1, 'watcher', x'010101');
          """)
      for (id, name, date, offset) in [
        (1, "a.jpg", 1_600_000_000_000_000 as Int64?, 120 as Int64?), (2, "IMG_20230920_003105.jpg", nil, nil),
        (3, "b.gif", nil, nil), (4, "c.heic", nil, nil),
      ] {
        let type = id == 4 ? "image/heic" : id == 3 ? "image/gif" : "image/jpeg"
        try database.execute(
          sql: """
            INSERT INTO asset (id, media_type, media_subtypes, creation_date, creation_offset, sort_date,
              modification_date, added_date, directory_id, name, name_key, byte_count, content_type)
            VALUES (?1, 1, 0, ?2, ?3, ifnull(?2, 1700000000000000), 1500000000000000, 1700000000000000, 1, ?4, ?4, 5, ?5)
            """, arguments: [id, date, offset, name, type])
        try database.execute(
          sql: """
            INSERT INTO resource (directory_id, name, asset_id, position, kind, content_type, byte_count,
              modification_time, change_time, inode, birth_time, read_time) VALUES (1, ?, ?, 0, 0, ?, 5, 1, 1, 1, 1, 1)
            """, arguments: [name, id, type])
      }
    }
    let token = old.token(1)
    try old.close()
    return token
  }

  private func expectMigrated(_ catalog: Catalog, since sequence: Int64) throws {
    let assets = try catalog.read { try $0.assets([1, 2, 3, 4]).assets }
    #expect(assets.map(\.creationDateSource) == [.metadata, .filename, .file, .file])
    #expect(assets[0].creationDate == PhotoDate(microseconds: 1_600_000_000_000_000, offsetMinutes: 120))
    #expect(assets[1].creationDate.description == "2023-09-20T00:31:05")
    #expect(assets[2].creationDate.microseconds == 1_500_000_000_000_000)
    let report = try catalog.check(deep: false)
    #expect(!report.findings.contains { $0.severity == .error }, "\(report.findings)")
    try catalog.read { reader in
      #expect(try reader.sequence() == sequence + 1)
      let touched = try reader.touched(after: sequence, through: sequence + 1)
      #expect(touched.fields == [2: .metadata, 3: .metadata, 4: .metadata])
      #expect(try reader.origins(after: sequence, through: sequence + 1) == ["migration"])
      // A later step has all these files read again, whatever this one asks for.
      let unread = try Int64.fetchAll(
        reader.database, sql: "SELECT asset_id FROM resource WHERE read_time = 0 ORDER BY asset_id")
      #expect(unread == [1, 2, 3, 4])
      #expect(try Int.fetchOne(reader.database, sql: "SELECT count(*) FROM migrated_asset") == 0)
    }
  }

  private func withFolder(_ body: (String) throws -> Void) throws {
    let folder = try TemporaryFolder("dates")
    defer { withExtendedLifetime(folder) {} }
    try body(folder.path + "/catalog.sqlite")
  }

  @Test func anOlderCatalogGetsItsDatesInOneCommit() throws {
    try withFolder { path in
      let token = try oldCatalog(path)
      let catalog = try Catalog(path: path)
      #expect(catalog.uuid == token.library && catalog.epoch == token.epoch)
      try expectMigrated(catalog, since: token.sequence)
      try catalog.close()
      let again = try Catalog(path: path)
      #expect(try again.read { try $0.sequence() } == token.sequence + 1)
      try again.close()
    }
  }

  @Test func changesOfAMigrationAreReportedAtTheNextOpening() throws {
    try withFolder { path in
      let token = try oldCatalog(path)
      let pool = try Catalog.makePool(path)
      try CatalogOpening.migrator(nil).migrate(pool)
      try pool.close()
      let catalog = try Catalog(path: path)
      try expectMigrated(catalog, since: token.sequence)
      try catalog.close()
    }
  }

  // MARK: - Lists of days

  /// The predicates of `photoctl query --taken`.
  @Test(arguments: [
    "creationDate >= '2024-07-01' AND creationDate < '2024-08-01'", "creationDate < '2024-01-01'",
    "creationDate >= '2024-01-01'",
  ])
  func theListOfADayIsReadInOrderFromTheIndexOfDates(predicate: String) throws {
    for limit in [nil, 100] {
      let steps = try fixture.catalog.read { reader -> [String] in
        let plan = try reader.plan(FetchOptions(predicate: predicate, fetchLimit: limit))
        let statement = try RawStatement(reader.database, uncached: "EXPLAIN QUERY PLAN " + plan.idStatement)
        var steps: [String] = []
        try statement.forEachRow { steps.append(statement.text(3)) }
        return steps
      }
      #expect(
        steps.first?.hasPrefix("SEARCH asset USING COVERING INDEX asset_by_date (creation_date") == true, "\(steps)")
      #expect(limit == nil || steps.count == 1, "\(steps)")
    }
  }
}
