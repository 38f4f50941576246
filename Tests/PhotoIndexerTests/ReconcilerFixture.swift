import Foundation
import PhotoModel
import PhotoTestSupport
import Testing
import WatchRecords

@testable import PhotoCatalog
@testable import PhotoIndexer

/// A reconciler over a real catalog and files in memory, with root 1 at /p as directory 1.
final class ReconcilerFixture {
  private let environment: TestCatalog
  var folder: String { environment.folder }
  private(set) var catalog: Catalog
  let disk: MemoryDisk
  private let files: any PhotoFiles
  var reconciler: Reconciler
  /// Whether callers wait for the syncs that records answer. The library asks for others itself.
  var hasSyncCallers = true
  private let grace: Duration

  /// - Parameter files: the files that photod reads; nil for those of `disk`.
  init(grace: Duration = .zero, disk: MemoryDisk = MemoryDisk(), files: (any PhotoFiles)? = nil) throws {
    self.disk = disk
    self.files = files ?? disk
    environment = try TestCatalog("reconciler")
    catalog = environment.catalog
    self.grace = grace
    reconciler = try Reconciler(
      catalog: catalog, files: self.files, knownInodes: KnownInodes(catalog: catalog),
      policy: RemovalPolicy(grace: grace))
    let rootID = try catalog.write { try $0.insertRoot(path: Array("/p".utf8)) }
    reconciler.tree.addRoot(rootID, path: Array("/p".utf8))
    reconciler.roots.add(rootID, number: 1)
  }

  /// Starts photod again from its catalog.
  func restart() throws {
    reconciler = try Reconciler(
      catalog: catalog, files: self.files, knownInodes: KnownInodes(catalog: catalog),
      policy: RemovalPolicy(grace: grace))
    for (id, path) in reconciler.tree.rootPaths {
      reconciler.roots.setNumber(path == Self.bytes("/q") ? 2 : 1, of: id)
    }
  }

  /// Makes the catalog look as if an older photod had written it. Reverts the last steps of the schema, from this one
  /// on, and lets the current photod begin with it.
  func upgrade(from step: OldStep) throws {
    try catalog.write { writer in
      for sql in step.undoing { try RawStatement(writer.database, uncached: sql).run() }
    }
    try reopen()
    try catalog.write { writer in
      for sql in step.redoing { try RawStatement(writer.database, uncached: sql).run() }
    }
    try restart()
  }

  /// Closes the catalog and opens it again, which runs the missing steps of the schema.
  func reopen() throws {
    try catalog.close()
    catalog = try environment.open()
    try restart()
  }

  /// Deletes the catalog, and keeps the journal of the user's data, from which the next photod makes a new catalog.
  func loseCatalog() throws {
    try catalog.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: folder)
    where ["catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm"].contains(name) {
      try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
    catalog = try environment.open()
    _ = try catalog.write { try $0.insertRoot(path: Array("/p".utf8)) }
    try restart()
  }

  /// A step of the schema that an older photod did not have.
  enum OldStep {
    case keywords, identity

    /// Adds columns and indexes of later steps that are not reverted, but whose tables or columns are created anew.
    fileprivate var redoing: [String] {
      ["creation_date", "creation_offset", "creation_source"].map {
        "ALTER TABLE tombstone ADD COLUMN \($0) INTEGER"
      } + [
        "CREATE INDEX resource_hashed ON resource (fingerprint, byte_count, hash, sample) "
          + "WHERE hash IS NOT NULL AND proof_state IN (2, -2)",
        "ALTER TABLE tombstone_album ADD COLUMN placed INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE tombstone ADD COLUMN content_version INTEGER NOT NULL DEFAULT 0",
      ]
    }

    fileprivate var undoing: [String] {
      let identity = [
        "DROP TRIGGER resource_shares_fingerprint", "DROP INDEX resource_content", "DROP INDEX resource_unsampled",
        "DROP INDEX resource_unhashed", "DROP INDEX resource_hashed",
        "ALTER TABLE resource DROP COLUMN sample",
        "ALTER TABLE resource DROP COLUMN hash", "ALTER TABLE resource DROP COLUMN proof_state",
        // An old photod had no versions of its readers.
        "UPDATE resource SET reader_version = 0",
        "ALTER TABLE library DROP COLUMN proof_through", "ALTER TABLE history DROP COLUMN age",
        "DROP TABLE tombstone", "DROP TABLE tombstone_album", "ALTER TABLE resource DROP COLUMN fingerprint",
        "DELETE FROM grdb_migrations WHERE identifier IN ('v003-identity', 'v006-seen', 'v008-identity')",
      ]
      switch self {
      case .identity: return identity
      case .keywords:
        return identity + [
          "DROP TABLE asset_keyword", "DROP TABLE keyword",
          "DELETE FROM grdb_migrations WHERE identifier = 'v002-keywords'",
        ]
      }
    }
  }

  /// Applies one batch as the library does.
  @discardableResult
  func apply(_ records: WatchRecord...) throws -> CommitRecord { try apply(all: records) }

  /// - Parameter contents: the files that were read ahead, by the index of their record.
  @discardableResult
  func apply(all records: [WatchRecord], contents: [Int: ContentReading] = [:]) throws -> CommitRecord {
    reconciler.syncs.awaited = hasSyncCallers ? Set(AskedSyncs.answered(by: records)) : []
    return try catalog.write { writer in
      let batch = try reconciler.apply(
        records, contents: contents, with: writer, time: disk.wallTime, uptime: disk.bootTime)
      if !batch.record.isEmpty {
        try writer.append(origin: batch.origin, date: disk.wallTime)
      }
      return batch.record
    }
  }

  /// Reads the files whose retry is due.
  func readAgain() throws {
    try catalog.write { writer in
      var batch = Batch(writer: writer, time: disk.wallTime, uptime: disk.bootTime)
      try reconciler.readAgainWhatIsDue(in: &batch)
      if !batch.record.isEmpty { try writer.append(origin: batch.origin, date: disk.wallTime) }
    }
  }

  /// Lets days pass with one commit a day, as the library's age counts them.
  func age(days: Int) throws {
    for day in 0..<days {
      disk.pass(86_400)
      try catalog.write { writer in
        writer.record.update(collection: day % 2 == 0 ? 1 : 2)
        try writer.append(origin: "test", date: disk.wallTime)
      }
    }
  }

  /// The library's photos: the id for each path.
  func paths() throws -> [String: AssetID] {
    try catalog.read { reader in
      let assets = try reader.assets(try reader.ids(try reader.plan(FetchOptions()))).assets
      return Dictionary(uniqueKeysWithValues: assets.map { ($0.resources[0].path, $0.id) })
    }
  }

  func revision(_ id: AssetID) throws -> String {
    try catalog.read { try #require(try $0.assets([id]).assets.first).revision }
  }

  func asset(_ path: String) throws -> Asset {
    let id = try #require(try paths()[path])
    return try catalog.read { try #require(try $0.assets([id]).assets.first) }
  }

  /// Makes an asset a favorite with a title, and puts it into an album of its own.
  ///
  /// - Returns: the album.
  @discardableResult
  func give(_ id: AssetID) throws -> CollectionID {
    try catalog.write { writer in
      var edit = AssetEdit(isFavorite: true)
      edit.title = "title of \(id)"
      return try writer.perform([
        .editAssets([id], edit), .createAlbum(title: "album of \(id)", assets: [id], parent: nil),
      ])[0]
    }
  }

  func members(of album: CollectionID) throws -> [AssetID] {
    try catalog.read { try $0.ids($0.plan(FetchOptions(collection: "id:\(album)", includeHidden: true))) }
  }

  /// Root 2 at /q, on another disk, as directory 60.
  func addSecondRoot() throws {
    let id = try catalog.write { try $0.insertRoot(path: Self.bytes("/q")) }
    reconciler.tree.addRoot(id, path: Self.bytes("/q"))
    reconciler.roots.add(id, number: 2)
    try apply(
      .directoryFound(
        number: 60, parent: 0, root: 2, name: Self.bytes("/q"),
        identity: FileIdentity(device: 2, inode: 1, birthTime: 1)))
  }

  // MARK: Records

  static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

  /// The root's own directory is number 1 with inode 1.
  static let top = WatchRecord.directoryFound(
    number: 1, parent: 0, root: 1, name: bytes("/p"), identity: FileIdentity(device: 1, inode: 1, birthTime: 1))

  static func found(_ number: DirectoryNumber, _ name: String, in parent: DirectoryNumber = 1, inode: UInt64)
    -> WatchRecord
  {
    .directoryFound(
      number: number, parent: parent, root: 1, name: bytes(name),
      identity: FileIdentity(device: 1, inode: inode, birthTime: Int64(inode)))
  }

  static func file(_ name: String, in directory: DirectoryNumber = 1, _ stat: FileStat) -> WatchRecord {
    .fileFound(directory: directory, name: bytes(name), stat: stat)
  }

  static func gone(_ name: String, in directory: DirectoryNumber = 1) -> WatchRecord {
    .fileGone(directory: directory, name: bytes(name))
  }

  static func moved(
    _ from: String, in fromDirectory: DirectoryNumber = 1, to: String, in toDirectory: DirectoryNumber = 1,
    _ stat: FileStat?
  ) -> WatchRecord {
    .fileMoved(from: fromDirectory, fromName: bytes(from), to: toDirectory, toName: bytes(to), stat: stat)
  }

  /// A scan of the root that finds just these files, all of them in the top.
  static func scan(_ files: [(String, FileStat)], request: UInt32 = 0) -> [WatchRecord] {
    [.scanStarted(root: 1, request: request, reason: .start), top, .listingStarted(number: 1, evidence: .scan)]
      + files.map { file($0.0, $0.1) }
      + [.listingEnded(number: 1, complete: true), .scanEnded(root: 1, request: request, complete: true)]
  }

  @discardableResult
  func scan(_ files: [(String, FileStat)], request: UInt32 = 0) throws -> CommitRecord {
    try apply(all: Self.scan(files, request: request))
  }
}
