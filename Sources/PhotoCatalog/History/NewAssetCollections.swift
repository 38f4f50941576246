import GRDB
import PhotoModel

/// The ids of the collections that new assets are in: smart albums and folder albums.
///
/// A batch adds hundreds of assets to few folders. So each id is read once in a transaction.
struct NewAssetCollections {
  /// The smart albums of the catalog, with the assets that they show.
  private var smartAlbums: [(id: CollectionID, requirements: AssetRequirements)]?
  /// The smart albums that are not recorded yet. After the first assets of a batch, only the rare ones are left.
  private var unrecorded: [(id: CollectionID, requirements: AssetRequirements)] = []
  /// The facts of the last asset. Most assets of a folder have the same, and need no comparison with the smart albums.
  private var lastFacts: AssetFacts?
  private var folderAlbum: (directoryID: DirectoryID, id: CollectionID?)?

  /// Records the collections of an asset that is no favorite and in no album.
  ///
  /// - Parameter database: Used for collections only, so it need not have the asset yet.
  mutating func record(
    _ content: AssetContent, in directoryID: DirectoryID, to record: inout CommitRecord, from database: Database
  ) throws {
    let facts = AssetFacts(content, in: directoryID)
    if facts == lastFacts { return }
    lastFacts = facts
    _ = try smartAlbums(database)
    if unrecorded.contains(where: { $0.requirements.admit(facts) }) {
      for album in unrecorded where album.requirements.admit(facts) { record.update(collection: album.id) }
      unrecorded.removeAll { $0.requirements.admit(facts) }
    }
    if let folderAlbum, folderAlbum.directoryID == directoryID { return }
    if let id = try folderAlbum(of: directoryID, database) { record.update(collection: id) }
  }

  /// The smart albums of the catalog.
  mutating func smartAlbums(
    _ database: Database
  ) throws -> [(id: CollectionID, requirements: AssetRequirements)] {
    if let smartAlbums { return smartAlbums }
    var albums: [(id: CollectionID, requirements: AssetRequirements)] = []
    let select = try RawStatement(database, "SELECT subtype, id FROM collection WHERE subtype IS NOT NULL")
    try select.forEachRow {
      guard let definition = SmartAlbum(rawValue: select.text(0))?.definition else { return }
      albums.append((select.collectionID(1), definition.requirements))
    }
    smartAlbums = albums
    unrecorded = albums
    return albums
  }

  /// The files of one folder come one after the other, so only the last folder is kept. Its album is recorded.
  private mutating func folderAlbum(of directoryID: DirectoryID, _ database: Database) throws -> CollectionID? {
    let select = try RawStatement(database, "SELECT id FROM collection WHERE directory_id = ?")
    select.bind(1, directoryID)
    let id = try select.firstRow { select.collectionID(0) }
    folderAlbum = (directoryID, id)
    return id
  }
}
