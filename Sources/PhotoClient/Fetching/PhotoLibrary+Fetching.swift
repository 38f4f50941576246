import PhotoContract
import PhotoModel

// Fetches that return results, in the shape of PhotoKit's.
extension PhotoLibrary {
  /// Fetches a list of assets.
  ///
  /// It returns when the length of the list and the first ids are known. The other ids arrive behind them.
  ///
  /// - Parameter options: by default every visible asset, with the newest first.
  /// - Throws: ``PhotoLibraryError`` or `CancellationError`.
  /// - Complexity: the same for each length of the list, after photod has counted it.
  public func fetchAssets(with options: FetchOptions = FetchOptions()) async throws -> FetchResult {
    FetchResult(FetchLineage(of: self, options), try await SnapshotIDs(options, from: self))
  }

  /// Fetches the assets of a collection. Without sort descriptors, they are in the order of the collection.
  ///
  /// - Parameter options: further conditions. Their `collection` is replaced.
  /// - Complexity: the same as for ``fetchAssets(with:)``.
  public func fetchAssets(
    in collection: AssetCollection, with options: FetchOptions = FetchOptions()
  ) async throws -> FetchResult {
    var options = options
    options.collection = "id:\(collection.id)"
    return try await fetchAssets(with: options)
  }

  /// Fetches the assets with these ids, also hidden and deleted ones. They are in the order of the options, not of the ids.
  ///
  /// - Parameters:
  ///   - ids: at most 5,000. Ids without an asset are left out.
  ///   - options: further conditions. Hidden and trashed assets are included, unless the options say otherwise.
  /// - Throws: ``PhotoLibraryError/invalidPredicate(message:position:)`` if there are more ids than a predicate may have, or
  ///   the predicate of the options has a fault. The position is in that predicate.
  /// - Complexity: O(k) for k ids.
  public func fetchAssets(
    withIDs ids: [AssetID], with options: FetchOptions = FetchOptions()
  ) async throws -> FetchResult {
    var options = options
    let list = ids.map(\.description).joined(separator: ", ")
    let chosen = ids.isEmpty ? "FALSEPREDICATE" : "id IN {\(list)}"
    options.includeHidden = options.includeHidden ?? true
    options.includeTrashed = options.includeTrashed ?? true
    guard let condition = options.predicate else {
      options.predicate = chosen
      return try await fetchAssets(with: options)
    }
    try Self.checkParentheses(of: condition)
    options.predicate = "(\(condition)) AND \(chosen)"
    do {
      return try await fetchAssets(with: options)
    } catch PhotoLibraryError.invalidPredicate(let message, let position) {
      // The position counts the parenthesis that was added before the caller's predicate. It may also be in the
      // condition that was added behind it.
      let place = min(max(position - 1, 0), condition.unicodeScalars.count)
      throw PhotoLibraryError.invalidPredicate(message: message, position: place)
    }
  }

  /// Refuses a predicate that closes more parentheses than it has opened, such as `rating > 1) OR (rating < 3`. Put in
  /// parentheses, it would be valid, and would not be restricted by the condition that follows.
  private static func checkParentheses(of predicate: String) throws(PhotoLibraryError) {
    var depth = 0
    var quote: Unicode.Scalar?
    var isEscaped = false
    for (position, scalar) in predicate.unicodeScalars.enumerated() {
      switch scalar {
      case _ where isEscaped: isEscaped = false
      case "\\" where quote != nil: isEscaped = true
      case quote: quote = nil
      case _ where quote != nil: break
      case "'", "\"": quote = scalar
      case "(": depth += 1
      case ")":
        depth -= 1
        if depth < 0 { throw .invalidPredicate(message: "this ) closes no parenthesis", position: position) }
      default: break
      }
    }
  }

  // MARK: - Collections

  /// Fetches collections.
  ///
  /// - Parameters:
  ///   - kind: by default all kinds.
  ///   - subtype: the name of one of photod's smart albums, such as `favorites`.
  /// - Complexity: O(n) for the n collections of this kind in the library. photod sends all of them, and the subtype is
  ///   compared here.
  public func fetchAssetCollections(
    with kind: AssetCollection.Kind? = nil, subtype: String? = nil
  ) async throws -> CollectionFetchResult {
    try await fetchCollections(CollectionQuery(kinds: kind.map { [$0] }, subtype: subtype))
  }

  /// Fetches the collections that have an asset.
  ///
  /// - Parameter kind: by default all kinds.
  /// - Complexity: O(k) for the k collections of this kind that have the asset.
  public func fetchAssetCollections(
    containing asset: Asset, with kind: AssetCollection.Kind? = nil
  ) async throws -> CollectionFetchResult {
    try await fetchCollections(CollectionQuery(kinds: kind.map { [$0] }, asset: asset.id))
  }

  /// Fetches the albums, smart albums and folders that are directly in a folder of albums.
  ///
  /// - Complexity: O(n) for the n albums, smart albums and folders of the library. photod sends all of them.
  public func fetchCollections(in folder: AssetCollection) async throws -> CollectionFetchResult {
    try await fetchCollections(CollectionQuery(kinds: Self.nested, place: .folder(folder.id)))
  }

  /// Fetches the albums, smart albums and folders that a person made, and that are in no folder.
  ///
  /// - Complexity: O(n) for the n albums, smart albums and folders of the library. photod sends all of them.
  public func fetchTopLevelUserCollections() async throws -> CollectionFetchResult {
    try await fetchCollections(CollectionQuery(kinds: Self.nested, place: .folder(nil)))
  }

  /// The kinds of collections that a person makes.
  private static let nested: [AssetCollection.Kind] = [.smartAlbum, .album, .folder]

  private func fetchCollections(_ query: CollectionQuery) async throws -> CollectionFetchResult {
    let (collections, token) = try await patiently { try await self.collections(of: query) }
    return CollectionFetchResult(query, query.selected(from: collections), token: token, of: self)
  }

  /// The collections of the kinds of a query that contain its asset, and their token.
  func collections(of query: CollectionQuery) async throws -> ([AssetCollection], token: String) {
    let parameters = FetchCollectionsRequest(kinds: query.kinds?.map(\.rawValue), containingAsset: query.asset)
    var collections: [AssetCollection] = []
    var token: String?
    for try await page in stream("FetchCollections", parameters, of: CollectionPage.self, { $0 }) {
      token = token ?? page.token
      collections += page.collections
    }
    guard let token else { throw PhotoLibraryError.malformedReply("FetchCollections replied with no page") }
    return (collections, token)
  }

  // MARK: - Access

  /// The access of this program to the library. It never asks the user.
  ///
  /// - Parameter level: the access that the program wants to use. photod grants both levels together.
  public func authorizationStatus(for level: AccessLevel) async throws -> AuthorizationStatus {
    try await patiently { try await self.authorization().status }
  }

  /// Requests access. The user may be asked, so it can take any time.
  ///
  /// - Returns: the access that the program has now.
  public func requestAuthorization(for level: AccessLevel) async throws -> AuthorizationStatus {
    try await patiently { try await self.requestAuthorization(level) }
  }
}
