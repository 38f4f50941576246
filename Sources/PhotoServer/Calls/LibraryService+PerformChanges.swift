import PhotoContract
import PhotoIndexer
import PhotoModel
import Varlink

// The call for clients' changes.
extension LibraryService {
  func performChanges(_ call: VarlinkServiceCall) async throws {
    let parameters = try await reads(call).parameters(call, PerformChangesRequest.self)
    try Self.check(clientName: parameters.clientName)
    try Self.checkIDCount(of: parameters.requests)
    try Self.checkQuerySize(of: parameters.requests)
    try Self.checkTextSize(of: parameters.requests)
    if let name = parameters.clientName { connections.name(call, name) }
    let since = try parameters.ifUnchangedSince.map { text in
      guard let token = ChangeToken(text) else { throw VarlinkError.invalidParameter("ifUnchangedSince") }
      return token
    }
    let changes = try parameters.requests.enumerated().map { try LibraryChange($1, index: $0) }
    let performed = try await libraryTurns.run(for: call.peer) {
      try await library.perform(
        changes, clientName: parameters.clientName, ifUnchangedSince: since,
        undoGroup: parameters.undoGroup)
    }
    try await call.reply(
      ChangeResult(
        token: performed.token.description, createdCollectionIDs: performed.created,
        changedAssetCount: performed.changedAssetCount, changed: performed.isChange))
  }

  private static func checkIDCount(of requests: [ChangeRequest]) throws {
    var count = 0
    for (index, request) in requests.enumerated() {
      let lists = [
        ("editAsset.ids", request.editAsset?.ids), ("trashAssets", request.trashAssets),
        ("restoreAssets", request.restoreAssets), ("createAlbum.assetIDs", request.createAlbum?.assetIDs),
        ("editAlbum.placeAssetIDs", request.editAlbum?.placeAssetIDs),
        ("editAlbum.removeAssetIDs", request.editAlbum?.removeAssetIDs),
      ]
      for (name, ids) in lists {
        count += ids?.count ?? 0
        guard count <= RequestLimits.maximumChangedIDs else {
          throw VarlinkError.invalidParameter("requests[\(index)].\(name)")
        }
      }
    }
  }

  /// Bounds the queries of smart albums. They are compiled in the transaction, and all other work of the library waits
  /// for it.
  private static func checkQuerySize(of requests: [ChangeRequest]) throws {
    var byteCount = 0
    for (index, request) in requests.enumerated() {
      let texts = [
        request.createSmartAlbum?.predicate, request.createSmartAlbum?.text,
        request.editSmartAlbum?.predicate, request.editSmartAlbum?.text,
      ]
      byteCount += texts.reduce(0) { $0 + ($1?.utf8.count ?? 0) }
      guard byteCount <= RequestLimits.maximumQueryBytes else {
        throw LibraryError.changeRejected(
          requestIndex: index,
          message:
            "The predicates and texts of this call have more than \(RequestLimits.maximumQueryBytes) bytes together. Make fewer smart albums in one call."
        )
      }
    }
  }

  /// Bounds the texts of edits. They are stored for each asset, in the transaction.
  private static func checkTextSize(of requests: [ChangeRequest]) throws {
    var byteCount = 0
    for (index, request) in requests.enumerated() {
      guard let edit = request.editAsset else { continue }
      let texts = [edit.title, edit.caption].compactMap { $0 } + (edit.addKeywords ?? []) + (edit.removeKeywords ?? [])
      byteCount += edit.ids.count * texts.reduce(0) { $0 + $1.utf8.count }
      guard byteCount <= RequestLimits.maximumEditedTextBytes else {
        throw LibraryError.changeRejected(
          requestIndex: index,
          message:
            "The titles, captions and keywords of this call have more than \(RequestLimits.maximumEditedTextBytes >> 20) MiB for all of its photos together. Edit fewer photos in one call."
        )
      }
    }
  }

  /// Rejects a name that is too long or contains a control character.
  static func check(clientName: String?) throws {
    guard let scalars = clientName?.unicodeScalars else { return }
    guard scalars.count <= RequestLimits.maximumClientNameLength,
      scalars.allSatisfy({ $0.properties.generalCategory != .control })
    else {
      throw VarlinkError.invalidParameter("clientName")
    }
  }
}
