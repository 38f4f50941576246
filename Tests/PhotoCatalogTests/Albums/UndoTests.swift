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
    try catalog.addPhotos(12, keywords: ["k0", "k1"])
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
  @Test(arguments: TestTier.seeds(4)) func everythingIsAsBefore(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var undoneCount = 0
    for _ in 0..<40 {
      try catalog.performRandomChanges(using: &random)
      let before = try catalog.storedUserData()
      var recording = ChangeRecording()
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let changes = try catalog.randomChanges(using: &random)
        do { recording.append(try perform(changes).1) } catch is ChangeFailure {}
      }
      if try catalog.storedUserData() != before { undoneCount += 1 }
      if Bool.random(using: &random) {
        try undo(recording)
        #expect(try catalog.storedUserData().withOrder == before.withOrder)
      }
    }
    #expect(undoneCount > 20)
    let stored = try catalog.storedUserData()
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    #expect(try fixture.open().storedUserData() == stored)
  }

  @Test func undoOfAValueThatWasChangedAgainIsRefused() throws {
    var edit = AssetEdit()
    edit.title = "Rome"
    let titled = try perform([.editAssets([1, 2], edit)]).1
    edit.title = "Roma"
    let again = try perform([.editAssets([2], edit)]).1
    #expect(reason(titled)?.contains("photo 2 was edited again") ?? false)
    try undo(again)
    try undo(titled)
    #expect(try catalog.storedUserData().data.isEmpty)

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
    let before = try catalog.storedUserData()
    let deleted = try perform([.deleteCollection(created[0])]).1
    #expect(deleted.collectionIDs == Set(created))
    try undo(deleted)
    #expect(try catalog.storedUserData() == before)
    #expect(try catalog.list(created[1]) == [3, 1, 2])
  }

  private func move(_ id: CollectionID, to parent: CollectionPlacement.Parent) throws -> ChangeRecording {
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(parent: parent, position: .end)
    return try perform([.editCollection(id, edit)]).1
  }

  /// The folder to which it would return was moved into it since.
  @Test func aFolderDoesNotReturnIntoItself() throws {
    let created = try catalog.perform(
      .createFolder(title: "B", parent: nil), .createFolder(title: "A", parent: -1),
      .createFolder(title: "C", parent: -2), .createAlbum(title: "Rome", assets: [1], parent: -2))
    let (b, a, c) = (created[0], created[1], created[2])
    let moved = try move(a, to: .top)
    let later = try move(b, to: .folder(c))
    let before = try catalog.storedUserData()
    #expect(
      reason(moved)?.contains("'A' (id:\(a)) can't return to the folder 'B' (id:\(b)), which is in 'A' now.") ?? false)
    #expect(try catalog.storedUserData() == before)
    #expect(try catalog.check(deep: true).findings.isEmpty)
    try undo(later)
    try undo(moved)
    // One call may exchange two folders.
    var edits = [CollectionEdit(), CollectionEdit()]
    edits[0].place = CollectionPlacement(parent: .top, position: .end)
    edits[1].place = CollectionPlacement(parent: .folder(a), position: .end)
    let former = try catalog.storedUserData()
    try undo(try perform([.editCollection(a, edits[0]), .editCollection(b, edits[1])]).1)
    #expect(try catalog.storedUserData() == former)
  }

  /// The folder to which it would return was moved deeper since.
  @Test func aFolderDoesNotReturnTooDeep() throws {
    let levels = CatalogWriter.mostLevels
    var deepest = try catalog.perform(.createFolder(title: "F0", parent: nil))[0]
    for level in 1..<levels - 2 {
      deepest = try catalog.perform(.createFolder(title: "F\(level)", parent: deepest))[0]
    }
    let created = try catalog.perform(
      .createFolder(title: "B", parent: nil), .createFolder(title: "A", parent: -1),
      .createFolder(title: "C", parent: -2))
    let moved = try move(created[1], to: .top)
    let later = try move(created[0], to: .folder(deepest))
    #expect(reason(moved)?.contains("because folders can be nested \(levels) deep") ?? false)
    try undo(later)
    try undo(moved)
    #expect(try catalog.read { try $0.userCollection(created[1]) }?.parentID == created[0])
  }

  /// The album was in a folder that is gone, too. At the top level it gets a rank if the others there have some.
  @Test(arguments: [false, true])
  func anAlbumOfADeletedFolderReturnsToTheTopLevel(hasRanks: Bool) throws {
    let created = try catalog.perform(
      .createFolder(title: "F", parent: nil), .createAlbum(title: "A", assets: [], parent: -1),
      .createAlbum(title: "B", assets: [], parent: -1), .createAlbum(title: "C", assets: [], parent: nil),
      .createAlbum(title: "D", assets: [], parent: nil))
    var edit = CollectionEdit()
    func place(_ id: CollectionID, before next: CollectionID) throws {
      edit.place = CollectionPlacement(parent: .same, position: .before(next))
      _ = try perform([.editCollection(id, edit)])
    }
    // Either the top level has ranks, or the folder.
    if hasRanks { try place(created[4], before: created[3]) } else { try place(created[2], before: created[1]) }
    let deleted = try perform([.deleteCollection(created[1])]).1
    _ = try perform([.deleteCollection(created[0])])
    try undo(deleted)
    let top = try catalog.read { try $0.userCollections(in: nil) }
    #expect(top.map(\.title) == (hasRanks ? ["D", "C", "A"] : ["A", "C", "D"]))
    #expect(top.allSatisfy { ($0.rank != 0) == hasRanks }, "\(top)")
    try catalog.perform(.createAlbum(title: "B2", assets: [], parent: nil))
    let titles = try catalog.read { try $0.userCollections(in: nil) }.map(\.title)
    #expect(titles == (hasRanks ? ["D", "C", "A", "B2"] : ["A", "B2", "C", "D"]))
  }

  /// Another call placed the asset again, so its place is not that of the change any more.
  @Test func placesThatWereChangedAgainAreNotUndone() throws {
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [1, 2, 3], parent: nil))[0]
    func edit(placed: [AssetID] = [], before: AssetID? = nil, removed: [AssetID] = []) throws -> ChangeRecording {
      var edit = AlbumEdit()
      (edit.placed, edit.before, edit.removed) = (placed, before, removed)
      return try perform([.editAlbum(album, edit)]).1
    }
    let moved = try edit(placed: [3], before: 1)
    let removed = try edit(removed: [3])
    #expect(reason(moved)?.contains("The photo 3 was placed in 'Rome' (id:\(album)) again since") ?? false)
    #expect(try catalog.list(album) == [1, 2])
    try undo(removed)
    try undo(moved)
    #expect(try catalog.list(album) == [1, 2, 3])

    let added = try edit(placed: [4])
    let reordered = try edit(placed: [4], before: 1)
    #expect(reason(added) != nil)
    #expect(try catalog.list(album) == [4, 1, 2, 3])
    try undo(reordered)
    try undo(added)
    #expect(try catalog.list(album) == [1, 2, 3])

    // Removing it and adding it again is a change, although it is in the same place then.
    let first = try edit(placed: [2], before: 1)
    _ = try edit(removed: [2])
    _ = try edit(placed: [2], before: 1)
    #expect(reason(first) != nil)
    // An album that is gone is not edited.
    let last = try edit(placed: [5])
    let deleted = try perform([.deleteCollection(album)]).1
    #expect(reason(last)?.contains("was deleted since") ?? false)
    try undo(deleted)
    try undo(last)
    #expect(try catalog.list(album) == [2, 1, 3])
  }

  /// Photos that stood next to each other return together, also if one of them was deleted since.
  @Test func neighboursReturnTogether() throws {
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [1, 2, 3, 4, 5], parent: nil))[0]
    func move(_ placed: [AssetID], before: AssetID?) throws -> ChangeRecording {
      var edit = AlbumEdit()
      (edit.placed, edit.before) = (placed, before)
      return try perform([.editAlbum(album, edit)]).1
    }
    let shuffled = try move([5, 2, 4, 1, 3], before: nil)
    let size = try fixture.bytes(fixture.journal).count
    try undo(shuffled)
    #expect(try catalog.list(album) == [1, 2, 3, 4, 5])
    let lines = try fixture.bytes(fixture.journal)[size...].split(separator: UInt8(ascii: "\n"))
    #expect(lines.count == 1, "one placement of all")

    // Each of the two was moved in front of the other.
    var twice = try move([1], before: 3)
    twice.append(try move([2], before: 3))
    try undo(twice)
    #expect(try catalog.list(album) == [1, 2, 3, 4, 5])

    let moved = try move([1, 2], before: nil)
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: 2))
      try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
      try writer.append(origin: "watcher", date: .init(microseconds: 2))
    }
    try undo(moved)
    #expect(try catalog.list(album) == [1, 3, 4, 5])
  }

  /// Neighbours get new ranks, and a photo is deleted and returns. Neither is a change of its place.
  @Test func newRanksAreNoChangeOfAPlace() throws {
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [1, 2, 3], parent: nil))[0]
    var edit = AlbumEdit()
    (edit.placed, edit.before) = ([3], 2)
    let moved = try perform([.editAlbum(album, edit)]).1
    for number in 0..<60 { try catalog.place([AssetID(rawValue: Int64(4 + number % 2))], in: album, before: 2) }
    try catalog.write { writer in
      let row = try #require(try writer.file(ofAsset: 3))
      try writer.removeWithTombstone(row, directoryPath: Array("/p/".utf8), date: .init(microseconds: 2))
      try writer.append(origin: "watcher", date: .init(microseconds: 2))
    }
    try catalog.restorePhoto(3)
    #expect(try catalog.list(album) == [1, 3, 4, 5, 2])
    try undo(moved)
    #expect(try catalog.list(album) == [1, 4, 5, 2, 3])
  }

  /// In a folder A, B, C, one client moves C to the front, and then another moves B there.
  @Test func orderOfAFolderThatAnotherClientChangedStays() throws {
    let created = try catalog.perform(
      .createFolder(title: "F", parent: nil), .createAlbum(title: "A", assets: [], parent: -1),
      .createAlbum(title: "B", assets: [], parent: -1), .createAlbum(title: "C", assets: [], parent: -1))
    let (folder, a, b, c) = (created[0], created[1], created[2], created[3])
    func order() throws -> [String] {
      try catalog.read { try $0.userCollections(in: folder) }.map(\.title)
    }
    func move(_ id: CollectionID, before next: CollectionID) throws -> ChangeRecording {
      var edit = CollectionEdit()
      edit.place = CollectionPlacement(parent: .same, position: .before(next))
      return try perform([.editCollection(id, edit)]).1
    }
    let before = try catalog.storedUserData()
    let alone = try move(c, before: a)
    #expect(try order() == ["C", "A", "B"])
    try undo(alone)
    #expect(try catalog.storedUserData() == before)

    let first = try move(c, before: a)
    let second = try move(b, before: c)
    #expect(try order() == ["B", "C", "A"])
    try undo(first)
    #expect(try order() == ["B", "A", "C"])
    try undo(second)
    #expect(try order() == ["A", "B", "C"])

    let moved = try move(c, before: a)
    let again = try move(c, before: b)
    #expect(reason(moved)?.contains("'C' (id:\(c)) was changed again, moved") ?? false)
    try undo(again)
    try undo(moved)
    #expect(try order() == ["A", "B", "C"])
    // Another collection that came since has a position, so the order stays.
    let third = try move(c, before: a)
    try catalog.perform(.createAlbum(title: "0", assets: [], parent: folder))
    try undo(third)
    #expect(try order() == ["A", "B", "0", "C"] || order() == ["A", "B", "C", "0"])
  }

  /// A rename by another client is no change of the collections that only got ranks.
  @Test func renameOfANeighbourIsNoObstacle() throws {
    let created = try catalog.perform(
      .createAlbum(title: "A", assets: [], parent: nil), .createAlbum(title: "B", assets: [], parent: nil))
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(parent: .same, position: .before(created[0]))
    let moved = try perform([.editCollection(created[1], edit)]).1
    var rename = CollectionEdit()
    rename.title = "Z"
    try catalog.perform(.editCollection(created[0], rename))
    try undo(moved)
    #expect(try catalog.read { try $0.userCollections(in: nil) }.map(\.title) == ["B", "Z"])
  }
}
