import PhotoModel
import PhotoTestSupport
import TestTools
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer

/// The library does nothing else while it undoes a change, so the size of a change that can be undone has a limit.
@Suite struct UndoLimitTests {
  private func undoableChanges(_ fixture: ServerFixture, origin: String? = nil) async throws -> [UndoableChange] {
    let changes = await fixture.library.undoableChanges(origin: origin)
    return try fixture.catalog.read { try changes.described(by: $0) }
  }

  private let fixture: ServerFixture
  private let ids: [AssetID]

  init() throws {
    fixture = try ServerFixture()
    ids = try fixture.insert(1_000)
  }

  private func place(_ ids: [AssetID], in album: CollectionID) async throws {
    var edit = AlbumEdit()
    edit.placed = ids
    _ = try await fixture.library.perform([.editAlbum(album, edit)], clientName: "a", undoGroup: "g")
  }

  private let clock = ContinuousClock()

  /// Checks that an undo takes at most twice as long as the calls that it undoes. A limit in seconds would judge how busy
  /// the machine is.
  private func expectShort(_ undone: Duration, beside made: Duration) {
    print("an undo of calls that took \(made) took \(undone)")
    #expect(undone < made * 2)
  }

  /// A group of calls places the same photos again and again.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func undoOfAGroupBeyondTheLimitIsRefusedWithAReason()
    async throws
  {
    let album = try await fixture.library.perform(
      [.createAlbum(title: "Rome", assets: [], parent: nil)], clientName: "a"
    ).created[0]
    let calls = UndoLog.mostWork / ids.count
    for _ in 0..<calls { try await place(ids.shuffled(), in: album) }
    let changes = try await undoableChanges(fixture)
    #expect(changes.count == 2 && changes[0].assetCount == ids.count)
    let (id, first) = (Int64(changes[0].id), Int64(changes[1].id))

    try await place([ids[0]], in: album)
    try await place(ids.reversed(), in: album)
    // It stays the last change, so that nobody undoes the one before it instead.
    #expect(try await undoableChanges(fixture).map(\.id) == [Int(id), Int(first)])
    let message =
      "The change \(id) can't be undone, because it is too large. A change can be undone if it has at most 20000 places of photos in albums. The edit of a photo counts as two places, and each of its keywords as one more."
    await #expect(throws: LibraryError.changeRejected(requestIndex: 0, message: message)) {
      try await fixture.library.undoChange(id, clientName: "a")
    }
    // A change after it is another one. A later call of the group still belongs to it.
    _ = try await fixture.library.perform([.editAssets([ids[0]], AssetEdit(isFavorite: true))], clientName: "b")
    try await place([ids[0]], in: album)
    let last = try await undoableChanges(fixture)
    #expect(last.map(\.origin) == ["client:b", "client:a", "client:a"])
    #expect(last.map(\.problem) == [nil, message, nil] && last[1].collections == ["Rome"])
    _ = try await fixture.library.undoChange(Int64(last[0].id), clientName: "b")
    #expect(try await undoableChanges(fixture).map(\.id) == [Int(id), Int(first)])
  }

  /// A call that is too large without any other.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func largeCallThatOnlyEditsPhotosIsListed() async throws {
    let more = try fixture.insert(UndoLog.mostWork)
    let all = ids + more
    let edits = stride(from: 0, to: all.count, by: 1_000).map { start in
      LibraryChange.editAssets(Array(all[start..<min(start + 1_000, all.count)]), AssetEdit(isFavorite: true))
    }
    _ = try await fixture.library.perform(edits, clientName: "a", undoGroup: "g")
    _ = try await fixture.library.perform(
      [.editAssets(ids, AssetEdit(isHidden: true))], clientName: "a", undoGroup: "g")
    let changes = try await undoableChanges(fixture)
    #expect(changes.map(\.assetCount) == [all.count + ids.count] && changes[0].problem != nil, "\(changes)")
  }

  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func undoAtTheLimitIsShort() async throws {
    let album = try await fixture.library.perform(
      [.createAlbum(title: "Rome", assets: ids, parent: nil)], clientName: "a"
    ).created[0]
    let made = try await clock.measure {
      for _ in 0..<UndoLog.mostWork / ids.count { try await place(ids.shuffled(), in: album) }
    }
    let change = try #require(try await undoableChanges(fixture).first)
    let undone = try await clock.measure {
      _ = try await fixture.library.undoChange(Int64(change.id), clientName: "a")
    }
    expectShort(undone, beside: made)
    #expect(try fixture.catalog.write { try $0.members(ofAlbum: album) } == ids)
  }

  /// An edit takes longer than a place, so fewer edits can be undone.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func editsCountByTheirWork() async throws {
    var edit = AssetEdit()
    func perform(_ title: String, keywords: [String] = [], group: String = "titles") async throws {
      (edit.title, edit.addedKeywords) = (title, keywords)
      _ = try await fixture.library.perform([.editAssets(ids, edit)], clientName: "a", undoGroup: group)
    }
    for number in 0..<UndoLog.mostWork / (2 * ids.count) { try await perform("\(number)") }
    let change = try #require(try await undoableChanges(fixture).first)
    #expect(change.assetCount == ids.count && change.problem == nil)
    try await perform("last")
    #expect(try await undoableChanges(fixture).first?.problem != nil)
    _ = try await fixture.library.perform([.editAssets(ids, AssetEdit(isFavorite: true))], clientName: "b")
    let made = try await clock.measure {
      for number in 0..<UndoLog.mostWork / (4 * ids.count) {
        try await perform("t", keywords: ["\(number)", "k\(number)"], group: "keywords")
      }
    }
    let tagged = try #require(try await undoableChanges(fixture).first)
    #expect(tagged.problem == nil && tagged.assetCount == ids.count)
    let undone = try await clock.measure {
      _ = try await fixture.library.undoChange(Int64(tagged.id), clientName: "a")
    }
    expectShort(undone, beside: made)
    let assets = try fixture.catalog.read { try $0.assets(ids).assets }
    #expect(
      assets.count == ids.count && assets.allSatisfy { $0.keywords.isEmpty && $0.title == "last" && $0.isFavorite })
  }

  /// The photos of a deleted album return with it.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func deletedLargeAlbumReturns() async throws {
    let more = try fixture.insert(39_000)
    let all = ids + more
    let album = try await fixture.library.perform(
      [.createAlbum(title: "All", assets: [], parent: nil)], clientName: "a"
    ).created[0]
    let made = try await clock.measure {
      for start in stride(from: 0, to: all.count, by: 1_000) {
        try await place(Array(all[start..<start + 1_000]), in: album)
      }
    }
    _ = try await fixture.library.perform([.deleteCollection(album)], clientName: "b")
    let change = try #require(try await undoableChanges(fixture, origin: "client:b").first)
    let undone = try await clock.measure {
      _ = try await fixture.library.undoChange(Int64(change.id), clientName: "b")
    }
    expectShort(undone, beside: made)
    #expect(try fixture.catalog.write { try $0.members(ofAlbum: album) } == all)
  }
}
