import Dispatch
import GRDB
import PhotoModel
import PhotoTestSupport
import PredicateLanguage
import Synchronization
import TestFetches
import Testing

@testable import PhotoCatalog

/// Assets are found by their words, whether the index contains them or not.
@Suite struct TextTests {
  private let fixture: CatalogFixture
  private let directory: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    directory = try fixture.addRoot("/photos")
  }

  private func content(
    title: String? = nil, caption: String? = nil, keywords: [String] = [], camera: Camera? = nil
  ) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", camera: camera, title: title, caption: caption,
      keywords: keywords)
  }

  private func row(_ name: [UInt8], asset: AssetID = 0) -> FileRow {
    FileRow(
      assetID: asset, directoryID: directory, name: name, byteCount: 1, modificationTime: 2, changeTime: 3, inode: 4,
      birthTime: 5, readTime: 6)
  }

  @discardableResult
  private func insert(_ name: String, _ content: AssetContent? = nil) throws -> AssetID {
    try fixture.catalog.write {
      try $0.insertAsset(content ?? self.content(), file: row(Array(name.utf8)), addedDate: .init(microseconds: 1))
    }
  }

  /// The ids of the found assets. The result must be the same with the index, without it, and by reading each asset.
  private func found(_ text: String) throws -> [AssetID] {
    let options = FetchOptions(
      text: text, sortDescriptors: [SortDescriptor(key: "id", ascending: true)])
    let before = try fixture.ids(options)
    while try fixture.catalog.indexText(limit: 3) {}
    #expect(try fixture.ids(options) == before, "\(text)")
    try fixture.catalog.read { reader in
      let plan = try reader.plan(options)
      let all = try reader.ids(reader.plan(FetchOptions(includeHidden: true, includeTrashed: true)))
      let statement = try RawStatement(reader.database, uncached: plan.touchedStatement)
      statement.bind([.text("[\(all.map(String.init).joined(separator: ","))]")] + plan.touchedArguments)
      var each: [AssetID] = []
      try statement.forEachRow { each.append(statement.assetID(0)) }
      #expect(each == before, "\(text)")
      #expect(try reader.count(plan) == before.count)
    }
    return before
  }

  private func isWhole() throws -> Bool { try fixture.catalog.pool.write { try TextIndex.isWhole($0) } }

  @Test func everyFieldIsFound() throws {
    let camera = Camera(make: "FUJIFILM", model: "X-T5", lens: "XF16-80mmF4 R OIS WR")
    let id = try insert(
      "DSCF1234.JPG",
      content(title: "Grüße aus Köln", caption: "am Rhein", keywords: ["Dom", "blue hour"], camera: camera))
    try insert("other.jpg")
    for text in [
      "dscf1234.jpg", "dscf12", "1234", "grüße", "GRÜSSE köln", "rhein dom", "blue hour", "\"blue hour\"",
      "fujifilm x-t5", "\"x t5\"", "f2.8 xf16", "\"am rhein\"", "dom*", "\"koln\"", "aus ko", "“am Rhein”",
    ] {
      #expect(try found(text) == (["GRÜSSE köln", "f2.8 xf16"].contains(text) ? [] : [id]), "\(text)")
    }
    for text in ["\"kol\"", "234", "rhein \"do\"", "\"hour dom\"", "\"dom blue\"", "\"rhein dom\"", "köln berlin"] {
      #expect(try found(text) == [], "\(text)")
    }
  }

  /// For each prefix, the index merges the lists of many words before the budget of the read is checked again.
  @Test func theIndexIsAskedForFewPrefixes() throws {
    let text = "a b c d e f gh \"ij\""
    let query = try TextQuery(text)
    guard case .text(let asked)? = TextCondition(query).ofAll.arguments.first else {
      Issue.record("the index is not asked")
      return
    }
    let words = String(decoding: asked, as: UTF8.self)
    #expect(words.count { $0 == "*" } == 4 && words.contains("\"gh\"*") && words.contains("\"ij\""))
    let all = try insert("1.jpg", content(title: "apple bean corn dill egg fig ghee ij"))
    try insert("2.jpg", content(title: "apple bean corn dill egg ghee ij"))
    try insert("3.jpg", content(title: "bean corn dill egg fig ghee ij"))
    #expect(try found(text) == [all])
  }

  @Test func languagesWithoutSpacesAreFoundByAnyPart() throws {
    let ids = [
      try insert("1.jpg", content(title: "東京旅行二〇二四")), try insert("2.jpg", content(caption: "ｶﾒﾗとカメラ")),
      try insert("3.jpg", content(title: "한국어 여행")), try insert("4.jpg", content(keywords: ["ภาษาไทย", "🦊"])),
      try insert("e\u{301}te\u{301}.jpg"), try insert("日"),
    ]
    #expect(try found("旅行") == [ids[0]])
    #expect(try found("\"行旅\"") == [])
    #expect(try found("東 行") == [ids[0]])
    #expect(try found("カメ") == [ids[1]])
    #expect(try found("한국") == [ids[2]])
    #expect(try found("여행") == [ids[2]])
    #expect(try found("ไทย") == [ids[3]])
    #expect(try found("🦊") == [ids[3]])
    #expect(try found("été") == [ids[4]])
    #expect(try found("日") == [ids[5]])
  }

  @Test func searchTextIsNeverQuerySyntax() throws {
    let id = try insert("a.jpg", content(title: "NOT a OR b NEAR c AND words", keywords: ["x^2", "50%", "O'Neill"]))
    for text in ["NOT", "OR b", "NEAR(c)", "words: a", "a AND", "^2", "50%", "o'neill", "x:^2", "{a b}: a", "-words"] {
      #expect(try found(text) == [id], "\(text)")
    }
    #expect(try found("'; DROP TABLE asset; --") == [])
    for text in ["", " ", "\"", "a \"b", "*", "\"\"", "- + ' , .", "\u{0}"] {
      #expect(throws: FetchError.self, "\(text)") { try fixture.ids(FetchOptions(text: text)) }
    }
  }

  @Test func changedAssetIsFoundByItsNewWordsOnly() throws {
    let ids = try ["one.jpg", "two.jpg", "three.jpg"].map { try insert($0, content(title: "old", keywords: ["sea"])) }
    #expect(try found("old") == ids)
    let name = Array("uno.jpg".utf8)
    try fixture.catalog.write { writer in
      try writer.updateContent(
        content(title: "new", keywords: ["sky"]), file: row(Array("two.jpg".utf8), asset: ids[1]), hasNewBytes: true)
      try writer.moveFile(
        row(Array("one.jpg".utf8), asset: ids[0]), to: directory, name: name, changesAvailability: false)
      try writer.deleteAsset(ids[2])
    }
    #expect(try isWhole())
    #expect(try found("old") == [ids[0]])
    #expect(try found("new sky") == [ids[1]])
    #expect(try found("sea") == [ids[0]])
    #expect(try found("uno") == [ids[0]])
    #expect(try found("one") == [])
    #expect(try found("three") == [])
  }

  @Test(arguments: TestTier.seeds(4)) func theIndexContainsTheWordsOfTheAssets(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var commits = try RandomCommits(seed: seed)
    let catalog = commits.catalog
    for round in 0..<15 {
      for _ in 0..<5 { try commits.commit() }
      let whole = try catalog.pool.write { try TextIndex.isWhole($0) }
      #expect(whole, "round \(round)")
      for _ in 0..<10 {
        let query = try TextQuery(RandomTexts.query(using: &random))
        let condition = TextCondition(query)
        let ids = try catalog.read { reader in
          try [condition.ofAll, condition.ofOne].map { condition in
            let select = try RawStatement(reader.database, uncached: "SELECT id FROM asset WHERE " + condition.sql)
            select.bind(condition.arguments)
            var ids: Set<AssetID> = []
            try select.forEachRow { ids.insert(select.assetID(0)) }
            return ids
          }
        }
        #expect(ids[0] == ids[1], "\(query)")
      }
    }
    while try catalog.indexText(limit: 100) {}
    #expect(try catalog.pool.write { try TextIndex.isWhole($0) })
  }

  @Test func equalTextsAreOneList() throws {
    let key = { (text: String) in try fixture.key(FetchOptions(text: text)) }
    for (one, other) in [("Beach  süß", "süß beach BEACH*"), ("x-t5", "\"x t5\"*"), ("\"É\"", "“e“")] {
      let keys = try (key(one), key(other))
      #expect(keys.0 == keys.1)
    }
    #expect(try Set(["a b", "\"a b\"", "\"a b\"*", "ab", "\"ab\""].map(key)).count == 5)
    let feigned = try fixture.key(FetchOptions(predicate: "title == ';text=1:a'"))
    let (text, plain) = try (key("a"), fixture.key(FetchOptions()))
    #expect(Set([text, feigned, plain]).count == 3)
  }

  // MARK: - Damage

  /// Makes the index differ from the assets.
  private func damage(_ catalog: Catalog, _ sql: String) throws {
    while try catalog.indexText(limit: 100) {}
    try catalog.pool.writeWithoutTransaction { try $0.execute(sql: sql) }
  }

  @Test(arguments: [
    "INSERT INTO asset_text (rowid, words) VALUES (1, 'never')", "DELETE FROM asset_text_data WHERE id > 10",
    "DELETE FROM asset_text_docsize WHERE id = 2", "UPDATE asset SET title = 'another' WHERE id = 2",
    "UPDATE asset_text_data SET block = zeroblob(40) WHERE id > 10", "DELETE FROM asset_text_data",
    "UPDATE text_index SET indexed_through = 9", "UPDATE text_index SET indexed_through = 1",
  ])
  func theCheckFindsADamagedIndexAndMakesItAnew(sql: String) throws {
    for number in 1...4 { try insert("\(number).jpg", content(title: "word")) }
    try damage(fixture.catalog, sql)
    let findings = try fixture.catalog.check(deep: true).findings
    #expect(findings.count == 1 && findings[0].what.contains("index of words"), "\(findings)")
    // The check has filled the index, so it does not wait for a change.
    #expect(try fixture.catalog.indexText(limit: 100) == false)
    let count = "SELECT count(*) FROM asset_text_docsize"
    #expect(try fixture.catalog.read { try Int.fetchOne($0.database, sql: count) } == 4)
    #expect(try fixture.catalog.check(deep: true).findings.isEmpty)
    #expect(try found("jpg").count == 4)
    #expect(try fixture.catalog.check(deep: true).findings.isEmpty)
  }

  /// A library with a million photos would otherwise take in nothing for some seconds.
  @Test func theLibraryCanBeWrittenWhileADeepCheckComparesTheWords() throws {
    for number in 1...2_000 { try insert("\(number).jpg", content(title: "word \(number)")) }
    let catalog = fixture.catalog
    let isHeld = Atomic(false)
    // SQLite asks the clock again and again, also during the comparison.
    let budget = WorkBudget(.seconds(1), from: 0) {
      guard !isHeld.load(ordering: .relaxed) else { return 0 }
      let isWritten = DispatchSemaphore(value: 0)
      DispatchQueue.global().async {
        do { try catalog.pool.write { try $0.execute(sql: "UPDATE asset SET title = title WHERE id = 1") } } catch {
          Issue.record(error)
        }
        isWritten.signal()
      }
      if isWritten.wait(timeout: .now() + .seconds(10)) == .timedOut { isHeld.store(true, ordering: .relaxed) }
      return 0
    }
    let findings = try WorkBudget.$current.withValue(budget) { try catalog.check(deep: true).findings }
    let hasHeld = isHeld.load(ordering: .relaxed)
    #expect(findings.isEmpty)
    #expect(!hasHeld, "the check kept a write waiting")
  }

  /// The daemon does the same: a failed search reports that the catalog is damaged, and then the catalog is opened as
  /// suspect.
  @Test func aSuspectCatalogMakesTheIndexAnewAndKeepsEverythingElse() throws {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    let ids = try catalog.addPhotos(4)
    try catalog.set([ids[0]], favorite: true)
    try damage(catalog, "DELETE FROM asset_text_data WHERE id > 10")
    let search = { (catalog: Catalog) in
      try catalog.read { try $0.ids($0.plan(FetchOptions(text: "jpg"))) }
    }
    do {
      #expect(try search(catalog).isEmpty)
    } catch {
      #expect(Catalog.isDamage(error))
    }
    try catalog.close()
    let again = try fixture.open(isSuspect: true)
    #expect(again.uuid == catalog.uuid && again.epoch == catalog.epoch)
    #expect(try again.typed() == [1: "favorite"])
    #expect(try again.notices().isEmpty)
    #expect(try search(again).count == 4)
    while try again.indexText(limit: 100) {}
    #expect(try search(again).count == 4)
    #expect(try again.check(deep: true).findings.isEmpty)
    try again.close()
  }

  @Test func wordsByOtherRulesAreIndexedAnew() throws {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    _ = try catalog.addPhotos(4)
    try damage(catalog, "UPDATE text_index SET version = version - 1")
    try catalog.close()
    let again = try fixture.open()
    let state = try again.read { reader in
      try Row.fetchOne(reader.database, sql: "SELECT indexed_through, version FROM text_index")
    }
    #expect(state?[0] == 0 && state?[1] == TextWords.version)
    #expect(try again.read { try $0.ids($0.plan(FetchOptions(text: "jpg"))) }.count == 4)
    while try again.indexText(limit: 100) {}
    #expect(try again.check(deep: true).findings.isEmpty)
    try again.close()
    let third = try fixture.open()
    #expect(try third.read { try Int.fetchOne($0.database, sql: "SELECT indexed_through FROM text_index") } == 4)
    try third.close()
  }

  /// The words of an older catalog are found at once. They enter the index while the library is idle.
  @Test func anOlderCatalogIsSearchedAtOnce() throws {
    let fixture = try UserDataFixture()
    let old = try Catalog(path: fixture.path, lastStep: "v006-seen")
    try old.pool.write { database in
      try database.execute(
        sql: """
          INSERT INTO volume (id, identity) VALUES (1, 'v'); INSERT INTO root (id, path) VALUES (1, '/p');
          INSERT INTO directory (id, root_id, name, volume_id, inode, birth_time) VALUES (1, 1, '', 1, 1, 1);
          INSERT INTO collection (kind, directory_id) VALUES (2, 1);
          INSERT INTO keyword VALUES (1, 'sea'), (2, 'blue');
          """)
      for id in 1...5 {
        try database.execute(
          sql: """
            INSERT INTO asset (id, media_type, media_subtypes, sort_date, modification_date, added_date, title,
              directory_id, name, name_key, byte_count, content_type)
            VALUES (:id, 1, 0, 1, 1, 1, 'Été', 1, :name, :name, 1, '');
            INSERT INTO resource (directory_id, name, asset_id, position, kind, content_type, byte_count,
              modification_time, change_time, inode, birth_time, read_time)
            VALUES (1, :name, :id, 0, 0, '', 1, 1, 1, 1, 1, 1);
            INSERT INTO asset_keyword VALUES (:id, 0, 2), (:id, 1, 1)
            """, arguments: ["id": id, "name": "\(id).jpg"])
      }
    }
    try old.close()
    let catalog = try fixture.open()
    let search = { (text: String) in
      try catalog.read { try $0.ids($0.plan(FetchOptions(text: text))) }.count
    }
    #expect(try search("ete \"sea\" jpg") == 5)
    #expect(try catalog.indexText(limit: 3))
    #expect(try search("ete \"sea\" jpg") == 5)
    while try catalog.indexText(limit: 3) {}
    #expect(try search("\"blue sea\"") == 0)
    #expect(try search("blue") == 5)
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try catalog.close()
  }
}
