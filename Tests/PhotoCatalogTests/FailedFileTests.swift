import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// The version of the reader that read a file, and the files that a newer one reads again.
@Suite struct FailedFileTests {
  private let fixture: CatalogFixture
  private let directory: DirectoryID

  init() throws {
    fixture = try CatalogFixture()
    directory = try fixture.addRoot("/p")
  }

  private func name(_ text: String) -> [UInt8] { Array(text.utf8) }

  private func insert(_ text: String, failure: String? = nil, readerVersion: Int64, readTime: WallTime = 5) throws {
    let row = FileRow(
      assetID: 0, directoryID: directory, name: name(text), byteCount: 1, modificationTime: 2, changeTime: 3, inode: 4,
      birthTime: 5, readTime: readTime, readerVersion: readerVersion)
    let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", failure: failure)
    _ = try fixture.catalog.write { try $0.insertAsset(content, file: row, addedDate: 1) }
  }

  private func row(_ text: String) throws -> FileRow {
    try #require(try fixture.catalog.read { try $0.file(directory, name(text)) })
  }

  @Test func versionIsWrittenWithEachReading() throws {
    try insert("a.jpg", readerVersion: 3)
    var row = try row("a.jpg")
    #expect(row.readerVersion == 3)
    let id = row.assetID
    #expect(try fixture.catalog.read { try $0.file(ofAsset: id)?.readerVersion } == 3)
    row.readerVersion = 4
    try fixture.catalog.write { try $0.updateStat(row) }
    #expect(try self.row("a.jpg").readerVersion == 4)
    #expect(row.of(asset: 9).readerVersion == 4)
  }

  @Test func newerReaderReadsOnlyTheFilesThatAnOlderOneCouldNot() throws {
    try insert("blamed.jpg", failure: "reading it ended photod-extract", readerVersion: 1)
    try insert("old.jpg", failure: "the file is damaged", readerVersion: 0)
    try insert("good.jpg", readerVersion: 1)
    try insert("known.jpg", failure: "the file is damaged", readerVersion: 2)
    try insert("waiting.jpg", failure: "its disk fails", readerVersion: 0, readTime: .unknown)
    #expect(try fixture.catalog.write { try $0.forgetFailures(ofReadersBefore: 2) } == 2)
    for (name, isUnread) in [
      ("blamed.jpg", true), ("old.jpg", true), ("good.jpg", false), ("known.jpg", false), ("waiting.jpg", true),
    ] {
      #expect(try (row(name).readTime == .unknown) == isUnread, "\(name)")
    }
    // The failure is shown until the file is read again.
    let id = try row("blamed.jpg").assetID
    #expect(try fixture.catalog.read { try $0.content(of: id)?.failure } == "reading it ended photod-extract")
    #expect(try fixture.catalog.write { try $0.forgetFailures(ofReadersBefore: 2) } == 0)
  }
}
