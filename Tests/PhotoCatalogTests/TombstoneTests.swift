import PhotoModel
import Testing

@testable import PhotoCatalog

/// A deleted photo can come back with all its user data.
@Suite struct TombstoneTests {
  private let content = AssetContent(
    mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", keywords: ["sea"])

  private func row(_ name: String, in directory: DirectoryID, inode: UInt64 = 7, fingerprint: UInt64? = .max) -> FileRow
  {
    FileRow(
      assetID: 0, directoryID: directory, name: Array(name.utf8), byteCount: 10, modificationTime: 2, changeTime: 3,
      inode: inode, birthTime: 4, readTime: 5, marks: ContentMarks(fingerprint: fingerprint))
  }

  @Test func restoredAssetHasAllThatItHad() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    let id = try fixture.catalog.write { (writer: CatalogWriter) throws -> AssetID in
      let id = try writer.insertAsset(content, file: row("a.jpg", in: directory), addedDate: .init(microseconds: 111))
      try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
      try writer.setUserData(of: id, isFavorite: nil, isHidden: true)
      return id
    }
    let album = try fixture.addAlbum("Best", [id])
    let gone = try fixture.addAlbum("Gone", [id])
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      let keys = try writer.removeWithTombstone(
        try #require(try writer.file(ofAsset: id)), directoryPath: Array("/p/".utf8), date: .init(microseconds: 999))
      #expect(keys?.inode == 7 && keys?.fingerprint == .max)
    }
    try fixture.execute("DELETE FROM collection WHERE id = ?", [.id(gone)])
    let tombstone = try #require(try fixture.catalog.read { try $0.tombstone(of: id) })
    #expect(tombstone.creationDate?.date.microseconds == 111 && tombstone.creationDate?.source == .file)
    #expect(
      tombstone
        == Tombstone(
          assetID: id, deletedDate: .init(microseconds: 999), deletedAge: .zero, path: Array("/p/a.jpg".utf8),
          volumeID: 1, inode: 7,
          birthTime: 4, byteCount: 10, modificationTime: 2, marks: ContentMarks(fingerprint: .max), seenTime: 5,
          addedDate: .init(microseconds: 111), creationDate: tombstone.creationDate,
          data: AssetUserData(isFavorite: true, isHidden: true),
          albums: [.init(albumID: album, rank: 0), .init(albumID: gone, rank: 0)]))
    let reader = try fixture.catalog.snapshot()
    #expect(try reader.read { try $0.assets([id]).assets }.isEmpty)
    #expect(try reader.read { try $0.tombstones(inode: 7) } == [tombstone])
    func like(_ row: FileRow) throws -> [Tombstone] { try reader.read { try $0.tombstones(like: row).found } }
    func inPlace(_ row: FileRow, _ path: String) throws -> [Tombstone] {
      try reader.read { try $0.tombstones(like: row, inPlace: Array(path.utf8)).found }
    }
    let same = row("a.jpg", in: directory)
    #expect(try like(same) == [tombstone] && inPlace(same, "/p/a.jpg") == [tombstone] && inPlace(same, "/x").isEmpty)
    var other = same
    other.byteCount = 11
    #expect(try like(other).isEmpty && inPlace(other, "/p/a.jpg").isEmpty)
    #expect(try like(row("b.jpg", in: directory)).isEmpty)
    other = same
    other.modificationTime = 3
    #expect(try like(other).isEmpty && inPlace(other, "/p/a.jpg") == [tombstone])
    other.marks.hash = ContentDigest(high: 1, low: 2)
    #expect(try like(other).isEmpty)
    #expect(try reader.read { try $0.lastingTombstones(path: Array("/p/a.jpg".utf8)) }.isEmpty)
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      try writer.restore(
        tombstone, content: content, file: row("b.jpg", in: directory), hasNewBytes: false, path: Array("/p/b.jpg".utf8)
      )
    }
    let asset = try #require(try fixture.catalog.read { try $0.assets([id]).assets.first })
    #expect(asset.isFavorite && asset.isHidden && asset.addedDate.microseconds == 111 && asset.keywords == ["sea"])
    #expect(try fixture.ids(FetchOptions(collection: "album:Best", includeHidden: true)) == [id])
    #expect(try fixture.catalog.read { try $0.tombstoneCount() } == 0)
    #expect(try fixture.catalog.read { try $0.file(ofAsset: id)?.marks.fingerprint } == .max)
  }

  /// Only files that share size and fingerprint with others are hashed. A photo that comes back does not share them
  /// with itself.
  @Test func photoThatComesBackIsHashedOnlyIfItSharesItsFingerprint() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    func insert(_ name: String) throws -> AssetID {
      try fixture.catalog.write { (writer: CatalogWriter) throws -> AssetID in
        let id = try writer.insertAsset(content, file: row(name, in: directory), addedDate: .init(microseconds: 1))
        _ = try writer.wantProofsOfNewFiles(limit: 10)
        return id
      }
    }
    let id = try insert("a.jpg")
    func comeBack(as name: String) throws -> (unsampled: Int, unhashed: Int) {
      let tombstone = try fixture.catalog.write { (writer: CatalogWriter) throws -> Tombstone in
        let row = try #require(try writer.file(ofAsset: id))
        try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 1))
        return try #require(try writer.tombstone(of: id))
      }
      return try fixture.catalog.write { (writer: CatalogWriter) throws -> (unsampled: Int, unhashed: Int) in
        try writer.restore(
          tombstone, content: content, file: row(name, in: directory), hasNewBytes: false,
          path: Array("/p/\(name)".utf8))
        return try writer.proofCounts()
      }
    }
    #expect(try comeBack(as: "b.jpg") == (unsampled: 1, unhashed: 0))
    _ = try insert("c.jpg")
    #expect(try comeBack(as: "d.jpg") == (unsampled: 2, unhashed: 2))
  }

  /// A new catalog gets tombstones with ids of the old one before it has any asset.
  @Test func newAssetsGetIDsBehindThoseOfTombstones() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      #expect(
        try writer.insertAsset(content, file: row("a.jpg", in: directory), addedDate: .init(microseconds: 1)) == 1)
      try writer.insertTombstone(
        Tombstone(assetID: 500, deletedDate: nil, path: [47, 112, 47, 255], addedDate: .init(microseconds: 3)))
      try writer.insertTombstone(
        Tombstone(assetID: 40, deletedDate: nil, path: [47, 112], addedDate: .init(microseconds: 3)))
      #expect(
        try writer.insertAsset(content, file: row("b.jpg", in: directory), addedDate: .init(microseconds: 1)) == 501)
    }
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      let tombstone = try #require(try writer.lastingTombstones(path: [47, 112, 47, 255]).first)
      #expect(tombstone.volumeID == nil && tombstone.byteCount == nil && tombstone.marks == ContentMarks())
      try writer.restore(
        tombstone, content: content, file: row("c.jpg", in: directory), hasNewBytes: false, path: Array("/p/c.jpg".utf8)
      )
      #expect(
        try writer.insertAsset(content, file: row("d.jpg", in: directory), addedDate: .init(microseconds: 1)) == 502)
    }
    #expect(try fixture.ids().sorted() == [1, 500, 501, 502])
  }

  @Test func firstTombstoneOfAnEmptyCatalogReservesItsID() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    try fixture.catalog.write {
      try $0.insertTombstone(
        Tombstone(assetID: 9, deletedDate: .init(microseconds: 1), path: [47], addedDate: .init(microseconds: 3)))
    }
    let id = try fixture.catalog.write {
      try $0.insertAsset(content, file: row("a.jpg", in: directory), addedDate: .init(microseconds: 1))
    }
    #expect(id == 10)
  }

  @Test func onlyWhatIsTooOldIsPruned() throws {
    let fixture = try CatalogFixture()
    try fixture.catalog.write { (writer: CatalogWriter) throws -> Void in
      for (id, age) in [(1, .microseconds(100)), (2, .microseconds(200)), (3, nil)] as [(AssetID, Duration?)] {
        try writer.insertTombstone(
          Tombstone(
            assetID: id, deletedDate: age.map { _ in .init(microseconds: 5) }, deletedAge: age ?? .zero, path: [47],
            addedDate: .init(microseconds: 0),
            albums: [.init(albumID: 5, rank: 1.5)]))
      }
      #expect(try writer.pruneTombstones(before: .microseconds(200)) == 1)
      #expect(try writer.tombstone(of: 1) == nil)
      let kept = try #require(try writer.tombstone(of: 2))
      #expect(kept.albums == [.init(albumID: 5, rank: 1.5)])
      #expect(try writer.pruneTombstones(before: .microseconds(Int64.max)) == 1)
      #expect(try writer.tombstoneCount() == 1)
      try writer.removeTombstone(3)
      #expect(try writer.tombstoneCount() == 0)
    }
  }

  /// No lookup may scan all tombstones.
  @Test func everyLookupUsesItsIndex() throws {
    let fixture = try CatalogFixture()
    let lookups = [
      "inode = ? AND volume_id IS NOT NULL": "tombstone_inode",
      "fingerprint = ? AND byte_count = ?": "tombstone_content",
      "path = ? AND deleted_date IS NULL": "tombstone_lasting_path",
      "fingerprint = ? AND byte_count = ? AND modification_time = ?": "tombstone_content",
      "hash = ? AND fingerprint = ? AND byte_count = ?": "tombstone_hash",
      "path = ? AND fingerprint = ? AND byte_count = ?": "tombstone_path",
    ]
    for (condition, index) in lookups {
      let plan = try fixture.catalog.read { reader in
        let explain = try RawStatement(
          reader.database, "EXPLAIN QUERY PLAN SELECT * FROM tombstone WHERE \(condition) ORDER BY asset_id")
        return try explain.firstRow { explain.text(3) } ?? ""
      }
      #expect(plan.contains("USING INDEX \(index)"), "\(plan)")
    }
  }
}
