import GRDB
import Migrations
import PhotoModel
import Testing

@testable import PhotoCatalog

/// Directories whose places other directories have.
@Suite struct ParkedDirectoryTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  private func add(_ name: [UInt8], _ writer: CatalogWriter) throws -> DirectoryRow {
    let id = try writer.insertDirectory(
      parentID: 1, rootID: nil, name: name, volumeID: 1, inode: 9, birthTime: 1)
    return DirectoryRow(id: id, parentID: 1, rootID: nil, name: name, volumeID: 1, inode: 9, birthTime: 1)
  }

  private func path(_ id: DirectoryID, _ writer: CatalogWriter) throws -> [UInt8] {
    var paths = try DirectoryPaths(writer.database)
    return try paths.place(id).path
  }

  @Test(arguments: [Array("a".utf8), Array("\u{1}parked-2-a".utf8), [0x61, 0xff]])
  func aParkedDirectoryHasNoPathOnDisk(name: [UInt8]) throws {
    let catalog = try fixture.open()
    try catalog.addPhotos(1)
    let (first, second, third) = try catalog.write { writer in
      var rows = [try add(name, writer)]
      // Each directory loses its place to the next one.
      for _ in 0..<2 {
        try writer.parkDirectory(&rows[rows.count - 1])
        rows.append(try add(name, writer))
      }
      for row in rows {
        #expect(try path(row.id, writer) == Array("/p/".utf8) + row.pathName)
        #expect((row.pathName == row.name) == (row.id == rows[2].id))
      }
      return (rows[0], rows[1], rows[2])
    }
    try catalog.read { reader in
      let rows = try reader.directories().dropFirst()
      #expect(rows.map(\.isParked) == [true, true, false] && rows.allSatisfy { $0.name == name })
      #expect(Set(rows.map(\.pathName)).count == 3)
      #expect(try reader.directoryID(path: Array("/p/".utf8) + name) == third.id)
    }
    try catalog.write { writer in
      var row = first
      row.name = Array("found".utf8)
      let renamed = try writer.moveDirectory(&row)
      #expect(renamed?.fromPath == Array("/p/".utf8) + first.pathName && renamed?.toPath == Array("/p/found".utf8))
      #expect(!row.isParked && second.isParked)
    }
    try catalog.close()
  }

  /// Before, the name said that a directory is parked. A directory of the disk may have had a similar name.
  @Test func aNameBecomesAColumn() throws {
    let step = try #require(Migrations.steps.firstIndex { $0.name == "v010-parked" })
    let old = try Catalog(path: fixture.path, lastStep: Migrations.steps[step - 1].name)
    try old.pool.write { database in
      try database.execute(
        sql: """
          INSERT INTO volume (identity) VALUES ('uuid:v');
          INSERT INTO root (path) VALUES ('/p');
          INSERT INTO directory (root_id, name, volume_id, inode, birth_time) VALUES (1, '', 1, 1, 1);
          INSERT INTO directory (parent_id, name, volume_id, inode, birth_time) VALUES
            (1, 'a', 1, 2, 1), (1, char(1) || 'parked-3-a', 1, 3, 1), (1, char(1) || 'parked-2', 1, 4, 1),
            (1, char(1) || 'parked-9-a', 1, 5, 1), (1, CAST(x'017061726b65642d362d61ff2d' AS TEXT), 1, 6, 1);
          """)
    }
    try old.close()
    let catalog = try fixture.open()
    let rows = try catalog.read { try $0.directories() }.dropFirst()
    #expect(
      rows.map(\.name) == [
        Array("a".utf8), Array("a".utf8), Array("\u{1}parked-2".utf8), Array("\u{1}parked-9-a".utf8),
        [0x61, 0xff, 0x2d],
      ])
    #expect(rows.map(\.isParked) == [false, true, false, false, true])
    try catalog.write { (writer: CatalogWriter) throws -> Void in
      for row in rows { #expect(try path(row.id, writer) == Array("/p/".utf8) + row.pathName) }
    }
    #expect(try catalog.read { try $0.directoryID(path: Array("/p/a".utf8)) } == 2)
    try catalog.close()
  }
}
