import PhotoModel
import PhotoTestSupport
import TestFetches
import TestTools
import Testing

@testable import PhotoCatalog

/// Smart albums that a person makes: their lists, and the errors of invalid queries.
@Suite struct UserSmartAlbumTests {
  /// The list of an album is that of a fetch with the album's query. Further options apply to the assets of the album.
  @Test(arguments: TestTier.seeds(3)) func listIsThatOfTheQuery(seed: UInt64) throws {
    let library = try PredicateLibrary(seed: seed)
    let catalog = library.fixture.catalog
    var fetches = RandomFetches(library: library, seed: seed)
    var foundCount = 0
    let count = TestTier.count(40, quick: 10)
    for _ in 0..<count {
      let query = SmartAlbumQuery(random: &fetches)
      var options = FetchOptions(query)
      let album = try catalog.perform(.createSmartAlbum(title: "A", query, parent: nil))[0]
      let reference = "id:\(album)"
      let whole = try library.fixture.ids(options)
      #expect(try catalog.list(album) == whole)
      foundCount += whole.isEmpty ? 0 : 1

      #expect(try library.fixture.ids(FetchOptions(collection: reference, fetchLimit: 3)) == Array(whole.prefix(3)))
      let byID = [SortDescriptor(key: "id", ascending: true)]
      #expect(try library.fixture.ids(FetchOptions(collection: reference, sortDescriptors: byID)) == whole.sorted())
      for _ in 0..<5 {
        var further = fetches.next()
        further.collection = nil
        (further.fetchLimit, further.includeHidden, further.includeTrashed) = (nil, nil, nil)
        let all = try library.fixture.ids(further)
        further.collection = reference
        let found = try library.fixture.ids(further)
        #expect(Set(found) == Set(all).intersection(whole), "\(query) and \(further)")
        if !(further.sortDescriptors ?? []).isEmpty { #expect(found == all.filter(Set(whole).contains)) }
      }
      options.includeHidden = true
      let shown = try library.fixture.ids(options)
      #expect(try library.fixture.ids(FetchOptions(collection: reference, includeHidden: true)) == shown)

      let collection = try #require(try catalog.read { try $0.collection(id: album) })
      #expect(collection.count == whole.count && collection.keyAssetID == whole.first && collection.query == query)
      #expect(collection.kind == .smartAlbum && collection.subtype == nil && collection.problem == nil)
      for asset in library.assets.prefix(5) {
        let holding = try catalog.read { try $0.collections(containing: asset.id) }
        #expect(holding.contains { $0.id == album } == whole.contains(asset.id))
      }
      try catalog.perform(.deleteCollection(album))
    }
    #expect(foundCount > count / 8, "\(foundCount)")
  }

  @Test func planFollowsTheQuery() throws {
    let library = try PredicateLibrary(seed: 1)
    let catalog = library.fixture.catalog
    let favorites = SmartAlbumQuery(predicate: "isFavorite == TRUE")
    let album = try catalog.perform(.createSmartAlbum(title: "A", favorites, parent: nil))[0]
    let other = try catalog.perform(.createSmartAlbum(title: "B", favorites, parent: nil))[0]
    let plan = try catalog.read { try $0.plan(FetchOptions(collection: "smart:a", predicate: "id > 3")) }
    #expect(try catalog.read { try $0.current(plan) } == plan)
    #expect(plan.followsQuery)
    #expect(try catalog.read { try $0.plan(FetchOptions(collection: "id:\(other)", predicate: "id > 3")) } != plan)
    try catalog.perform(.editSmartAlbum(album, SmartAlbumQuery(predicate: "isFavorite == FALSE")))
    let now = try catalog.read { try $0.current(plan) }
    #expect(now != plan && now.followsQuery)
    let found = try catalog.read { try $0.ids(now) }
    #expect(try found == library.fixture.ids(FetchOptions(predicate: "isFavorite == FALSE AND id > 3")))
    try catalog.perform(.editSmartAlbum(album, favorites))
    #expect(try catalog.read { try $0.current(now) } == plan)
    try catalog.perform(.deleteCollection(album))
    let gone = try catalog.read { try $0.current(plan) }
    // The deletion may be undone.
    #expect(try catalog.read { try $0.ids(gone) } == [] && gone.isOfDeletedCollection && gone.followsQuery)
  }

  @Test(arguments: [
    (SmartAlbumQuery(predicate: "rating >"), "the predicate is invalid at character 9"),
    (SmartAlbumQuery(predicate: "colour == 'red'"), "colour"),
    (SmartAlbumQuery(text: "\"open"), "the text is invalid at character 1: This quote has no end"),
    (SmartAlbumQuery(text: "a", sortDescriptors: [.init(key: "name", ascending: true)]), "sorted by 'name'"),
  ]) func invalidQueryIsRejected(query: SmartAlbumQuery, message: String) throws {
    let fixture = try CatalogFixture()
    let catalog = fixture.catalog
    let album = try catalog.perform(.createSmartAlbum(title: "A", SmartAlbumQuery(text: "a"), parent: nil))[0]
    for change in [LibraryChange.createSmartAlbum(title: "B", query, parent: nil), .editSmartAlbum(album, query)] {
      let failure = #expect(throws: ChangeFailure.self) { try catalog.perform(change) }
      guard case .rejected(let text) = failure?.reason else { continue }
      #expect(text.contains(message), "\(text)")
    }
    #expect(try catalog.collections().filter { $0.query != nil }.map(\.query) == [SmartAlbumQuery(text: "a")])
  }

  @Test func changesThatDoNotFitTheKindAreRejected() throws {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let created = try catalog.perform(
      .createSmartAlbum(title: "S", SmartAlbumQuery(text: "a"), parent: nil),
      .createAlbum(title: "A", assets: [1], parent: nil))
    var edit = AlbumEdit()
    edit.placed = [1]
    func reason(_ change: LibraryChange) -> String? {
      let failure = #expect(throws: ChangeFailure.self) { try catalog.perform(change) }
      guard case .rejected(let text) = failure?.reason else { return nil }
      return text
    }
    #expect(reason(.editAlbum(created[0], edit))?.contains("is a smart album. Its query decides") ?? false)
    #expect(reason(.editSmartAlbum(created[1], SmartAlbumQuery(text: "a")))?.contains("is no smart album") ?? false)
    (edit.placed, edit.keyAsset) = ([], 1)
    #expect(reason(.editAlbum(created[0], edit))?.contains("cover") ?? false)
  }

  /// A later version of photod may know predicates that this one does not.
  @Test func queryOfALaterVersionFindsNothingAndStays() throws {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    try catalog.addPhotos(2)
    let album = try catalog.perform(.createSmartAlbum(title: "A", SmartAlbumQuery(text: "jpg"), parent: nil))[0]
    try catalog.write { writer in
      let update = try RawStatement(writer.database, "UPDATE collection SET predicate = 'face == 3' WHERE id = ?")
      update.bind(1, album)
      try update.run()
    }
    let collection = try #require(try catalog.collections().first { $0.id == album })
    #expect(collection.count == 0 && collection.query == SmartAlbumQuery(predicate: "face == 3", text: "jpg"))
    #expect(collection.problem?.contains("face") ?? false)
    #expect(try catalog.list(album) == [])
    let counts = try catalog.read { try $0.collectionCounts() }
    #expect(counts.collection(album) == collection)
    var rename = CollectionEdit()
    rename.title = "B"
    try catalog.perform(.editCollection(album, rename))
    #expect(try catalog.collections().first { $0.id == album }?.query == collection.query)
    try catalog.perform(.editSmartAlbum(album, SmartAlbumQuery(predicate: "id > 0")))
    #expect(try catalog.collections().first { $0.id == album }?.problem == nil)
    #expect(try catalog.list(album).count == 2)
  }

  /// The most deeply nested predicates are possible in an album, in a fetch of it, and in both.
  @Test(arguments: [nil, 5]) func deepestPredicatesFitIntoOneStatement(limit: Int?) throws {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    try catalog.addPhotos(3)
    func predicate(_ depth: Int) -> String {
      (0..<depth).reduce("ANY resources.path CONTAINS '/'") { inner, level in
        level % 2 == 0 ? "(\(inner)) AND id > 0" : "(\(inner)) OR id < 0"
      }
    }
    let deepest = try #require(
      (1...100).last { depth in (try? PredicateCompiler.compile(predicate(depth))) != nil })
    let query = SmartAlbumQuery(predicate: predicate(deepest), text: "jpg", fetchLimit: limit)
    let album = try catalog.perform(.createSmartAlbum(title: "A", query, parent: nil))[0]
    let options = FetchOptions(collection: "id:\(album)", predicate: predicate(deepest), text: "jpg", fetchLimit: 2)
    #expect(try catalog.read { try $0.ids($0.plan(options)) }.count == 2)
    #expect(try catalog.list(album).count == 3)
    #expect(try catalog.collections().first { $0.id == album }?.count == 3)
  }
}

extension SmartAlbumQuery {
  /// The query of a random fetch.
  init<Generator>(random fetches: inout RandomFetches<Generator>) {
    var options = fetches.next()
    while options.predicate == nil && options.text == nil { options = fetches.next() }
    self.init(
      predicate: options.predicate, text: options.text, sortDescriptors: options.sortDescriptors ?? [],
      fetchLimit: options.fetchLimit)
  }
}

extension FetchOptions {
  init(_ query: SmartAlbumQuery) {
    self.init(
      predicate: query.predicate, text: query.text, sortDescriptors: query.sortDescriptors,
      fetchLimit: query.fetchLimit)
  }
}
