import PhotoModel
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// renameat2(2) with RENAME_EXCHANGE causes two pairs of events, one after the other.
@Suite struct ExchangeTests {
  @Test func exchangedFilesKeepTheirIdentifiers() throws {
    let (fixture, before) = try twoFavorites()
    fixture.disk.exchange("/p/a.jpg", "/p/b.jpg")
    let (a, b) = (fixture.disk.stat(Fixture.bytes("/p/a.jpg")), fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    let record = try fixture.apply(Fixture.moved("a.jpg", to: "b.jpg", b), Fixture.moved("b.jpg", to: "a.jpg", a))
    #expect(try fixture.paths() == ["/p/a.jpg": before["/p/b.jpg"]!, "/p/b.jpg": before["/p/a.jpg"]!])
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty && record.updatedAssets.count == 2)
    #expect(try fixture.asset("/p/a.jpg").isFavorite && fixture.asset("/p/b.jpg").isFavorite)
  }

  /// The library does not know the file before it is exchanged with a photo. So its rename looks like a save.
  @Test(arguments: [true, false]) func photoThatIsExchangedWithANewFileKeepsItsIdentifier(isOneBatch: Bool) throws {
    let (fixture, old) = try exchangedWithANewFile(isOneBatch: isOneBatch)
    let after = try fixture.paths()
    #expect(after["/p/b.jpg"] == old && after.count == 2)
    #expect(try fixture.asset("/p/b.jpg").isFavorite && !fixture.asset("/p/a.jpg").isFavorite)
  }

  /// The removed file is the photo as it was before the save. A person regards the saved file as the photo.
  @Test func photoThatAProgramSavesByExchangeKeepsItsIdentifier() throws {
    let (fixture, old) = try exchangedWithANewFile(isOneBatch: true)
    fixture.disk.remove("/p/b.jpg")
    let record = try fixture.apply(Fixture.gone("b.jpg"))
    #expect(try fixture.paths() == ["/p/a.jpg": old])
    #expect(try fixture.asset("/p/a.jpg").isFavorite)
    #expect(record.updatedAssets[old]?.contains([.path, .content]) == true)
  }

  /// Seconds later the removed file is a deleted photo, and no other file gets its identity.
  @Test func photoThatIsRemovedLaterIsRemoved() throws {
    let (fixture, old) = try exchangedWithANewFile(isOneBatch: true)
    fixture.disk.pass(60)
    fixture.disk.remove("/p/b.jpg")
    let record = try fixture.apply(Fixture.gone("b.jpg"))
    #expect(record.deletedAssets == [old])
    #expect(try !fixture.asset("/p/a.jpg").isFavorite)
  }

  /// A second name of the photo was deleted, so the photo's own file looks like a deleted one. A third file was renamed to
  /// the photo's former name since the exchange.
  @Test func fileThatComesAfterAnExchangeWithANewFileIsThere() throws {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.apply(Fixture.file("second.jpg", fixture.disk.link("/p/a.jpg", "/p/second.jpg")))
    fixture.disk.pass(3_600)
    fixture.disk.remove("/p/second.jpg")
    try fixture.apply(Fixture.gone("second.jpg"))
    fixture.disk.pass(3_600)
    fixture.disk.write("/p/b.jpg", bytes: 300)
    fixture.disk.exchange("/p/a.jpg", "/p/b.jpg")
    let (a, b) = (fixture.disk.stat(Fixture.bytes("/p/a.jpg")), fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    fixture.disk.write("/p/third.jpg", bytes: 400)
    fixture.disk.move("/p/third.jpg", "/p/a.jpg")
    try fixture.apply(Fixture.moved("b.jpg", to: "a.jpg", a), Fixture.moved("a.jpg", to: "b.jpg", b))
    let paths = try fixture.paths()
    #expect(paths["/p/b.jpg"] == id && Set(paths.keys) == ["/p/a.jpg", "/p/b.jpg"])
  }

  /// A save replaces the file of a photo. If the photo is exchanged before photod looks at the save, the rename of the
  /// other file replaces the photo that photod knows.
  @Test func photoThatIsSavedAndThenExchangedKeepsItsIdentifier() throws {
    let (fixture, before) = try twoFavorites()
    fixture.disk.write("/p/a.new", bytes: 300)
    fixture.disk.move("/p/a.new", "/p/a.jpg")
    fixture.disk.exchange("/p/a.jpg", "/p/b.jpg")
    let (a, b) = (fixture.disk.stat(Fixture.bytes("/p/a.jpg")), fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    let record = try fixture.apply(Fixture.moved("b.jpg", to: "a.jpg", a), Fixture.moved("a.jpg", to: "b.jpg", b))
    #expect(try fixture.paths() == ["/p/a.jpg": before["/p/b.jpg"]!, "/p/b.jpg": before["/p/a.jpg"]!])
    #expect(record.deletedAssets.isEmpty && record.insertedAssets.isEmpty)
    #expect(try fixture.asset("/p/a.jpg").isFavorite && fixture.asset("/p/b.jpg").isFavorite)
  }

  /// A restored folder replaces thousands of files within seconds.
  @Test func recentValuesAreBounded() {
    var values = RecentValues<Int, Int>(lifetime: .nanoseconds(10))
    for key in 0..<3 * RecentValues<Int, Int>.limit {
      values.note(key, for: key, uptime: 1)
      #expect(values.count <= RecentValues<Int, Int>.limit && values.value(for: key, uptime: 10) == key)
    }
    for key in 0..<1000 {
      values.note(-key, for: key, uptime: .boot + .nanoseconds(100 + key))
      #expect(values.value(for: key, uptime: .boot + .nanoseconds(110 + key)) == nil)
    }
    #expect(values.count <= 64)
  }

  /// /p/a.jpg and /p/b.jpg, both settled favorites.
  private func twoFavorites() throws -> (ReconcilerFixture, [String: AssetID]) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(
      Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")),
      Fixture.file("b.jpg", fixture.disk.write("/p/b.jpg", bytes: 200)))
    let paths = try fixture.paths()
    for id in paths.values { try fixture.give(id) }
    fixture.disk.pass(100)
    return (fixture, paths)
  }

  /// A favorite, /p/a.jpg, and a file that was written as /p/b.jpg just now have exchanged their names.
  private func exchangedWithANewFile(isOneBatch: Bool) throws -> (ReconcilerFixture, AssetID) {
    let fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top, Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let old = try #require(try fixture.paths()["/p/a.jpg"])
    try fixture.give(old)
    fixture.disk.pass(100)
    fixture.disk.write("/p/b.jpg", bytes: 200)
    fixture.disk.exchange("/p/a.jpg", "/p/b.jpg")
    let (a, b) = (fixture.disk.stat(Fixture.bytes("/p/a.jpg")), fixture.disk.stat(Fixture.bytes("/p/b.jpg")))
    let halves = [Fixture.moved("b.jpg", to: "a.jpg", a), Fixture.moved("a.jpg", to: "b.jpg", b)]
    if isOneBatch {
      try fixture.apply(all: halves)
    } else {
      for half in halves { try fixture.apply(half) }
    }
    return (fixture, old)
  }
}
