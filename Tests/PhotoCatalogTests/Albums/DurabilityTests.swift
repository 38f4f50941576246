import Foundation
import PhotoModel
import PhotoTestSupport
import Synchronization
import TestTools
import Testing

@testable import PhotoCatalog

/// Everything that a person stored survives kill -9 at any step, and a lost catalog.
@Suite struct DurabilityTests {
  private let fixture: UserDataFixture

  init() throws { fixture = try UserDataFixture() }

  /// At each step of each call, the disk's state is opened as the next photod would open it after kill -9.
  @Test(arguments: TestTier.seeds(5))
  func killedAtAnyStepNothingAcknowledgedIsLost(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let copies = Mutex<[(step: UserDataJournal.Step, fixture: UserDataFixture)]>([])
    let catalog = try fixture.open { [fixture] step in
      guard step != .cut, FileManager.default.fileExists(atPath: fixture.journal) else { return }
      let copy = try UserDataFixture()
      try fixture.copy(to: copy)
      copies.withLock { $0.append((step, copy)) }
    }
    try catalog.addPhotos(12, keywords: ["k0", "k1"])
    for _ in 0..<12 {
      let before = try catalog.storedUserData()
      copies.withLock { $0 = [] }
      try catalog.performRandomChanges(using: &random)
      let after = try catalog.storedUserData()
      for (step, copy) in copies.withLock({ $0 }) {
        let reopened = try copy.open()
        #expect(try reopened.storedUserData() == (step == .append ? before : after), "\(step)")
        #expect(reopened.epoch == 1, "\(step): the tokens expired")
        #expect(try reopened.messages().isEmpty, "\(step)")
        #expect(try reopened.check(deep: true).findings.isEmpty, "\(step)")
        try reopened.close()
        // The catalog is lost as well.
        try copy.remove("", "-wal", "-shm")
        let rebuilt = try copy.open()
        #expect(try rebuilt.storedUserData() == (step == .append ? before : after), "\(step), rebuilt")
        try rebuilt.close()
      }
    }
    try catalog.close()
  }

  /// The state of the disk is opened as after kill -9: before the new journal, when it is written in part or as a whole, and
  /// when it has the name.
  @Test func compactionIsKilledAtEveryStep() throws {
    var random = SeededGenerator(seed: 7)
    let copies = Mutex<[(step: UserDataJournal.Step, fixture: UserDataFixture)]>([])
    let compactionSteps: [UserDataJournal.Step] = [.rewrite, .written, .renamed]
    let catalog = try fixture.open { [fixture] step in
      guard compactionSteps.contains(step), FileManager.default.fileExists(atPath: fixture.journal) else { return }
      let copy = try UserDataFixture()
      try fixture.copy(to: copy)
      copies.withLock { $0.append((step, copy)) }
    }
    try catalog.addPhotos(12, keywords: ["k0", "k1"])
    try catalog.performRandomChanges(using: &random)
    let album = try catalog.perform(.createAlbum(title: "Rome", assets: [1, 2, 3, 4, 5, 6], parent: nil))[0]
    copies.withLock { $0 = [] }
    var steps: [UserDataJournal.Step] = []
    for _ in 0..<3_000 where steps.count < compactionSteps.count {
      try catalog.place([AssetID(rawValue: .random(in: 1...5, using: &random))], in: album, before: 6)
      let made = copies.withLock { copies in
        defer { copies = [] }
        return copies
      }
      let stored = try made.isEmpty ? nil : catalog.storedUserData()
      for (step, copy) in made {
        steps.append(step)
        // The new journal is beside the old one before it gets the name.
        let new = try copy.names().first { $0.hasPrefix("catalog.userdata.photod-") }.map { copy.folder + "/" + $0 }
        #expect((new != nil) == (step == .written), "\(step)")
        let bytes = try new.map { try copy.bytes($0) } ?? []
        for length in Set([bytes.count, bytes.count / 2, 0]).sorted(by: >) {
          for isRebuilt in [false, true] {
            let killed = try UserDataFixture()
            try copy.copy(to: killed)
            if let new {
              try killed.write(bytes[..<length], to: killed.folder + String(new.dropFirst(copy.folder.count)))
            }
            if isRebuilt { try killed.remove("", "-wal", "-shm") }
            let comment = "\(step), \(length) bytes, rebuilt: \(isRebuilt)"
            let reopened = try killed.open()
            #expect(try reopened.storedUserData() == stored, "\(comment)")
            // The tokens of clients stay valid.
            #expect(isRebuilt || reopened.epoch == catalog.epoch, "\(comment)")
            #expect(try reopened.check(deep: true).findings.isEmpty, "\(comment)")
            try reopened.close()
            #expect(try !killed.names().contains { $0.contains(".photod-") }, "\(comment)")
          }
        }
      }
    }
    #expect(steps == compactionSteps)
    try catalog.close()
  }

  /// The operations of albums keep the journal within twice its live data and 64 KiB. Without compactions, this number of
  /// moves would make it longer.
  @Test(.enabled(if: TestTier.isWhole, "takes seconds")) func journalOfAGrowingAlbumStaysSmall() throws {
    let compactions = Mutex(0)
    let catalog = try fixture.open { step in
      if step == .renamed { compactions.withLock { $0 += 1 } }
    }
    try catalog.addPhotos(500)
    let album = try catalog.perform(.createAlbum(title: "Long", assets: [], parent: nil))[0]
    for start in stride(from: Int64(1), to: 500, by: 50) {
      try catalog.place((start..<start + 50).map(AssetID.init(rawValue:)), in: album)
    }
    compactions.withLock { $0 = 0 }
    // All assets have their lines now. Moving an asset appends its operation alone.
    var (last, longest, appended) = (try fixture.bytes(fixture.journal).count, 0, 0)
    for number in 0..<4_000 {
      try catalog.place([AssetID(rawValue: Int64(number % 498 + 1))], in: album, before: 499)
      let size = try fixture.bytes(fixture.journal).count
      if size > last { appended = max(appended, size - last) }
      (last, longest) = (size, max(longest, size))
    }
    #expect(appended < 200)
    try catalog.close()
    let again = try fixture.open()
    try again.write { _ in }
    let contents = try #require(try UserDataJournal.read(fixture.journal, after: 0))
    #expect(contents.albums[album]?.count == 500)
    // Beside the lines of assets, it has the places of the album and some lines of the library.
    let live = contents.lineBytes.values.reduce(0, +) + 500 * 8 + 1_000
    #expect(longest < 2 * live + 65_536 + 200, "\(longest) of \(live)")
    #expect(compactions.withLock { $0 } > 0)
    try again.close()
  }
}

/// Everything that the catalog holds of a person, of assets in the library and of tombstones.
struct StoredUserData: Equatable {
  var data: [AssetID: AssetUserData] = [:]
  var inAlbums: Set<AssetID> = []
  var collections: [UserCollection] = []
  var members: [CollectionID: [AssetID]] = [:]

  /// The same with the order of each folder instead of the ranks, of which many mean the same order. A rank of 1 stands for
  /// a position, and 0 for none.
  var withOrder: (StoredUserData, order: [CollectionID: [CollectionID]]) {
    var order: [CollectionID: [(key: [UInt8], id: CollectionID)]] = [:]
    for collection in collections {
      let key = CollectionPlace.key(rank: collection.rank, title: collection.title, id: collection.id)
      order[collection.parentID ?? 0, default: []].append((key, collection.id))
    }
    var copy = self
    for index in collections.indices { copy.collections[index].rank = collections[index].rank == 0 ? 0 : 1 }
    return (copy, order.mapValues { $0.sorted { $0.key.lexicographicallyPrecedes($1.key) }.map(\.id) })
  }
}

extension Catalog {
  func storedUserData() throws -> StoredUserData {
    try read { reader in
      let writer = CatalogWriter(connection: reader.database)
      var stored = StoredUserData()
      for entry in try writer.userData(others: { _ in [] }, alsoOf: []) {
        stored.data[entry.id] = entry.data
        if entry.isInAlbum { stored.inAlbums.insert(entry.id) }
      }
      stored.collections = try writer.userCollections()
      for (id, members) in try writer.albums() { stored.members[id] = members }
      return stored
    }
  }

  /// Makes a call of some random changes, which may be rejected as a whole.
  func performRandomChanges(using random: inout SeededGenerator) throws {
    let changes = try randomChanges(using: &random)
    do {
      try write(durable: true) { writer in
        _ = try writer.perform(changes)
        if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .init(microseconds: 1)) }
      }
    } catch is ChangeFailure {
      // A collection was deleted by an earlier change, or a folder was moved into itself.
    }
  }

  /// Some random changes of assets 1 to 12.
  func randomChanges(using random: inout SeededGenerator) throws -> [LibraryChange] {
    let collections = try read { try $0.userCollections() }
    let albums = collections.filter { $0.kind == .album }.map(\.id)
    let folders = collections.filter { $0.kind == .folder }.map(\.id)
    let members = try storedUserData().members
    func some(_ random: inout SeededGenerator) -> [AssetID] {
      Array((1...12).map(AssetID.init(rawValue:)).shuffled(using: &random).prefix(.random(in: 1...5, using: &random)))
    }
    var changes: [LibraryChange] = []
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let parent = Bool.random(using: &random) ? folders.randomElement(using: &random) : nil
      switch Int.random(in: 0..<11, using: &random) {
      case 0: changes.append(.createFolder(title: "F\(Int.random(in: 0..<9, using: &random))", parent: parent))
      case 1:
        changes.append(
          .createAlbum(title: "A %\(Int.random(in: 0..<9, using: &random))", assets: some(&random), parent: parent))
      case 2...4:
        guard let album = albums.randomElement(using: &random) else { continue }
        var edit = AlbumEdit()
        if Bool.random(using: &random) { edit.title = "B=\(Int.random(in: 0..<9, using: &random))" }
        if Bool.random(using: &random) { edit.placed = some(&random) } else { edit.removed = some(&random) }
        let held = members[album]?.filter { !edit.removed.contains($0) } ?? []
        if Bool.random(using: &random) { edit.before = held.randomElement(using: &random) }
        if Bool.random(using: &random) { edit.keyAsset = (held + edit.placed).randomElement(using: &random) }
        changes.append(.editAlbum(album, edit))
      case 5:
        guard let id = collections.randomElement(using: &random)?.id else { continue }
        var edit = CollectionEdit()
        let next = collections.filter { $0.parentID == parent && $0.id != id }.randomElement(using: &random)
        edit.place = CollectionPlacement(
          parent: parent.map { .folder($0) } ?? .top,
          position: Bool.random(using: &random) ? next.map { .before($0.id) } ?? .end : .end)
        changes.append(.editCollection(id, edit))
      case 6:
        guard let id = collections.randomElement(using: &random)?.id, Bool.random(using: &random) else { continue }
        changes.append(.deleteCollection(id))
      case 7...8:
        let query = SmartAlbumQuery(
          predicate: "title == 'a % b'", text: Bool.random(using: &random) ? "sea \"in a row\"" : nil,
          sortDescriptors: Bool.random(using: &random)
            ? [.init(key: "rating", ascending: false), .init(key: "id", ascending: true)] : [],
          fetchLimit: Bool.random(using: &random) ? 12 : nil)
        let smart = collections.filter { if case .smartAlbum = $0.kind { true } else { false } }
        if let album = smart.randomElement(using: &random), Bool.random(using: &random) {
          changes.append(.editSmartAlbum(album.id, query))
        } else {
          changes.append(.createSmartAlbum(title: "S", query, parent: parent))
        }
      default:
        var edit = AssetEdit(isFavorite: .random(using: &random))
        if Bool.random(using: &random) { edit.title = ["", "Rome", "Zürich %"].randomElement(using: &random) }
        if Bool.random(using: &random) { edit.caption = ["", "At dusk\n100 %"].randomElement(using: &random) }
        if Bool.random(using: &random) { edit.isHidden = .random(using: &random) }
        if Bool.random(using: &random) { edit.rating = .random(in: 0...5, using: &random) }
        // The files have two of these keywords.
        if Bool.random(using: &random) { edit.addedKeywords = ["k\(Int.random(in: 0..<4, using: &random))"] }
        if Bool.random(using: &random) { edit.removedKeywords = ["k\(Int.random(in: 0..<4, using: &random))"] }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: edit.location = .remove
        case 1:
          edit.location = .set(
            Location(
              latitude: .random(in: -90...90, using: &random), longitude: 12.5,
              altitude: Bool.random(using: &random) ? -1.25 : nil))
        default: break
        }
        switch Int.random(in: 0..<4, using: &random) {
        case 0: edit.creationDate = .shift(seconds: 1)
        case 1:
          edit.creationDate = .set(
            PhotoDate(
              microseconds: .random(in: 0...1_700_000_000_000_000, using: &random),
              offsetMinutes: Bool.random(using: &random) ? -90 : nil))
        default: break
        }
        for field in ClearableField.allCases where Int.random(in: 0..<6, using: &random) == 0 {
          edit.cleared.insert(field)
        }
        changes.append(.editAssets(some(&random), edit))
      }
    }
    return changes
  }
}
