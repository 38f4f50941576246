import GRDB
import PhotoModel

/// The ids of the collections that new assets are in: smart albums and folder albums.
///
/// A batch adds hundreds of assets to few folders. So each id is read once in a transaction.
struct NewAssetCollections {
  private struct SmartAlbums {
    var recents: CollectionID?
    var videos: CollectionID?
    var screenshots: CollectionID?
  }

  private var smartAlbums: SmartAlbums?
  private var folderAlbum: (directoryID: DirectoryID, id: CollectionID?)?

  /// Records the collections of an asset that is no favorite and in no album.
  ///
  /// - Parameter database: Used for collections only, so it need not have the asset yet.
  mutating func record(
    _ content: AssetContent, in directoryID: DirectoryID, to record: inout CommitRecord, from database: Database
  ) throws {
    let smartAlbums = try smartAlbums(database)
    if let id = smartAlbums.recents { record.update(collection: id) }
    if content.mediaType == .video, let id = smartAlbums.videos { record.update(collection: id) }
    if content.mediaSubtypes.contains(.screenshot), let id = smartAlbums.screenshots { record.update(collection: id) }
    if let id = try folderAlbum(of: directoryID, database) { record.update(collection: id) }
  }

  private mutating func smartAlbums(_ database: Database) throws -> SmartAlbums {
    if let smartAlbums { return smartAlbums }
    var albums = SmartAlbums()
    let select = try RawStatement(database, "SELECT subtype, id FROM collection WHERE subtype IS NOT NULL")
    try select.forEachRow {
      switch select.text(0) {
      case "recents": albums.recents = select.collectionID(1)
      case "videos": albums.videos = select.collectionID(1)
      case "screenshots": albums.screenshots = select.collectionID(1)
      default: break
      }
    }
    smartAlbums = albums
    return albums
  }

  /// The files of one folder come one after the other, so only the last folder is kept.
  private mutating func folderAlbum(of directoryID: DirectoryID, _ database: Database) throws -> CollectionID? {
    if let folderAlbum, folderAlbum.directoryID == directoryID { return folderAlbum.id }
    let select = try RawStatement(database, "SELECT id FROM collection WHERE directory_id = ?")
    select.bind(1, directoryID)
    let id = try select.firstRow { select.collectionID(0) }
    folderAlbum = (directoryID, id)
    return id
  }
}
