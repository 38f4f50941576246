import PhotoCatalog
import PhotoModel

// The changes that clients request.
extension Library {
  /// Makes all changes in one transaction, or none. The commit is durable when this returns.
  ///
  /// - Parameters:
  ///   - clientName: the name by which observers see the client.
  ///   - undoGroup: calls with the same client name and group are undone together.
  ///   - ifUnchangedSince: if one of the edited assets changed after this token, or one of the collections that are edited
  ///     or deleted, no change is made.
  /// - Returns: the token of the commit, or the current one if there was no difference. `created` has the collections that
  ///   were created, in the order of the changes. `changedAssetCount` counts the assets that were edited, placed or removed.
  ///   `isChange` is false if there was no difference.
  /// - Throws: ``LibraryError``.
  package func perform(
    _ changes: [LibraryChange], clientName: String?, ifUnchangedSince: ChangeToken? = nil, undoGroup: String? = nil
  ) throws -> (token: ChangeToken, created: [CollectionID], changedAssetCount: Int, isChange: Bool) {
    let origin = Self.origin(clientName)
    return try changing {
      // Only this actor writes, so nothing changes between the check and the transaction.
      if let token = ifUnchangedSince {
        try check(changes, areUnchangedSince: token)
        try check(collectionsOf: changes, areUnchangedSince: token)
      }
      let (performed, record) = try commit(durable: true) { writer in
        (try writer.performRecorded(changes), origin: origin)
      }
      // A call can make an album and delete it. Then there is no commit and nothing to undo, and the sequence is that of
      // another change.
      if !record.isEmpty {
        undoLog.append(
          .init(
            id: token.sequence, date: clock.wallTime, origin: origin, group: undoGroup,
            actions: changes.flatMap(\.actions), recording: performed.1))
      }
      return (token, performed.created, record.isEmpty ? 0 : performed.1.assetCount, !record.isEmpty)
    }
  }

  private static func origin(_ clientName: String?) -> String { "client:\(clientName ?? "unknown")" }

  /// The last changes. ``undoChange(_:clientName:)`` can undo those without a problem. The caller describes them outside of
  /// the library's queue.
  package func undoableChanges(origin: String?) -> UndoableChanges {
    UndoableChanges(entries: undoLog.entries.filter { origin == nil || $0.origin == origin })
  }

  /// Undoes a change, in one transaction. The commit is durable when this returns.
  ///
  /// - Throws: ``LibraryError``, if the change has a problem, or if something of it was changed again since.
  package func undoChange(_ id: Int64, clientName: String?) throws -> ChangeToken {
    guard let entry = undoLog.entry(id) else { throw UndoLog.refusal(ofMissing: id) }
    if let refusal = entry.refusal { throw refusal }
    return try changing {
      try commit(durable: true) { writer in
        (try writer.undo(entry.recording), origin: Self.origin(clientName))
      }
      undoLog.remove(id)
      return token
    }
  }

  private func changing<Value>(_ body: () throws -> Value) throws -> Value {
    do { return try body() } catch let error as ChangeFailure {
      throw LibraryError(error)
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
  }

  /// Throws if an asset that these changes edit was changed or deleted after a token.
  private func check(_ changes: [LibraryChange], areUnchangedSince token: ChangeToken) throws {
    var edited: Set<AssetID> = []
    for case .editAssets(let ids, _) in changes { edited.formUnion(ids) }
    let since = try catalog.read { reader -> ChangesSince in
      guard token.library == catalog.uuid, token.epoch == catalog.epoch else { return .unknown }
      return try reader.changes(of: edited, after: token.sequence)
    }
    guard case .touched(let touched) = since else {
      _ = try endTokens(because: token)
      throw LibraryError.changeTokenExpired(current: self.token)
    }
    for (index, change) in changes.enumerated() {
      guard case .editAssets(let ids, _) = change, let id = ids.first(where: touched.contains) else { continue }
      throw LibraryError.changeRejected(
        requestIndex: index,
        message:
          "The photo \(id) has changed since the token of ifUnchangedSince. Fetch it again, and repeat the change if it still applies."
      )
    }
  }

  /// Throws if a collection that these changes edit or delete was changed or deleted after a token. A deleted folder stands
  /// for everything that is in it.
  ///
  /// - Parameter token: a token to which the history reaches back.
  private func check(collectionsOf changes: [LibraryChange], areUnchangedSince token: ChangeToken) throws {
    guard changes.contains(where: { $0.namedCollection != nil }) else { return }
    let changed = try catalog.read { reader -> (index: Int, id: CollectionID, title: String?)? in
      let touched = try reader.touchedCollections(after: token.sequence, through: try reader.sequence())
      guard !touched.isEmpty else { return nil }
      for (index, change) in changes.enumerated() {
        guard let named = change.namedCollection else { continue }
        var ids = [named]
        if case .deleteCollection = change { ids += try reader.collections(below: [named]).map(\.id) }
        guard let id = ids.first(where: touched.contains) else { continue }
        return (index, id, try reader.userCollection(id)?.title)
      }
      return nil
    }
    guard let (index, id, title) = changed else { return }
    let name = title.map { "'\($0)' (id:\(id))" } ?? "\(id)"
    throw LibraryError.changeRejected(
      requestIndex: index,
      message:
        "The collection \(name) has changed since the token of ifUnchangedSince. Fetch it again, and repeat the change if it still applies."
    )
  }

  /// A client has a token of this library and epoch that is ahead of the catalog: an old copy may have been put back.
  ///
  /// - Returns: whether all tokens that were given until now have ended.
  package func endTokens(because token: ChangeToken) throws -> Bool {
    guard token.library == catalog.uuid, token.epoch == catalog.epoch,
      try catalog.read({ try $0.sequence() }) < token.sequence, try catalog.endTokens()
    else { return false }
    logger.notice("tokens ended", metadata: ["token": "\(token)", "epoch": "\(catalog.epoch)"])
    statusStore.update { $0.token = self.token.description }
    return true
  }
}

extension LibraryChange {
  /// The collection that the change edits or deletes. The id is negative if an earlier change of the call creates it.
  fileprivate var namedCollection: CollectionID? {
    switch self {
    case .editAssets, .createAlbum, .createFolder, .createSmartAlbum: nil
    case .editAlbum(let id, _), .editSmartAlbum(let id, _), .editCollection(let id, _), .deleteCollection(let id): id
    }
  }
}
