import PhotoModel
import PhotoTestSupport
import Testing

import class Foundation.ProcessInfo

@testable import PhotoCatalog

/// The record of a commit is the difference of the tables before and after it.
@Suite struct CommitRecordTests {
  /// PHOTOD_RECORD_SEEDS sets the number of libraries, which is six by default.
  private static let seeds: ClosedRange<UInt64> =
    1...(ProcessInfo.processInfo.environment["PHOTOD_RECORD_SEEDS"].flatMap(UInt64.init) ?? 6)

  /// After one change, the record has no entry that the tables lack, and none is missing.
  @Test(arguments: seeds) func recordOfOneChangeIsTheDifference(seed: UInt64) throws {
    var commits = try RandomCommits(seed: seed)
    let album = commits.library.random.albumID
    var before = try commits.catalog.read { try CatalogTables($0) }
    for _ in 0..<TestTier.count(200, quick: 60) {
      let record = try commits.commit(changes: 1)
      let after = try commits.catalog.read { try CatalogTables($0) }
      let difference = TableDifference(from: before, to: after)
      #expect(record.insertedAssets == difference.inserted && record.deletedAssets == difference.deleted)
      #expect(record.updatedAssets == difference.updated)
      #expect(record.insertedCollections == difference.insertedCollections)
      #expect(record.deletedCollections == difference.deletedCollections)
      // A commit may touch this album without a difference.
      #expect(
        record.updatedCollections.subtracting([album]) == difference.updatedCollections.subtracting([album]))
      #expect(record.updatedCollections.isSuperset(of: difference.updatedCollections))
      #expect(Set(record.renamedDirectories) == difference.renamed)
      #expect(Set(record.rootAvailability) == difference.availability)
      before = after
    }
  }

  /// After several changes, the record may have an entry for a change that another one reverted. None is missing.
  @Test(arguments: seeds) func recordOfSeveralChangesHasTheDifference(seed: UInt64) throws {
    var commits = try RandomCommits(seed: seed)
    commits.restoresAtOnce = true
    var before = try commits.catalog.read { try CatalogTables($0) }
    for _ in 0..<60 {
      let record = try commits.commit(changes: 8)
      let after = try commits.catalog.read { try CatalogTables($0) }
      let difference = TableDifference(from: before, to: after)
      #expect(record.insertedAssets == difference.inserted && record.deletedAssets == difference.deleted)
      for (id, fields) in difference.updated {
        #expect(record.updatedAssets[id]?.isSuperset(of: fields.subtracting(.availability)) == true, "\(id) \(fields)")
      }
      #expect(record.insertedCollections == difference.insertedCollections)
      #expect(record.deletedCollections == difference.deletedCollections)
      #expect(record.updatedCollections.isSuperset(of: difference.updatedCollections))
      #expect(
        Set(record.renamedDirectories.map(\.directoryID)).isSuperset(of: difference.renamed.map(\.directoryID)))
      #expect(Set(record.rootAvailability).isSuperset(of: difference.changedRoots))
      before = after
    }
  }
}

/// The parts of the catalog that clients see.
private struct CatalogTables {
  struct Item {
    let content: AssetContent
    let created: CreationDate
    let byteCount: Int64
    let flags: [Bool]
    let directoryID: DirectoryID
    let name: [UInt8]
    let isDuplicate: Bool
    let isAvailable: Bool
  }

  struct Folder: Hashable {
    let parentID: DirectoryID?
    let rootID: RootID?
    let name: [UInt8]
    let path: [UInt8]
    let isAvailable: Bool
    let isParked: Bool
    /// The root that it is in.
    let root: RootID
  }

  var assets: [AssetID: Item] = [:]
  var folders: [DirectoryID: Folder] = [:]
  var roots: [RootID: RootRow] = [:]
  /// The members of each collection.
  var members: [CollectionID: Set<AssetID>] = [:]
  /// The directory of each folder album.
  var folderAlbums: [CollectionID: DirectoryID] = [:]

  init(_ reader: CatalogReader) throws {
    for root in try reader.roots() { roots[root.id] = root }
    var paths = try DirectoryPaths(reader.database)
    let rows = Dictionary(uniqueKeysWithValues: try reader.directories().map { ($0.id, $0) })
    for row in rows.values {
      var top = row
      while let parent = top.parentID { top = try #require(rows[parent]) }
      folders[row.id] = Folder(
        parentID: row.parentID, rootID: row.rootID, name: row.pathName, path: try paths.place(row.id).path,
        isAvailable: row.isAvailable, isParked: row.isParked, root: try #require(top.rootID))
    }
    let select = try RawStatement(
      reader.database,
      "SELECT id, byte_count, is_favorite, is_hidden, is_trashed, directory_id, name, is_duplicate FROM asset")
    try select.forEachRow {
      let (id, directory) = (select.assetID(0), select.directoryID(5))
      assets[id] = Item(
        content: try #require(try reader.content(of: id)), created: try #require(try reader.creationDate(of: id)),
        byteCount: select.int64(1), flags: (2...4).map { select.bool(Int32($0)) }, directoryID: directory,
        name: select.bytes(6), isDuplicate: select.bool(7), isAvailable: try paths.place(directory).isAvailable)
    }
    try readCollections(reader)
  }

  private mutating func readCollections(_ reader: CatalogReader) throws {
    let select = try RawStatement(reader.database, "SELECT id, subtype, directory_id FROM collection")
    try select.forEachRow {
      let id = select.collectionID(0)
      let directory = select.optionalDirectoryID(2)
      folderAlbums[id] = directory
      let subtype = select.text(1)
      members[id] = Set(
        assets.filter { _, item in
          switch subtype {
          case "recents": true
          case "favorites": item.flags[0]
          case "videos": item.content.mediaType == .video
          case "screenshots": item.content.mediaSubtypes.contains(.screenshot)
          case "panoramas": item.content.mediaSubtypes.contains(.panorama)
          case "animated": item.content.mediaSubtypes.contains(.animated)
          case "raw": item.content.mediaSubtypes.contains(.raw)
          case "bursts": item.content.mediaSubtypes.contains(.burst)
          case "livePhotos": !item.content.mediaSubtypes.isDisjoint(with: [.livePhoto, .motionPhoto])
          case "depth": item.content.mediaSubtypes.contains(.depth)
          case "noLocation": item.content.location == nil
          case "hidden": item.flags[1]
          case "recentlyAdded": true
          case "duplicates": item.isDuplicate
          case "unreadable": item.content.failure != nil
          default: item.directoryID == directory
          }
        }.keys)
    }
    let albums = try RawStatement(reader.database, "SELECT collection_id, asset_id FROM album_asset")
    try albums.forEachRow { members[albums.collectionID(0), default: []].insert(albums.assetID(1)) }
  }
}

private struct TableDifference {
  var inserted: Set<AssetID> = []
  var deleted: Set<AssetID> = []
  var updated: [AssetID: ChangedFields] = [:]
  var insertedCollections: Set<CollectionID> = []
  var deletedCollections: Set<CollectionID> = []
  /// The collections whose members, or whose member's fields, differ, and the albums of renamed folders.
  var updatedCollections: Set<CollectionID> = []
  var renamed: Set<CommitRecord.Renamed> = []
  /// The renamed directories that are not parked.
  private var movedDirectories: Set<DirectoryID> = []
  var availability: Set<CommitRecord.Availability> = []
  /// The part of `availability` that is due to roots that went online or offline.
  var changedRoots: Set<CommitRecord.Availability> = []

  init(from before: CatalogTables, to after: CatalogTables) {
    inserted = Set(after.assets.keys).subtracting(before.assets.keys)
    deleted = Set(before.assets.keys).subtracting(after.assets.keys)
    for (id, item) in after.assets {
      guard let old = before.assets[id] else { continue }
      let fields = Self.fields(from: old, to: item)
      if !fields.isEmpty { updated[id] = fields }
    }
    for (id, folder) in after.folders {
      guard let old = before.folders[id] else { continue }
      if (old.parentID, old.rootID) != (folder.parentID, folder.rootID) || old.name != folder.name {
        renamed.insert(.init(directoryID: id, fromPath: old.path, toPath: folder.path))
        if !folder.isParked { movedDirectories.insert(id) }
        // Its photos may be available now.
        if !folder.isParked, let root = after.roots[folder.root],
          root.isAvailable != before.roots[old.root]?.isAvailable
        {
          availability.insert(.init(rootID: root.id, path: root.path, isAvailable: root.isAvailable))
        }
      }
      if old.isAvailable != folder.isAvailable {
        availability.insert(
          .init(rootID: folder.root, path: folder.path, isAvailable: folder.isAvailable, directoryID: id))
      }
    }
    for (id, root) in after.roots where before.roots[id]?.isAvailable != root.isAvailable {
      changedRoots.insert(.init(rootID: id, path: root.path, isAvailable: root.isAvailable))
    }
    availability.formUnion(changedRoots)
    insertedCollections = Set(after.members.keys).subtracting(before.members.keys)
    deletedCollections = Set(before.members.keys).subtracting(after.members.keys)
    let touched = inserted.union(deleted).union(updated.filter { $0.value != .duplicates }.keys)
    for (id, members) in after.members {
      guard let old = before.members[id] else { continue }
      if old != members || !touched.isDisjoint(with: members.union(old))
        || after.folderAlbums[id].map(movedDirectories.contains) == true
      {
        updatedCollections.insert(id)
      }
    }
  }

  private static func fields(from old: CatalogTables.Item, to new: CatalogTables.Item) -> ChangedFields {
    var fields = new.content.changedFields(since: old.content)
    if old.created != new.created { fields.insert(.metadata) }
    if old.byteCount != new.byteCount { fields.insert(.content) }
    for (flag, field) in zip(0..., [.favorite, .hidden, .trashed] as [ChangedFields])
    where old.flags[flag] != new.flags[flag] {
      fields.insert(field)
    }
    if old.isDuplicate != new.isDuplicate { fields.insert(.duplicates) }
    if old.directoryID != new.directoryID || old.name != new.name {
      fields.insert(.path)
      if old.isAvailable != new.isAvailable { fields.insert(.availability) }
    }
    return fields
  }
}
