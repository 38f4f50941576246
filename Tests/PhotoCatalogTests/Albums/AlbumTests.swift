import GRDB
import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog

/// The albums and folders that a person makes.
@Suite struct AlbumTests {
  private let fixture: UserDataFixture
  private let catalog: Catalog

  init() throws {
    fixture = try UserDataFixture()
    catalog = try fixture.open()
    try catalog.addPhotos(12)
  }

  @Test func assetsAreInTheOrderInWhichTheyArePlaced() throws {
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [3, 1, 2], parent: nil))[0]
    #expect(try catalog.list(album) == [3, 1, 2])
    try catalog.place([5, 4], in: album, before: 1)
    #expect(try catalog.list(album) == [3, 5, 4, 1, 2])
    // Assets that the album has are moved.
    try catalog.place([2, 6, 3], in: album)
    #expect(try catalog.list(album) == [5, 4, 1, 2, 6, 3])
    let sequence = try catalog.read { try $0.sequence() }
    try catalog.place([6, 3], in: album)
    try catalog.place([4], in: album, before: 1)
    #expect(try catalog.read { try $0.sequence() } == sequence, "nothing differs")
    var remove = AlbumEdit()
    remove.removed = [4, 5, 12]
    try catalog.perform(.editAlbum(album, remove))
    #expect(try catalog.list(album) == [1, 2, 6, 3])
    #expect(try catalog.collections().first { $0.id == album }?.count == 4)
  }

  @Test func changesOfACallUseItsNewCollections() throws {
    var place = AlbumEdit()
    place.placed = [7]
    let created = try catalog.perform(
      .createFolder(title: "Trips", parent: nil), .createAlbum(title: "Rome", assets: [1], parent: -1),
      .editAlbum(-2, place))
    #expect(created.count == 2)
    #expect(try catalog.list(created[1]) == [1, 7])
    #expect(try catalog.collections().first { $0.id == created[1] }?.parentID == created[0])
    #expect(throws: ChangeFailure(index: 0, reason: .noSuchCollection(-1))) {
      try catalog.perform(.deleteCollection(-1))
    }
  }

  @Test func changesAreMadeTogetherOrNotAtAll() throws {
    let before = try catalog.collections()
    #expect(throws: ChangeFailure(index: 2, reason: .noSuchAssets([99]))) {
      try catalog.perform(
        .createAlbum(title: "Rome", assets: [1], parent: nil), .editAssets([1], AssetEdit(isFavorite: true)),
        .createAlbum(title: "Paris", assets: [99], parent: nil))
    }
    #expect(try catalog.collections() == before)
    #expect(try catalog.typed() == [:])
  }

  @Test func rejectedChangesHaveAReason() throws {
    let folder = try catalog.perform(.createFolder(title: "Trips", parent: nil))[0]
    let inner = try catalog.perform(.createFolder(title: "2024", parent: folder))[0]
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [1], parent: inner))[0]
    func reason(_ change: LibraryChange) throws -> CollectionChangeError? {
      do {
        try catalog.perform(change)
        return nil
      } catch let error as ChangeFailure { return error.reason }
    }
    var cycle = CollectionEdit()
    cycle.place = CollectionPlacement(parent: .folder(inner), position: .end)
    #expect(
      try reason(.editCollection(folder, cycle))
        == .rejected(
          "The folder 'Trips' can't be moved into itself, or into a folder that is in it. Choose another folder."))
    #expect(
      try reason(.createAlbum(title: "x", assets: [], parent: album))
        == .rejected("'Rome' (id:\(album)) is no folder of albums. Choose a folder, or the top level."))
    var place = AlbumEdit()
    (place.placed, place.before) = ([2], 3)
    #expect(
      try reason(.editAlbum(album, place))
        == .rejected(
          "The photo 3 is not in the album 'Rome', so nothing can be placed before it. Choose a photo of the album, or leave it out for the end."
        ))
    var cover = AlbumEdit()
    cover.keyAsset = 2
    #expect(
      try reason(.editAlbum(album, cover))
        == .rejected("The photo 2 is not in the album 'Rome'. Add it, or choose another cover."))
    place.before = nil
    #expect(
      try reason(.editAlbum(folder, place))
        == .rejected("'Trips' (id:\(folder)) is a folder. Only albums have photos. Choose an album.")
    )
    // The albums of the system and of folders on disk are not the user's.
    #expect(try reason(.deleteCollection(1)) == .noSuchCollection(1))
    #expect(try reason(.editAlbum(2, place)) == .noSuchCollection(2))
  }

  @Test func collectionsOfAFolderAreAlphabeticalUntilOneHasAPosition() throws {
    let folder = try catalog.perform(.createFolder(title: "b", parent: nil))[0]
    let ids = try catalog.perform(
      .createAlbum(title: "Zoo", assets: [], parent: folder), .createAlbum(title: "art", assets: [], parent: folder),
      .createAlbum(title: "Music", assets: [], parent: folder), .createAlbum(title: "a", assets: [], parent: nil),
      .createAlbum(title: "c", assets: [], parent: nil))
    func titles() throws -> [String] {
      try catalog.collections().filter { $0.kind != .smartAlbum && $0.kind != .folderAlbum }.map(\.title)
    }
    #expect(try titles() == ["a", "b", "art", "Music", "Zoo", "c"])
    var move = CollectionEdit()
    move.place = CollectionPlacement(parent: .same, position: .before(ids[1]))
    try catalog.perform(.editCollection(ids[0], move))
    #expect(try titles() == ["a", "b", "Zoo", "art", "Music", "c"])
    try catalog.perform(.createAlbum(title: "Aardvark", assets: [], parent: folder))
    #expect(try titles() == ["a", "b", "Zoo", "art", "Music", "Aardvark", "c"])
    // The contents of a folder follow it.
    var rename = CollectionEdit()
    rename.title = "d"
    try catalog.perform(.editCollection(folder, rename))
    #expect(try titles() == ["a", "c", "d", "Zoo", "art", "Music", "Aardvark"])
    var out = CollectionEdit()
    out.place = CollectionPlacement(parent: .top, position: .end)
    try catalog.perform(.editCollection(ids[1], out))
    #expect(try titles() == ["a", "art", "c", "d", "Zoo", "Music", "Aardvark"])
    try catalog.perform(.deleteCollection(folder))
    #expect(try titles() == ["a", "art", "c"])
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func tenThousandInsertionsAtOnePlaceKeepTheOrder() throws {
    try catalog.addPhotos(10_000, from: 13)
    let album = try catalog.perform(.createAlbum(title: "Long", assets: [1, 2], parent: nil))[0]
    try catalog.write { writer in
      for number in 3...10_002 { try writer.place([AssetID(rawValue: Int64(number))], inAlbum: album, before: 2) }
      try writer.append(origin: "client:test", date: .init(microseconds: 1))
    }
    #expect(try catalog.list(album) == [1] + (3...10_002).map { AssetID(rawValue: $0) } + [2])
  }

  /// The ranks, the journal's operations and a plain array agree after any edits, also while some assets are deleted.
  @Test(arguments: TestTier.seeds(12))
  func albumEqualsAnArrayAndItsJournal(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let album = try catalog.perform(.createAlbum(title: "A", assets: [], parent: nil))[0]
    var model: [AssetID] = []
    var deleted: Set<AssetID> = []
    for _ in 0..<TestTier.count(300, quick: 100) {
      let there = (1...12).map { AssetID(rawValue: $0) }.filter { !deleted.contains($0) }
      let some = Array(there.shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)))
      switch Int.random(in: 0..<8, using: &random) {
      case 0..<5:
        let before = model.filter { !deleted.contains($0) }.randomElement(using: &random)
        var place = Bool.random(using: &random) ? before : nil
        try catalog.place(some, in: album, before: place)
        if let index = place.flatMap(model.firstIndex) {
          place = model[index...].first { $0 == place ? !some.contains($0) : !(some + deleted).contains($0) }
        }
        model.removeAll(where: some.contains)
        model.insert(contentsOf: some, at: place.flatMap(model.firstIndex) ?? model.count)
      case 5:
        var edit = AlbumEdit()
        edit.removed = some
        try catalog.perform(.editAlbum(album, edit))
        model.removeAll(where: some.contains)
      case 6:
        guard let id = there.randomElement(using: &random), there.count > 4 else { continue }
        try catalog.write { writer in
          let row = try #require(try writer.file(ofAsset: id))
          try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
          try writer.append(origin: "watcher", date: .init(microseconds: 2))
        }
        deleted.insert(id)
      default:
        guard let id = deleted.randomElement(using: &random) else { continue }
        try catalog.restorePhoto(id)
        deleted.remove(id)
      }
      #expect(try catalog.list(album) == model.filter { !deleted.contains($0) })
      #expect(try catalog.write { try $0.members(ofAlbum: album) } == model)
      let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
      #expect((contents.albums[album]?.ids ?? []) == model)
    }
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.write { try $0.members(ofAlbum: album) } == model)
    try rebuilt.close()
  }

  @Test func albumsComeBackWithADeletedCatalog() throws {
    let folder = try catalog.perform(.createFolder(title: "Trips & more", parent: nil))[0]
    let album = try catalog.perform(.createAlbum(title: "Rome Ω", assets: [3, 1, 2], parent: folder))[0]
    let gone = try catalog.perform(.createAlbum(title: "Gone", assets: [5], parent: folder))[0]
    var cover = AlbumEdit()
    (cover.keyAsset, cover.title) = (2, "Roma Ω")
    try catalog.perform(.editAlbum(album, cover))
    try catalog.perform(.deleteCollection(gone))
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.typed().keys.sorted() == [1, 2, 3], "an asset of the deleted album is kept")
    let collections = try rebuilt.collections().filter { $0.kind != .smartAlbum }
    #expect(collections.map(\.id) == [folder, album] && collections.map(\.title) == ["Trips & more", "Roma Ω"])
    try rebuilt.addPlace()
    for id in [2, 3, 1] as [AssetID] { try rebuilt.restorePhoto(id) }
    #expect(try rebuilt.list(album) == [3, 1, 2])
    #expect(try rebuilt.collections().first { $0.id == album }?.keyAssetID == 2)
    // A new collection gets none of the old ids.
    #expect(try rebuilt.perform(.createAlbum(title: "New", assets: [], parent: nil))[0] > gone)
    try rebuilt.close()
  }
}

extension Catalog {
  @discardableResult
  func perform(_ changes: LibraryChange...) throws -> [CollectionID] {
    try write(durable: true) { writer in
      let created = try writer.perform(changes)
      if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .init(microseconds: 1)) }
      return created
    }
  }

  func place(_ ids: [AssetID], in album: CollectionID, before: AssetID? = nil) throws {
    var edit = AlbumEdit()
    (edit.placed, edit.before) = (ids, before)
    try perform(.editAlbum(album, edit))
  }

  func list(_ album: CollectionID) throws -> [AssetID] {
    try read { try $0.ids(try $0.plan(FetchOptions(collection: "id:\(album)"))) }
  }

  func collections() throws -> [AssetCollection] { try read { try $0.collections() } }

  /// Adds the folder of ``addPhotos(_:from:)`` to a new catalog.
  func addPlace() throws {
    try write { writer in
      _ = try writer.insertDirectory(
        parentID: nil, rootID: try writer.insertRoot(path: Array("/p".utf8)), name: [],
        volumeID: try writer.volume(identity: "uuid:v"), inode: 1, birthTime: 1)
    }
  }

  /// Puts a deleted photo back (see ``addPhotos(_:from:)``).
  func restorePhoto(_ id: AssetID) throws {
    try write { writer in
      guard let tombstone = try writer.tombstone(of: id) else { return }
      let row = FileRow(
        assetID: 0, directoryID: 1, name: Array("\(id).jpg".utf8), byteCount: 10, modificationTime: 7, changeTime: 7,
        inode: UInt64(id.rawValue), birthTime: 3, readTime: 9, marks: ContentMarks(fingerprint: UInt64(id.rawValue)))
      try writer.restore(
        tombstone, content: AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg"), file: row,
        hasNewBytes: false,
        path: Array("/p/\(id).jpg".utf8))
      try writer.append(origin: "watcher", date: .init(microseconds: 3))
    }
  }
}
