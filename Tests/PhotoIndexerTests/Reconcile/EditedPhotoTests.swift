import Foundation
import PhotoCatalog
import PhotoModel
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// Edits of a person stay while programs write to the files.
@Suite struct EditedPhotoTests {
  private static let count = ProcessInfo.processInfo.environment["PHOTOD_EDITED_PHOTOS"].flatMap { Int($0) } ?? 1_000

  @Test func readingEditedPhotosAgainMakesNoWrongCommitAndLosesNoEdit() throws {
    let fixture = try ReconcilerFixture()
    let names = (0..<Self.count).map { "\($0).jpg" }
    func write(keyword: String) -> [(String, FileStat)] {
      names.map { name in
        let stat = fixture.disk.write("/p/" + name)
        fixture.disk.setKeywords([keyword], of: "/p/" + name)
        return (name, stat)
      }
    }
    let ids = try fixture.scan(write(keyword: "sea")).insertedAssets
    #expect(ids.count == Self.count)
    var edit = AssetEdit()
    (edit.title, edit.caption, edit.rating) = ("typed", "", 4)
    (edit.addedKeywords, edit.removedKeywords) = (["family"], ["sea"])
    edit.creationDate = .set(PhotoDate(year: 2001, month: 2, day: 3)!)
    try fixture.catalog.write { writer in
      _ = try writer.perform([.editAssets(ids.sorted(), edit)])
      try writer.append(origin: "client:test", date: fixture.disk.wallTime)
    }
    func isEdited() throws -> Bool {
      try fixture.catalog.read { try $0.assets(ids.sorted()).assets }.allSatisfy {
        $0.title == "typed" && $0.rating == 4 && $0.keywords.last == "family" && !$0.keywords.contains("sea")
          && $0.creationDateSource == .user
      }
    }
    #expect(try isEdited())

    // A program touches the files: their bytes may differ, but no field does.
    fixture.disk.pass(100)
    let touched = try fixture.scan(write(keyword: "sea"))
    #expect(touched.updatedAssets.values.allSatisfy { $0 == .content } && touched.insertedAssets.isEmpty)
    #expect(try isEdited())
    fixture.disk.pass(100)
    #expect(try fixture.scan(names.map { ($0, try #require(fixture.disk.stat(Fixture.bytes("/p/" + $0)))) }).isEmpty)

    // A program writes a keyword. It is the only field that differs for clients.
    fixture.disk.pass(100)
    let written = try fixture.scan(write(keyword: "boat"))
    #expect(written.updatedAssets.count == Self.count)
    #expect(written.updatedAssets.values.allSatisfy { $0 == [.content, .keywords] })
    #expect(try isEdited())
    #expect(
      try fixture.catalog.read { try $0.assets(ids.sorted()).assets }.allSatisfy { $0.keywords == ["boat", "family"] })
  }
}
