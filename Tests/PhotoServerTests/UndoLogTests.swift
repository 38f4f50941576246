import PhotoModel
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The changes that can be undone.
@Suite struct UndoLogTests {
  /// A call that makes an album and deletes it has no commit, so its id would be that of the change before it.
  @Test func callWithoutACommitCannotBeUndone() async throws {
    let fixture = try ServerFixture()
    let ids = try fixture.insert(2)
    let library = fixture.library
    let favorite = try await library.perform([.editAssets([ids[0]], AssetEdit(isFavorite: true))], clientName: "a")
    let nothing = try await library.perform(
      [.createAlbum(title: "A", assets: [], parent: nil), .deleteCollection(-1)], clientName: "b")
    #expect(nothing.token == favorite.token && nothing.created.count == 1)
    let entries = await library.undoableChanges(origin: nil).entries
    #expect(entries.map(\.id) == [favorite.token.sequence] && entries.map(\.origin) == ["client:a"])
    _ = try await library.undoChange(favorite.token.sequence, clientName: "a")
    #expect(try fixture.catalog.read { try $0.assets(ids).assets }.allSatisfy { !$0.isFavorite })
    #expect(await library.undoableChanges(origin: nil).entries.isEmpty)
  }
}
