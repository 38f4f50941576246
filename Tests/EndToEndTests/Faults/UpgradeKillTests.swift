import Foundation
import GRDB
import Glibc
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

@testable import PhotoCatalog

/// photod is killed while it upgrades the catalog of an older photod.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct UpgradeKillTests {
  /// The state on disk when the signal is sent.
  private enum Moment: CustomStringConvertible {
    /// photod is writing the copy with which an upgrade begins.
    case copying
    /// The copy is complete.
    case copied
    /// The log of changes has this part of its final size.
    case upgrading(Double)

    var description: String {
      switch self {
      case .copying: "while it copies"
      case .copied: "after the copy"
      case .upgrading(let share): "with \(share) of the log"
      }
    }
  }

  /// The largest size of the log of changes while an upgrade runs.
  private final class LogSize: Sendable {
    let isMeasuring = Atomic(true)
    private let path: String

    init(path: String) { self.path = path }

    nonisolated func measure() async -> Int {
      var bytes = 0
      while isMeasuring.load(ordering: .relaxed) {
        bytes = max(bytes, UpgradeKillTests.byteCount(path))
        await Task.yield()
      }
      return bytes
    }
  }

  private static let oldStep = "v006-seen"
  private static let count = effort("PHOTOD_UPGRADE", 30_000)

  /// A library of photos on a missing drive, so that only the upgrade changes it.
  private func makeOld(_ path: String, root: String) throws {
    let old = try Catalog(path: path, lastStep: Self.oldStep)
    try old.pool.writeWithoutTransaction { database in
      try database.execute(
        sql: """
          BEGIN;
          INSERT INTO volume (identity) VALUES ('uuid:v');
          INSERT INTO root (path) VALUES ('\(root)');
          INSERT INTO directory (root_id, name, volume_id, inode, birth_time) VALUES (1, '', 1, 1, 1);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(Self.count))
          INSERT INTO asset (media_type, media_subtypes, sort_date, modification_date, added_date, camera_make, camera_model,
            is_favorite, is_hidden, is_trashed, directory_id, name, name_key, byte_count, content_type)
          SELECT 1, 0, 1600000000000000 + i * 1000000, 1, 1, 'Canon', 'EOS ' || (i % 7), i % 100 = 0, 0, 0, 1,
            'IMG_' || i || '.jpg', 'img_' || i || '.jpg', 3000000, 'image/jpeg' FROM n;
          INSERT INTO resource (directory_id, name, asset_id, position, kind, content_type, byte_count, modification_time,
            change_time, inode, birth_time, read_time)
          SELECT 1, name, id, 0, 0, content_type, byte_count, 7, 7, id + 1000, 3, 9 FROM asset;
          INSERT INTO collection (kind, title) VALUES (1, 'Summer');
          INSERT INTO album_asset (collection_id, asset_id, rank)
          SELECT (SELECT max(id) FROM collection), id, id FROM asset WHERE id % 10 = 0;
          INSERT INTO history (date, origin) VALUES (1, 'watcher');
          COMMIT
          """)
    }
    try old.close()
  }

  private static func byteCount(_ path: String) -> Int {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : 0
  }

  private func copies(_ fixture: DaemonFixture) throws -> [String] {
    let folder = CatalogFiles(catalog: fixture.catalog).backups
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    return try FileManager.default.contentsOfDirectory(atPath: folder)
  }

  /// Gives photod the old catalog in a new folder, and a state directory without any record of it.
  private func begin(_ name: String, with old: String, _ fixture: DaemonFixture) throws {
    let folder = fixture.directory + "/" + name
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    fixture.catalogFolder = folder
    fixture.environment["XDG_STATE_HOME"] = folder + "/state"
    try FileManager.default.copyItem(atPath: old, toPath: fixture.catalog)
  }

  /// Waits until the library is open. The stand-in for a library that is being opened closes its connections at the end.
  private func live(_ fixture: DaemonFixture) async throws -> LibraryStatus {
    var status: LibraryStatus?
    func mayBeOpenLater(_ error: any Error) -> Bool { fixture.process?.isRunning == true }
    try await eventually("the library is open", within: .seconds(300), isNotYet: mayBeOpenLater) {
      status = try await fixture.status { $0.state == .live }
      return true
    }
    return try #require(status)
  }

  private func memberCount(_ catalog: Catalog) throws -> Int? {
    try catalog.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM album_asset") }
  }

  private func expectWhole(_ fixture: DaemonFixture, _ comment: Comment) async throws {
    let status = try await live(fixture)
    #expect(status.assetCount == Self.count, comment)
    let favorites = try await fixture.assets(FetchOptions(collection: "smart:favorites")).map(\.id)
    #expect(Set(favorites) == Set(stride(from: AssetID(100), through: AssetID(Self.count), by: 100)), comment)
    fixture.kill(SIGTERM)
    let catalog = try Catalog(path: fixture.catalog)
    #expect(try !catalog.check(deep: true).findings.contains { $0.what.hasPrefix("SQLite finds") }, comment)
    #expect(try memberCount(catalog) == Self.count / 10, comment)
    try catalog.close()
    let kept = try copies(fixture).filter { $0.contains("-before-") }
    #expect(kept.count == 1 && kept[0].hasSuffix("-before-v007-text.sqlite"), comment)
  }

  @Test func daemonKilledDuringAnUpgradeContinuesIt() async throws {
    try await DaemonFixture.with { fixture in
      let (old, root) = (fixture.directory + "/old.sqlite", fixture.directory + "/away")
      try makeOld(old, root: root)
      try begin("whole", with: old, fixture)
      try fixture.spawn(roots: [root])
      let log = LogSize(path: fixture.catalog + "-wal")
      async let largest = log.measure()
      _ = try await live(fixture)
      log.isMeasuring.store(false, ordering: .relaxed)
      let logBytes = await largest
      try await expectWhole(fixture, "nobody killed it")

      let moments = [.copying, .copied] + [0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95].map { Moment.upgrading($0) }
      var inBetween = 0
      for (number, moment) in moments.enumerated() {
        try begin("killed-\(number)", with: old, fixture)
        try fixture.spawn(roots: [root])
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
          let names = try copies(fixture)
          let isReached =
            switch moment {
            case .copying: !names.isEmpty
            case .copied: names.contains { $0.contains("-before-") && $0.hasSuffix(".sqlite") }
            case .upgrading(let share): Double(Self.byteCount(fixture.catalog + "-wal")) >= share * Double(logBytes)
            }
          if isReached { break }
          try #require(fixture.process?.isRunning == true, "photod ended before it was killed \(moment)")
          try #require(ContinuousClock.now < deadline, "the moment did not come: \(moment)")
          // This blocks the thread, because a sleeping task may continue too late to kill photod between two steps.
          usleep(200)
        }
        fixture.kill(SIGKILL)
        let before = try fixture.logText().components(separatedBy: "upgrading the catalog").count
        try fixture.spawn(roots: [root])
        try await expectWhole(fixture, "killed \(moment)")
        if try fixture.logText().components(separatedBy: "upgrading the catalog").count > before { inBetween += 1 }
      }
      print("photod was killed \(moments.count) times, and \(inBetween) times there were steps left")
      // Otherwise, the kills come too late to prove anything.
      #expect(inBetween >= moments.count / 2)
    }
  }
}
