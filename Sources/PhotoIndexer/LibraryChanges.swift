import PhotoCatalog
import PhotoModel

// What clients change.
extension Library {
  /// Does all requests in one transaction, or none. Durable when it returns.
  ///
  /// - Parameter clientName: how observers see who did it.
  /// - Returns: the token of the commit, or the current one where nothing differed.
  /// - Throws: ``LibraryError``.
  package func perform(_ requests: [ChangeRequest], clientName: String?) throws -> ChangeToken {
    for (index, request) in requests.enumerated() { try check(request, index) }
    do {
      try commit(durable: true) { writer in
        var record = CommitRecord()
        for request in requests {
          guard let edit = request.editAsset else { continue }
          let missing = try writer.missingAssets(edit.ids)
          guard missing.isEmpty else { throw LibraryError.noSuchAsset(missing) }
          for id in edit.ids { try apply(edit, to: id, writer, &record) }
        }
        return ((), record, origin: "client:\(clientName ?? "unknown")")
      }
    } catch  where Catalog.isFull(error) {
      throw LibraryError.storageFull(
        "The disk that holds the catalog is full. Make room and try again; nothing was changed.")
    }
    return catalog.token(feed.sequence)
  }

  private func apply(
    _ edit: ChangeRequest.EditAsset, to id: Int64, _ writer: CatalogWriter, _ record: inout CommitRecord
  ) throws {
    var collections = Set(try writer.collections(holding: id))
    var fields: ChangedFields = []
    if let isFavorite = edit.isFavorite, try writer.setFavorite(id, isFavorite) { fields.insert(.favorite) }
    if let isHidden = edit.isHidden, try writer.setHidden(id, isHidden) { fields.insert(.hidden) }
    guard !fields.isEmpty else { return }
    collections.formUnion(try writer.collections(holding: id))
    record.update(asset: id, fields)
    for collection in collections { record.update(collection: collection) }
  }

  private func check(_ request: ChangeRequest, _ index: Int) throws {
    let set = [
      request.editAsset != nil, request.trashAssets != nil, request.restoreAssets != nil, request.createAlbum != nil,
      request.editAlbum != nil, request.deleteAlbum != nil,
    ].count { $0 }
    guard set == 1 else {
      throw LibraryError.changeRejected(
        requestIndex: index,
        message:
          "Request \(index) sets \(set) of editAsset, trashAssets, restoreAssets, createAlbum, editAlbum, deleteAlbum; exactly one is needed."
      )
    }
    guard let edit = request.editAsset else {
      throw LibraryError.notImplemented("PerformChanges: albums and the trash")
    }
    if edit.rating != nil || edit.title != nil || edit.caption != nil || edit.addKeywords != nil
      || edit.removeKeywords != nil || edit.creationDate != nil || edit.location != nil || edit.clear != nil
    {
      throw LibraryError.notImplemented("PerformChanges: editAsset beyond isFavorite and isHidden")
    }
    if edit.isFavorite == nil && edit.isHidden == nil {
      throw LibraryError.changeRejected(
        requestIndex: index, message: "Request \(index) changes nothing: give isFavorite or isHidden.")
    }
  }
}
