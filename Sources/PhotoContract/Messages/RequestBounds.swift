/// How large a member of a request may be.
package struct RequestBound: Hashable, Sendable {
  /// The most elements of an array.
  package var count: Int?
  /// The most bytes of a string as UTF-8, or of each string of an array.
  package var bytes: Int?

  fileprivate static func count(_ count: Int, ofBytes bytes: Int? = nil) -> RequestBound {
    RequestBound(count: count, bytes: bytes)
  }

  fileprivate static func bytes(_ bytes: Int) -> RequestBound { RequestBound(bytes: bytes) }
}

/// The bounds of all strings and arrays of requests, by method or type and member.
///
/// The interface files state them in their `bounds:` lines. The service enforces them before it decodes a request.
/// Errors repeat names of the request, so these bounds keep errors below ``ReplyLimits/maximumBytes``.
package enum RequestBounds {
  package static let library: [String: RequestBound] = [
    "FetchOptions.collection": .bytes(pathText),
    "FetchOptions.mediaTypes": .count(16, ofBytes: word),
    "FetchOptions.predicate": .bytes(65_536),
    // 1,000 characters of up to four bytes.
    "FetchOptions.text": .bytes(4_000),
    "FetchOptions.sortDescriptors": .count(32),
    "SortDescriptor.key": .bytes(word),
    "GetAssets.ids": .count(RequestLimits.maximumIDs),
    "FindAssets.paths": .count(RequestLimits.maximumIDs, ofBytes: pathText),
    "FetchUserData.ids": .count(RequestLimits.maximumIDs),
    "FetchCollections.kinds": .count(16, ofBytes: word),
    "ListValues.key": .bytes(word),
    "ListValues.prefix": .bytes(title),
    "Observe.since": .bytes(token),
    "Observe.sinceDigest": .bytes(word),
    // Hardly more ids fit in a call of 16 MiB.
    "Observe.sinceIDs": .count(2_000_000),
    "ObserveCollections.kinds": .count(16, ofBytes: word),
    "FetchPersistentChanges.since": .bytes(token),
    "PerformChanges.requests": .count(1_000),
    // 64 characters of up to four bytes.
    "PerformChanges.clientName": .bytes(256),
    "PerformChanges.ifUnchangedSince": .bytes(token),
    "PerformChanges.undoGroup": .bytes(256),
    "FetchUndoableChanges.origin": .bytes(256),
    "UndoChange.clientName": .bytes(256),
    "EditAsset.ids": .count(RequestLimits.maximumChangedIDs),
    "EditAsset.title": .bytes(title),
    "EditAsset.caption": .bytes(65_536),
    "EditAsset.addKeywords": .count(1_000, ofBytes: keyword),
    "EditAsset.removeKeywords": .count(1_000, ofBytes: keyword),
    "EditAsset.creationDate": .bytes(word),
    "EditAsset.clear": .count(16, ofBytes: word),
    "CreateFolder.title": .bytes(title),
    "CreateSmartAlbum.title": .bytes(title),
    "CreateSmartAlbum.predicate": .bytes(65_536),
    "CreateSmartAlbum.text": .bytes(4_000),
    "CreateSmartAlbum.sortDescriptors": .count(32),
    "EditSmartAlbum.predicate": .bytes(65_536),
    "EditSmartAlbum.text": .bytes(4_000),
    "EditSmartAlbum.sortDescriptors": .count(32),
    "EditCollection.title": .bytes(title),
    "CreateAlbum.title": .bytes(title),
    "CreateAlbum.assetIDs": .count(RequestLimits.maximumChangedIDs),
    "EditAlbum.title": .bytes(title),
    "EditAlbum.placeAssetIDs": .count(RequestLimits.maximumChangedIDs),
    "EditAlbum.removeAssetIDs": .count(RequestLimits.maximumChangedIDs),
    "ChangeRequest.trashAssets": .count(RequestLimits.maximumChangedIDs),
    "ChangeRequest.restoreAssets": .count(RequestLimits.maximumChangedIDs),
    "Explain.path": .bytes(pathText),
    "Rescan.path": .bytes(pathText),
  ]

  package static let manage: [String: RequestBound] = [
    "Backup.path": .bytes(openablePathText),
    "Restore.path": .bytes(openablePathText),
  ]

  package static let images: [String: RequestBound] = [
    "RequestImages.session": .bytes(word),
    // A call of more than `ImageLimits.maximumRequestsOfCall` requests is TooManyRequests.
    "RequestImages.requests": .count(50_000),
    "CancelRequests.session": .bytes(word),
    "CancelRequests.ids": .count(ImageLimits.maximumRequests),
    "StartCaching.session": .bytes(word),
    "StartCaching.assetIDs": .count(ImageLimits.maximumCachingMembers),
    "StopCaching.session": .bytes(word),
    "StopCaching.assetIDs": .count(ImageLimits.maximumCachingMembers),
    "StopCachingAll.session": .bytes(word),
    "ReadImage.session": .bytes(word),
    "ReadImage.imageID": .bytes(word),
    "MakeImages.requests": .count(RequestLimits.maximumMadeImages),
    "ReadResource.ifRevision": .bytes(word),
  ]

  /// `folder:` or `file://` and the longest path, each byte of which may be percent-encoded.
  private static let pathText = 200_000
  /// The same for a path that one system call takes whole: PATH_MAX is 4,096.
  private static let openablePathText = 16_384
  private static let title = 1_000
  /// The bound of the keywords that photod takes from files.
  private static let keyword = 1_000
  private static let token = 256
  /// A name of the contract, a date or a digest.
  private static let word = 64
}
