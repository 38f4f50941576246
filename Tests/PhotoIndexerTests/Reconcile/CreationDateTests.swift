import PhotoCatalog
import Testing
import WatchRecords

@testable import PhotoIndexer

private typealias Fixture = ReconcilerFixture

/// The dates of photos without a date in their metadata, when files come, move and leave.
@Suite struct CreationDateTests {
  private let fixture: ReconcilerFixture

  init() throws {
    fixture = try ReconcilerFixture()
    try fixture.apply(Fixture.top)
  }

  private func date(_ path: String) throws -> String {
    let asset = try fixture.asset(path)
    return "\(asset.creationDateSource.rawValue) \(asset.creationDate.description.prefix(10))"
  }

  @Test func aRenameThatChangesTheDateChangesTheMetadata() throws {
    let stat = fixture.disk.write("/p/IMG_20200920.jpg")
    try fixture.apply(Fixture.file("IMG_20200920.jpg", stat))
    let id = try #require(try fixture.paths()["/p/IMG_20200920.jpg"])
    #expect(try date("/p/IMG_20200920.jpg") == "filename 2020-09-20")
    fixture.disk.move("/p/IMG_20200920.jpg", "/p/beach.jpg")
    let renamed = try fixture.apply(Fixture.moved("IMG_20200920.jpg", to: "beach.jpg", stat))
    #expect(renamed.updatedAssets == [id: .path])
    #expect(try date("/p/beach.jpg") == "filename 2020-09-20")
    fixture.disk.move("/p/beach.jpg", "/p/2021-01-02.jpg")
    let dated = try fixture.apply(Fixture.moved("beach.jpg", to: "2021-01-02.jpg", stat))
    #expect(dated.updatedAssets == [id: [.path, .metadata]])
    #expect(try date("/p/2021-01-02.jpg") == "filename 2021-01-02")
  }

  @Test func aFileThatIsTouchedLaterStaysWhereItIs() throws {
    try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    let id = try #require(try fixture.paths()["/p/a.jpg"])
    let before = try fixture.asset("/p/a.jpg").creationDate
    fixture.disk.pass(86_400)
    let record = try fixture.apply(Fixture.file("a.jpg", fixture.disk.write("/p/a.jpg")))
    #expect(record.updatedAssets == [id: .content])
    #expect(try fixture.asset("/p/a.jpg").creationDate == before)
    fixture.disk.setTimes(1_400_000_000_000_000_000, of: ["/p/a.jpg"])
    let stat = try #require(fixture.disk.stat(Fixture.bytes("/p/a.jpg")))
    #expect(try fixture.apply(Fixture.file("a.jpg", stat)).updatedAssets == [id: [.content, .metadata]])
    #expect(try fixture.asset("/p/a.jpg").creationDate.microseconds == 1_400_000_000_000_000)
  }

  /// If a photo leaves and comes back within one commit, observers receive only the difference. Its date must be the
  /// same.
  @Test func aPhotoThatComesBackHasTheDateThatItHad() throws {
    let stat = fixture.disk.write("/p/IMG_20200920.jpg")
    try fixture.apply(Fixture.file("IMG_20200920.jpg", stat))
    fixture.disk.move("/p/IMG_20200920.jpg", "/p/beach.jpg")
    try fixture.apply(Fixture.moved("IMG_20200920.jpg", to: "beach.jpg", stat))
    let id = try #require(try fixture.paths()["/p/beach.jpg"])
    fixture.disk.pass(3600)
    try fixture.apply(Fixture.gone("beach.jpg"))
    #expect(try fixture.paths().isEmpty)
    try fixture.apply(Fixture.file("beach.jpg", stat))
    #expect(try fixture.paths() == ["/p/beach.jpg": id])
    #expect(try date("/p/beach.jpg") == "filename 2020-09-20")
  }
}
