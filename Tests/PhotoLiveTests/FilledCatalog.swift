import Foundation
import PhotoModel
import PhotoTestSupport
import Synchronization
import Testing

@testable import PhotoCatalog
@testable import PhotoLive

/// A catalog of photos without dates. It publishes the commits that a test makes as a library would.
final class FilledCatalog: Sendable {
  let feed = ChangeFeed(sequence: 0)
  let recent: RecentCommits
  let directoryID: DirectoryID
  private let names = Mutex(0)
  var catalog: Catalog { environment.catalog }
  private let environment: TestCatalog

  /// Creates a catalog with the one root `/p`, which contains the photos.
  init(count: Int) throws {
    environment = try TestCatalog("lists")
    recent = RecentCommits(catalog: environment.catalog)
    directoryID = try environment.catalog.addRoot("/p")
    try insert(count)
  }

  func lists(_ limits: LiveLists.Limits = LiveLists.Limits()) -> LiveLists {
    LiveLists(catalog: catalog, feed: feed, recent: recent, limits: limits)
  }

  func plan(_ options: FetchOptions) throws -> FetchPlan { try catalog.read { try $0.plan(options) } }

  /// Commits as the library does: the effects are recorded and announced after the commit.
  @discardableResult
  func commit(_ body: (CatalogWriter) throws -> Void) throws -> Int64 {
    let (sequence, effects) = try catalog.write { writer in
      try body(writer)
      let sequence = try writer.append(origin: "client:test", date: .init(microseconds: 1))
      return (sequence, try recent.wants(writer.record) ? writer.effects(origin: "client:test") : nil)
    }
    recent.append(effects, sequence: sequence)
    feed.publish(sequence)
    return sequence
  }

  func insert(_ count: Int = 1, _ mediaType: MediaType = .image) throws {
    try commit { writer in
      for _ in 0..<count {
        names.withLock { $0 += 1 }
        let row = FileRow(
          assetID: 0, directoryID: directoryID, name: Array("\(names.withLock { $0 })".utf8), byteCount: 1,
          modificationTime: 1, changeTime: 1, inode: 1, birthTime: 1, readTime: 1)
        let content = AssetContent(mediaType: mediaType, mediaSubtypes: [], contentType: "image/jpeg")
        try writer.insertAsset(content, file: row, addedDate: .init(microseconds: 1))
      }
    }
  }

  /// - Parameter date: microseconds since 1970.
  func date(_ id: AssetID, _ date: Int64) throws {
    try commit { writer in
      guard let row = try writer.file(ofAsset: id) else { return }
      let content = AssetContent(
        mediaType: .image, mediaSubtypes: [], contentType: "image/jpeg", creationDate: PhotoDate(microseconds: date))
      try writer.updateContent(content, file: row, hasNewBytes: true)
    }
  }

  /// - Returns: the id of the album.
  func addAlbum(_ title: String, of ids: [AssetID]) throws -> CollectionID {
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

  @discardableResult
  func favor(_ id: AssetID) throws -> Int64 {
    try commit { writer in
      try writer.setUserData(of: id, isFavorite: true, isHidden: nil)
    }
  }
}
