import Foundation
import PhotoCatalog
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The keywords of files, from the disk to the catalog and the history.
@Suite struct KeywordTests {
  @Test func keywordsAloneAreSaidToHaveChanged() throws {
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
    try fixture.catalog.write { _ = try $0.setFavorite(first, true) }
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

  @Test func anUpgradeThatFindsNothingNewLeavesNoTraceInHistory() throws {
    let fixture = try ReconcilerFixture()
    let files = ["a.jpg", "b.jpg"].map { ($0, fixture.disk.write("/p/" + $0)) }
    try fixture.scan(files)
    let before = try fixture.catalog.read { try $0.sequence() }
    fixture.disk.pass(3600)
    try fixture.upgrade(from: .keywords)
    #expect(try fixture.scan(files).isEmpty)
    #expect(try fixture.catalog.read { try $0.sequence() } == before)
  }

  @Test func aFileOnDiskBringsWhatItsPacketSays() throws {
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
