import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer

/// A client may make one change by several calls, while other clients change the library, too.
@Suite struct UndoGroupTests {
  private let fixture: ServerFixture
  private let ids: [AssetID]

  init() throws {
    fixture = try ServerFixture()
    ids = try fixture.insert(4)
  }

  @discardableResult
  private func perform(_ changes: LibraryChange..., as name: String, group: String? = "g") async throws
    -> [CollectionID]
  {
    try await fixture.library.perform(changes, clientName: name, undoGroup: group).created
  }

  private func title(_ id: AssetID, _ title: String) -> LibraryChange {
    var edit = AssetEdit()
    edit.title = title
    return .editAssets([id], edit)
  }

  private func place(_ ids: [AssetID], in album: CollectionID) -> LibraryChange {
    var edit = AlbumEdit()
    edit.placed = ids
    return .editAlbum(album, edit)
  }

  private func move(_ collection: CollectionID, before next: CollectionID?) -> LibraryChange {
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(parent: .same, position: next.map { .before($0) } ?? .end)
    return .editCollection(collection, edit)
  }

  private func changes(of name: String? = nil) async throws -> [UndoableChange] {
    let changes = await fixture.library.undoableChanges(origin: name.map { "client:\($0)" })
    return try fixture.catalog.read { try changes.described(by: $0) }
  }

  private func titles() throws -> [String?] {
    let assets = try fixture.catalog.read { try $0.assets(ids) }.assets
    return ids.map { id in assets.first { $0.id == id }?.title }
  }

  @Test func callOfAnotherClientDoesNotSplitAGroup() async throws {
    let album = try await perform(.createAlbum(title: "Rome", assets: [], parent: nil), title(ids[0], "a"), as: "a")[0]
    try await perform(title(ids[1], "b"), as: "b", group: nil)
    try await perform(title(ids[2], "a"), place([ids[2]], in: album), as: "a")
    // The same group of another client is another one.
    try await perform(title(ids[3], "b"), as: "b")
    #expect(try await changes().map(\.origin) == ["client:b", "client:b", "client:a"])
    let change = try #require(try await changes(of: "a").first)
    #expect(change.problem == nil && change.assetCount == 2)
    _ = try await fixture.library.undoChange(Int64(change.id), clientName: "a")
    #expect(try titles() == [nil, "b", nil, "b"])
    #expect(try fixture.catalog.read { try $0.collections() }.allSatisfy { $0.title != "Rome" })
    // What the client does after that is another change.
    try await perform(title(ids[0], "again"), as: "a")
    #expect(try await changes(of: "a").map(\.assetCount) == [1])
  }

  @Test func changeHasItsActionsAndTheNameOfItsOnlyFile() async throws {
    var hide = AssetEdit(isHidden: true)
    hide.cleared = [.title]
    let album = try await perform(.createAlbum(title: "Rome", assets: [], parent: nil), as: "a")[0]
    try await perform(.editAssets([ids[0]], hide), title(ids[0], "x"), place([ids[0]], in: album), as: "a")
    try await perform(.editAssets([ids[1]], AssetEdit(isFavorite: false, isHidden: true)), as: "b", group: nil)
    try await perform(title(ids[1], "y"), as: "c", group: nil)
    try await perform(.deleteCollection(album), as: "d", group: nil)
    let changes = try await changes()
    #expect(
      changes.map(\.actions) == [
        [.delete], [.title], [.unfavorite, .hide], [.createAlbum, .hide, .clear, .title, .addAssets],
      ])
    let files = try fixture.catalog.read { try $0.assets(ids) }.assets
    func filename(_ id: AssetID) -> String? { files.first { $0.id == id }?.resources.first?.filename }
    #expect(changes.map(\.filename) == [nil, filename(ids[1]), filename(ids[1]), filename(ids[0])])
    #expect(filename(ids[0]) != nil)
  }

  enum Thing: CaseIterable { case photo, album, place, position }

  /// An undo of the group would undo the change of the other client, too.
  @Test(arguments: Thing.allCases) func groupIsNotUndoneIfAnotherClientChangedTheSameBetweenItsCalls(_ thing: Thing)
    async throws
  {
    let albums = try await perform(
      .createAlbum(title: "Rome", assets: ids, parent: nil), .createAlbum(title: "Oslo", assets: [], parent: nil),
      as: "maker", group: nil)
    func change(_ number: Int) -> LibraryChange {
      switch thing {
      case .photo: return title(ids[0], "\(number)")
      case .album:
        var edit = AlbumEdit()
        edit.title = "Rome \(number)"
        return .editAlbum(albums[0], edit)
      case .place: return place([ids[0], ids[1 + number]], in: albums[0])
      case .position: return move(albums[0], before: number == 1 ? nil : albums[1])
      }
    }
    for (number, name) in ["a", "b", "a"].enumerated() {
      try await perform(change(number), as: name, group: name == "a" ? "g" : nil)
    }
    let last = try #require(try await changes(of: "a").first)
    let message =
      "The change \(last.id) can't be undone, because another change of the same photos or albums came between its calls."
    #expect(last.problem == message)
    await #expect(throws: LibraryError.changeRejected(requestIndex: 0, message: message)) {
      try await fixture.library.undoChange(Int64(last.id), clientName: "a")
    }
    // It stays so, whatever follows.
    try await perform(title(ids[3], "x"), as: "a")
    #expect(try await changes(of: "a").map(\.problem) == [message])
  }

  /// Without other changes between them, calls that change the same things again are one change.
  @Test(arguments: Thing.allCases) func callsThatChangeTheSameAreOneChange(_ thing: Thing) async throws {
    let albums = try await perform(
      .createAlbum(title: "Rome", assets: ids, parent: nil), .createAlbum(title: "Oslo", assets: [], parent: nil),
      as: "maker", group: nil)
    for number in 0..<3 {
      switch thing {
      case .photo: try await perform(title(ids[0], "\(number)"), as: "a")
      case .album:
        var edit = AlbumEdit()
        edit.title = "Rome \(number)"
        try await perform(.editAlbum(albums[0], edit), as: "a")
      case .place: try await perform(place([ids[0], ids[3 - number]], in: albums[0]), as: "a")
      case .position:
        try await perform(move(albums[0], before: number == 1 ? nil : albums[1]), as: "a")
      }
      // Another client places something beside it.
      try await perform(.createAlbum(title: "Paris \(number)", assets: [], parent: nil), as: "b", group: nil)
    }
    let last = try #require(try await changes(of: "a").first)
    #expect(last.problem == nil)
    _ = try await fixture.library.undoChange(Int64(last.id), clientName: "a")
    #expect(try fixture.catalog.write { try $0.members(ofAlbum: albums[0]) } == ids)
    #expect(try titles() == [nil, nil, nil, nil])
    #expect(try fixture.catalog.read { try $0.collections() }.contains { $0.title == "Rome" })
  }

  /// So many changes of other clients came that photod no longer has the first calls of the group.
  @Test func restOfAGroupThatLeftTheLogIsNotAChange() async throws {
    try await perform(title(ids[0], "a"), as: "a")
    for number in 0..<UndoLog.mostEntries { try await perform(title(ids[1], "\(number)"), as: "b", group: nil) }
    #expect(try await changes(of: "a").isEmpty)
    try await perform(title(ids[2], "a"), as: "a")
    #expect(try await changes(of: "a").isEmpty)
    try await perform(title(ids[3], "a"), as: "a", group: "h")
    #expect(try await changes(of: "a").map(\.assetCount) == [1])
  }
}
