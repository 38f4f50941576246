import ChangeDetails
import PhotoContract
import PhotoModel
import PhotoTestSupport
import Testing

import class Foundation.ProcessInfo

@testable import PhotoCatalog
@testable import PhotoIndexer
@testable import PhotoLive
@testable import PhotoServer

/// Whatever is committed, and whenever an observer looks: its list, made from the observations, is the library's list.
@Suite struct ReplicaTests {
  /// PHOTOD_REPLICA_SEEDS sets the number of libraries, which is three by default.
  private static let seeds: ClosedRange<UInt64> =
    1...(ProcessInfo.processInfo.environment["PHOTOD_REPLICA_SEEDS"].flatMap(UInt64.init) ?? 3)

  private struct Replica {
    var observation: ListObservation
    let plan: FetchPlan
    var ids: [AssetID] = []
    var token = ""
    var changedFields: Set<String> = []

    mutating func take(_ sent: Observation) throws {
      if let page = sent.ids {
        ids = sent.offset == 0 ? page : ids + page
        if sent.complete != true { return }
      } else {
        #expect(sent.previousToken == token)
        let details = try #require(sent.details)
        ids = try details.applied(to: ids)
        changedFields.formUnion(details.changedFields)
      }
      token = sent.token
      #expect(sent.count == ids.count && sent.digest == ListDigest(of: ids).description)
    }

    mutating func begin() async throws {
      var all: [Observation] = []
      try await observation.begin { sent, _ in all.append(sent) }
      for sent in all { try take(sent) }
    }

    mutating func advance() async throws {
      var all: [Observation] = []
      try await observation.advance { sent, _ in all.append(sent) }
      for sent in all { try take(sent) }
    }
  }

  private static let fetches = [
    FetchOptions(), FetchOptions(fetchLimit: 10), FetchOptions(collection: "smart:favorites"),
    FetchOptions(collection: "smart:videos", includeHidden: true), FetchOptions(collection: "album:Album"),
    FetchOptions(collection: "album:Album", sortDescriptors: [SortDescriptor(key: "filename", ascending: false)]),
    FetchOptions(collection: "folder:/p"), FetchOptions(fetchLimit: 30, excludeUnavailable: true),
    FetchOptions(predicate: "path CONTAINS 'b' OR isFavorite == true"),
    FetchOptions(sortDescriptors: [SortDescriptor(key: "isFavorite", ascending: true)]),
  ]

  @Test(arguments: seeds)
  func replicaEqualsTheListAfterEveryLook(seed: UInt64) async throws {
    var random = SeededGenerator(seed: seed)
    let fixture = try ServerFixture()
    var live = try fixture.insert(150)
    let album = try fixture.addAlbum("Album", of: Array(live.prefix(40)))
    let below = try fixture.catalog.write {
      try $0.insertDirectory(
        parentID: fixture.directoryID, rootID: nil, name: Array("sub".utf8), volumeID: 1, inode: 2, birthTime: 1
      )
    }
    var replicas: [Replica] = []
    for options in Self.fetches + Self.fetches {
      let plan = try fixture.catalog.read { try $0.plan(options) }
      replicas.append(
        Replica(observation: try fixture.observation(ObserveRequest(options: options)), plan: plan))
    }
    for index in replicas.indices { try await replicas[index].begin() }

    var isAvailable = true
    for _ in 0..<150 {
      try fixture.commit(isKnown: Int.random(in: 0..<6, using: &random) > 0) { writer in
        guard let id = live.randomElement(using: &random), let row = try writer.file(ofAsset: id) else { return }
        switch Int.random(in: 0..<12, using: &random) {
        case 0...1: try fixture.insert(writer, .random(using: &random) ? .video : .image, &live)
        case 2:
          try writer.deleteAsset(id)
          live.removeAll { $0 == id }
        case 3...4: try writer.setUserData(of: id, isFavorite: .random(using: &random), isHidden: nil)
        case 5: try writer.setUserData(of: id, isFavorite: nil, isHidden: .random(using: &random))
        case 6:
          let name = Array(
            "\(["a", "b", "c"].randomElement(using: &random) ?? "")\(UInt64.random(in: 0 ... .max, using: &random))"
              .utf8)
          try writer.moveFile(
            row, to: .random(using: &random) ? below : fixture.directoryID, name: name, changesAvailability: false)
        case 7...8: try fixture.edit(writer, album, id, .random(in: 0...40, using: &random))
        case 9: writer.record.update(collection: album)
        case 10:
          writer.record.renamedDirectories = [
            .init(directoryID: below, fromPath: Array("/p/sub".utf8), toPath: Array("/p/b".utf8))
          ]
          try fixture.rename(writer, below, .random(using: &random) ? "sub" : "b")
        default:
          isAvailable.toggle()
          try writer.setRootAvailable(1, isAvailable)
        }
      }
      for index in replicas.indices where Int.random(in: 0..<4, using: &random) == 0 {
        try await replicas[index].advance()
        let plan = replicas[index].plan
        #expect(try replicas[index].ids == fixture.catalog.read { try $0.ids(plan) }, "\(plan.key)")
      }
    }
    for index in replicas.indices { try await replicas[index].advance() }
    let fields = replicas.reduce(into: Set<String>()) { $0.formUnion($1.changedFields) }
    #expect(fields.isSuperset(of: ["favorite", "path", "availability"]))
    #expect(fixture.live.lists.countsSinceStart.passes > 100)
    for (one, other) in zip(replicas, replicas.dropFirst(Self.fetches.count)) {
      #expect(one.ids == other.ids && one.plan == other.plan)
    }
  }
}

extension ServerFixture {
  fileprivate func insert(
    _ writer: CatalogWriter, _ mediaType: MediaType, _ ids: inout [AssetID]
  ) throws {
    let row = FileRow(
      assetID: 0, directoryID: directoryID, name: Array("new\(ids.count)-\(ids.last ?? 0)".utf8), byteCount: 1,
      modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
    let content = AssetContent(mediaType: mediaType, mediaSubtypes: [], contentType: "image/jpeg")
    ids.append(try writer.insertAsset(content, file: row, addedDate: WallTime(microseconds: Int64(ids.count % 7))))
  }

  /// Adds an asset to the album, moves it within the album, or removes it.
  fileprivate func edit(
    _ writer: CatalogWriter, _ album: CollectionID, _ id: AssetID, _ rank: Int
  ) throws {
    let edit = try RawStatement(
      writer.database,
      rank % 3 == 0
        ? "DELETE FROM album_asset WHERE collection_id = ?1 AND asset_id = ?2 AND ?3 >= 0"
        : "INSERT OR REPLACE INTO album_asset (collection_id, asset_id, rank) VALUES (?1, ?2, ?3)")
    edit.bind(1, album)
    edit.bind(2, id)
    edit.bind(3, Double(rank))
    try edit.run()
    writer.record.edit(album: album, placing: [id])
  }

  fileprivate func rename(_ writer: CatalogWriter, _ directory: DirectoryID, _ name: String) throws {
    let update = try RawStatement(writer.database, "UPDATE directory SET name = ? WHERE id = ?")
    update.bind(1, name)
    update.bind(2, directory)
    try update.run()
  }

  /// - Returns: the id of the album.
  fileprivate func addAlbum(_ title: String, of ids: [AssetID]) throws -> CollectionID {
    try catalog.write { writer in
      let insert = try RawStatement(writer.database, "INSERT INTO collection (kind, title) VALUES (1, ?) RETURNING id")
      insert.bind(1, title)
      let album = try insert.firstRow { insert.collectionID(0) } ?? 0
      let member = try RawStatement(
        writer.database, "INSERT INTO album_asset (collection_id, asset_id, rank) VALUES (?, ?, ?)")
      for (rank, id) in ids.enumerated() {
        member.bind(1, album)
        member.bind(2, id)
        member.bind(3, Double(rank))
        try member.run()
      }
      return album
    }
  }
}
