import Foundation
import GRDB
import PhotoModel
import PhotoTestSupport
import Synchronization

@testable import PhotoCatalog

/// A catalog with its journal in a folder of its own. Tests copy, damage and remove its files.
final class UserDataFixture: Sendable {
  private let temporary: TemporaryFolder
  var folder: String { temporary.path }
  var path: String { folder + "/catalog.sqlite" }
  var journal: String { folder + "/catalog.userdata" }

  init() throws { temporary = try TemporaryFolder("userdata") }

  func open(
    bootID: String = "boot", isSuspect: Bool = false,
    hook: @escaping @Sendable (UserDataJournal.Step) throws -> Void = { _ in }
  ) throws -> Catalog {
    try Catalog(
      path: path, bootID: bootID, isSuspect: isSuspect, date: .init(microseconds: 1_763_720_100_000_000), hook: hook)
  }

  /// Copies the files in their current state, as a killed process leaves them.
  func copy(to other: UserDataFixture) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
      let target = other.folder + "/" + name
      if FileManager.default.fileExists(atPath: target) { try FileManager.default.removeItem(atPath: target) }
      try FileManager.default.copyItem(atPath: folder + "/" + name, toPath: target)
    }
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }

  func remove(_ suffixes: String...) throws {
    for suffix in suffixes where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.removeItem(atPath: path + suffix)
    }
  }

  func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(fileURLWithPath: path))) }
  func write(_ bytes: some Sequence<UInt8>, to path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
  }
}

extension Catalog {
  /// Adds photos `1.jpg`, `2.jpg`, … in `/p`. The inode of each photo is its number.
  @discardableResult
  func addPhotos(_ count: Int, from first: Int = 1, keywords: [String] = []) throws -> [AssetID] {
    try write { writer in
      let directory: DirectoryID
      if first == 1 {
        directory = try writer.insertDirectory(
          parentID: nil, rootID: try writer.insertRoot(path: Array("/p".utf8)), name: [],
          volumeID: try writer.volume(identity: "uuid:v"), inode: 1, birthTime: 1
        )
      } else {
        directory = 1
      }
      let ids = try (first..<first + count).map { number in
        let row = FileRow(
          assetID: 0, directoryID: directory, name: Array("\(number).jpg".utf8), byteCount: 10, modificationTime: 7,
          changeTime: 7, inode: UInt64(number), birthTime: 3, readTime: 9,
          marks: ContentMarks(fingerprint: UInt64(number)))
        let content = AssetContent(mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", keywords: keywords)
        let id = try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 5))
        return id
      }
      try writer.append(origin: "watcher", date: .init(microseconds: 1))
      return ids
    }
  }

  /// Sets user data as PerformChanges does.
  func set(_ ids: [AssetID], favorite: Bool? = nil, hidden: Bool? = nil) throws {
    try write(durable: true) { writer in
      for id in ids { try writer.setUserData(of: id, isFavorite: favorite, isHidden: hidden) }
      if !writer.record.isEmpty { try writer.append(origin: "client:test", date: .init(microseconds: 1)) }
    }
  }

  /// The user data of assets and of tombstones, by id.
  func typed() throws -> [AssetID: String] {
    try read { reader in
      var typed: [AssetID: String] = [:]
      let select = try RawStatement(
        reader.database,
        """
        SELECT id, is_favorite, is_hidden, 0 FROM asset WHERE is_favorite OR is_hidden
        UNION ALL SELECT asset_id, is_favorite, is_hidden, 1 FROM tombstone
        """)
      try select.forEachRow {
        typed[select.assetID(0)] =
          (select.bool(1) ? "favorite " : "") + (select.bool(2) ? "hidden " : "") + (select.bool(3) ? "waits" : "")
      }
      return typed.mapValues { $0.trimmingCharacters(in: .whitespaces) }
    }
  }

  func messages() throws -> [String] {
    try read { reader in try String.fetchAll(reader.database, sql: "SELECT message FROM notice ORDER BY id") }
  }
}

/// Fails at a step that a test chooses.
final class Failing: Sendable {
  struct Hit: Error {}
  private let step = Mutex<UserDataJournal.Step?>(nil)
  private let rest = Mutex(Int.max)

  var at: UserDataJournal.Step? {
    get { step.withLock { $0 } }
    set { step.withLock { $0 = newValue } }
  }

  /// Fails only this many times.
  func fail(at step: UserDataJournal.Step, times: Int) {
    at = step
    rest.withLock { $0 = times }
  }

  /// Whether it has failed as often as requested.
  var hasFailed: Bool { rest.withLock { $0 } <= 0 }

  @Sendable func hook(_ step: UserDataJournal.Step) throws {
    guard step == at else { return }
    let isLeft = rest.withLock { rest in
      defer { rest -= 1 }
      return rest > 0
    }
    if isLeft { throw Hit() }
  }
}

extension UserDataContents {
  /// The lines of a batch.
  static func lines(of records: [UserDataRecord], number: Int64) -> [UInt8] {
    var lines = RecordLine()
    for (index, record) in records.enumerated() {
      append(record, number: number, left: records.count - 1 - index, to: &lines)
    }
    return lines.bytes
  }
}
