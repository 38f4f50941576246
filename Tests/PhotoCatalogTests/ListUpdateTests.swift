import PhotoModel
import Testing

@testable import PhotoCatalog

/// A list that is brought up to date by what was touched is the list that a fetch gives.
@Suite struct ListUpdateTests {
  private static func sort(_ keys: (String, Bool)...) -> [SortDescriptor] {
    keys.map { SortDescriptor(key: $0.0, ascending: $0.1) }
  }

  private static let fetches = [
    FetchOptions(), FetchOptions(includeHidden: true, includeTrashed: true),
    FetchOptions(collection: "smart:favorites"), FetchOptions(collection: "smart:videos"),
    FetchOptions(collection: "folder:/photos/a"), FetchOptions(mediaTypes: ["image", "video"]),
    FetchOptions(sortDescriptors: sort(("filename", true))), FetchOptions(sortDescriptors: sort(("rating", false))),
    FetchOptions(sortDescriptors: sort(("isFavorite", false), ("byteCount", true), ("id", false))),
    FetchOptions(sortDescriptors: sort(("title", true), ("creationDate", true))),
    FetchOptions(predicate: "rating >= 2 OR title CONTAINS 'a'"), FetchOptions(predicate: "ANY keywords == 'k'"),
    FetchOptions(predicate: "available == true", sortDescriptors: sort(("addedDate", true))),
    FetchOptions(excludeUnavailable: true), FetchOptions(fetchLimit: 20), FetchOptions(fetchLimit: 1_000),
    FetchOptions(sortDescriptors: sort(("pixelWidth", true)), fetchLimit: 7),
  ]

  @Test(arguments: UInt64(1)...12)
  func listBroughtUpToDateIsTheListThatIsFetched(seed: UInt64) throws {
    var random = SplitMix(seed: seed)
    let library = try RandomLibrary(seed: seed)
    let catalog = library.fixture.catalog
    let plans = try catalog.read { reader in try Self.fetches.map { try reader.plan($0) } }
    var known = try catalog.read { reader in try plans.map { (try reader.sequence(), try reader.list($0)) } }
    // History begins with the library's first commit.
    try library.fixture.commit(inserted: [1])
    var live = try catalog.read { try $0.ids(try $0.plan(FetchOptions(includeHidden: true, includeTrashed: true))) }
    var updatedCount = 0
    for step in 0..<60 {
      for part in 0..<Int.random(in: 1...2, using: &random) { try change(catalog, &live, 2 * step + part, &random) }
      for (index, plan) in plans.enumerated() {
        // Not each list is looked at after each commit.
        guard Bool.random(using: &random) else { continue }
        let (sequence, fetched, updated) = try catalog.read { reader in
          (
            try reader.sequence(), try reader.ids(plan),
            try reader.updated(known[index].1, plan, since: known[index].0)
          )
        }
        let list = try updated ?? catalog.read { try $0.list(plan) }
        if let updated {
          #expect(updated.ids == fetched, "seed \(seed), step \(step), \(plan.key)")
          updatedCount += 1
        }
        #expect(list.ids == fetched && list.digest == ListDigest(of: fetched).description)
        known[index] = (sequence, list)
      }
    }
    #expect(updatedCount > 250, "of some 500: the others were fetched anew")
  }

  /// One commit of one to five changes, with the history that the library writes of them.
  private func change(_ catalog: Catalog, _ live: inout [Int64], _ step: Int, _ random: inout SplitMix) throws {
    var record = CommitRecord()
    try catalog.write { writer in
      for number in 0..<Int.random(in: 1...5, using: &random) {
        guard let id = live.randomElement(using: &random), let row = try writer.file(ofAsset: id) else { continue }
        let name = Array("\(["a", "m", "z"].randomElement(using: &random) ?? "")-\(step)-\(number).jpg".utf8)
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
          if try writer.setFavorite(id, .random(using: &random)) { record.update(asset: id, .favorite) }
        case 1:
          if try writer.setHidden(id, .random(using: &random)) { record.update(asset: id, .hidden) }
        case 2:
          let target = ([row.directoryID, 1, 4] as [Int64]).randomElement(using: &random) ?? 1
          try writer.moveFile(row, to: target, name: name)
          record.update(asset: id, .path)
        case 3:
          let content = content(&random)
          let fields = content.changedFields(since: try writer.content(of: id))
          try writer.updateContent(content, file: row)
          record.update(asset: id, fields.union(.content))
        case 4:
          try writer.deleteAsset(id)
          live.removeAll { $0 == id }
          record.delete(asset: id)
        default:
          let row = FileRow(
            assetID: 0, directoryID: [1, 2, 4].randomElement(using: &random) ?? 1, name: name,
            byteCount: .random(in: 0...5, using: &random), modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1,
            readTime: 1)
          let new = try writer.insertAsset(
            content(&random), file: row, addedDate: .random(in: -2...6, using: &random) * 3_600_000_000)
          live.append(new)
          record.insert(asset: new)
        }
      }
      if !record.isEmpty { _ = try writer.append(record, origin: "watcher", date: 1) }
    }
  }

  private func content(_ random: inout SplitMix) -> AssetContent {
    AssetContent(
      mediaType: [.image, .video, .audio].randomElement(using: &random) ?? .image, mediaSubtypes: [],
      contentType: "image/jpeg",
      creationDate: Bool.random(using: &random)
        ? PhotoDate(microseconds: .random(in: -2...6, using: &random) * 3_600_000_000) : nil,
      pixelWidth: Bool.random(using: &random) ? .random(in: -1...4, using: &random) : nil,
      title: Bool.random(using: &random) ? RandomLibrary.texts.randomElement(using: &random) : nil,
      keywords: Bool.random(using: &random) ? ["k"] : [],
      rating: Bool.random(using: &random) ? .random(in: 0...5, using: &random) : nil)
  }

  /// What history does not name asset by asset is fetched.
  @Test func renamedFolderAndRootThatLeavesAreFetched() throws {
    let library = try RandomLibrary(seed: 1)
    let fixture = library.fixture
    let start = try fixture.commit(inserted: [1])
    try fixture.commit(renamed: [(1, Array("/photos/a".utf8), Array("/photos/b".utf8))])
    try fixture.commit(roots: [(1, "/photos", false)])
    let (byFolder, byAvailability, plain) = try fixture.catalog.read { reader in
      func updated(_ options: FetchOptions) throws -> OrderedList? {
        let plan = try reader.plan(options)
        return try reader.updated(try reader.list(plan), plan, since: start)
      }
      return (
        try updated(FetchOptions(collection: "folder:/photos/a")), try updated(FetchOptions(excludeUnavailable: true)),
        try updated(FetchOptions())
      )
    }
    #expect(byFolder == nil && byAvailability == nil)
    #expect(plain != nil)
  }
}
