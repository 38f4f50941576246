import GRDB
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

@Suite struct FetchTests {
  private let fixture: CatalogFixture
  private let top: DirectoryID
  private let trip: DirectoryID
  private let drive: DirectoryID

  /// From the newest: 5 (video, favorite), 4 (screenshot), 3, 2 (in the folder Trip), 1 (on an offline drive). 6 is
  /// hidden, 7 is trashed. 8 has no creation date and was added before all of them.
  init() throws {
    fixture = try CatalogFixture()
    top = try fixture.addRoot("/photos")
    trip = try fixture.addDirectory("Trip", in: top)
    drive = try fixture.addRoot("/drive", isAvailable: false)
    let below = try fixture.addDirectory("below", in: drive)
    let rows: [(Asset, DirectoryID)] = [
      (.sample(1, taken: 1_001), below), (.sample(2, taken: 1_002), trip), (.sample(3, taken: 1_003), top),
      (.sample(4, taken: 1_004, subtypes: ["screenshot"]), top),
      (.sample(5, .video, taken: 1_005, isFavorite: true), top),
      (.sample(6, taken: 1_006, isFavorite: true, isHidden: true), top),
      (.sample(7, taken: 1_007, isTrashed: true), top), (.sample(8, .audio, added: 999), top),
    ]
    try fixture.insert(rows.map { ($0.0, $0.1, Array("\($0.0.id).jpg".utf8), nil) })
  }

  @Test func defaultIsEveryVisibleAssetNewestFirst() throws {
    #expect(try fixture.ids() == [5, 4, 3, 2, 1, 8])
  }

  @Test func hiddenTrashedAndOfflineAreChosenEachByItself() throws {
    #expect(try fixture.ids(FetchOptions(includeHidden: true)) == [6, 5, 4, 3, 2, 1, 8])
    #expect(try fixture.ids(FetchOptions(includeTrashed: true)) == [7, 5, 4, 3, 2, 1, 8])
    #expect(try fixture.ids(FetchOptions(includeHidden: true, includeTrashed: true)) == [7, 6, 5, 4, 3, 2, 1, 8])
    #expect(try fixture.ids(FetchOptions(excludeUnavailable: true)) == [5, 4, 3, 2, 8])
  }

  @Test func collectionNameSelectsItsAssets() throws {
    let album = try fixture.addAlbum("Best of", [2, 6, 5, 1])
    #expect(try fixture.ids(FetchOptions(collection: "smart:recents")) == [5, 4, 3, 2, 1, 8])
    #expect(try fixture.ids(FetchOptions(collection: "smart:favorites")) == [5])
    #expect(try fixture.ids(FetchOptions(collection: "smart:favorites", includeHidden: true)) == [6, 5])
    #expect(try fixture.ids(FetchOptions(collection: "smart:Videos")) == [5])
    #expect(try fixture.ids(FetchOptions(collection: "screenshots")) == [4])
    #expect(try fixture.ids(FetchOptions(collection: "folder:/photos")) == [5, 4, 3, 8])
    #expect(try fixture.ids(FetchOptions(collection: "folder:/photos/Trip/")) == [2])
    #expect(try fixture.ids(FetchOptions(collection: "folder:/drive")) == [])
    #expect(try fixture.ids(FetchOptions(collection: "album:best OF")) == [2, 5, 1])
    #expect(try fixture.ids(FetchOptions(collection: "id:\(album)", includeHidden: true)) == [2, 6, 5, 1])
    #expect(
      try fixture.ids(FetchOptions(collection: "id:\(album)", fetchLimit: 2, excludeUnavailable: true)) == [2, 5])
  }

  @Test func anAlbumMayBeSortedOtherwise() throws {
    try fixture.addAlbum("Best of", [2, 5, 1])
    let sorted = { (key: String, ascending: Bool) in
      try fixture.ids(
        FetchOptions(collection: "Best of", sortDescriptors: [SortDescriptor(key: key, ascending: ascending)]))
    }
    #expect(try sorted("creationDate", true) == [1, 2, 5])
    #expect(try sorted("id", false) == [5, 2, 1])
    #expect(try sorted("albumOrder", false) == [1, 5, 2])
  }

  @Test func albumOrderOutsideAnAlbumSortsByIdentifier() throws {
    let order = [SortDescriptor(key: "albumOrder", ascending: true)]
    #expect(try fixture.ids(FetchOptions(sortDescriptors: order)) == [1, 2, 3, 4, 5, 8])
  }

  @Test func limitAppliesToListAndCount() throws {
    #expect(try fixture.ids(FetchOptions(fetchLimit: 2)) == [5, 4])
    let count = { (options: FetchOptions) in try fixture.catalog.read { try $0.count($0.plan(options)) } }
    #expect(try count(FetchOptions()) == 6)
    #expect(try count(FetchOptions(fetchLimit: 2)) == 2)
    #expect(try count(FetchOptions(fetchLimit: 100)) == 6)
    #expect(try count(FetchOptions(collection: "folder:/photos", fetchLimit: 3)) == 3)
  }

  @Test func mediaTypesAreChosenByName() throws {
    #expect(try fixture.ids(FetchOptions(mediaTypes: ["video", "audio"])) == [5, 8])
    #expect(try fixture.ids(FetchOptions(mediaTypes: [])) == [])
    #expect(throws: FetchError.self) { try fixture.ids(FetchOptions(mediaTypes: ["photo"])) }
  }

  @Test func invalidOptionsAreRefused() throws {
    #expect(throws: FetchError.unknownSortKey(key: "size", known: FetchOrder.knownKeys)) {
      try fixture.ids(FetchOptions(sortDescriptors: [SortDescriptor(key: "size", ascending: true)]))
    }
    for limit in [0, -1] {
      #expect(throws: FetchError.self) { try fixture.ids(FetchOptions(fetchLimit: limit)) }
    }
    #expect(FetchOrder.knownKeys.count == 14)
  }

  @Test func equalListsHaveEqualKeys() throws {
    let newest = [SortDescriptor(key: "creationDate", ascending: false)]
    let plain = try fixture.key(FetchOptions())
    for same in [
      FetchOptions(collection: "smart:recents"), FetchOptions(collection: "RECENTS"), FetchOptions(sortDescriptors: []),
      FetchOptions(sortDescriptors: newest), FetchOptions(sortDescriptors: newest + newest),
      FetchOptions(sortDescriptors: newest + [SortDescriptor(key: "id", ascending: false)]),
      FetchOptions(mediaTypes: ["audio", "video", "image", "unknown"], includeHidden: false, includeTrashed: false),
    ] {
      #expect(try fixture.key(same) == plain)
    }
    #expect(
      try fixture.key(FetchOptions(mediaTypes: ["video", "image"]))
        == fixture.key(FetchOptions(mediaTypes: ["image", "video", "image"])))
    #expect(
      try fixture.key(FetchOptions(collection: "folder:/photos/Trip")) == fixture.key(FetchOptions(collection: "trip")))
    let different = [
      FetchOptions(), FetchOptions(collection: "favorites"), FetchOptions(collection: "Trip"),
      FetchOptions(mediaTypes: []), FetchOptions(mediaTypes: ["image"]), FetchOptions(fetchLimit: 1),
      FetchOptions(includeHidden: true), FetchOptions(includeTrashed: true), FetchOptions(excludeUnavailable: true),
      FetchOptions(sortDescriptors: [SortDescriptor(key: "creationDate", ascending: true)]),
      FetchOptions(sortDescriptors: newest + [SortDescriptor(key: "id", ascending: true)]),
    ]
    #expect(try Set(different.map(fixture.key)).count == different.count)
  }

  @Test func aPlanHasTheFieldsThatItDependsOn() throws {
    let plan = { (options: FetchOptions) in try fixture.catalog.read { try $0.plan(options) } }
    let plain = try plan(FetchOptions()).dependsOn
    #expect(plain.isSuperset(of: [.hidden, .trashed, .metadata]))
    #expect(plain.isDisjoint(with: [.favorite, .path, .availability]))
    #expect(try plan(FetchOptions(collection: "favorites")).dependsOn.contains(.favorite))
    #expect(try plan(FetchOptions(excludeUnavailable: true)).dependsOn.contains(.availability))
    let album = try fixture.addAlbum("A")
    #expect(try plan(FetchOptions(collection: "album:A")).albumID == album)
  }

  @Test func aPlanIsValidForLaterSnapshots() throws {
    let plan = try fixture.catalog.read { try $0.plan(FetchOptions(collection: "folder:/photos/Trip")) }
    try fixture.execute("UPDATE asset SET directory_id = ? WHERE id = 3", [.id(trip)])
    #expect(try fixture.catalog.read { try $0.ids(plan) } == [3, 2])
    try fixture.execute("DELETE FROM collection WHERE directory_id = ?", [.id(trip)])
    try fixture.execute("UPDATE asset SET directory_id = ?", [.id(top)])
    #expect(try fixture.catalog.read { try $0.ids(plan) } == [])
  }

  @Test(arguments: [
    (FetchOptions(), "asset_by_date"), (FetchOptions(collection: "favorites"), "asset_favorite"),
    (FetchOptions(collection: "videos"), "asset_video"), (FetchOptions(mediaTypes: ["video"]), "asset_video"),
    (FetchOptions(collection: "screenshots"), "asset_screenshot"),
    (FetchOptions(collection: "folder:/photos"), "asset_by_directory"),
    (FetchOptions(collection: "album:Mine"), "album_order"),
    (FetchOptions(includeHidden: true, includeTrashed: true), "asset_by_date"),
    (FetchOptions(predicate: "rating > 3", fetchLimit: 100), "asset_by_date"),
    (FetchOptions(mediaTypes: ["image"]), "asset_by_date"), (FetchOptions(mediaTypes: ["audio"]), "asset_audio"),
    (FetchOptions(mediaTypes: ["image", "video"]), "asset_by_date"),
    (FetchOptions(collection: "favorites", mediaTypes: ["image"]), "asset_favorite"),
    (FetchOptions(collection: "folder:/photos", mediaTypes: ["image", "video"]), "asset_by_directory"),
    (FetchOptions(collection: "album:Mine", mediaTypes: ["image"]), "album_order"),
    (FetchOptions(excludeUnavailable: true), "asset_by_date"),
    (FetchOptions(collection: "recents", fetchLimit: 100), "asset_by_date"),
    (FetchOptions(collection: "favorites", fetchLimit: 100), "asset_favorite"),
    (FetchOptions(mediaTypes: ["image"], fetchLimit: 100, excludeUnavailable: true), "asset_by_date"),
    (FetchOptions(sortDescriptors: [SortDescriptor(key: "creationDate", ascending: true)]), "asset_by_date"),
  ])
  func usualListsAreReadInOrderFromAnIndex(options: FetchOptions, index: String) throws {
    try fixture.addAlbum("Mine")
    let steps = try explain(options)
    #expect(steps.contains { $0.contains("INDEX \(index)") }, "\(steps)")
    let next: String = try #require(try fixture.catalog.read { try $0.plan(options).nextStatement })
    for steps in [steps, try explain(options, next)] {
      // The plan may also look up the offline directories, which these checks ignore.
      #expect(!steps.contains { $0.contains("ORDER BY") }, "\(steps)")
      #expect(!steps.contains { $0.contains("SCAN asset") && !$0.contains(" INDEX asset_") }, "\(steps)")
    }
  }

  @Test func everySmartAlbumIsReadInOrderFromAnIndex() throws {
    let albums = try fixture.catalog.read { try $0.collections(kinds: [.smartAlbum]) }.compactMap(\.subtype)
    #expect(albums.count == SmartAlbum.allCases.count)
    for album in albums {
      for limit in [nil, 100] {
        let options = FetchOptions(collection: "smart:\(album)", fetchLimit: limit)
        try usualListsAreReadInOrderFromAnIndex(options: options, index: "asset_")
      }
    }
  }

  /// The index of words finds the assets. Only these are read and sorted.
  @Test func aTextIsLookedUpInTheIndexOfWords() throws {
    for options in [FetchOptions(text: "a \"b\""), FetchOptions(text: "a", fetchLimit: 100)] {
      let steps = try explain(options)
      #expect(steps[0].hasPrefix("SEARCH asset USING INTEGER PRIMARY KEY"), "\(steps)")
      #expect(steps.contains { $0.contains("VIRTUAL TABLE INDEX") }, "\(steps)")
      #expect(!steps.contains { $0.contains("SCAN asset") && !$0.contains("VIRTUAL TABLE") }, "\(steps)")
    }
  }

  /// Words may be frequent, rare or almost absent, and SQLite may search in any way. The result is always the beginning
  /// of the list.
  @Test func aTextSearchWithAnyQueryPlanReturnsTheBeginningOfTheList() throws {
    var rows: [(Asset, DirectoryID)] = []
    for id in Int64(100)..<12_100 {
      var asset = Asset.sample(AssetID(rawValue: id), taken: 2_000 + id * 7_919 % 12_007)
      asset.title = [id % 3 == 0 ? "often" : nil, id % 30 == 0 ? "seldom" : nil, id == 3_000 ? "once" : nil]
        .compactMap(\.self).joined(separator: " ")
      // The newest assets contain none of these words, and hidden assets contain some.
      if asset.creationDate.microseconds > 13_000_000_000 { asset.title = nil }
      asset.isHidden = id % 40 == 1
      if asset.isHidden { asset.title = "secret" }
      rows.append((asset, top))
    }
    try fixture.insert(rows.map { ($0.0, $0.1, Array("\($0.0.id).jpg".utf8), nil) })
    while try fixture.catalog.indexText(limit: 1_000) {}
    try fixture.catalog.read { reader in
      let newest = SortDescriptor(key: "creationDate", ascending: false)
      let oldest = SortDescriptor(key: "creationDate", ascending: true)
      for (text, order, limit, way) in [
        ("often", oldest, 60, TextSearch.Way.words), ("often", newest, 10, .ids), ("seldom", oldest, 10, .ids),
        ("seldom", newest, 10, .ids), ("once", newest, 100, .lookups), ("often once", oldest, 100, .lookups),
        ("nothing", oldest, 100, .lookups), ("secret", newest, 10, .lookups), ("seldom", oldest, 1_000, .lookups),
        ("often seldom", newest, 10, .ids), ("jpg often once", oldest, 10, .lookups), ("jpg 9", newest, 10, .words),
        ("jpg often", newest, 10, .ids), ("jpg \"9990 jpg\"", oldest, 10, .lookups),
      ] {
        let whole = try reader.ids(reader.plan(FetchOptions(text: text, sortDescriptors: [order])))
        for predicate in [nil, "pixelWidth != 3 OR id > 0"] {
          let plan = try reader.plan(
            FetchOptions(predicate: predicate, text: text, sortDescriptors: [order], fetchLimit: limit))
          let search = try #require(TextSearch(plan, limit: limit, reader.database))
          #expect(try search.rows().way == (predicate == nil ? way : .lookups), "\(text) \(order) \(limit)")
          #expect(try reader.ids(plan) == Array(whole.prefix(limit)))
          #expect(try reader.list(plan).ids == Array(whole.prefix(limit)))
        }
      }
    }
    let options = FetchOptions(text: "a", fetchLimit: 100)
    let (words, list, lookup) = try fixture.catalog.read { reader in
      let search = try #require(TextSearch(try reader.plan(options), limit: 100, reader.database))
      return (search.wordsStatement, search.listStatement, search.lookupStatement(isWhole: true))
    }
    for statement in [words, list] {
      let steps = try explain(options, statement)
      #expect(steps.contains { $0.hasPrefix("SCAN asset USING") && $0.hasSuffix("INDEX asset_by_date") }, "\(steps)")
      #expect(!steps.contains { $0.contains("TEMP B-TREE") }, "\(steps)")
    }
    #expect(try explain(options, list) == ["SCAN asset USING COVERING INDEX asset_by_date"])
    let steps = try explain(options, lookup)
    #expect(steps.contains("SEARCH asset USING INTEGER PRIMARY KEY (rowid=?)"), "\(steps)")
  }

  @Test func noLimitIsTooLarge() throws {
    try fixture.catalog.read { reader in
      let all = try reader.ids(reader.plan(FetchOptions()))
      for limit in [Int.max, .max / 2, 1 << 40] {
        let plan = try reader.plan(FetchOptions(fetchLimit: limit))
        #expect(try reader.ids(plan) == all && reader.list(plan).ids == all && reader.count(plan) == all.count)
      }
    }
  }

  /// The first fetch after each commit counts the library, so that must not take a pass over all assets.
  @Test(arguments: [
    FetchOptions(), FetchOptions(includeHidden: true), FetchOptions(includeTrashed: true),
    FetchOptions(collection: "recents"),
  ])
  func theLibraryIsCountedByTheAssetsThatAreLeftOut(options: FetchOptions) throws {
    try fixture.execute("UPDATE asset SET is_hidden = 1 WHERE id IN (1, 2)")
    try fixture.execute("UPDATE asset SET is_trashed = 1 WHERE id IN (2, 3, 4)")
    let (sql, count, ids) = try fixture.catalog.read { reader in
      let plan = try reader.plan(options)
      return (plan.countStatement, try reader.count(plan), try reader.ids(plan))
    }
    #expect(count == ids.count)
    #expect(sql.hasPrefix("SELECT (SELECT count(*) FROM asset) - (SELECT"))
    let steps = try explain(options, sql)
    #expect(steps.contains { $0.contains("INDEX asset_invisible") }, "\(steps)")
  }

  @Test(arguments: [
    FetchOptions(includeHidden: true, includeTrashed: true), FetchOptions(collection: "hidden"),
    FetchOptions(collection: "favorites"), FetchOptions(collection: "album:Mine"),
    FetchOptions(collection: "folder:/photos"), FetchOptions(text: "jpg"), FetchOptions(mediaTypes: ["image"]),
    FetchOptions(fetchLimit: 3), FetchOptions(excludeUnavailable: true), FetchOptions(predicate: "id > 2"),
  ])
  func otherListsAreCountedByTheirRows(options: FetchOptions) throws {
    try fixture.addAlbum("Mine", [3, 1, 2])
    try fixture.execute("UPDATE asset SET is_hidden = 1 WHERE id IN (1, 2)")
    try fixture.execute("UPDATE asset SET is_trashed = 1 WHERE id IN (2, 3)")
    try fixture.catalog.read { reader in
      let plan = try reader.plan(options)
      #expect(try reader.count(plan) == reader.ids(plan).count)
    }
  }

  /// No index has a user's album by date. So its pages are cut from one sorted list instead of sorting for each page.
  @Test func anAlbumByDateIsSortedOnce() throws {
    try fixture.addAlbum("Mine")
    let dates = [SortDescriptor(key: "creationDate", ascending: false)]
    let options = FetchOptions(collection: "Mine", sortDescriptors: dates)
    #expect(try fixture.catalog.read { try $0.plan(options).nextStatement } == nil)
    let own = FetchOptions(collection: "Mine")
    #expect(try fixture.catalog.read { try $0.plan(own).nextStatement } != nil)
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func pagesAreTheList() throws {
    let album = try fixture.addAlbum("Mine", [3, 1, 8, 2, 5, 4])
    let orders = FetchPlan.sortKeys.flatMap { key in
      [true, false].map { [SortDescriptor(key: key, ascending: $0)] }
    }
    for order in orders + [nil, [.init(key: "creationDate", ascending: true), .init(key: "id", ascending: false)]] {
      for collection in [nil, "id:\(album)", "folder:/photos", "favorites"] {
        for (limit, text) in [(nil, nil), (3, nil), (nil, "jpg"), (100, nil)] {
          let options = FetchOptions(
            collection: collection, text: text, sortDescriptors: order, fetchLimit: limit, includeHidden: true)
          try fixture.catalog.read { reader in
            let plan = try reader.plan(options)
            let ids = try reader.ids(plan)
            for offset in 0...ids.count + 1 {
              for count in 1...3 {
                var pages = try FetchPages(plan, from: offset, reader)
                var all: [AssetID] = []
                while case let page = try pages.next(count, reader), !page.isEmpty {
                  #expect(page.count <= count)
                  all += page
                }
                #expect(all == Array(ids.dropFirst(offset)) && pages.total == ids.count, "\(plan.key) \(offset)")
              }
            }
          }
        }
      }
    }
  }

  @Test func aPredicateScansTheTableExceptForARangeOfDates() throws {
    #expect(try explain(FetchOptions(predicate: "rating > 3")) == ["SCAN asset", "USE TEMP B-TREE FOR ORDER BY"])
    let range = "creationDate >= '2024-01-01' AND creationDate < '2024-02-01'"
    #expect(
      try explain(FetchOptions(predicate: range)).first
        == "SEARCH asset USING COVERING INDEX asset_by_date (creation_date>? AND creation_date<?)")
    #expect(
      try explain(FetchOptions(predicate: "isFavorite == true")).first == "SCAN asset USING INDEX asset_favorite")
  }

  private func explain(_ options: FetchOptions, _ sql: String? = nil) throws -> [String] {
    try fixture.catalog.read { reader throws in
      let plan = try reader.plan(options)
      let statement = try RawStatement(reader.database, uncached: "EXPLAIN QUERY PLAN " + (sql ?? plan.idStatement))
      var steps: [String] = []
      try statement.forEachRow { steps.append(statement.text(3)) }
      return steps
    }
  }
}
