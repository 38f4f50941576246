import PhotoModel
import Testing

@testable import PhotoCatalog

/// Keywords as rows: their order, their pages, and the removal of unused ones.
@Suite struct KeywordTests {
  private let fixture: CatalogFixture
  private let directory: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    directory = try fixture.addRoot("/photos")
  }

  private func content(_ keywords: [String], title: String? = nil) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", title: title, keywords: keywords)
  }

  private func row(_ number: Int64, asset: AssetID = 0) -> FileRow {
    FileRow(
      assetID: asset, directoryID: directory, name: Array("\(number).jpg".utf8), byteCount: 1, modificationTime: 2,
      changeTime: 3, inode: UInt64(number), birthTime: 5, readTime: 6)
  }

  private func insert(_ lists: [[String]]) throws -> [AssetID] {
    try fixture.catalog.write { writer in
      try lists.enumerated().map {
        try writer.insertAsset(content($1), file: row(Int64($0)), addedDate: .init(microseconds: 1))
      }
    }
  }

  private func keywords(_ ids: [AssetID]) throws -> [[String]] {
    try fixture.catalog.read { try $0.assets(ids).assets.map(\.keywords) }
  }

  /// Every stored word, and the number of assets that have it.
  private func words() throws -> [String: Int] {
    try fixture.catalog.read { reader in
      let select = try RawStatement(
        reader.database,
        "SELECT name, (SELECT count(*) FROM asset_keyword WHERE keyword_id = keyword.id) FROM keyword")
      var words: [String: Int] = [:]
      try select.forEachRow { words[select.text(0)] = Int(select.int64(1)) }
      return words
    }
  }

  @Test func keywordsComeBackInTheFilesOrder() throws {
    let lists = [["zebra", "Ape", "ape"], [], ["ape", "日本", "zebra", "Straße"], ["' OR 1=1 --"]]
    let ids = try insert(lists)
    #expect(try keywords(ids) == lists)
    #expect(try keywords([ids[2], ids[2], 999, ids[0]]) == [lists[2], lists[2], lists[0]])
    #expect(try keywords([]) == [])
    for (id, list) in zip(ids, lists) {
      #expect(try keywords([id]) == [list])
      #expect(try fixture.catalog.read { try $0.content(of: id) } == content(list))
    }
    #expect(try words() == ["zebra": 2, "Ape": 1, "ape": 2, "日本": 1, "Straße": 1, "' OR 1=1 --": 1])
  }

  @Test func aPageOfAThousandHasItsKeywords() throws {
    let lists = (0..<1000).map { number in (0..<number % 7).map { "word \((number + $0) % 50)" } }
    let ids = try insert(lists)
    #expect(try keywords(ids.reversed()) == lists.reversed())
  }

  @Test func wordsAreRemovedWithTheirLastAsset() throws {
    let ids = try insert([["a", "b"], ["b", "c"]])
    _ = try fixture.catalog.write {
      try $0.updateContent(content(["c", "d"]), file: row(0, asset: ids[0]), hasNewBytes: true)
    }
    #expect(try keywords(ids) == [["c", "d"], ["b", "c"]])
    #expect(try words() == ["b": 1, "c": 2, "d": 1])
    try fixture.catalog.write { try $0.deleteAsset(ids[0]) }
    #expect(try words() == ["b": 1, "c": 1])
    _ = try fixture.catalog.write {
      try $0.updateContent(content([]), file: row(1, asset: ids[1]), hasNewBytes: true)
    }
    #expect(try words().isEmpty)
    #expect(try keywords(ids) == [[]])
    #expect(try fixture.catalog.check(deep: true).isOK)
  }

  @Test func aWordThatComesTwiceIsWrittenOnce() throws {
    let ids = try insert([["a", "b", "a"]])
    #expect(try keywords(ids) == [["a", "b"]])
  }

  @Test func unchangedKeywordsAreNotWrittenAgain() throws {
    let ids = try insert([["a", "b"]])
    let changes = try fixture.catalog.write { writer in
      let before = try writer.database.totalChangesCount
      try writer.updateKeywords(["a", "b"], of: ids[0])
      return try writer.database.totalChangesCount - before
    }
    #expect(changes == 0)
  }

  @Test func keywordsAndOtherMetadataAreDistinguished() {
    let held = content(["a"], title: "t")
    #expect(content(["a"], title: "t").changedFields(since: held) == [])
    #expect(content(["b"], title: "t").changedFields(since: held) == .keywords)
    #expect(content(["a"], title: "u").changedFields(since: held) == .metadata)
    #expect(content([], title: nil).changedFields(since: held) == [.keywords, .metadata])
  }
}
