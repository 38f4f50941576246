import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

/// New assets are written in groups, which must make no difference to the result.
@Suite struct InsertionTests {
  private func row(_ number: Int, in directory: DirectoryID) -> FileRow {
    FileRow(
      assetID: 0, directoryID: directory, name: Array("\(number).jpg".utf8), byteCount: Int64(number),
      modificationTime: WallTime(microseconds: Int64(number)), changeTime: 3, inode: UInt64(number), birthTime: 4,
      readTime: 5)
  }

  private func content(_ number: Int) -> AssetContent {
    AssetContent(
      mediaType: number % 3 == 0 ? .video : .image, mediaSubtypes: number % 5 == 0 ? .raw : [], contentType: "image/x",
      creationDate: number % 2 == 0 ? PhotoDate(microseconds: Int64(number), offsetMinutes: 60) : nil,
      camera: Camera(make: "make \(number)"), title: "title \(number)", rating: number % 6)
  }

  @Test(arguments: [1, 2, 15, 16, 17, 37, 64, 79, 150])
  func everyAssetIsWrittenAsItWasGiven(count: Int) throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    let first = try fixture.catalog.write { writer in
      let ids = try (0..<count).map {
        try writer.insertAsset(
          content($0), file: row($0, in: directory), addedDate: WallTime(microseconds: 1000 + Int64($0)))
      }
      #expect(ids == Array(ids[0]..<ids[0] + count))
      return ids[0]
    }
    for number in 0..<count {
      let id = first + number
      let (read, file, added) = try fixture.catalog.read { reader in
        (try reader.content(of: id), try reader.file(ofAsset: id), try reader.addedDate(of: id))
      }
      let given = row(number, in: directory)
      #expect(read == content(number))
      #expect(added == WallTime(microseconds: 1000 + Int64(number)))
      #expect(
        file
          == FileRow(
            assetID: id, directoryID: directory, name: given.name, byteCount: given.byteCount,
            modificationTime: given.modificationTime, changeTime: 3, inode: given.inode, birthTime: 4, readTime: 5))
    }
  }

  @Test func insertedRowsAreVisibleToLaterStatements() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    try fixture.catalog.write { writer in
      for number in 0..<40 {
        let id = try writer.insertAsset(
          content(number), file: row(number, in: directory), addedDate: .init(microseconds: 1))
        if number % 7 == 0 { #expect(try writer.file(directory, Array("\(number).jpg".utf8))?.assetID == id) }
        if number % 11 == 0 { try writer.deleteAsset(id) }
      }
    }
    let left = try fixture.catalog.read { try $0.fileCount() }
    #expect(left == 36)
  }

  @Test func filesOfADirectoryIncludeThoseThatAreGathered() throws {
    let fixture = try CatalogFixture()
    let directories = [try fixture.addRoot("/p"), try fixture.addRoot("/q")]
    let names = try fixture.catalog.write { writer in
      for number in 0..<3 {
        _ = try writer.insertAsset(
          content(number), file: row(number, in: directories[0]), addedDate: .init(microseconds: 1))
      }
      #expect(try writer.files(in: directories[1]).isEmpty)
      _ = try writer.insertAsset(content(3), file: row(3, in: directories[1]), addedDate: .init(microseconds: 1))
      return try directories.map { directory in
        try writer.files(in: directory).map { String(decoding: $0.name, as: UTF8.self) }
      }
    }
    #expect(names == [["0.jpg", "1.jpg", "2.jpg"], ["3.jpg"]])
  }

  @Test func idOfADeletedAssetIsNotGivenAgain() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    let last = try fixture.catalog.write { writer in
      var last: AssetID = 0
      for number in 0..<20 {
        last = try writer.insertAsset(
          content(number), file: row(number, in: directory), addedDate: .init(microseconds: 1))
      }
      try writer.deleteAsset(last)
      return last
    }
    let next = try fixture.catalog.write {
      try $0.insertAsset(content(1), file: row(99, in: directory), addedDate: .init(microseconds: 1))
    }
    #expect(next == last + 1)
  }

  @Test func twoFilesInOnePlaceAreAnErrorAndNothingIsWritten() throws {
    let fixture = try CatalogFixture()
    let directory = try fixture.addRoot("/p")
    #expect(throws: (any Error).self) {
      try fixture.catalog.write { writer in
        for _ in 0..<2 {
          _ = try writer.insertAsset(content(1), file: row(1, in: directory), addedDate: .init(microseconds: 1))
        }
      }
    }
    let left = try fixture.catalog.read { try $0.fileCount() }
    #expect(left == 0)
  }
}
