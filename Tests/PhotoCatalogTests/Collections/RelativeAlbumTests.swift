import ChangeDetails
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// Albums whose assets depend on other assets: Recently Added and Duplicates.
@Suite struct RelativeAlbumTests {
  private let fixture: CatalogFixture
  private let top: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    top = try fixture.addRoot("/photos")
  }

  private func insert(_ assets: [(asset: Asset, failure: String?)]) throws {
    try fixture.insert(assets.map { ($0.asset, top, Array("\($0.asset.id).jpg".utf8), $0.failure) })
  }

  private func count(_ album: SmartAlbum) throws -> Int? {
    try fixture.catalog.read { try $0.collections(kinds: [.smartAlbum]) }
      .first { $0.subtype == album.rawValue }?.count
  }

  /// The album has the newest 1,000. Other conditions, another order and a limit of the fetch apply to these.
  @Test func recentlyAddedHasTheNewestThousand() throws {
    try insert(
      (1...1_200 as ClosedRange<Int64>).map { id in
        var asset = Asset.sample(AssetID(rawValue: id), taken: -id)
        asset.addedDate = PhotoDate(microseconds: id % 7 * 1_000, offsetMinutes: nil)
        asset.isFavorite = id % 100 == 0
        return (asset, nil)
      })
    let newest = (1...1_200 as ClosedRange<Int64>).sorted { ($0 % 7, $0) > ($1 % 7, $1) }.prefix(1_000)
      .map(AssetID.init(rawValue:))
    let album = "smart:recentlyAdded"
    #expect(try fixture.ids(FetchOptions(collection: album)) == newest)
    #expect(try fixture.ids(FetchOptions(collection: album, fetchLimit: 10)) == Array(newest.prefix(10)))
    #expect(try fixture.ids(FetchOptions(collection: album, fetchLimit: 5_000)) == newest)
    #expect(try fixture.ids(FetchOptions(collection: album, predicate: "id > 0")) == newest)
    let byDate = SortDescriptor(key: "creationDate", ascending: false)
    #expect(try fixture.ids(FetchOptions(collection: album, sortDescriptors: [byDate])) == newest.sorted())
    #expect(
      try fixture.ids(FetchOptions(collection: album, predicate: "isFavorite == TRUE", fetchLimit: 3))
        == Array(newest.filter { $0.rawValue % 100 == 0 }.prefix(3)))
    let row = try #require(
      try fixture.catalog.read { try $0.collections(kinds: [.smartAlbum]) }.first { $0.subtype == "recentlyAdded" })
    #expect(row.count == 1_000 && row.keyAssetID == newest.first)
    #expect(row.startDate == Asset.sample(newest.max() ?? 0, taken: -(newest.max()?.rawValue ?? 0)).creationDate)
  }

  /// Lists and counts of an album with a limit stay exact while assets come, go and change.
  @Test(arguments: TestTier.seeds(4)) func windowIsExactAfterRandomChanges(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    try insert(
      (1...1_010 as ClosedRange<Int64>).map { id in
        var asset = Asset.sample(AssetID(rawValue: id), taken: .random(in: 0...500, using: &random))
        asset.addedDate = PhotoDate(microseconds: .random(in: 0...90, using: &random) * 1_000, offsetMinutes: nil)
        return (asset, nil)
      })
    let byDate = [SortDescriptor(key: "creationDate", ascending: false)]
    let options = [
      FetchOptions(), FetchOptions(fetchLimit: 20), FetchOptions(sortDescriptors: byDate),
      FetchOptions(sortDescriptors: byDate, fetchLimit: 30), FetchOptions(predicate: "isFavorite == TRUE"),
      FetchOptions(text: "jpg", sortDescriptors: byDate, fetchLimit: 9), FetchOptions(includeHidden: true),
      FetchOptions(mediaTypes: ["image"]),
    ].map {
      var options = $0
      options.collection = "smart:recentlyAdded"
      return options
    }
    let catalog = fixture.catalog
    let plans = try catalog.read { reader in try options.map(reader.plan) }
    var lists = try catalog.read { reader in try plans.map(reader.list) }
    var counts = try catalog.read { try $0.collectionCounts() }
    for round in 0..<60 {
      let effects = try catalog.write { writer in
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          try Self.change(writer, top, &random, "\(round)-\(UInt64.random(in: 0 ... .max, using: &random))")
        }
        try writer.compareContents()
        guard !writer.record.isEmpty else { return CommitEffects?.none }
        try writer.append(origin: "watcher", date: .init(microseconds: 1))
        return try writer.effects(origin: "watcher")
      }
      guard let effects else { continue }
      let isKnown = Bool.random(using: &random)
      try catalog.read { reader in
        for (index, plan) in plans.enumerated() {
          let (before, whole) = (lists[index], try reader.list(plan))
          let after = try reader.list(
            plan, updating: before, of: counts.sequence, effects: isKnown ? effects : nil)
          #expect(after.ids == whole.ids, "\(options[index]), seed \(seed), round \(round)")
          if plan.concern(of: effects, in: before) < .list { #expect(before.ids == whole.ids) }
          lists[index] = after
        }
        try counts.update(reader, isKnown ? CollectionTouches(effects) : nil)
        let all = counts.order(of: [.smartAlbum])
        #expect(
          all.map { counts.collection(CollectionID(element: $0)) } == (try reader.collections(kinds: [.smartAlbum])),
          "seed \(seed), round \(round)")
      }
    }
  }

  private static func change(
    _ writer: CatalogWriter, _ directory: DirectoryID, _ random: inout SeededGenerator, _ name: String
  ) throws {
    let id = AssetID(rawValue: .random(in: 1...1_020, using: &random))
    switch Int.random(in: 0..<5, using: &random) {
    case 0: try writer.deleteAsset(id)
    case 1 where try writer.missingAssets([id]).isEmpty:
      try writer.setUserData(of: id, isFavorite: .random(using: &random), isHidden: nil)
    case 2 where try writer.missingAssets([id]).isEmpty:
      try writer.setUserData(of: id, isFavorite: nil, isHidden: .random(using: &random))
    case 3:
      guard let row = try writer.file(ofAsset: id) else { return }
      var content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg")
      content.creationDate = PhotoDate(
        microseconds: .random(in: 0...500, using: &random) * 1_000_000, offsetMinutes: nil)
      try writer.updateContent(content, file: row, hasNewBytes: .random(using: &random))
    default:
      let row = FileRow(
        assetID: 0, directoryID: directory, name: Array("\(name).jpg".utf8), byteCount: 1, modificationTime: 1,
        changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
      try writer.insertAsset(
        AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg"), file: row,
        addedDate: WallTime(microseconds: .random(in: 0...120, using: &random) * 1_000))
    }
  }

  /// Any number of smart albums is possible.
  @Test func membershipsHoldManyAlbums() {
    var memberships = CollectionMemberships()
    for album in stride(from: 0, to: 300, by: 3) {
      memberships.insert(album) { insert in
        for asset in 1...100 as ClosedRange<Int64> { insert(AssetID(rawValue: asset)) }
      }
    }
    for album in 0..<300 { #expect(memberships[7].smart.contains(album) == (album % 3 == 0)) }
    #expect(memberships.combinationCount == 1 && memberships[101].isEmpty)
    memberships[7] = CollectionMemberships.Membership(folder: 3)
    #expect(memberships[7].folder == 3 && memberships[7].smart.isEmpty && memberships.combinationCount == 2)
    for asset in 1...100 as ClosedRange<Int64> { memberships[AssetID(rawValue: asset)] = .init() }
    #expect(memberships.combinationCount == 0 && memberships[7].isEmpty)
  }

  @Test func filesWithEqualHashesAreDuplicates() throws {
    try insert((1...5).map { (Asset.sample($0, taken: $0.rawValue), nil) })
    func write(_ id: AssetID, _ marks: ContentMarks) throws -> CommitRecord {
      try fixture.catalog.write { writer in
        let found = try writer.file(ofAsset: id)
        var row = try #require(found)
        row.marks = marks
        try writer.updateStat(row)
        try writer.compareContents()
        return writer.record
      }
    }
    func duplicates() throws -> [AssetID] { try fixture.ids(FetchOptions(collection: "smart:duplicates")).sorted() }
    try fixture.execute("UPDATE resource SET proof_state = 2 WHERE asset_id < 5")
    let (small, large) = (ContentDigest(high: 1, low: 1), ContentDigest(high: 2, low: 2))
    let a = ContentMarks(fingerprint: 1, sample: small, hash: small)
    let b = ContentMarks(fingerprint: 1, sample: small, hash: large)
    #expect(try write(1, a).isEmpty)
    #expect(try write(2, b).isEmpty)
    #expect(try duplicates() == [])
    let second = try write(3, b)
    #expect(second.updatedAssets == [2: .duplicates, 3: .duplicates] && second.updatedCollections.count == 1)
    #expect(try write(4, b).updatedAssets == [4: .duplicates])
    #expect(try duplicates() == [2, 3, 4])
    // The file is not taken up yet.
    #expect(try write(5, b).isEmpty)
    #expect(try duplicates() == [2, 3, 4])
    let takenUp = try fixture.catalog.write { writer in
      while try writer.wantProofsOfNewFiles(limit: 2) {}
      try writer.compareContents()
      return writer.record
    }
    #expect(takenUp.updatedAssets == [5: .duplicates])
    #expect(try duplicates() == [2, 3, 4, 5])
    #expect(try write(4, a).updatedAssets == [1: .duplicates])
    #expect(try duplicates() == [1, 2, 3, 4, 5])
    #expect(try write(4, a.voided).updatedAssets == [1: .duplicates, 4: .duplicates])
    let deletion = try fixture.catalog.write { writer in
      try writer.deleteAsset(2)
      try writer.deleteAsset(3)
      try writer.compareContents()
      return writer.record
    }
    #expect(deletion.updatedAssets == [5: .duplicates])
    #expect(try duplicates() == [])
    #expect(try count(.duplicates) == 0)
  }
}
