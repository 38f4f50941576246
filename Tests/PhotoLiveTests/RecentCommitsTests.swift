import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

@testable import PhotoCatalog
@testable import PhotoLive

/// The effects of the newest commits must be known without reading the history.
@Suite struct RecentCommitsTests {
  private final class History: Sendable {
    let reads = Mutex<[ClosedRange<Int64>]>([])

    func recent(_ limits: RecentCommits.Limits = .init()) -> RecentCommits {
      RecentCommits(limits: limits) { after, through in
        self.reads.withLock { $0.append(after + 1...through) }
        return CommitEffects()
      }
    }
  }

  private let test: TestCatalog

  init() throws { test = try TestCatalog("commits") }

  /// Effects of a commit that updates `count` assets, the first of which has the commit's sequence as its id.
  private func effects(_ sequence: Int64, count: Int64 = 1, renames: Bool = false) throws -> CommitEffects {
    var record = CommitRecord()
    for number in 0..<count { record.update(asset: AssetID(sequence + number), .favorite) }
    if renames { record.renamedDirectories = [.init(directoryID: 1, fromPath: [1], toPath: [2])] }
    return try test.catalog.write { writer in
      writer.record = record
      return try writer.effects(origin: "client:\(sequence)")
    }
  }

  @Test func severalCommitsAreMergedInOne() throws {
    let recent = History().recent()
    for sequence in 5...9 as ClosedRange<Int64> { recent.append(try effects(sequence), sequence: sequence) }
    let merged = try #require(recent.known(after: 5, through: 8))
    #expect(Set(merged.touched.fields.keys) == [6, 7, 8] && merged.origins == ["client:6", "client:7", "client:8"])
    #expect(recent.known(after: 8, through: 9)?.assetCount == 1)
    // The ranges contain a commit that is too new, or no longer kept, or no commit at all.
    #expect(recent.known(after: 8, through: 10) == nil && recent.known(after: 3, through: 5) == nil)
    #expect(recent.known(after: 9, through: 9) == nil)
  }

  @Test func commitThatIsNotInMemoryIsReadOnceForAll() throws {
    let history = History()
    let recent = history.recent()
    recent.append(try effects(7), sequence: 7)
    for _ in 0..<1_000 {
      #expect(try recent.effects(after: 6, through: 7).assetCount == 1)
      #expect(try recent.effects(after: 4, through: 7).assetCount == 0)
    }
    #expect(history.reads.withLock { $0 } == [5...7] && recent.readCount == 1)
  }

  /// The effects in memory do not list the assets below a renamed directory.
  @Test func renamedDirectoryIsReadFromHistory() throws {
    let history = History()
    let recent = history.recent()
    for sequence in 7...8 as ClosedRange<Int64> {
      recent.append(try effects(sequence, renames: sequence == 7), sequence: sequence)
    }
    #expect(recent.known(after: 6, through: 8)?.hasRenames == true)
    _ = try recent.effects(after: 6, through: 8)
    _ = try recent.effects(after: 7, through: 8)
    #expect(history.reads.withLock { $0 } == [7...8])
    // Lists are still judged by the effects in memory, which carry more detail.
    #expect(recent.known(after: 6, through: 8)?.hasRenames == true)
  }

  @Test func commitThatIsLeftOutHidesThoseBeforeIt() throws {
    let recent = History().recent()
    for sequence in [1, 2, 4, 5] as [Int64] { recent.append(try effects(sequence), sequence: sequence) }
    #expect(recent.known(after: 0, through: 2) == nil && recent.known(after: 1, through: 4) == nil)
    #expect(recent.known(after: 3, through: 5)?.assetCount == 2)
    recent.append(nil, sequence: 6)
    recent.append(try effects(7), sequence: 7)
    #expect(recent.known(after: 5, through: 7) == nil && recent.known(after: 6, through: 7) != nil)
  }

  @Test func assetsThatWerePlacedInAnAlbumCount() throws {
    let recent = History().recent(.init(assetsPerCommit: 10, assets: 100, commits: 30))
    var record = CommitRecord()
    record.edit(album: 5, placing: 1...10)
    #expect(recent.wants(record))
    record.edit(album: 6, placing: [11])
    #expect(!recent.wants(record))
  }

  @Test func memoryIsBounded() throws {
    let recent = History().recent(.init(assetsPerCommit: 10, assets: 100, commits: 30))
    for sequence in 1...1_000 as ClosedRange<Int64> {
      recent.append(try effects(sequence, count: sequence < 500 ? 10 : 1), sequence: sequence)
      if sequence == 499 { #expect(recent.known(after: 489, through: 499) != nil) }
      if sequence == 499 { #expect(recent.known(after: 488, through: 499) == nil) }
    }
    #expect(recent.known(after: 970, through: 1_000)?.assetCount == 30)
    #expect(recent.known(after: 969, through: 1_000) == nil)
    recent.append(try effects(1_001, count: 11), sequence: 1_001)
    #expect(recent.known(after: 1_000, through: 1_001) == nil)
  }
}
