import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing
import Varlink

@testable import PhotoCatalog
@testable import PhotoLive

/// Pages of the history that are made of commits in memory.
@Suite struct RecentHistoryTests {
  private let test: TestCatalog
  private let date = WallTime(microseconds: 1_700_000_000_123_456)

  init() throws { test = try TestCatalog("history") }

  private func commit(_ record: CommitRecord, to history: RecentHistory) throws -> Int64 {
    let sequence = try test.catalog.write { writer in
      writer.record = record
      return try writer.append(origin: "watcher", date: date)
    }
    let token = test.catalog.token(sequence)
    history.append(PersistentChange(record, token: token, date: date, origin: "watcher"), sequence: sequence)
    return sequence
  }

  private func updates(_ ids: some Sequence<AssetID>) -> CommitRecord {
    var record = CommitRecord()
    for id in ids { record.update(asset: id, .favorite) }
    return record
  }

  @Test func pageIsThatOfTheCatalog() throws {
    let history = RecentHistory()
    var record = updates([3, 1, 2])
    for id in [9, 7, 8] as [AssetID] { record.insert(asset: id) }
    for id in [6, 4] as [AssetID] { record.delete(asset: id) }
    record.insert(collection: 40)
    record.update(collection: 1)
    record.delete(collection: 50)
    record.renamedDirectories = [.init(directoryID: 1, fromPath: [47, 97, 255], toPath: [47, 98])]
    record.update(CommitRecord.Availability(rootID: 1, path: [47, 97], isAvailable: false))
    let first = try commit(record, to: history)
    for id in 1...3 as ClosedRange<AssetID> { _ = try commit(updates([id]), to: history) }
    for sequence in first - 1...first + 2 {
      let page = try #require(history.page(after: sequence))
      let changes = try test.catalog.read { try $0.persistentChanges(after: sequence, limit: 10) }
      #expect(page.encoded == VarlinkEncoded(HistoryPage(changes: changes, token: changes[changes.count - 1].token)))
      #expect(page.last == first + 3)
    }
  }

  @Test func onlyTheNewestCommitsAreInMemory() throws {
    let history = RecentHistory(limits: .init(commits: 3, items: 10))
    var last: Int64 = 0
    for id in 1...5 as ClosedRange<AssetID> { last = try commit(updates([id]), to: history) }
    #expect(history.page(after: last) == nil && history.page(after: last + 1) == nil)
    #expect(history.page(after: last - 3) != nil && history.page(after: last - 4) == nil)
    // Two commits of five assets each leave no room for others.
    for _ in 0..<2 { last = try commit(updates(1...5), to: history) }
    #expect(history.page(after: last - 2) != nil && history.page(after: last - 3) == nil)
    last = try commit(updates(1...11), to: history)
    #expect(history.page(after: last - 1) == nil)
    last = try commit(updates([1]), to: history)
    #expect(history.page(after: last - 1) != nil && history.page(after: last - 2) == nil)
  }

  @Test func commitThatIsLeftOutEndsWhatIsInMemory() throws {
    let history = RecentHistory()
    let last = try commit(updates([1]), to: history)
    history.append(nil, sequence: last + 1)
    #expect(history.page(after: last - 1) == nil && history.page(after: last) == nil)
  }
}
