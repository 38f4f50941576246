import GRDB
import GRDBSQLite
import PhotoModel
import Synchronization
import Testing

@testable import PhotoCatalog

/// The comparison of contents costs as much as the change, and not as much as the library.
@Suite struct DuplicateWorkTests {
  /// A change of one asset among n others with known hashes.
  enum Way: CaseIterable {
    /// The others have other contents.
    case hashed, edited, favorite
    /// The others are copies of it, or become copies of it.
    case editedAmongCopies, deletedAmongCopies, hashedAmongCopies
  }

  private final class Steps: Sendable { let count = Atomic(0) }

  @Test(arguments: Way.allCases) func changeOfOneFileDoesNotCompareTheOthers(way: Way) throws {
    let (one, two) = (try work(of: way, 500), try work(of: way, 1_000))
    #expect(Double(two) < 1.3 * Double(one), "\(way): \(one) and \(two)")
  }

  /// - Returns: the steps of SQLite for the change, in tens.
  private func work(of way: Way, _ count: Int) throws -> Int {
    let fixture = try UserDataFixture()
    let catalog = try fixture.open()
    try catalog.addPhotos(count + 1)
    let areCopies = [.editedAmongCopies, .deletedAmongCopies, .hashedAmongCopies].contains(way)
    func marks(_ number: Int) -> ContentMarks {
      ContentMarks(
        fingerprint: areCopies ? 1 : UInt64(number), sample: ContentDigest(high: 1, low: 1),
        hash: ContentDigest(high: 2, low: areCopies ? 1 : UInt64(number)))
    }
    let last = AssetID(rawValue: Int64(count + 1))
    try catalog.write { writer in
      while try writer.wantProofsOfNewFiles(limit: 10_000) {}
      for number in 1...count + 1 {
        let id = AssetID(rawValue: Int64(number))
        var row = try #require(try writer.file(ofAsset: id))
        row.marks = marks(number)
        if id == last, way == .hashed || way == .hashedAmongCopies { row.marks.hash = nil }
        try writer.updateStat(row)
        try writer.wantHash(of: id)
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
    }
    let steps = Steps()
    try catalog.write { writer in
      var row = try #require(try writer.file(ofAsset: last))
      sqlite3_progress_handler(
        try writer.database.sqliteConnection, 10,
        { steps in
          Unmanaged<Steps>.fromOpaque(steps!).takeUnretainedValue().count.add(1, ordering: .relaxed)
          return 0
        }, Unmanaged.passUnretained(steps).toOpaque())
      switch way {
      case .hashed, .hashedAmongCopies:
        row.marks = marks(count + 1)
        try writer.keepMarks(of: row)
      case .edited, .editedAmongCopies:
        row.marks.hash = ContentDigest(high: 3, low: 3)
        try writer.updateStat(row)
      case .favorite: try writer.setUserData(AssetUserData(isFavorite: true), of: last)
      case .deletedAmongCopies: try writer.deleteAsset(last)
      }
      try writer.compareContents()
      sqlite3_progress_handler(try writer.database.sqliteConnection, 0, nil, nil)
      let changed = writer.record.updatedAssets.filter { $0.value.contains(.duplicates) }.count
      #expect(changed == (way == .hashedAmongCopies || way == .editedAmongCopies ? 1 : 0), "\(way)")
    }
    try catalog.close()
    return steps.count.load(ordering: .relaxed)
  }
}
