import GRDBSQLite
import PhotoModel
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

@testable import PhotoCatalog

/// The order and the nesting of the collections that a person makes, and their cost.
@Suite struct CollectionPlaceTests {
  private let fixture: UserDataFixture
  private let catalog: Catalog

  init() throws {
    fixture = try UserDataFixture()
    catalog = try fixture.open()
  }

  private func move(_ id: CollectionID, before next: CollectionID?, in folder: CollectionID? = nil) -> LibraryChange {
    var edit = CollectionEdit()
    edit.place = CollectionPlacement(
      parent: folder.map { .folder($0) } ?? .same, position: next.map { .before($0) } ?? .end)
    return .editCollection(id, edit)
  }

  private func order(_ folder: CollectionID?) throws -> [CollectionID] {
    try catalog.read { try $0.userCollections(in: folder) }.map(\.id)
  }

  /// The ranks agree with a plain array, and the journal with the ranks. A few folders have ranks of an older photod.
  @Test(arguments: TestTier.seeds(6)) func ranksEqualAnArray(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let folder = try catalog.perform(.createFolder(title: "F", parent: nil))[0]
    var model: [CollectionID] = []
    for number in 10..<40 {
      model += try catalog.perform(.createAlbum(title: "A\(number)", assets: [], parent: folder))
    }
    if seed % 2 == 1 {
      try catalog.write { writer in
        for (index, id) in model.enumerated() {
          var collection = try #require(try writer.userCollection(id))
          collection.rank = Double(index + 1)
          try writer.write(collection)
        }
        try writer.append(origin: "client:test", date: .init(microseconds: 1))
      }
    }
    let place = model[20]
    for round in 0..<400 {
      let id = try #require(model.randomElement(using: &random))
      // Most are placed at the same place, so that there is no room soon.
      var next = Int.random(in: 0..<3, using: &random) > 0 ? place : model.randomElement(using: &random)
      if next == id { next = nil }
      // Without positions, the end of a folder means the place by title.
      if round == 0, next == nil { next = model.first { $0 != id } }
      try catalog.perform(move(id, before: next))
      model.removeAll { $0 == id }
      model.insert(id, at: next.flatMap(model.firstIndex) ?? model.count)
      #expect(try order(folder) == model, "round \(round)")
    }
    let new = try catalog.perform(.createAlbum(title: "0", assets: [], parent: folder))
    #expect(try order(folder) == model + new)
    #expect(try catalog.read { try $0.userCollections(in: folder) }.allSatisfy { $0.rank >= 1 })
    let sequence = try catalog.read { try $0.sequence() }
    try catalog.perform(move(model[3], before: model[4]), move(new[0], before: nil))
    #expect(try catalog.read { try $0.sequence() } == sequence, "nothing differs")
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    #expect(try fixture.open().read { try $0.userCollections(in: folder) }.map(\.id) == model + new)
  }

  private final class Steps: Sendable { let count = Atomic(0) }

  /// A folder that has positions is not read as a whole for a change in it.
  @Test func changesInAFolderDoNotReadAllOfIt() throws {
    func work(_ count: Int) throws -> (steps: Int, writes: Int) {
      let fixture = try UserDataFixture()
      let catalog = try fixture.open()
      let folder = try catalog.perform(.createFolder(title: "F", parent: nil))[0]
      let ids = try catalog.write { writer in
        try writer.perform((0..<count).map { .createAlbum(title: "A\($0)", assets: [], parent: folder) })
      }
      try catalog.perform(move(ids[9], before: ids[5]))
      let steps = Steps()
      let writes = try catalog.write { writer in
        sqlite3_progress_handler(
          try writer.database.sqliteConnection, 10,
          { steps in
            Unmanaged<Steps>.fromOpaque(steps!).takeUnretainedValue().count.add(1, ordering: .relaxed)
            return 0
          }, Unmanaged.passUnretained(steps).toOpaque())
        _ = try writer.perform(
          (20..<60).map { move(ids[$0], before: ids[5]) }
            + (0..<40).map { .createAlbum(title: "B\($0)", assets: [], parent: folder) })
        sqlite3_progress_handler(try writer.database.sqliteConnection, 0, nil, nil)
        return writer.albumRecords.count
      }
      try catalog.close()
      return (steps.count.load(ordering: .relaxed), writes)
    }
    let (one, two) = (try work(500), try work(1_000))
    #expect(Double(two.steps) < 1.3 * Double(one.steps), "\(one.steps) and \(two.steps) tens of steps")
    #expect(two.writes < 600, "\(two.writes) lines for 40 moves and 40 new albums")
  }

  @Test func foldersAreNestedToALimit() throws {
    var ids = try catalog.perform(.createFolder(title: "0", parent: nil))
    for level in 1..<32 { ids += try catalog.perform(.createFolder(title: "\(level)", parent: ids[level - 1])) }
    func reason(_ change: LibraryChange) throws -> String? {
      do {
        try catalog.perform(change)
        return nil
      } catch let failure as ChangeFailure {
        guard case .rejected(let text) = failure.reason else { return nil }
        return text
      }
    }
    let text =
      "The folder 'deep' can't be there, because folders can be nested 32 deep. Choose a folder nearer to the top level."
    #expect(try reason(.createFolder(title: "deep", parent: ids[31])) == text)
    // An album is no level.
    #expect(try reason(.createAlbum(title: "A", assets: [], parent: ids[31])) == nil)
    let other = try catalog.perform(
      .createFolder(title: "deep", parent: nil), .createFolder(title: "inner", parent: -1))
    #expect(try reason(move(other[0], before: nil, in: ids[30])) == text)
    #expect(try reason(move(other[0], before: nil, in: ids[29])) == nil)
    #expect(try reason(.createFolder(title: "x", parent: other[0])) == nil)
  }

  /// A journal of an older photod may have them. Everything works with them, without a recursion per level.
  @Test(.timeLimit(.minutes(10))) func deeperFoldersOfAJournalStay() throws {
    let first = try catalog.perform(.createFolder(title: "0", parent: nil))[0]
    try catalog.perform(.createAlbum(title: "in the first", assets: [], parent: first))
    let depth = 2_000
    let start = Int64(1_000)
    try catalog.write { writer in
      var folders: [UserCollection] = []
      for level in 0..<depth {
        let parent = level == 0 ? first : CollectionID(rawValue: start + Int64(level) - 1)
        folders.append(
          UserCollection(
            id: CollectionID(rawValue: start + Int64(level)), kind: .folder, title: "f", parentID: parent))
      }
      try writer.apply(folders)
      try writer.append(origin: "client:test", date: .init(microseconds: 1))
    }
    try catalog.close()
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    let last = CollectionID(rawValue: start + Int64(depth) - 1)
    #expect(
      try rebuilt.read { try $0.userCollections(in: CollectionID(rawValue: last.rawValue - 1)) }.map(\.id) == [last])
    let album = try rebuilt.perform(.createAlbum(title: "deep", assets: [], parent: last))[0]
    #expect(try rebuilt.read { try $0.collection(id: album) }?.parentID == last)
    var rename = CollectionEdit()
    rename.title = "top"
    try rebuilt.perform(.editCollection(first, rename))
    try rebuilt.perform(.deleteCollection(first))
    #expect(try rebuilt.read { try $0.userCollections(in: nil) }.isEmpty)
    try rebuilt.close()
  }
}
