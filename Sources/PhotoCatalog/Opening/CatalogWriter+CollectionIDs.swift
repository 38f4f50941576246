import GRDB
import PhotoModel

// The ids of the collections of photod, which give way to those of a person's collections in the journal.

extension CatalogWriter {
  /// Moves the collections of photod from the ids that the journal has for a person's collections.
  ///
  /// An upgrade adds smart albums before the catalog has the last changes of the journal. They may get the ids of these.
  func freeIDs(of contents: UserDataContents, isMissingBase: Bool) throws {
    var ids = isMissingBase ? Set(contents.collections.keys) : []
    for record in contents.newer.flatMap(\.records) {
      if case .collection(let collection) = record { ids.insert(collection.id) }
    }
    let select = try RawStatement(database, "SELECT 1 FROM collection WHERE id = ? AND NOT (\(Self.isOfUser))")
    let taken = try ids.sorted().filter { id in
      select.bind(1, id)
      return try select.firstRow { true } ?? false
    }
    guard !taken.isEmpty else { return }
    try reserve(assets: 0, collections: contents.reservedCollections)
    for id in taken { record.insert(collection: try renumber(collection: id)) }
  }

  /// Gives a collection a new id. It must belong to the system, so that nothing refers to it.
  private func renumber(collection id: CollectionID) throws -> CollectionID {
    let next = CollectionID(rawValue: try lastIDs().collections.rawValue + 1)
    let update = try RawStatement(database, "UPDATE collection SET id = ? WHERE id = ?")
    update.bind(1, next)
    update.bind(2, id)
    try update.run()
    try reserve(assets: 0, collections: next)
    return next
  }

  /// Gives new ids to the smart albums that no earlier version of the catalog had with their ids. The first four always
  /// had them.
  func renumberSmartAlbums() throws {
    let select = try RawStatement(
      database, "SELECT id FROM collection WHERE subtype IS NOT NULL AND id > 4 ORDER BY id")
    var ids: [CollectionID] = []
    try select.forEachRow { ids.append(select.collectionID(0)) }
    for id in ids { _ = try renumber(collection: id) }
  }
}
