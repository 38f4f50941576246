import PhotoCatalog
import PhotoModel

// The changes that clients request.
extension Library {
  /// Performs all requests in one transaction, or none. The commit is durable when this returns.
  ///
  /// - Parameter clientName: the name by which observers see the client.
  /// - Returns: the token of the commit, or the current one if there was no difference.
  /// - Throws: ``LibraryError``.
  package func perform(_ requests: [ChangeRequest], clientName: String?) throws -> ChangeToken {
    for (index, request) in requests.enumerated() { try check(request, index) }
    do {
      try commit(durable: true) { writer in
        for request in requests {
          guard let edit = request.editAsset else { continue }
          let missing = try writer.missingAssets(edit.ids)
          guard missing.isEmpty else { throw LibraryError.noSuchAsset(missing) }
          for id in edit.ids {
            try writer.setUserData(of: id, isFavorite: edit.isFavorite, isHidden: edit.isHidden)
          }
        }
        return ((), origin: "client:\(clientName ?? "unknown")")
      }
    } catch let error as LibraryError {
      throw error
    } catch  where Catalog.isFull(error) {
      throw LibraryError.storageFull(
        "The disk that holds the catalog is full. Nothing was changed. Make room, and try again.")
    } catch {
      logger.error("change not written", metadata: ["error": "\(error)"])
      throw LibraryError.unavailable(
        "The catalog can't be written now (\(error)). Nothing was changed. `photoctl status` shows when it can be written again."
      )
    }
    return live.token
  }

  /// A client has a token of this library and epoch that is ahead of the catalog: an old copy may have been put back.
  ///
  /// - Returns: whether all tokens that were given until now have ended.
  package func endTokens(because token: ChangeToken) throws -> Bool {
    guard token.library == catalog.uuid, token.epoch == catalog.epoch,
      try catalog.read({ try $0.sequence() }) < token.sequence, try catalog.endTokens()
    else { return false }
    logger.notice("tokens ended", metadata: ["token": "\(token)", "epoch": "\(catalog.epoch)"])
    statusStore.update { $0.token = live.token.description }
    return true
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
