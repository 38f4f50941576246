import Foundation
import Glibc
import PhotoModel
import Varlink

// Calls to the spawned daemon.

extension DaemonFixture {
  package func connect() async throws -> VarlinkClient { try await VarlinkClient.connect(path: socket) }

  package func call<Reply: Decodable>(
    _ method: String, _ parameters: some Encodable = VarlinkEmpty(), returning: Reply.Type = VarlinkEmpty.self
  ) async throws -> Reply {
    let client = try await connect()
    return try await client.call("org.photod.library." + method, parameters, returning: Reply.self)
  }

  package func status() async throws -> LibraryStatus {
    struct Reply: Decodable { let status: LibraryStatus }
    return try await call("Status", returning: Reply.self).status
  }

  @discardableResult
  package func synchronize(timeout: Double = 120) async throws -> String {
    struct Parameters: Encodable { let timeoutSeconds: Double }
    struct Reply: Decodable { let token: String }
    return try await call("Synchronize", Parameters(timeoutSeconds: timeout), returning: Reply.self).token
  }

  /// The first status of which this holds.
  @discardableResult
  package func status(where holds: (LibraryStatus) -> Bool) async throws -> LibraryStatus {
    struct Reply: Decodable { let status: LibraryStatus }
    let client = try await connect()
    for try await reply in client.stream("org.photod.library.Status", VarlinkEmpty(), of: Reply.self)
    where holds(reply.status) {
      await client.close()
      return reply.status
    }
    throw POSIXError(.EPIPE)
  }

  package func assets(_ options: FetchOptions = FetchOptions()) async throws -> [Asset] {
    struct Parameters: Encodable { let options: FetchOptions }
    struct Page: Decodable { let assets: [Asset] }
    let client = try await connect()
    var assets: [Asset] = []
    for try await page in client.stream("org.photod.library.Fetch", Parameters(options: options), of: Page.self) {
      assets += page.assets
    }
    return assets
  }

  package func ids(_ options: FetchOptions = FetchOptions()) async throws -> (token: String, ids: [AssetID]) {
    struct Parameters: Encodable { let options: FetchOptions }
    struct Page: Decodable {
      let token: String
      let ids: [AssetID]
    }
    let client = try await connect()
    var ids: [AssetID] = []
    var token = ""
    for try await page in client.stream("org.photod.library.FetchIDs", Parameters(options: options), of: Page.self) {
      ids += page.ids
      token = page.token
    }
    return (token, ids)
  }

  @discardableResult
  package func setFavorite(_ ids: [AssetID], _ isFavorite: Bool = true, clientName: String = "test") async throws
    -> String
  {
    struct Parameters: Encodable {
      let requests: [ChangeRequest]
      let clientName: String
    }
    struct Reply: Decodable { let token: String }
    let request = ChangeRequest(editAsset: .init(ids: ids, isFavorite: isFavorite))
    return try await call(
      "PerformChanges", Parameters(requests: [request], clientName: clientName), returning: Reply.self
    ).token
  }

  /// The commits after a token, without those that only change the album Duplicates. photod compares copies once it is
  /// idle, so such a commit may come at any time.
  package func changes(since: String) async throws -> [PersistentChange] {
    struct Parameters: Encodable { let since: String }
    struct Reply: Decodable { let changes: [PersistentChange] }
    let changes = try await call("FetchPersistentChanges", Parameters(since: since), returning: Reply.self).changes
    return changes.filter { !$0.isOfDuplicates }
  }

  package func pathsInLibrary() async throws -> Set<String> { Set(try await assets().map { $0.resources[0].path }) }
}

extension PersistentChange {
  fileprivate var isOfDuplicates: Bool {
    origin == "rescan" && updatedCollections.count == 1
      && insertedAssets.isEmpty && updatedAssets.isEmpty && deletedAssets.isEmpty && insertedCollections.isEmpty
      && deletedCollections.isEmpty && renamedDirectories.isEmpty && rootAvailability.isEmpty
  }
}
