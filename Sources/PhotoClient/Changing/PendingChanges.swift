import PhotoContract
import PhotoModel
import Synchronization

/// The changes of one transaction, while they are put together: see
/// ``PhotoLibrary/performChanges(ifUnchangedSince:undoGroup:isolation:_:)``.
///
/// It can't be copied, because the placeholders of a copy would name other collections by the same ids.
public struct PendingChanges: ~Copyable, Sendable {
  private static let lastTransaction = Atomic<Int64>(0)

  /// The requests as they were added. Their placeholders have the number of their transaction.
  private var added: [ChangeRequest] = []
  private var createdCount = 0
  /// A number that no other transaction of the process has.
  let transaction = lastTransaction.add(1, ordering: .relaxed).newValue

  init() {}

  /// The requests in the form of the contract, in their order.
  ///
  /// - Complexity: O(n) for n requests.
  public var requests: [ChangeRequest] {
    added.map { $0.withCollectionIDs { CollectionPlaceholder.contractID(of: $0) } }
  }

  /// Refuses negative ids that are no placeholders of this transaction. In the contract, they would name collections of
  /// it.
  func checkPlaceholders() throws(PhotoLibraryError) {
    for (index, request) in added.enumerated() {
      var hasForeign = false
      _ = request.withCollectionIDs { id in
        if id.rawValue < 0, !CollectionPlaceholder.isOf(transaction, id) { hasForeign = true }
        return id
      }
      guard hasForeign else { continue }
      throw .changeRejected(
        requestIndex: index,
        message: "the request names a placeholder of another transaction. "
          + "Use the id that the result of that transaction has for it.")
    }
  }

  // MARK: - Assets

  /// Edits assets.
  public mutating func add(_ request: AssetChangeRequest) { added += request.requests }

  /// Edits one asset.
  ///
  /// ```swift
  /// changes.edit(photo) { $0.isFavorite = true }
  /// ```
  public mutating func edit(_ asset: Asset, _ body: (inout AssetChangeRequest) throws -> Void) rethrows {
    try edit([asset.id], body)
  }

  /// Edits several assets alike.
  ///
  /// - Complexity: amortized O(1) beside the closure. The ids are not copied.
  public mutating func edit(_ ids: [AssetID], _ body: (inout AssetChangeRequest) throws -> Void) rethrows {
    var request = AssetChangeRequest(forIDs: ids)
    try body(&request)
    add(request)
  }

  /// Moves assets to the trash. A photod without a trash answers ``PhotoLibraryError/methodMissing(_:)``.
  ///
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func trashAssets(_ ids: [AssetID]) { added.append(ChangeRequest(trashAssets: ids)) }

  /// Restores assets from the trash. A photod without a trash answers ``PhotoLibraryError/methodMissing(_:)``.
  ///
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func restoreAssets(_ ids: [AssetID]) { added.append(ChangeRequest(restoreAssets: ids)) }

  // MARK: - Collections

  /// Creates an album.
  ///
  /// - Parameters:
  ///   - title: not empty. Several albums may have the same title.
  ///   - assets: its assets, in their order.
  ///   - folder: the folder of albums that gets it; nil for the top level.
  /// - Returns: the album for further requests of this transaction.
  /// - Complexity: amortized O(1). The ids are not copied.
  public mutating func createAlbum(
    title: String, assets: [AssetID] = [], in folder: CollectionID? = nil
  ) -> CollectionPlaceholder {
    added.append(
      ChangeRequest(createAlbum: .init(title: title, assetIDs: assets.isEmpty ? nil : assets, parentID: folder)))
    return placeholder()
  }

  /// Creates a folder of albums.
  ///
  /// - Returns: the folder for further requests of this transaction.
  public mutating func createFolder(title: String, in folder: CollectionID? = nil) -> CollectionPlaceholder {
    added.append(ChangeRequest(createFolder: .init(title: title, parentID: folder)))
    return placeholder()
  }

  /// Creates a smart album, which follows a query.
  ///
  /// - Parameter query: has at least a predicate or a text.
  /// - Returns: the album for further requests of this transaction.
  public mutating func createSmartAlbum(
    title: String, query: SmartAlbumQuery, in folder: CollectionID? = nil
  ) -> CollectionPlaceholder {
    added.append(ChangeRequest(createSmartAlbum: .init(title: title, query, parentID: folder)))
    return placeholder()
  }

  /// Edits an album or its assets.
  public mutating func add(_ request: AssetCollectionChangeRequest) { added += request.requests }

  /// Edits an album of the user.
  ///
  /// - Parameter id: that of a collection or of a ``CollectionPlaceholder``.
  public mutating func editAlbum(
    _ id: CollectionID, _ body: (inout AssetCollectionChangeRequest) throws -> Void
  ) rethrows {
    var request = AssetCollectionChangeRequest(for: id)
    try body(&request)
    add(request)
  }

  /// Edits the title, the folder or the place of a collection.
  public mutating func add(_ request: CollectionListChangeRequest) { added += request.requests }

  /// Moves a collection into a folder of albums.
  ///
  /// - Parameters:
  ///   - folder: nil for the top level.
  ///   - other: a collection of that folder, before which it is placed; nil for the end.
  public mutating func moveCollection(
    _ id: CollectionID, to folder: CollectionID?, before other: CollectionID? = nil
  ) {
    var request = CollectionListChangeRequest(for: folder)
    request.insert([id], before: other)
    add(request)
  }

  /// Replaces the query of a smart album.
  public mutating func editSmartAlbum(_ id: CollectionID, query: SmartAlbumQuery) {
    added.append(ChangeRequest(editSmartAlbum: .init(id: id, query)))
  }

  /// Deletes an album, a smart album of the user, or a folder of albums with all that is in it. No photo is deleted.
  public mutating func deleteCollection(_ id: CollectionID) { added.append(ChangeRequest(deleteAlbum: id)) }

  private mutating func placeholder() -> CollectionPlaceholder {
    createdCount += 1
    return CollectionPlaceholder(transaction: transaction, number: createdCount)
  }
}

/// A collection that a transaction creates, as PhotoKit's `PHObjectPlaceholder`. It is of no use in another
/// transaction.
public struct CollectionPlaceholder: Hashable, Sendable {
  /// A transaction has fewer creations than this.
  private static let step: Int64 = 1 << 20

  /// The ``PendingChanges/transaction``.
  let transaction: Int64
  /// The creations of the transaction up to this one.
  let number: Int

  /// The id for further requests of the same transaction. It is no id of the library: ``PerformedChanges`` has that. A
  /// request of another transaction with this id is an error.
  public var id: CollectionID { CollectionID(rawValue: -(transaction * Self.step + Int64(number))) }

  /// Whether a negative id is that of a placeholder of this transaction.
  fileprivate static func isOf(_ transaction: Int64, _ id: CollectionID) -> Bool { id.rawValue / step == -transaction }

  /// The id with which the contract names the collection of a placeholder. Others stay as they are.
  fileprivate static func contractID(of id: CollectionID) -> CollectionID {
    id.rawValue < 0 ? CollectionID(rawValue: id.rawValue % step) : id
  }
}

extension ChangeRequest {
  /// The request with other ids of collections.
  fileprivate func withCollectionIDs(_ replaced: (CollectionID) -> CollectionID) -> ChangeRequest {
    var request = self
    request.createAlbum?.parentID = createAlbum?.parentID.map(replaced)
    request.createFolder?.parentID = createFolder?.parentID.map(replaced)
    request.createSmartAlbum?.parentID = createSmartAlbum?.parentID.map(replaced)
    if let id = editAlbum?.id { request.editAlbum?.id = replaced(id) }
    if let id = editSmartAlbum?.id { request.editSmartAlbum?.id = replaced(id) }
    if let id = editCollection?.id { request.editCollection?.id = replaced(id) }
    request.editCollection?.parentID = editCollection?.parentID.map(replaced)
    request.editCollection?.beforeID = editCollection?.beforeID.map(replaced)
    request.deleteAlbum = deleteAlbum.map(replaced)
    return request
  }
}

/// The result of a transaction.
public struct PerformedChanges: Hashable, Sendable {
  /// The library's token with the changes in it.
  public let token: String
  /// The collections that were created, in the order of the requests.
  public let createdCollectionIDs: [CollectionID]
  let transaction: Int64

  /// The id of a collection that this transaction created.
  ///
  /// - Parameter placeholder: one of this transaction. That of another one is a programming error, which ends the
  ///   program.
  public subscript(placeholder: CollectionPlaceholder) -> CollectionID {
    precondition(placeholder.transaction == transaction, "The placeholder is of another transaction.")
    return createdCollectionIDs[placeholder.number - 1]
  }
}

extension PhotoLibrary {
  /// Makes changes in one transaction: all of them, or none. They are durable when it returns.
  ///
  /// ```swift
  /// var trip: CollectionPlaceholder?
  /// let performed = try await library.performChanges { changes in
  ///   let album = changes.createAlbum(title: "Trip", assets: chosen)
  ///   changes.edit(chosen) { $0.isFavorite = true }
  ///   trip = album
  /// }
  /// ```
  ///
  /// While photod is away, for example because it restarts, the call waits for it. It is sent once. If the connection is
  /// lost before the reply (``PhotoLibraryError/changeOutcomeUnknown``), or the task is cancelled when the call has been
  /// sent, the changes may have been made. If they were, ``fetchPersistentChanges(since:)`` with a token from before the
  /// call has a commit whose origin is `client:` and the ``clientName``.
  ///
  /// - Parameters:
  ///   - token: if it is given, and one of the edited assets has changed since, or a collection that is edited or deleted,
  ///     no change is made, and it throws ``PhotoLibraryError/changeRejected(requestIndex:message:)``. A change of an asset
  ///     is one of each album that has it.
  ///   - undoGroup: calls with the same group are undone together. Use a new group for each thing that a person does.
  ///   - isolation: the actor of the caller, on which `body` runs. Leave it out.
  ///   - body: puts the changes together. At most 1,000 assets are named in all of them.
  /// - Throws: the error of `body`, ``PhotoLibraryError`` or `CancellationError`. A request with a placeholder of
  ///   another transaction is ``PhotoLibraryError/changeRejected(requestIndex:message:)``, and no call is made.
  /// - Complexity: O(n) for n assets in the requests. Other writers wait for the transaction.
  @discardableResult
  public func performChanges(
    ifUnchangedSince token: String? = nil, undoGroup: String? = nil, isolation: isolated (any Actor)? = #isolation,
    _ body: (inout PendingChanges) throws -> Void
  ) async throws -> PerformedChanges {
    var changes = PendingChanges()
    try body(&changes)
    try changes.checkPlaceholders()
    let requests = changes.requests
    let request = PerformChangesRequest(
      requests: requests, clientName: clientName, ifUnchangedSince: token, undoGroup: undoGroup)
    let result: ChangeResult
    do { result = try await perform(request, waiting: true) } catch PhotoLibraryError.connectionClosed {
      throw PhotoLibraryError.changeOutcomeUnknown
    }
    let expected = requests.count {
      $0.createAlbum != nil || $0.createFolder != nil || $0.createSmartAlbum != nil
    }
    guard result.createdCollectionIDs.count == expected else {
      throw PhotoLibraryError.malformedReply(
        "PerformChanges replied with \(result.createdCollectionIDs.count) ids for \(expected) collections")
    }
    return PerformedChanges(
      token: result.token, createdCollectionIDs: result.createdCollectionIDs, transaction: changes.transaction)
  }
}
