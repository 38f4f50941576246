import PhotoCatalog
import Testing

@testable import PhotoIndexer

@Suite struct KnownInodesTests {
  /// This also holds far beyond the initial size.
  @Test func everyInodeThatWasInsertedIsKnownAndFewOthersAre() throws {
    let fixture = try ReconcilerFixture()
    let known = try KnownInodes(catalog: fixture.catalog)
    let inserted: [UInt64] = (0..<50_000).map { $0 * 2 } + [.max, 1 << 63]
    #expect(inserted.allSatisfy { !known.mayContain($0) })
    for inode in inserted { known.insert(inode) }
    #expect(inserted.allSatisfy { known.mayContain($0) })
    let mistaken = (0..<50_000).count { known.mayContain(UInt64($0) * 2 + 1) }
    #expect(mistaken < 250, "of 50,000 that were not inserted")
  }

  @Test func inodeThatIsInsertedOftenIsCountedOnce() throws {
    let fixture = try ReconcilerFixture()
    let known = try KnownInodes(catalog: fixture.catalog)
    for _ in 0..<50_000 { for inode: UInt64 in 1...4 { known.insert(inode) } }
    #expect(known.count == 4)
  }

  @Test func filesOfTheCatalogAreKnownFromTheStart() throws {
    let fixture = try ReconcilerFixture()
    let stats = (0..<100).map { ("\($0).jpg", fixture.disk.write("/p/\($0).jpg")) }
    try fixture.scan(stats)
    let known = try KnownInodes(catalog: fixture.catalog)
    #expect(stats.allSatisfy { known.mayContain($0.1.identity.inode) })
  }
}
