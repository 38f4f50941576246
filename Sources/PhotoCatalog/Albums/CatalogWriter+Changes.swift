import PhotoModel

/// Why a change of the user's collections can't be made.
package enum CollectionChangeError: Error, Hashable {
  case noSuchCollection(CollectionID)
  case noSuchAssets([AssetID])
  /// A message for the person: the rule, the object and the remedy.
  case rejected(String)
}

/// One of the changes of a call can't be made.
package struct ChangeFailure: Error, Hashable {
  /// The position of the change in the call.
  package let index: Int
  package let reason: CollectionChangeError
}

extension CatalogWriter {
  /// Makes the changes that a client requests, in their order.
  ///
  /// - Returns: the ids of the collections that were created, in the order of the changes.
  /// - Throws: ``ChangeFailure``. The transaction must then be rolled back.
  package func perform(_ changes: [LibraryChange]) throws -> [CollectionID] {
    var created: [CollectionID] = []
    for (index, change) in changes.enumerated() {
      do {
        if let id = try perform(change, created) { created.append(id) }
      } catch let reason as CollectionChangeError {
        throw ChangeFailure(index: index, reason: reason)
      }
    }
    try recordMovedFolders()
    return created
  }

  /// - Parameter created: the collections of earlier changes.
  /// - Returns: the collection that the change creates; nil if it creates none.
  private func perform(_ change: LibraryChange, _ created: [CollectionID]) throws -> CollectionID? {
    func real(_ id: CollectionID) throws -> CollectionID {
      guard id.rawValue < 0 else { return id }
      let position = -(id.rawValue + 1)
      guard position < created.count else { throw CollectionChangeError.noSuchCollection(id) }
      return created[Int(position)]
    }
    switch change {
    case .editAssets(let ids, let edit):
      try checkAssets(ids)
      // The word index collects entries in memory while their ids rise, and writes all of them to the catalog
      // otherwise. An id that is given twice is edited once, because a shift of the date would count twice.
      for id in Set(ids).sorted() { try self.edit(id, edit) }
    case .createAlbum(let title, let assets, let parent):
      let id = try createCollection(.album, title: title, parentID: parent.map(real))
      if !assets.isEmpty { try place(assets, inAlbum: id, before: nil) }
      return id
    case .createFolder(let title, let parent):
      return try createCollection(.folder, title: title, parentID: parent.map(real))
    case .createSmartAlbum(let title, let query, let parent):
      return try createCollection(.smartAlbum(query), title: title, parentID: parent.map(real))
    case .editSmartAlbum(let album, let query): try edit(smartAlbum: try real(album), query)
    case .editAlbum(let album, let edit):
      let id = try real(album)
      if !edit.removed.isEmpty { try remove(edit.removed, fromAlbum: id) }
      if !edit.placed.isEmpty { try place(edit.placed, inAlbum: id, before: edit.before) }
      try self.edit(collection: id, title: edit.title, keyAssetID: edit.keyAsset)
    case .editCollection(let collection, let edit):
      let id = try real(collection)
      if var place = edit.place {
        if case .folder(let folder) = place.parent { place.parent = .folder(try real(folder)) }
        if case .before(let next) = place.position { place.position = .before(try real(next)) }
        try move(collection: id, to: place)
      }
      try self.edit(collection: id, title: edit.title)
    case .deleteCollection(let collection): try delete(collection: try real(collection))
    }
    return nil
  }
}
