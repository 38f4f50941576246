import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog

/// A change that is undone leaves everything as it was before it.
@Suite struct UndoTests {
  private let fixture: UserDataFixture
  private let catalog: Catalog

  init() throws {
    fixture = try UserDataFixture()
    catalog = try fixture.open()
    try catalog.addPhotos(12)
  }

  private func perform(_ changes: [LibraryChange]) throws -> (created: [CollectionID], ChangeRecording) {
    try catalog.write(durable: true) { writer in
      let performed = try writer.performRecorded(changes)
      if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .init(microseconds: 1)) }
      return performed
    }
  }

  private func undo(_ recording: ChangeRecording) throws {
    try catalog.write(durable: true) { writer in
      try writer.undo(recording)
      if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .init(microseconds: 1)) }
    }
  }

  private func reason(_ recording: ChangeRecording) -> String? {
    let failure = #expect(throws: ChangeFailure.self) { try undo(recording) }
    guard case .rejected(let text) = failure?.reason else { return nil }
    return text
  }

  /// Also if the call is many requests, or several calls are undone together. A catalog that is rebuilt is the same.
  @Test(arguments: 0..<4 as Range<UInt64>) func everythingIsAsBefore(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var undoneCount = 0
    for _ in 0..<40 {
      try catalog.performRandomChanges(using: &random)
      let before = try catalog.said()
      var recording = ChangeRecording()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let changes = try catalog.randomChanges(using: &random)
        do { recording.append(try perform(changes).1) } catch is ChangeFailure {}
      }
      if try catalog.said() != before { undoneCount += 1 }
      if Bool.random(using: &random) {
        try undo(recording)
        #expect(try catalog.said() == before)
      }
    }
    #expect(undoneCount > 20)
    let said = try catalog.said()
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    #expect(try fixture.open().said() == said)
  }

  @Test func whatWasChangedAgainIsNotUndone() throws {
    var edit = AssetEdit()
    edit.title = "Rome"
    let titled = try perform([.editAssets([1, 2], edit)]).1
    edit.title = "Roma"
    let again = try perform([.editAssets([2], edit)]).1
    #expect(reason(titled)?.contains("photo 2 was edited again") ?? false)
    try undo(again)
    try undo(titled)
    #expect(try catalog.said().data.isEmpty)

    let (created, made) = try perform([.createAlbum(title: "A", assets: [1, 2], parent: nil)])
    var rename = CollectionEdit()
    rename.title = "B"
    let renamed = try perform([.editCollection(created[0], rename)]).1
    #expect(reason(made)?.contains("'A' (id:\(created[0])) was changed again") ?? false)
    try undo(renamed)
    try catalog.place([3], in: created[0])
    #expect(reason(made)?.contains("has got other contents") ?? false)
    #expect(try catalog.list(created[0]) == [1, 2, 3])
  }

  /// Other assets that came into the album since stay where they are.
  @Test func laterPlacesStay() throws {
    let album = try catalog.perform(.createAlbum(title: "A", assets: [1, 2, 3, 4], parent: nil))[0]
    var edit = AlbumEdit()
    (edit.removed, edit.placed) = ([2, 3], [5, 1])
    let moved = try perform([.editAlbum(album, edit)]).1
    #expect(try catalog.list(album) == [4, 5, 1])
    try catalog.place([6], in: album, before: 5)
    try undo(moved)
    #expect(try catalog.list(album) == [1, 2, 3, 4, 6])
  }

  @Test func deletedFolderReturnsWithItsAlbumsAndOrder() throws {
    let created = try catalog.perform(
      .createFolder(title: "Trips", parent: nil), .createAlbum(title: "Rome", assets: [3, 1, 2], parent: -1),
      .createSmartAlbum(title: "Best", SmartAlbumQuery(predicate: "rating >= 4"), parent: -1))
    let before = try catalog.said()
    let deleted = try perform([.deleteCollection(created[0])]).1
    #expect(deleted.collectionIDs == Set(created))
    try undo(deleted)
    #expect(try catalog.said() == before)
    #expect(try catalog.list(created[1]) == [3, 1, 2])
  }
}
