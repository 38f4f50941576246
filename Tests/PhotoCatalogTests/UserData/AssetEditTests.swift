import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog

/// The edits of an asset beside the values of its file.
@Suite struct AssetEditTests {
  private let fixture: UserDataFixture
  private let catalog: Catalog
  private let id: AssetID = 1

  init() throws {
    fixture = try UserDataFixture()
    catalog = try fixture.open()
    try catalog.addPhotos(2)
    try read("Rome", keywords: ["italy", "holiday"])
  }

  private static let taken = PhotoDate(microseconds: 1_600_000_000_000_000, offsetMinutes: 60)

  private static func content(_ title: String?, keywords: [String] = [], rating: Int? = 2) -> AssetContent {
    AssetContent(
      mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", creationDate: taken,
      location: Location(latitude: 41.9, longitude: 12.5), title: title, keywords: keywords, rating: rating)
  }

  /// The file of the first asset is read again, and has this metadata.
  @discardableResult
  private func read(_ title: String?, keywords: [String] = [], rating: Int? = 2) throws -> ChangedFields {
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: 1))
      let fields = try writer.updateContent(
        Self.content(title, keywords: keywords, rating: rating), file: row, hasNewBytes: false)
      if !writer.record.isEmpty { try writer.append(origin: "watcher", date: .init(microseconds: 1)) }
      return fields
    }
  }

  /// - Returns: the changed fields that the history has; nil if there was no commit.
  @discardableResult
  private func edit(_ edit: AssetEdit) throws -> [String]? {
    try catalog.write(durable: true) { writer in
      _ = try writer.perform([.editAssets([1], edit)])
      guard !writer.record.isEmpty else { return nil }
      try writer.append(origin: "client:test", date: .init(microseconds: 1))
      return writer.record.updatedAssets[1]?.names
    }
  }

  private func edit(_ body: (inout AssetEdit) -> Void) throws {
    var edit = AssetEdit()
    body(&edit)
    try self.edit(edit)
  }

  private func found(_ text: String) throws -> Int {
    try catalog.read { try $0.ids(try $0.plan(FetchOptions(text: text))).count }
  }

  private var asset: Asset {
    get throws { try #require(try catalog.read { try $0.assets([1]) }.assets.first) }
  }

  @Test func typedTitleStaysWhenTheFileIsReadAgain() throws {
    try edit { $0.title = "Trevi" }
    #expect(try read("Rome", keywords: ["italy", "holiday"]) == [], "the file is compared with the typed title")
    #expect(try asset.title == "Trevi")
    // The title of the file changes below the edit. Clients see no difference.
    #expect(try read("Roma", keywords: ["italy", "holiday"]) == [])
    #expect(try asset.title == "Trevi")
    try edit { $0.cleared = [.title] }
    #expect(try asset.title == "Roma", "the value of the file comes back without a reading")
  }

  @Test func typedAsEmptyDiffersFromNotTyped() throws {
    try edit { $0.title = "" }
    #expect(try asset.title == nil)
    try read("Milan", keywords: ["italy", "holiday"])
    #expect(try asset.title == nil)
    try edit {
      $0.location = .remove
      $0.rating = 0
    }
    #expect(try asset.location == nil && asset.rating == 0)
    try edit { $0.cleared = [.title, .location, .rating] }
    #expect(try asset.title == "Milan" && asset.rating == 2)
    #expect(try asset.location == Location(latitude: 41.9, longitude: 12.5))
    #expect(try catalog.read { try $0.userData(of: 1) }?.isEmpty == true)
    #expect(try catalog.read { try Int.fetchOne($0.database, sql: "SELECT count(*) FROM asset_edit") } == 0)
  }

  @Test func keywordsAreThoseOfTheFileWithTheEdits() throws {
    try edit {
      $0.addedKeywords = ["family", "italy"]
      $0.removedKeywords = ["holiday", "unknown"]
    }
    #expect(try asset.keywords == ["italy", "family"])
    // The file loses a keyword that was also typed, and gets another one.
    try read("Rome", keywords: ["holiday", "sun"])
    #expect(try asset.keywords == ["sun", "family", "italy"])
    try edit { $0.addedKeywords = ["holiday"] }
    #expect(try asset.keywords == ["holiday", "sun", "family", "italy"])
    try edit { $0.cleared = [.keywords] }
    #expect(try asset.keywords == ["holiday", "sun"])
    #expect(try found("family") == 0)
  }

  @Test func typedDateComesFromAPersonAndTheDateOfTheFileStays() throws {
    let typed = PhotoDate(year: 1999, month: 12, day: 31, hour: 23)!
    try edit { $0.creationDate = .set(typed) }
    #expect(try asset.creationDate == typed && asset.creationDateSource == .user)
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: 1))
      try writer.moveFile(row, to: 1, name: Array("IMG_20200102_030405.jpg".utf8), changesAvailability: false)
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    #expect(try asset.creationDate == typed)
    try edit { $0.creationDate = .shift(seconds: 3600.5) }
    #expect(try asset.creationDate.description == "2000-01-01T00:00:00.5", "a date without an offset keeps none")
    try edit { $0.cleared = [.creationDate] }
    #expect(try asset.creationDate == Self.taken && asset.creationDateSource == .metadata)
    try edit { $0.creationDate = .shift(seconds: -60) }
    #expect(try asset.creationDate == PhotoDate(microseconds: 1_599_999_940_000_000, offsetMinutes: 60))
    try edit { $0.creationDate = .shift(seconds: 1e300) }
    #expect(try asset.creationDate.description.hasPrefix("9999-12-31T"))
  }

  @Test func assetThatIsNamedTwiceIsEditedOnce() throws {
    var edit = AssetEdit()
    edit.creationDate = .shift(seconds: 60)
    try catalog.perform(.editAssets([1, 1], edit))
    #expect(try asset.creationDate == PhotoDate(microseconds: 1_600_000_060_000_000, offsetMinutes: 60))
  }

  @Test func onlyDifferencesAreCommits() throws {
    #expect(try edit(AssetEdit(isFavorite: false)) == nil)
    var title = AssetEdit()
    title.title = "Trevi"
    #expect(try edit(title) == ["metadata"])
    #expect(try edit(title) == nil)
    var keywords = AssetEdit(isFavorite: true)
    keywords.addedKeywords = ["fountain"]
    #expect(Set(try edit(keywords) ?? []) == ["favorite", "keywords"])
    #expect(throws: ChangeFailure(index: 0, reason: .noSuchAssets([99]))) {
      try catalog.write { try $0.perform([.editAssets([1, 99], title)]) }
    }
  }

  @Test func wordsOfEditsAreFound() throws {
    while try catalog.indexText(limit: 1_000) {}
    try edit {
      $0.title = "Trevi"
      $0.addedKeywords = ["fountain"]
    }
    #expect(try found("trevi fountain") == 1 && found("rome") == 0)
    #expect(try catalog.check(deep: true).findings.isEmpty)
  }

  @Test(arguments: [false, true])
  func deletedPhotoReturnsWithItsEdits(isRebuilt: Bool) throws {
    try edit {
      $0.title = "Trevi"
      $0.caption = "100 % Ωasser\n=x"
      $0.creationDate = .set(PhotoDate("2001-02-03T04:05:06+09:00")!)
      $0.removedKeywords = ["holiday"]
      $0.addedKeywords = ["a b", "c"]
      $0.location = .set(Location(latitude: -33.123456789, longitude: 151.2, altitude: 0.1))
      $0.rating = 5
    }
    let before = try asset
    var catalog = catalog
    if isRebuilt {
      try catalog.close()
      try fixture.remove("", "-wal", "-shm")
      catalog = try fixture.open()
      try catalog.write { writer in
        _ = try writer.insertDirectory(
          parentID: nil, rootID: try writer.insertRoot(path: Array("/p".utf8)), name: [],
          volumeID: try writer.volume(identity: "uuid:v"), inode: 1, birthTime: 1)
      }
    } else {
      try catalog.write { writer in
        let row = try #require(try writer.file(ofAsset: 1))
        try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
        try writer.append(origin: "watcher", date: .init(microseconds: 2))
      }
    }
    let tombstone = try #require(try catalog.read { try $0.tombstone(of: 1) })
    #expect(tombstone.data.edits.title == "Trevi" && tombstone.hasUserData)
    if !isRebuilt { #expect(tombstone.creationDate?.date == Self.taken, "the date of the file is kept") }
    try catalog.write { writer in
      let row = FileRow(
        assetID: 0, directoryID: 1, name: Array("1.jpg".utf8), byteCount: 10, modificationTime: 7, changeTime: 7,
        inode: 1, birthTime: 3, readTime: 9, marks: ContentMarks(fingerprint: 1))
      try writer.restore(
        tombstone, content: Self.content("Rome", keywords: ["italy", "holiday"]), file: row, hasNewBytes: false,
        path: Array("/p/1.jpg".utf8))
      try writer.append(origin: "watcher", date: .init(microseconds: 3))
    }
    let after = try #require(try catalog.read { try $0.assets([1]) }.assets.first)
    #expect(after.title == before.title && after.caption == before.caption && after.keywords == before.keywords)
    #expect(after.location == before.location && after.rating == 5 && after.creationDate == before.creationDate)
    var clear = AssetEdit()
    clear.cleared = Set(ClearableField.allCases)
    try catalog.write { writer in
      _ = try writer.perform([.editAssets([1], clear)])
      try writer.append(origin: "client:test", date: .init(microseconds: 4))
    }
    let cleared = try #require(try catalog.read { try $0.assets([1]) }.assets.first)
    #expect(cleared.title == "Rome" && cleared.keywords == ["italy", "holiday"] && cleared.creationDate == Self.taken)
    try catalog.close()
  }
}
