import PhotoContract
import PhotoModel
import Synchronization
import Varlink

/// One user's photo library, as its daemon serves it.
///
/// ```swift
/// let library = PhotoLibrary(clientName: "slideshow")
/// let favorites = try await library.fetchAssets(with: FetchOptions(collection: "smart:favorites"))
/// for try await (_, asset) in favorites.enumerate() { print(asset.resources[0].path) }
/// ```
///
/// A program that shows photos uses results (``fetchAssets(with:)``) and their changes (``changes(for:onProblem:)``). The
/// other methods are the calls of the contract themselves.
///
/// No connection is made before the first call. The calls of all tasks share at most four connections, so a slow call holds
/// up no other, unless four are slow. A connection is made again if the daemon closed it. The daemon does so after 10
/// minutes without a call, and when it restarts. Calls that may take long, such as ``synchronize(timeout:)``, have their own
/// connection. Each iteration of a stream also has its own connection, and closes it when the loop is left.
///
/// While photod is away, fetches, results, changes and the reading of files wait for it: for 30 s, because it may be
/// restarting. A library that photod has never answered waits for 2 s, because photod is probably not installed or not
/// started. The calls of the contract, such as ``fetchPage(_:offset:count:)``, don't wait.
///
/// Every call throws ``PhotoLibraryError`` or `CancellationError`, and nothing else.
public final class PhotoLibrary: Sendable {
  /// The path of the daemon's socket.
  public let socketPath: String
  /// The name by which observers see who made a change. Its origin is `client:<name>`.
  public let clientName: String?
  /// How long a call that waits for photod is repeated while photod is away, for example while it is restarted.
  let patience: Duration
  /// Whether photod has replied to a call since this library was made.
  let hasBeenReached = Atomic(false)
  private let connection: SharedConnection

  /// - Parameters:
  ///   - socketPath: by default ``defaultSocketPath``.
  ///   - clientName: a word that names this program.
  public convenience init(socketPath: String = PhotoLibrary.defaultSocketPath, clientName: String? = nil) {
    self.init(socketPath: socketPath, clientName: clientName, patience: .seconds(30))
  }

  package init(socketPath: String, clientName: String? = nil, patience: Duration) {
    self.socketPath = socketPath
    self.clientName = clientName
    self.patience = patience
    connection = SharedConnection(path: socketPath)
  }

  // MARK: - Fetching

  /// The assets of a list, in pages of one snapshot. No asset comes twice or is missed while the library changes.
  ///
  /// Read the pages as they come. If a page is not read for 10 s, the stream ends with
  /// ``PhotoLibraryError/snapshotExpired(message:)``. An empty list is one page without assets.
  /// - Parameter pageSize: the number of assets in a page, at most 5,000; by default 500. A page may be shorter.
  /// - Complexity: O(n) for n assets, of which one page is in memory.
  public func fetch(
    _ options: FetchOptions = FetchOptions(), offset: Int? = nil, pageSize: Int? = nil
  ) -> LibraryReplies<AssetPage> {
    stream("Fetch", FetchRequest(options: options, offset: offset, count: pageSize), of: FastDecoded<AssetPage>.self) {
      $0.value
    }
  }

  /// One page of a list. The next call may see a changed library, so compare the tokens.
  ///
  /// - Complexity: O(k) for the k assets of the page, after photod has selected and sorted the list.
  public func fetchPage(
    _ options: FetchOptions = FetchOptions(), offset: Int? = nil, count: Int? = nil
  ) async throws -> AssetPage {
    try await call(
      "Fetch", FetchRequest(options: options, offset: offset, count: count), returning: FastDecoded<AssetPage>.self
    ).value
  }

  /// The keys for predicates and sort descriptors, for completion and pickers.
  public func listKeys() async throws -> ListKeys {
    try await call("ListKeys", VarlinkEmpty(), returning: ListKeys.self)
  }

  /// The values that the assets of a list have for a key, each with its number of assets, the most frequent first.
  ///
  /// - Parameters:
  ///   - key: one of the `valueKeys` of ``listKeys()``, such as `camera.lens`, `keywords` or `year`.
  ///   - prefix: restricts the result to values that begin with it, in any case.
  ///   - limit: the most values in the result, at most 10,000; by default 100.
  /// - Complexity: O(n) for the n assets of the list, which photod counts. The reply has the values only.
  public func values(
    of key: String, prefix: String? = nil, limit: Int? = nil, in options: FetchOptions? = nil
  ) async throws -> ValueCounts {
    let request = ListValuesRequest(key: key, prefix: prefix, limit: limit, options: options)
    let counts = try await call("ListValues", request, returning: ValueCounts.self)
    guard counts.values.count == counts.counts.count else {
      throw PhotoLibraryError.malformedReply(
        "ListValues replied with \(counts.values.count) values and \(counts.counts.count) counts")
    }
    return counts
  }

  /// The ids of a whole list, for a program that loads assets as it shows them.
  ///
  /// - Complexity: O(n) for n ids, of which one page is in memory.
  public func fetchIDs(_ options: FetchOptions = FetchOptions()) -> LibraryReplies<AssetIDPage> {
    stream("FetchIDs", FetchIDsRequest(options: options), of: FastDecoded<AssetIDPage>.self) { $0.value }
  }

  /// The assets with these ids, in the order of the ids. Ids without an asset are left out.
  ///
  /// More than 1,000 ids take several calls, between which the library may change.
  ///
  /// - Complexity: O(n) for n ids, with a call for each 1,000.
  public func assets(_ ids: [AssetID]) async throws -> [Asset] {
    var assets: [AssetID: Asset] = [:]
    var rest = ids[...]
    while !rest.isEmpty {
      let asked = Array(rest.prefix(RequestLimits.maximumIDs))
      let reply = try await call("GetAssets", GetAssetsRequest(ids: asked), returning: FastDecoded<GetAssetsReply>.self)
        .value
      for asset in reply.assets { assets[asset.id] = asset }
      let answered = Set(reply.assets.map(\.id)).union(reply.missing)
      // Assets that did not fit in the reply are requested again.
      let unanswered = asked.filter { !answered.contains($0) }
      guard unanswered.count < asked.count else {
        throw PhotoLibraryError.malformedReply("GetAssets replied with none of \(asked.count) ids")
      }
      rest = unanswered + rest.dropFirst(asked.count)
    }
    return ids.compactMap { assets[$0] }
  }

  /// The ids of the assets to which these files belong, parallel to the paths. `nil` if the library does not have the
  /// file.
  ///
  /// - Parameter paths: absolute, in the form that `FilePath` of PhotoModel defines.
  /// - Complexity: O(n) for n paths, with a call for each 1,000.
  public func findAssets(paths: [String]) async throws -> [AssetID?] {
    var found: [AssetID?] = []
    var rest = paths[...]
    while !rest.isEmpty {
      let asked = Array(rest.prefix(RequestLimits.maximumIDs))
      let ids = try await call("FindAssets", FindAssetsRequest(paths: asked), returning: FindAssetsReply.self).ids
      guard ids.count == asked.count else {
        throw PhotoLibraryError.malformedReply("FindAssets replied with \(ids.count) ids for \(asked.count) paths")
      }
      found += ids.map { $0 == 0 ? nil : $0 }
      rest = rest.dropFirst(asked.count)
    }
    return found
  }

  /// The albums: smart albums, the user's own albums, and one for each folder.
  ///
  /// - Parameter assetID: restricts the result to albums that contain this asset.
  /// - Complexity: O(n) for n albums.
  public func collections(
    kinds: [AssetCollection.Kind]? = nil, containing assetID: AssetID? = nil
  ) async throws -> [AssetCollection] {
    let parameters = FetchCollectionsRequest(kinds: kinds?.map(\.rawValue), containingAsset: assetID)
    var collections: [AssetCollection] = []
    for try await page in stream("FetchCollections", parameters, of: CollectionPage.self, { $0.collections }) {
      collections += page
    }
    return collections
  }

  // MARK: - Observing

  /// A list, followed by every difference as it happens. It never ends by itself. ``FetchResultReplica`` applies the
  /// observations.
  ///
  /// A reader that falls behind gets one difference from its last observation to the present list.
  /// - Parameters:
  ///   - since: the token of an earlier observation with the same options, to continue from there.
  ///   - sinceDigest: the digest of the list at `since`. It proves that both sides mean the same list. If the list has
  ///     not changed, it replaces `sinceIDs`.
  ///   - sinceIDs: the list at `since`, for a token that the daemon no longer remembers, for example after its restart.
  ///   - objects: whether whole assets accompany the details, as long as a message stays below 512 KiB.
  ///   - reloadOnly: reports only that the list changed, not how.
  ///   - unchanged: whether there is also an observation after commits that left the list as it was. An earlier photod
  ///     throws ``PhotoLibraryError/invalidParameter(_:)``.
  /// - Complexity: the reply has the ids of the whole list at the start, and grows with the change later. The call
  ///   sends `sinceIDs`.
  public func observe(
    _ options: FetchOptions = FetchOptions(), since: String? = nil, sinceDigest: String? = nil,
    sinceIDs: [AssetID]? = nil, objects: Bool = false, reloadOnly: Bool = false, unchanged: Bool = false
  ) -> LibraryReplies<Observation> {
    let parameters = ObserveRequest(
      options: options, since: since, sinceDigest: sinceDigest, sinceIDs: sinceIDs, objects: objects ? true : nil,
      reloadOnly: reloadOnly ? true : nil, unchanged: unchanged ? true : nil)
    return observe(parameters)
  }

  func observe(_ request: ObserveRequest) -> LibraryReplies<Observation> {
    stream("Observe", request, of: FastDecoded<ObserveReply>.self) { $0.value.observation }
  }

  /// Continues with a list that the client already has. The first observation is one difference at most, or the whole
  /// list if there is none.
  ///
  /// - Complexity: O(n) for the n ids of the replica, which the call sends. The replies grow with the changes.
  public func observe(
    _ options: FetchOptions = FetchOptions(), resuming replica: FetchResultReplica, objects: Bool = false
  ) -> LibraryReplies<Observation> {
    var request = Self.request(options, resuming: replica)
    request.objects = objects ? true : nil
    return observe(request)
  }

  static func request(_ options: FetchOptions, resuming replica: FetchResultReplica) -> ObserveRequest {
    guard let token = replica.token else { return ObserveRequest(options: options) }
    // A call has at most 16 MiB. A list of some two million ids does not fit, but its digest does.
    let digits = (replica.ids.max() ?? 0).description.utf8.count + 1
    let ids = replica.ids.count <= (15 << 20) / digits ? replica.ids : nil
    return ObserveRequest(options: options, since: token, sinceDigest: replica.digest.description, sinceIDs: ids)
  }

  /// The albums as from ``collections(kinds:containing:)``, followed by every difference of title, count, cover and
  /// order as it happens. It never ends by itself. ``CollectionListReplica`` applies the observations.
  ///
  /// A reader that falls behind gets one difference from its last observation to the present list. An observation can't
  /// be continued on another connection. The list is short and comes whole, and ``CollectionListReplica`` accepts it as
  /// it is.
  ///
  /// - Parameter unchanged: as for ``observe(_:since:sinceDigest:sinceIDs:objects:reloadOnly:unchanged:)``.
  /// - Complexity: the list at the beginning has O(n) collections. A difference has those that changed.
  public func observeCollections(
    kinds: [AssetCollection.Kind]? = nil, unchanged: Bool = false
  ) -> LibraryReplies<CollectionObservation> {
    observeCollections(
      ObserveCollectionsRequest(kinds: kinds?.map(\.rawValue), unchanged: unchanged ? true : nil))
  }

  func observeCollections(_ request: ObserveCollectionsRequest) -> LibraryReplies<CollectionObservation> {
    stream("ObserveCollections", request, of: CollectionObservation.self) { $0 }
  }

  /// The commits of the library, oldest first, in pages.
  ///
  /// An outage of photod ends the stream with an error. A program that follows the history calls
  /// ``followPersistentChanges(since:onProblem:)``, which continues.
  ///
  /// - Parameters:
  ///   - since: a token; by default the present one. An old one throws
  ///     ``PhotoLibraryError/changeTokenExpired(message:currentToken:)``.
  ///   - follow: continues with changes as they happen, and never ends by itself. Pages may be empty.
  /// - Complexity: O(n) for n commits, of which one page is in memory.
  public func persistentChanges(since: String? = nil, follow: Bool = false) -> LibraryReplies<HistoryPage> {
    stream("FetchPersistentChanges", HistoryRequest(since: since, follow: follow ? true : nil), of: HistoryPage.self) {
      $0
    }
  }

  /// Returns once everything that happened in the watched folders before the call is in the library.
  ///
  /// - Parameter timeout: the daemon's 30 s by default. After it, the call throws
  ///   ``PhotoLibraryError/timedOut(message:)``.
  /// - Returns: the token of the library at that time.
  @discardableResult
  public func synchronize(timeout: Duration? = nil) async throws -> String {
    try await callAlone(
      "Synchronize", SynchronizeRequest(timeoutSeconds: timeout?.seconds), returning: TokenReply.self
    ).token
  }

  // MARK: - Changing

  /// Makes all of these changes in one transaction, or none. They are durable when it returns.
  ///
  /// It uses its own connection. The daemon might have closed an idle shared one, and then the client could not know
  /// whether the changes were made. After ``PhotoLibraryError/connectionClosed`` they may have been made, unless the log
  /// of photod says that it refused the connection. They may also have been made after a `CancellationError`, if the
  /// task was cancelled when the call had been sent.
  ///
  /// - Parameters:
  ///   - token: if it is given, and one of the edited assets has changed since, or a collection that is edited or deleted,
  ///     no change is made, and it throws ``PhotoLibraryError/changeRejected(requestIndex:message:)``. A change of an asset
  ///     is one of each album that has it.
  ///   - undoGroup: calls with the same group are undone together, even if other clients change something between them.
  ///     Use a new group for each thing that a person does.
  /// - Complexity: O(n) for n assets in the requests. Other writers wait for the transaction.
  @discardableResult
  public func performChanges(
    _ requests: [ChangeRequest], ifUnchangedSince token: String? = nil, undoGroup: String? = nil
  ) async throws -> ChangeResult {
    try await perform(
      PerformChangesRequest(requests: requests, clientName: clientName, ifUnchangedSince: token, undoGroup: undoGroup),
      waiting: false)
  }

  func perform(_ request: PerformChangesRequest, waiting: Bool) async throws -> ChangeResult {
    try await callAlone("PerformChanges", request, returning: ChangeResult.self, waiting: waiting)
  }

  /// The last changes since the daemon started, newest first. A change without a problem can be undone.
  ///
  /// - Parameter origin: only the changes with this origin, such as `client:my-gallery`.
  /// - Complexity: O(n) for n changes. photod keeps at most 100.
  public func undoableChanges(origin: String? = nil) async throws -> [UndoableChange] {
    try await call(
      "FetchUndoableChanges", FetchUndoableChangesRequest(origin: origin), returning: UndoableChangesReply.self
    ).changes
  }

  /// Undoes a change as a whole.
  ///
  /// - Returns: the token of the library with that.
  /// - Throws: ``PhotoLibraryError/changeRejected(requestIndex:message:)`` if the change has a problem, or something of it
  ///   was changed again since.
  @discardableResult
  public func undoChange(_ id: UndoableChange.ID) async throws -> String {
    try await callAlone("UndoChange", UndoChangeRequest(id: id, clientName: clientName), returning: TokenReply.self)
      .token
  }

  // MARK: - Access

  /// The access of this program to the library. Today, each program of the user has all access.
  public func authorization() async throws -> Authorization {
    try await call("AuthorizationStatus", VarlinkEmpty(), returning: Authorization.self)
  }

  /// Requests access. The user may be asked, so it can take any time.
  public func requestAuthorization(_ accessLevel: AccessLevel) async throws -> AuthorizationStatus {
    try await callAlone(
      "RequestAuthorization", AuthorizationRequest(accessLevel: accessLevel), returning: AuthorizationReply.self
    ).status
  }

  // MARK: - The daemon itself

  /// The state of photod: its folders, the work that is pending, and warnings with their remedies.
  public func status() async throws -> LibraryStatus {
    try await call("Status", VarlinkEmpty(), returning: StatusReply.self).status
  }

  /// The status, and again after every change, at most ten times a second. It never ends by itself.
  ///
  /// - Complexity: O(n) for each status, with n roots and warnings.
  public func statusUpdates() -> LibraryReplies<LibraryStatus> {
    stream("Status", VarlinkEmpty(), of: StatusReply.self) { $0.status }
  }

  /// Why a path is or is not in the library: the rule, error, limit or queue that decides it.
  public func explain(path: String) async throws -> PathExplanation {
    try await call("Explain", ExplainRequest(path: path), returning: PathExplanation.self)
  }

  /// Compares folders with the catalog.
  ///
  /// - Parameters:
  ///   - path: a folder or file below a root; by default all roots.
  ///   - dryRun: only counts the differences.
  ///   - confirm: confirms that missing files are really gone. It ends a root's state `suspect`.
  /// - Complexity: O(n) for the n files and folders below the path, which photod looks at. Other calls don't wait for it.
  public func rescan(path: String? = nil, dryRun: Bool = false, confirm: Bool = false) async throws -> RescanResult {
    try await callAlone(
      "Rescan", RescanRequest(path: path, dryRun: dryRun ? true : nil, confirm: confirm ? true : nil),
      returning: RescanResult.self)
  }

  // MARK: - Calls

  /// Closes the connection for calls, so that an idle program holds none. The next call makes another.
  package func disconnect() async { await connection.close() }

  static let interface = "org.photod.library"

  /// Makes a call on its own connection: one that must not be carried out twice, or one that takes so long that the calls
  /// behind it on a shared connection would wait. If the connection is closed before the reply, the daemon may have
  /// carried out the call.
  ///
  /// - Parameter waiting: whether it waits for photod as ``patiently(_:)`` does, until there is a connection. The call
  ///   itself is sent once.
  func callAlone<P: Encodable & Sendable, R: Decodable>(
    _ method: String, in interface: String = PhotoLibrary.interface, _ parameters: P, returning type: R.Type,
    waiting: Bool = false
  ) async throws -> R {
    try await translatingErrors(at: socketPath) {
      let client = waiting ? try await patiently(connect) : try await connect()
      // A cancelled task only stops waiting for the reply. photod would carry out a call that was sent.
      try Task.checkCancellation()
      let result = try await client.call("\(interface).\(method)", parameters, returning: type)
      hasBeenReached.store(true, ordering: .relaxed)
      await client.close()
      return result
    }
  }

  private func connect() async throws -> VarlinkClient {
    try await translatingErrors(at: socketPath) { try await VarlinkClient.connect(path: socketPath) }
  }

  /// Makes a call that may be carried out twice.
  func call<P: Encodable & Sendable, R: Decodable>(
    _ method: String, in interface: String = PhotoLibrary.interface, _ parameters: P, returning type: R.Type
  ) async throws -> R {
    try await translatingErrors(at: socketPath) {
      let (client, isNew) = try await connection.take()
      do {
        return try await reply(on: client, method, in: interface, parameters, returning: type)
      } catch VarlinkClientError.connectionClosed {
        // An old connection may have been idle too long, or have belonged to an earlier daemon.
        if isNew { throw VarlinkClientError.connectionClosed }
      }
      let another = try await connection.takeNew()
      return try await reply(on: another, method, in: interface, parameters, returning: type)
    }
  }

  /// Makes a call on a shared connection, and gives the connection back.
  private func reply<P: Encodable & Sendable, R: Decodable>(
    on client: VarlinkClient, _ method: String, in interface: String, _ parameters: P, returning type: R.Type
  ) async throws -> R {
    do {
      let result = try await client.call("\(interface).\(method)", parameters, returning: type)
      await connection.giveBack(client)
      hasBeenReached.store(true, ordering: .relaxed)
      return result
    } catch let error as VarlinkError {
      await connection.giveBack(client)
      throw error
    } catch {
      // It is closed, or photod still works on a call whose task was cancelled.
      await connection.drop(client)
      throw error
    }
  }

  func stream<P: Encodable & Sendable, Wire: Decodable & Sendable, Element>(
    _ method: String, in interface: String = PhotoLibrary.interface, _ parameters: P, of wire: Wire.Type,
    _ element: @escaping @Sendable (Wire) -> Element
  ) -> LibraryReplies<Element> {
    // photod may end while the stream runs, so its first reply counts and not its end.
    LibraryReplies(path: socketPath, method: "\(interface).\(method)", parameters, of: wire) { [self] reply in
      hasBeenReached.store(true, ordering: .relaxed)
      return element(reply)
    }
  }
}

extension Duration {
  fileprivate var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// The connections for calls, made when they are needed. photod answers the calls of a connection one after another. So
/// each task gets a connection of its own, and a slow call holds up no other. If there are enough, calls share one.
private actor SharedConnection {
  private static let mostConnections = 4

  private let path: String
  /// The connection that was used last is used next, and the others become idle. photod closes an idle one.
  private var connections: [(client: VarlinkClient, callCount: Int)] = []
  private var connectingCount = 0

  init(path: String) { self.path = path }

  /// A connection, and whether it was made for this call. The caller must give it back, or drop it.
  func take() async throws -> (VarlinkClient, isNew: Bool) {
    if let index = connections.lastIndex(where: { $0.callCount == 0 }) { return (share(index), false) }
    if connections.count + connectingCount >= Self.mostConnections, let index = leastBusy {
      return (share(index), false)
    }
    return try await connect()
  }

  /// A connection to the present daemon, after an old one was closed. The free ones may be closed too.
  func takeNew() async throws -> VarlinkClient {
    connections.removeAll { $0.callCount == 0 }
    return try await connect().0
  }

  private func connect() async throws -> (VarlinkClient, isNew: Bool) {
    connectingCount += 1
    defer { connectingCount -= 1 }
    let client = try await VarlinkClient.connect(path: path)
    // Without room, it serves this call only.
    if connections.count < Self.mostConnections { connections.append((client, 1)) }
    return (client, true)
  }

  private var leastBusy: Int? {
    connections.indices.min { connections[$0].callCount < connections[$1].callCount }
  }

  private func share(_ index: Int) -> VarlinkClient {
    connections[index].callCount += 1
    return connections[index].client
  }

  func giveBack(_ client: VarlinkClient) {
    guard let index = connections.firstIndex(where: { $0.client === client }) else { return }
    var connection = connections.remove(at: index)
    connection.callCount -= 1
    connections.append(connection)
  }

  func close() async {
    let closed = connections
    connections = []
    for connection in closed { await connection.client.close() }
  }

  /// Gives no other call this connection. It is closed when its last call has ended.
  func drop(_ client: VarlinkClient) { connections.removeAll { $0.client === client } }
}
