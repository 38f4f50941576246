import PhotoModel
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer

/// A change is refused if an asset or a collection that it edits has changed since a token.
@Suite struct UnchangedSinceTests {
  private let fixture: ServerFixture
  private let ids: [AssetID]

  init() throws {
    fixture = try ServerFixture(root: "/p")
    ids = try fixture.insert(3)
  }

  private func edit(_ id: AssetID, since token: ChangeToken) async throws {
    _ = try await fixture.library.perform(
      [.editAssets([id], AssetEdit(isFavorite: true))], clientName: "test", ifUnchangedSince: token)
  }

  private func token() throws -> ChangeToken { try #require(ChangeToken(try fixture.token())) }

  private func isRejected(_ id: AssetID, since token: ChangeToken) async throws -> Bool {
    do {
      try await edit(id, since: token)
      return false
    } catch LibraryError.changeRejected { return true }
  }

  /// More photos are below the folder than the history lists one by one.
  @Test func renamedFolderWithManyPhotosIsAChange() async throws {
    let inner = try fixture.catalog.write { writer in
      let inner = try writer.insertDirectory(
        parentID: fixture.directoryID, rootID: nil, name: Array("inner".utf8),
        volumeID: try writer.volume(identity: "uuid:v"), inode: 77, birthTime: 1)
      for number in 0..<4_200 {
        let row = FileRow(
          assetID: 0, directoryID: inner, name: Array("\(number).jpg".utf8), byteCount: 1, modificationTime: 1,
          changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        _ = try writer.insertAsset(
          AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg"), file: row,
          addedDate: .init(microseconds: 1))
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
      return inner
    }
    let within = AssetID(rawValue: ids[2].rawValue + 4_000)
    let before = try token()
    try fixture.commit { writer in
      var row = try #require(try fixture.catalog.read { try $0.directories() }.first { $0.id == inner })
      row.name = Array("renamed".utf8)
      _ = try writer.moveDirectory(&row)
    }
    #expect(try await isRejected(within, since: before))
    #expect(try await !isRejected(ids[0], since: before), "it is not in the folder")
  }

  /// That another photo has the same content changes nothing that a client sees of a photo.
  @Test func hashThatMakesADuplicateIsNoChange() async throws {
    let before = try token()
    let marks = ContentMarks(
      fingerprint: 1, sample: ContentDigest(high: 1, low: 1), hash: ContentDigest(high: 2, low: 2))
    try fixture.commit { writer in
      for id in ids.prefix(2) {
        var row = try #require(try writer.file(ofAsset: id))
        row.marks = marks
        try writer.updateStat(row)
      }
      while try writer.wantProofsOfNewFiles(limit: 100) {}
      try writer.compareContents()
      #expect(writer.record.updatedAssets == [ids[0]: .duplicates, ids[1]: .duplicates])
    }
    #expect(try await !isRejected(ids[0], since: before))
    #expect(try await isRejected(ids[0], since: before), "the edit itself was a change")
    try fixture.delete([ids[2]])
    #expect(try await isRejected(ids[2], since: before))
  }

  private func perform(_ changes: LibraryChange..., since token: ChangeToken? = nil) async throws -> [CollectionID] {
    try await fixture.library.perform(changes, clientName: "test", ifUnchangedSince: token).created
  }

  private func isRejected(_ change: LibraryChange, since token: ChangeToken) async throws -> Bool {
    do {
      _ = try await perform(change, since: token)
      return false
    } catch LibraryError.changeRejected(let index, let message) {
      return index == 0 && message.contains("has changed since the token of ifUnchangedSince")
    }
  }

  /// Two programs reorder one album. Another one renames an album, moves it, edits a query, or makes an album in a folder.
  @Test func collectionThatIsEditedMustBeUnchanged() async throws {
    let created = try await perform(
      .createFolder(title: "Trips", parent: nil), .createAlbum(title: "Rome", assets: ids, parent: -1),
      .createAlbum(title: "Best", assets: [ids[1]], parent: nil),
      .createSmartAlbum(title: "Good", SmartAlbumQuery(predicate: "rating >= 4"), parent: nil))
    let (folder, rome, best, smart) = (created[0], created[1], created[2], created[3])
    func placing(_ asset: AssetID, in album: CollectionID) -> LibraryChange {
      var edit = AlbumEdit()
      (edit.placed, edit.before) = ([asset], nil)
      return .editAlbum(album, edit)
    }
    func titling(_ id: CollectionID, _ title: String) -> LibraryChange {
      var edit = CollectionEdit()
      edit.title = title
      return .editCollection(id, edit)
    }
    var before = try token()
    #expect(try await !isRejected(placing(ids[0], in: rome), since: before))
    #expect(try await isRejected(placing(ids[1], in: rome), since: before))
    #expect(try await isRejected(titling(rome, "Roma"), since: before))
    #expect(try await isRejected(.deleteCollection(folder), since: before), "an album in the folder has changed")
    #expect(try await !isRejected(titling(best, "Top"), since: before))
    #expect(try await isRejected(placing(ids[0], in: best), since: before), "its title has changed")
    #expect(try await !isRejected(.editSmartAlbum(smart, SmartAlbumQuery(predicate: "rating >= 5")), since: before))
    #expect(try await isRejected(.editSmartAlbum(smart, SmartAlbumQuery(predicate: "rating >= 3")), since: before))

    before = try token()
    // A collection that the call itself creates has not changed since.
    let new = try await perform(
      .createAlbum(title: "New", assets: [], parent: folder), placing(ids[2], in: -1), titling(folder, "Travels"),
      since: before)
    #expect(try await isRejected(.deleteCollection(folder), since: before))
    #expect(try await !isRejected(.deleteCollection(new[0]), since: try token()))
    #expect(try await isRejected(titling(new[0], "Gone"), since: before))

    // A photo of the album gets a title, which an observer of the album learns.
    before = try token()
    var edit = AssetEdit()
    edit.title = "Trevi"
    _ = try await perform(.editAssets([ids[0]], edit))
    #expect(try await isRejected(placing(ids[1], in: rome), since: before))
    #expect(try await !isRejected(placing(ids[0], in: best), since: before), "the album lacked the photo")
  }

  @Test func tokenThatExpiredIsRefused() async throws {
    let before = try token()
    for _ in 0..<3 { try fixture.insert(1) }
    try fixture.catalog.write { try $0.pruneHistory(before: before.sequence + 3) }
    await #expect(throws: LibraryError.changeTokenExpired(current: try token())) {
      try await edit(ids[0], since: before)
    }
    let other = ChangeToken(library: before.library, epoch: before.epoch + 1, sequence: before.sequence)
    await #expect(throws: LibraryError.changeTokenExpired(current: try token())) {
      try await edit(ids[0], since: other)
    }
    try await edit(ids[0], since: try token())
  }

  /// The catalog may be an old copy, which will give this sequence to another commit. So all tokens of its epoch end, as
  /// they do after such a token of an observer.
  @Test func tokenThatIsAheadEndsAllTokens() async throws {
    let fixture = try ServerFixture(isReopened: true)
    let id = try fixture.insert()[0]
    let now = try #require(ChangeToken(try fixture.token()))
    let ahead = ChangeToken(library: now.library, epoch: now.epoch, sequence: now.sequence + 7)
    let next = ChangeToken(library: now.library, epoch: now.epoch + 1, sequence: now.sequence)
    await #expect(throws: LibraryError.changeTokenExpired(current: next)) {
      _ = try await fixture.library.perform(
        [.editAssets([id], AssetEdit(isFavorite: true))], clientName: "test", ifUnchangedSince: ahead)
    }
    #expect(fixture.catalog.epoch == now.epoch + 1)
  }

  /// The library does nothing else while it reads the commits, so there is a limit.
  @Test func tokenBeforeManyCommitsIsRefused() async throws {
    let before = try token()
    try fixture.catalog.write { writer in
      for number in 0..<CatalogReader.mostCheckedCommits {
        writer.record.update(collection: CollectionID(rawValue: Int64(number % 2 + 1)))
        try writer.append(origin: "watcher", date: .init(microseconds: 1))
      }
    }
    #expect(try await !isRejected(ids[0], since: before))
    await #expect(throws: LibraryError.changeTokenExpired(current: try token())) {
      try await edit(ids[1], since: before)
    }
  }
}
