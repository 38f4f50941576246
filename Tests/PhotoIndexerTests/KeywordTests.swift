import Foundation
import PhotoCatalog
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The keywords of files, from the disk to the catalog and the history.
@Suite struct KeywordTests {
  @Test func changeOfKeywordsIsReportedAlone() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    fixture.disk.pass(100)
    let stat = fixture.disk.write("/p/a.jpg")
    fixture.disk.setKeywords(["sea", "boat"], of: "/p/a.jpg")
    #expect(try fixture.apply(Fixture.file("a.jpg", stat)).updatedAssets == [id: [.content, .keywords]])
    #expect(try fixture.asset("/p/a.jpg").keywords == ["sea", "boat"])

    fixture.disk.pass(100)
    let reordered = fixture.disk.write("/p/a.jpg", camera: "X200")
    fixture.disk.setKeywords(["boat", "sea"], of: "/p/a.jpg")
    let record = try fixture.apply(Fixture.file("a.jpg", reordered))
    #expect(record.updatedAssets == [id: [.content, .metadata, .keywords]])
    #expect(try fixture.asset("/p/a.jpg").keywords == ["boat", "sea"])

    fixture.disk.pass(100)
    let same = fixture.disk.write("/p/a.jpg", camera: "X200")
    fixture.disk.setKeywords(["boat", "sea"], of: "/p/a.jpg")
    #expect(try fixture.apply(Fixture.file("a.jpg", same)).updatedAssets == [id: .content])
  }

  @Test func aCatalogFromBeforeKeywordsGetsThemByReadingOnceMore() throws {
    let fixture = try ReconcilerFixture()
    let files = ["a.jpg", "b.jpg"].map { ($0, fixture.disk.write("/p/" + $0)) }
    let ids = try fixture.scan(files).insertedAssets
    #expect(ids.count == 2)
    let first = try #require(ids.min())
    try fixture.catalog.write { try $0.setUserData(of: first, isFavorite: true, isHidden: nil) }
    fixture.disk.setKeywords(["sea"], of: "/p/a.jpg")
    fixture.disk.pass(3600)

    try fixture.upgrade(from: .keywords)
    #expect(try Set(fixture.paths().values) == ids)
    let reads = fixture.disk.readCount
    // Only the file with more keywords than were read before has changed.
    #expect(try fixture.scan(files).updatedAssets == [first: .keywords])
    #expect(fixture.disk.readCount == reads + 2)
    let asset = try fixture.asset("/p/a.jpg")
    #expect(asset.id == first && asset.isFavorite && asset.keywords == ["sea"])
    #expect(try fixture.asset("/p/b.jpg").keywords == [])

    try fixture.restart()
    #expect(try fixture.scan(files).isEmpty)
    #expect(fixture.disk.readCount == reads + 2)
  }

  /// The opening of the catalog reads no file. The scan reads them ahead of each batch, outside of its transaction, and
  /// each batch is a commit. After a kill, only the files of later batches are read.
  @Test func anUpgradeReadsFilesInBatches() async throws {
    let fixture = try ReconcilerFixture()
    let size = 100
    let files = (0..<4 * size).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(files)
    for (name, _) in files { fixture.disk.setKeywords(["sea"], of: "/p/" + name) }
    fixture.disk.pass(3600)
    let reads = fixture.disk.readCount
    try fixture.upgrade(from: .keywords)
    #expect(fixture.disk.readCount == reads)

    let records = Fixture.scan(files)
    let ends = [3 + size, 3 + 2 * size, 3 + 3 * size, records.count]
    let batches = zip([0] + ends, ends).map { Array(records[$0..<$1]) }
    /// Plays these batches of a new photod-watch's scan, and returns how many files each of them read and changed.
    func play(_ batches: [[WatchRecord]]) async throws -> [(read: Int, changed: Int)] {
      let readAhead = try ReadAhead(
        catalog: fixture.catalog, files: fixture.disk, knownInodes: KnownInodes(catalog: fixture.catalog))
      var counts: [(read: Int, changed: Int)] = []
      for batch in batches {
        let sequence = try fixture.catalog.read { try $0.sequence() }
        let input = await readAhead.read(.batch(batch))
        let reads = fixture.disk.readCount
        let record = try fixture.apply(all: batch, contents: input.contents)
        #expect(fixture.disk.readCount == reads, "the transaction reads no file")
        #expect(try fixture.catalog.read { try $0.sequence() } == sequence + (record.isEmpty ? 0 : 1))
        counts.append((input.contents.count, record.updatedAssets.count))
      }
      return counts
    }
    let begun = try await play(Array(batches.prefix(2)))
    #expect(begun.map(\.read) == [size, size] && begun.map(\.changed) == [size, size])
    try fixture.restart()
    let ended = try await play(batches)
    #expect(ended.map(\.read) == [0, 0, size, size] && ended.map(\.changed) == [0, 0, size, size])
    try fixture.restart()
    #expect(try await play(batches).allSatisfy { $0 == (0, 0) })
    #expect(try fixture.asset("/p/\(4 * size - 1).jpg").keywords == ["sea"])
  }

  @Test func anUpgradeWithoutNewKeywordsMakesNoCommit() throws {
    let fixture = try ReconcilerFixture()
    let files = ["a.jpg", "b.jpg"].map { ($0, fixture.disk.write("/p/" + $0)) }
    try fixture.scan(files)
    let before = try fixture.catalog.read { try $0.sequence() }
    fixture.disk.pass(3600)
    try fixture.upgrade(from: .keywords)
    #expect(try fixture.scan(files).isEmpty)
    #expect(try fixture.catalog.read { try $0.sequence() } == before)
  }

  @Test func aFileOnDiskHasTheKeywordsOfItsPacket() throws {
    let package = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let photo = package.appendingPathComponent("Tests/Fixtures/made/gen/2011/01/DSC_0000110.JPG")
    let files = DiskFiles()
    let stat = try #require(files.stat(Array(photo.path.utf8)))
    guard case .content(let content, _, _, _) = files.read(Array(photo.path.utf8), expecting: stat, isSampled: false)
    else {
      Issue.record("the photo can't be read")
      return
    }
    #expect(content.keywords == ["sunset", "garden", "birthday"] && content.rating == 4)
  }
}
