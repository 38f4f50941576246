import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The cost of a rename does not depend on how much is below it.
@Suite struct LargeFolderTests {
  @Test func renamedFolderOfTenThousandFoldersIsOneRow() throws {
    let fixture = try ReconcilerFixture()
    var records: [WatchRecord] = [Fixture.top, Fixture.found(2, "year", inode: 2)]
    for number in 0..<DirectoryNumber(10_000) {
      records.append(Fixture.found(3 + number, "\(number)", in: 2, inode: UInt64(3 + number)))
      if number % 10 == 0 {
        let stat = fixture.disk.write("/p/year/\(number)/a.jpg")
        records.append(Fixture.file("a.jpg", in: 3 + number, stat))
      }
    }
    func apply(_ records: [WatchRecord]) throws -> (record: CommitRecord, rows: Int) {
      try fixture.catalog.write { writer in
        let before = try writer.database.totalChangesCount
        let batch = try fixture.reconciler.apply(
          records, contents: [:], with: writer, time: fixture.disk.wallTime, uptime: fixture.disk.bootTime)
        try writer.append(origin: batch.origin, date: .init(microseconds: 1))
        return (batch.record, try writer.database.totalChangesCount - before)
      }
    }
    #expect(try apply(records).record.insertedAssets.count == 1_000)
    let ids = Set(try fixture.paths().values)
    let reads = fixture.disk.readCount
    var shortest = Duration.seconds(60)
    for turn in 0..<5 {
      let name = "year \(turn)"
      let (said, time) = try measuringProcessorTime {
        try apply([.directoryMoved(number: 2, parent: 1, name: Fixture.bytes(name))])
      }
      shortest = min(shortest, time)
      #expect(said.record.renamedDirectories.map(\.toPath) == [Fixture.bytes("/p/" + name)])
      #expect(said.record.updatedAssets.isEmpty && said.record.deletedAssets.isEmpty)
      // The rows are the directory, and the commit with its entry of a renamed directory.
      #expect(said.rows == 3)
    }
    #expect(shortest < .milliseconds(50))
    #expect(fixture.disk.readCount == reads)
    let paths = try fixture.paths()
    #expect(Set(paths.values) == ids && paths["/p/year 4/10/a.jpg"] != nil)
  }
}
