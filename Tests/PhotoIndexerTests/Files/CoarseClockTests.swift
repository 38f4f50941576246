import Testing
import WatchRecords

@testable import PhotoIndexer

/// File systems whose clock ticks slowly, as FAT's does every two seconds.
@Suite struct CoarseClockTests {
  /// A second write within the tick of the first leaves no trace in size and times.
  @Test(arguments: [(1, true), (5, false)] as [(Int64, Bool)])
  func aFileThatWasYoungWhenItWasReadIsReadOnceMore(age: Int64, isReadAgain: Bool) throws {
    let fixture = try ReconcilerFixture()
    let stat = fixture.disk.write("/p/a.jpg", camera: "first")
    fixture.disk.pass(age)
    try fixture.scan([("a.jpg", stat)])
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let count = fixture.disk.readCount
    fixture.disk.setKeywords(["second"], of: "/p/a.jpg")
    let record = try fixture.apply(ReconcilerFixture.file("a.jpg", stat))
    #expect((fixture.disk.readCount > count) == isReadAgain)
    #expect(record.updatedAssets.keys.contains(id) == isReadAgain)
  }
}
