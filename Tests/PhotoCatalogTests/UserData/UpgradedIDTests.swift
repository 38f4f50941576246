import GRDB
import PhotoModel
import Testing

@testable import PhotoCatalog

/// An upgrade adds smart albums. They must not take the ids of albums that only the journal has yet.
@Suite struct UpgradedIDTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  /// An earlier photod is killed after the journal has a new folder and album, and before COMMIT. The next start runs the
  /// steps of the schema that add smart albums.
  @Test(arguments: ["v011-user-data", "v012-smart-albums", "v013-duplicates"])
  func albumOfAKilledPhotodKeepsItsIDThroughAnUpgrade(lastStep: String) throws {
    let old = try Catalog(path: fixture.path, bootID: "boot", lastStep: lastStep)
    let (uuid, epoch) = (old.uuid, old.epoch)
    let last = try old.pool.writeWithoutTransaction { database in
      try database.execute(sql: "UPDATE library SET journal_number = 1")
      return CollectionID(
        rawValue: try Int64.fetchOne(database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'collection'") ?? 0)
    }
    try old.close()
    let (folder, album) = (CollectionID(rawValue: last.rawValue + 1), CollectionID(rawValue: last.rawValue + 2))
    do {
      let journal = try UserDataJournal(
        writing: .init(
          library: uuid, epoch: epoch, number: 1, reservedAssets: 10_000, reservedCollections: 10_000, entries: [],
          collections: [], albums: [], others: []),
        to: fixture.journal
      ) { _ in }
      try journal.append(
        [
          .collection(UserCollection(id: folder, kind: .folder, title: "Trips")),
          .collection(UserCollection(id: album, kind: .album, title: "Rome", parentID: folder)),
        ], durable: true)
    }

    let catalog = try fixture.open()
    #expect(catalog.epoch == epoch)
    let collections = try catalog.collections()
    #expect(collections.first { $0.id == folder }?.kind == .folder)
    #expect(collections.first { $0.id == album }?.title == "Rome")
    #expect(collections.first { $0.id == album }?.parentID == folder)
    #expect(Set(collections.compactMap(\.subtype)) == Set(SmartAlbum.allCases.map(\.rawValue)))
    #expect(Set(collections.map(\.id)).count == collections.count)
    // Smart albums that moved do not have an id that the journal reserved for others.
    #expect(collections.filter { $0.subtype != nil && $0.id > last }.allSatisfy { $0.id > 10_000 || $0.id > album })
    #expect(try catalog.check(deep: true).findings.isEmpty)
    let stored = try catalog.storedUserData()
    #expect(
      try catalog.perform(.createAlbum(title: "New", assets: [], parent: nil))[0] > collections.map(\.id).max() ?? 0)
    try catalog.close()
    // It is the same when it is opened again, and when it is lost.
    try fixture.remove("", "-wal", "-shm")
    let rebuilt = try fixture.open()
    #expect(try rebuilt.storedUserData().collections.prefix(2) == stored.collections.prefix(2))
    try rebuilt.close()
  }
}
