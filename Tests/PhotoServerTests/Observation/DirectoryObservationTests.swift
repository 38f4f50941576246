import ChangeDetails
import PhotoContract
import PhotoModel
import Testing

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoServer

/// A renamed directory or a drive that leaves is one row of history, and is sent to observers as ranges.
@Suite struct DirectoryObservationTests {
  private static let count = 5_000

  private func begin(_ fixture: ServerFixture) async throws -> [Observers] {
    let fetches = [
      FetchOptions(), FetchOptions(fetchLimit: 100), FetchOptions(mediaTypes: ["video"]),
      FetchOptions(excludeUnavailable: true),
    ]
    var all: [Observers] = []
    for options in fetches { all.append(try await Observers(fixture, count: 3, ObserveRequest(options: options))) }
    return all
  }

  /// - Returns: the rows of `history` that name anything, and the rows of the table that names the directory or root.
  private func rows(_ fixture: ServerFixture, _ table: String) throws -> (assets: Int64, named: Int64) {
    try fixture.catalog.read { reader in
      let select = try RawStatement(
        reader.database,
        "SELECT (SELECT count(*) FROM history WHERE sequence = (SELECT max(sequence) FROM history) AND "
          + "coalesce(inserted_assets, updated_assets, deleted_assets) IS NOT NULL), (SELECT count(*) FROM \(table))")
      return try select.firstRow { (select.int64(0), select.int64(1)) } ?? (-1, -1)
    }
  }

  @Test func renamedDirectoryIsOneRangeToEveryObserver() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(Self.count)
    var all = try await begin(fixture)
    let before = fixture.live.lists.countsSinceStart
    try fixture.commit { writer in
      writer.record.renamedDirectories = [
        .init(directoryID: fixture.directoryID, fromPath: Array("/p".utf8), toPath: Array("/q".utf8))
      ]
    }
    for index in all.indices { try await all[index].advance() }
    let rows = try rows(fixture, "history_directory")
    #expect(rows == (0, 1))
    for (observed, length) in zip(all, [Self.count, 100, 0, Self.count]) {
      for sent in observed.sent {
        let details = sent.last?.details
        #expect(details?.changedAfter == (length == 0 ? nil : [IndexRange(start: 0, count: length)]))
        #expect(details?.changedFields == (length == 0 ? nil : ["path"]) && details?.moves.isEmpty != false)
      }
    }
    // Twelve observers have four lists. One list is read again, because a directory may have moved to a drive that is
    // offline. The contents of the directory are read once.
    #expect(fixture.live.lists.countsSinceStart.looks == before.looks + 1)
    #expect(fixture.live.commits.readCount == 1 && fixture.differences.counts == .init(made: 4, shared: 8))
  }

  @Test func everyObserverGetsOneRangeForAnUnmountAndAMount() async throws {
    let fixture = try ServerFixture()
    try fixture.insert(Self.count)
    var all = try await begin(fixture)
    for isAvailable in [false, true] {
      let before = (fixture.live.lists.countsSinceStart, fixture.live.commits.readCount)
      try fixture.commit { writer in
        try writer.setRootAvailable(1, isAvailable)
      }
      for index in all.indices { try await all[index].advance() }
      let rows = try rows(fixture, "history_root")
      #expect(rows == (0, isAvailable ? 2 : 1))
      for (observed, length) in zip(all, [Self.count, 100, 0]) {
        for sent in observed.sent {
          #expect(sent.last?.details?.changedAfter == (length == 0 ? nil : [IndexRange(start: 0, count: length)]))
          #expect(sent.last?.details?.changedFields == (length == 0 ? nil : ["availability"]))
        }
      }
      for sent in all[3].sent {
        let whole = [IndexRange(start: 0, count: Self.count)]
        if isAvailable {
          // A difference with all ids is longer than the list.
          #expect(sent.last?.reload == .tooManyChanges && sent.last?.count == Self.count)
        } else {
          #expect(sent.last?.details?.removedBefore == whole && sent.last?.details?.deletedBefore == [])
        }
      }
      #expect(fixture.live.lists.countsSinceStart.looks == before.0.looks + 1)
      #expect(fixture.live.commits.readCount == before.1 + 1)
    }
  }
}
