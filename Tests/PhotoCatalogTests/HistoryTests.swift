import ChangeDetails
import PhotoModel
import PhotoTestSupport
import Testing

@testable import PhotoCatalog

@Suite struct HistoryTests {
  private let fixture: CatalogFixture

  init() throws { fixture = try CatalogFixture() }

  private func touched(_ after: Int64, _ last: Int64) throws -> TouchedAssets {
    try fixture.catalog.read { try $0.touched(after: after, through: last) }
  }

  @Test func anEmptyHistoryIsAtZero() throws {
    try fixture.catalog.read { reader throws in
      #expect(try reader.sequence() == 0)
      #expect(try reader.token() == fixture.catalog.token(0))
      #expect(try reader.oldestSequence() == nil)
      #expect(try reader.historyReaches(0))
      #expect(try !reader.historyReaches(1))
      #expect(try reader.persistentChanges(after: 0, limit: 10).isEmpty)
      #expect(try reader.touched(after: 0, through: 0).isEmpty)
    }
  }

  @Test func changesComeInOrderAndInPages() throws {
    try fixture.commit(inserted: [3, 1, 2])
    try fixture.commit("client:photoctl", updated: [2: .favorite], deleted: [3], updatedCollections: [9])
    try fixture.commit(
      "mount", renamed: [(7, [0x2f, 0xff], Array("/b".utf8))], roots: [(1, "/drive", false), (2, "/card", true)])
    let pages = try fixture.catalog.read { reader throws in
      [try reader.persistentChanges(after: 0, limit: 2), try reader.persistentChanges(after: 2, limit: 2)]
    }
    #expect(pages.map(\.count) == [2, 1])
    let all = pages.flatMap { $0 }
    #expect(all.map(\.token) == (1...3).map { fixture.catalog.token($0).description })
    #expect(all.map(\.origin) == ["watcher", "client:photoctl", "mount"])
    #expect(all[0].insertedAssets == [1, 2, 3])
    #expect(all[0].date == PhotoDate(microseconds: 1_700_000_000_000_000))
    #expect(all[1].updatedAssets == [2] && all[1].deletedAssets == [3] && all[1].updatedCollections == [9])
    #expect(all.map(\.changedFields) == [[], ["favorite"], []])
    #expect(all[2].renamedDirectories == [RenamedDirectory(fromPath: "file:///%FF", toPath: "/b")])
    #expect(
      all[2].rootAvailability == [
        RootAvailability(path: "/drive", available: false), RootAvailability(path: "/card", available: true),
      ])
  }

  /// A commit may have a million ids. A page that has no room for the next ones does not read them.
  @Test func commitsThatDoNotFitAreNotRead() throws {
    let ids = Array(AssetID(1_000_000)..<1_010_000)
    for _ in 0..<20 { try fixture.commit(inserted: ids) }
    try fixture.catalog.read { reader throws in
      // Each commit takes 80,000 bytes.
      let first = try reader.persistentChanges(after: 0, limit: 1_000, maximumBytes: 200_000)
      #expect(first.changes.count == 3 && !first.isAll)
      let one = try reader.persistentChanges(after: 0, limit: 1_000, maximumBytes: 1)
      #expect(one.changes.count == 1 && !one.isAll)
      let rest = try reader.persistentChanges(after: 18, limit: 1_000, maximumBytes: 200_000)
      #expect(rest.changes.count == 2 && rest.isAll)
      let limited = try reader.persistentChanges(after: 18, limit: 2, maximumBytes: 200_000)
      #expect(limited.changes.count == 2 && !limited.isAll)
    }
  }

  @Test func theSequenceOutlivesPruning() throws {
    for id in AssetID(1)...5 { try fixture.commit(inserted: [id]) }
    try fixture.execute("DELETE FROM history WHERE sequence <= 3")
    try fixture.catalog.read { reader throws in
      #expect(try reader.sequence() == 5)
      #expect(try reader.oldestSequence() == 4)
      let reached = try (1...6).map { try reader.historyReaches($0) }
      #expect(reached == [false, false, true, true, true, false])
    }
    try fixture.execute("DELETE FROM history")
    try fixture.catalog.read { reader throws in
      #expect(try reader.sequence() == 5)
      #expect(try reader.historyReaches(5))
      #expect(try !reader.historyReaches(4))
    }
    #expect(try fixture.commit(inserted: [6]) == 6)
  }

  @Test func touchedIsTheUnionOverCommits() throws {
    try fixture.commit(inserted: [1, 2])
    try fixture.commit(updated: [1: .favorite, 2: [.content, .metadata]])
    try fixture.commit("client:a", updated: [1: .hidden], deleted: [2])
    #expect(
      try touched(0, 3) == TouchedAssets(fields: [1: [.favorite, .hidden], 2: [.content, .metadata]], deleted: [2]))
    #expect(try touched(2, 3) == TouchedAssets(fields: [1: .hidden, 2: []], deleted: [2]))
    #expect(try touched(0, 1) == TouchedAssets(fields: [1: [], 2: []]))
    #expect(try touched(3, 3).isEmpty)
    let origins = try fixture.catalog.read { try $0.origins(after: 1, through: 3) }
    #expect(origins == ["watcher", "client:a"])
  }

  @Test func aRenamedDirectoryTouchesWhatIsBelowItNow() throws {
    let top = try fixture.addRoot("/photos")
    let a = try fixture.addDirectory("a", in: top)
    let b = try fixture.addDirectory("b", in: a)
    let other = try fixture.addDirectory("other", in: top)
    let drive = try fixture.addRoot("/drive")
    try fixture.insert(.sample(1), directory: a, name: [65])
    try fixture.insert(.sample(2), directory: b, name: [65])
    try fixture.insert(.sample(3), directory: other, name: [65])
    try fixture.insert(.sample(4), directory: drive, name: [65])
    // Its sidecar is in the renamed directory.
    try fixture.insertCompanion(of: 3, position: 1, kind: .sidecar, directory: b, name: [66], contentType: "text/xml")
    let path = Array("/photos/a".utf8)
    try fixture.commit(renamed: [(a, path, path), (b, path, path), (a, path, path)])
    try fixture.commit(updated: [2: .favorite], roots: [(RootID(rawValue: drive.rawValue), "/drive", false)])
    #expect(try touched(0, 1) == TouchedAssets(fields: [1: .path, 2: .path, 3: .path]))
    #expect(try touched(1, 2) == TouchedAssets(fields: [2: .favorite, 4: .availability]))
    #expect(
      try touched(0, 2) == TouchedAssets(fields: [1: .path, 2: [.path, .favorite], 3: .path, 4: .availability]))
  }

  @Test func damagedHistoryThrows() throws {
    try fixture.execute(
      "INSERT INTO history (date, origin, inserted_assets) VALUES (0, 'watcher', x'80')")
    #expect(throws: PhotoError.self) { try touched(0, 1) }
    #expect(throws: PhotoError.self) { try fixture.catalog.read { try $0.persistentChanges(after: 0, limit: 1) } }
  }

  /// A drive is one row of history. Each of its photos is one bit for a caller that needs the touched assets.
  @Test func manyBelowADirectoryAreAGroup() throws {
    let fixture = try CatalogFixture()
    let root = try fixture.addRoot("/p")
    let sub = try fixture.addDirectory("sub", in: root)
    let last = AssetID(CatalogReader.mostNamed + 1)
    try fixture.insert(
      (1...last).map {
        (.sample($0), directory: $0 == last ? root : sub, name: Array("\($0)".utf8), failure: nil)
      })
    let first = try fixture.commit(renamed: [(sub, Array("/p/a".utf8), Array("/p/sub".utf8))])
    let second = try fixture.commit(roots: [(RootID(rawValue: root.rawValue), "/p", false)])
    let (renamed, gone, both) = try fixture.catalog.read {
      (
        try $0.touched(after: first - 1, through: first), try $0.touched(after: first, through: second),
        try $0.touched(after: first - 1, through: second)
      )
    }
    #expect(renamed.groups.isEmpty && renamed.fields.count == CatalogReader.mostNamed && renamed.fields[1] == .path)
    #expect(gone.fields.isEmpty && gone.groups.map(\.fields) == [.availability])
    #expect((1...last).allSatisfy { gone.fields(of: $0) == .availability } && gone.fields(of: last + 1) == nil)
    #expect(both.fields(of: 1) == [.path, .availability] && both.fields(of: last) == .availability)
  }
}
