import PhotoModel
import Varlink

/// One user's photo library, as the daemon answers for it.
///
/// ```swift
/// let library = PhotoLibrary(clientName: "slideshow")
/// for try await page in library.fetch(FetchOptions(collection: "smart:favorites")) {
///   for asset in page.assets { print(asset.resources[0].path) }
/// }
/// ```
///
/// Nothing is connected before the first call. Calls of all tasks share one connection, which is made anew when the
/// daemon closed it (it does after 10 minutes without a call, and when it restarts). Each iteration of a stream has a
/// connection of its own and closes it when the loop is left.
///
/// Every call throws ``PhotoLibraryError`` or `CancellationError`, and nothing else.
public final class PhotoLibrary: Sendable {
  /// Where the daemon is called.
  public let socketPath: String
  /// How observers see who made a change: its origin is `client:<name>`.
  public let clientName: String?
  private let connection: SharedConnection

  /// - Parameters:
  ///   - socketPath: by default ``defaultSocketPath``.
  ///   - clientName: a word for this program.
  public init(socketPath: String = PhotoLibrary.defaultSocketPath, clientName: String? = nil) {
    self.socketPath = socketPath
    self.clientName = clientName
    connection = SharedConnection(path: socketPath)
  }

  // MARK: - Fetching

  /// The assets of a list, in pages of one snapshot: nothing comes twice, nothing is missed while the library changes.
  ///
  /// Read the pages as they come: one that is not taken for 10 s ends the stream with
  /// ``PhotoLibraryError/snapshotExpired(message:)``. An empty list is one page without assets.
  /// - Parameter pageSize: assets a page, at most 5,000; the daemon's choice (500) by default. A page may be shorter.
  public func fetch(
    _ options: FetchOptions = FetchOptions(), offset: Int? = nil, pageSize: Int? = nil
  ) -> LibraryReplies<AssetPage> {
    stream("Fetch", FetchCall(options: options, offset: offset, count: pageSize), of: HandRead<AssetPage>.self) {
      $0.value
    }
  }

  /// One page of a list. The next call sees the library as it is then: compare the tokens.
  public func fetchPage(
    _ options: FetchOptions = FetchOptions(), offset: Int? = nil, count: Int? = nil
  ) async throws -> AssetPage {
    try await call(
      "Fetch", FetchCall(options: options, offset: offset, count: count), returning: HandRead<AssetPage>.self
    ).value
  }

  /// What predicates and sort descriptors may name, for completion and pickers.
  public func listKeys() async throws -> ListKeys {
    try await call("ListKeys", VarlinkEmpty(), returning: ListKeys.self)
  }

  /// The ids of a whole list, for a program that loads objects as it shows them.
  public func fetchIDs(_ options: FetchOptions = FetchOptions()) -> LibraryReplies<AssetIDPage> {
    stream("FetchIDs", FetchIDsCall(options: options), of: HandRead<AssetIDPage>.self) { $0.value }
  }

  /// The assets with these ids, in the order of the ids; those that the library has not are left out.
  ///
  /// More than 1,000 ids take several calls, between which the library may change.
  public func assets(_ ids: [Int64]) async throws -> [Asset] {
    var assets: [Int64: Asset] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      let asked = Array(rest.prefix(Self.maximumPerCall))
      let reply = try await call("GetAssets", GetAssetsCall(ids: asked), returning: HandRead<GetAssetsReply>.self).value
      for asset in reply.assets { assets[asset.id] = asset }
      let answered = Set(reply.assets.map(\.id)).union(reply.missing)
      // What did not fit in the reply is asked for again.
      let unanswered = asked.filter { !answered.contains($0) }
      guard unanswered.count < asked.count else {
        throw PhotoLibraryError.malformedReply("GetAssets answered for none of \(asked.count) ids")
      }
      rest = unanswered + rest.dropFirst(asked.count)
    }
    return ids.compactMap { assets[$0] }
  }

  /// The ids of the assets that these files belong to, parallel to the paths; `nil` where the library has none.
  ///
  /// - Parameter paths: absolute, written as `FilePath` of PhotoModel does.
  public func findAssets(paths: [String]) async throws -> [Int64?] {
    var found: [Int64?] = []
    var rest = paths[...]
    while !rest.isEmpty {
      let asked = Array(rest.prefix(Self.maximumPerCall))
      let ids = try await call("FindAssets", FindAssetsCall(paths: asked), returning: FindAssetsReply.self).ids
      guard ids.count == asked.count else {
        throw PhotoLibraryError.malformedReply("FindAssets answered \(ids.count) ids for \(asked.count) paths")
      }
      found += ids.map { $0 == 0 ? nil : $0 }
      rest = rest.dropFirst(asked.count)
    }
    return found
  }

  /// The albums: smart albums, the user's own, and one for each folder.
  ///
  /// - Parameter assetID: only those that hold this asset.
  public func collections(
    kinds: [AssetCollection.Kind]? = nil, containing assetID: Int64? = nil
  ) async throws -> [AssetCollection] {
    let parameters = FetchCollectionsCall(kinds: kinds, containingAsset: assetID)
    var collections: [AssetCollection] = []
    for try await page in stream("FetchCollections", parameters, of: CollectionsReply.self, { $0.collections }) {
      collections += page
    }
    return collections
  }

  // MARK: - Observing

  /// A list, and then every difference as it happens; it never ends by itself. ``FetchResultReplica`` takes them in.
  ///
  /// A reader that falls behind gets one difference from what it last received to what is true now.
  /// - Parameters:
  ///   - since: the token of an earlier observation with the same options, to go on from.
  ///   - sinceDigest: of the list at `since`: proves that both mean the same list, and is as good as the list itself where
  ///     that is the same now.
  ///   - sinceIDs: the list at `since`, for a token older than the daemon remembers, or after it restarted.
  ///   - objects: whole assets come beside the details while a message stays under 512 KiB.
  ///   - reloadOnly: not what changed, only that something did.
  public func observe(
    _ options: FetchOptions = FetchOptions(), since: String? = nil, sinceDigest: String? = nil,
    sinceIDs: [Int64]? = nil, objects: Bool = false, reloadOnly: Bool = false
  ) -> LibraryReplies<Observation> {
    let parameters = ObserveCall(
      options: options, since: since, sinceDigest: sinceDigest, sinceIDs: sinceIDs, objects: objects ? true : nil,
      reloadOnly: reloadOnly ? true : nil)
    return stream("Observe", parameters, of: HandRead<ObserveReply>.self) { $0.value.observation }
  }

  /// Goes on with a list that is held already: at most one difference, or the list anew where that can't be had.
  public func observe(
    _ options: FetchOptions = FetchOptions(), resuming replica: FetchResultReplica, objects: Bool = false
  ) -> LibraryReplies<Observation> {
    guard let token = replica.token else { return observe(options, objects: objects) }
    // A call has 16 MiB. A list of some two millions does not fit; its digest does.
    let digits = String(replica.ids.max() ?? 0).utf8.count + 1
    let ids = replica.ids.count <= (15 << 20) / digits ? replica.ids : nil
    return observe(
      options, since: token, sinceDigest: replica.digest.description, sinceIDs: ids, objects: objects)
  }

  /// The albums as ``collections(kinds:containing:)`` gives them, and then every difference of title, count, cover and order
  /// as it happens; it never ends by itself. ``CollectionListReplica`` takes them in.
  ///
  /// A reader that falls behind gets one difference from what it last received to what is true now. There is nothing to go
  /// on from on another connection: the list is short, and comes whole; ``CollectionListReplica`` takes that in as it is.
  public func observeCollections(kinds: [AssetCollection.Kind]? = nil) -> LibraryReplies<CollectionObservation> {
    stream("ObserveCollections", ObserveCollectionsCall(kinds: kinds), of: CollectionObservation.self) { $0 }
  }

  /// What was committed to the library, oldest first.
  ///
  /// - Parameters:
  ///   - since: a token; by default from now. An old one throws ``PhotoLibraryError/changeTokenExpired(message:currentToken:)``.
  ///   - follow: goes on with changes as they happen, and never ends by itself. Pages may be empty.
  public func persistentChanges(since: String? = nil, follow: Bool = false) -> LibraryReplies<HistoryPage> {
    stream("FetchPersistentChanges", HistoryCall(since: since, follow: follow ? true : nil), of: HistoryPage.self) {
      $0
    }
  }

  /// Returns once everything that happened in the watched folders before the call is in the library.
  ///
  /// - Parameter timeout: the daemon's 30 s by default; then ``PhotoLibraryError/timedOut(message:)``.
  /// - Returns: the token of the library as it is then.
  @discardableResult
  public func synchronize(timeout: Duration? = nil) async throws -> String {
    try await call("Synchronize", SynchronizeCall(timeoutSeconds: timeout?.seconds), returning: TokenReply.self).token
  }

  // MARK: - Changing

  /// All of these changes in one transaction, or none. Durable when it returns.
  ///
  /// It has a connection of its own, so that a failure never means "perhaps carried out, perhaps not" because of an
  /// idle connection that the daemon closed: after ``PhotoLibraryError/connectionClosed`` the daemon was there, and died.
  @discardableResult
  public func performChanges(_ requests: [ChangeRequest]) async throws -> ChangeResult {
    try await translatingErrors {
      let client = try await VarlinkClient.connect(path: socketPath)
      let result = try await client.call(
        "\(Self.interface).PerformChanges", PerformChangesCall(requests: requests, clientName: clientName),
        returning: ChangeResult.self)
      await client.close()
      return result
    }
  }

  // MARK: - The daemon itself

  public func status() async throws -> LibraryStatus {
    try await call("Status", VarlinkEmpty(), returning: StatusReply.self).status
  }

  /// The status, and again whenever it changes, at most ten times a second; it never ends by itself.
  public func statusUpdates() -> LibraryReplies<LibraryStatus> {
    stream("Status", VarlinkEmpty(), of: StatusReply.self) { $0.status }
  }

  /// Why a path is, or is not, in the library: which rule, error, limit or queue decides it.
  public func explain(path: String) async throws -> PathExplanation {
    try await call("Explain", ExplainCall(path: path), returning: PathExplanation.self)
  }

  /// Compares folders with the catalog.
  ///
  /// - Parameters:
  ///   - path: a folder or file below a root; everything by default.
  ///   - dryRun: counts only.
  ///   - confirm: what is missing really is gone. It ends a root's state `suspect`.
  public func rescan(path: String? = nil, dryRun: Bool = false, confirm: Bool = false) async throws -> RescanResult {
    try await call(
      "Rescan", RescanCall(path: path, dryRun: dryRun ? true : nil, confirm: confirm ? true : nil),
      returning: RescanResult.self)
  }

  // MARK: - Calls

  static let interface = "org.photod.library"
  /// Of ids or paths, by the contract.
  private static let maximumPerCall = 1_000

  /// Calls that may be carried out twice: all but PerformChanges.
  func call<P: Encodable & Sendable, R: Decodable>(
    _ method: String, in interface: String = PhotoLibrary.interface, _ parameters: P, returning type: R.Type
  ) async throws -> R {
    try await translatingErrors {
      let (client, isNew) = try await connection.client()
      do {
        return try await client.call("\(interface).\(method)", parameters, returning: type)
      } catch VarlinkClientError.connectionClosed {
        await connection.drop(client)
        // An old connection may have been closed for being idle, or with an earlier daemon.
        if isNew { throw VarlinkClientError.connectionClosed }
      }
      let (another, _) = try await connection.client()
      return try await another.call("\(interface).\(method)", parameters, returning: type)
    }
  }

  func stream<P: Encodable & Sendable, Wire: Decodable & Sendable, Element>(
    _ method: String, in interface: String = PhotoLibrary.interface, _ parameters: P, of wire: Wire.Type,
    _ element: @escaping @Sendable (Wire) -> Element
  ) -> LibraryReplies<Element> {
    LibraryReplies(path: socketPath, method: "\(interface).\(method)", parameters, of: wire, element)
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// The connection for calls, made when it is needed.
private actor SharedConnection {
  private let path: String
  private var current: VarlinkClient?

  init(path: String) { self.path = path }

  /// A connection, and whether it was made for this call.
  func client() async throws -> (VarlinkClient, isNew: Bool) {
    if let current { return (current, false) }
    let client = try await VarlinkClient.connect(path: path)
    // Another task may have connected in the meantime.
    if let current { return (current, false) }
    current = client
    return (client, true)
  }

  /// Forgets a connection that is closed.
  func drop(_ client: VarlinkClient) {
    if current === client { current = nil }
  }
}
