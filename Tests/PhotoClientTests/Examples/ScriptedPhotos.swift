import Foundation
import PhotoModel
import Synchronization
import Varlink

@testable import PhotoContract

/// A library of photos that never changes, their pictures, and an access that the test chooses.
final class ScriptedPhotos: Sendable {
  private struct State {
    var caching: [String] = []
    var requested: Set<Int64> = []
    var cancelled: Set<Int64> = []
  }

  let ids: [AssetID]
  private let status: AuthorizationStatus
  /// The answer of the user, if the program asks.
  private let decision: AuthorizationStatus
  private let state = Mutex(State())
  private let results = AsyncStream.makeStream(of: [ImageResult].self)

  init(_ ids: [AssetID], status: AuthorizationStatus = .authorized, decision: AuthorizationStatus = .authorized) {
    (self.ids, self.status, self.decision) = (ids, status, decision)
  }

  /// The calls about caching, in their order: the method and the positions in the list.
  var caching: [String] { state.withLock { $0.caching } }
  var requestCount: Int { state.withLock { $0.requested.count } }
  var cancelledCount: Int { state.withLock { $0.cancelled.count } }

  static func filename(_ id: AssetID) -> String { "\(id).jpg" }

  var answers: [String: ScriptedDaemon.Answer] {
    [
      "AuthorizationStatus": { try await $0.reply(Authorization(status: self.status, client: "test")) },
      "RequestAuthorization": { try await $0.reply(AuthorizationReply(status: self.decision)) },
      "FetchCollections": fetchCollections, "FetchIDs": fetchIDs, "GetAssets": getAssets,
      "OpenSession": openSession, "RequestImages": requestImages, "CancelRequests": cancelRequests,
      "StartCaching": { try await self.cache("start", $0) }, "StopCaching": { try await self.cache("stop", $0) },
      "StopCachingAll": { call in
        self.state.withLock { $0.caching.append("stop all") }
        try await call.reply(VarlinkEmpty())
      },
    ]
  }

  // MARK: - The library

  private func fetchCollections(_ call: VarlinkServiceCall) async throws {
    let kinds = try call.parameters(FetchCollectionsRequest.self).kinds ?? []
    let collections =
      kinds.contains("album")
      ? [AssetCollection(id: 30, kind: .album, title: "Rome", count: 2, keyAssetID: ids.first)]
      : [
        AssetCollection(id: 1, kind: .smartAlbum, subtype: "favorites", title: "Favorites", count: 0),
        AssetCollection(
          id: 2, kind: .smartAlbum, subtype: "recents", title: "Recents", count: ids.count, keyAssetID: ids.first),
      ]
    try await call.reply(CollectionPage(token: "l.1.1", collections: collections))
  }

  private func fetchIDs(_ call: VarlinkServiceCall) async throws {
    try await call.reply(AssetIDPage(token: "l.1.1", total: ids.count, offset: 0, ids: ids))
  }

  private func getAssets(_ call: VarlinkServiceCall) async throws {
    let assets = try call.parameters(GetAssetsRequest.self).ids.map { id in
      var found = asset(id)
      let name = Self.filename(id)
      found.resources = [
        Resource(kind: .photo, path: "/photos/" + name, filename: name, byteCount: 2_345_678, contentType: "image/jpeg")
      ]
      return found
    }
    try await call.reply(GetAssetsReply(token: "l.1.1", assets: assets, missing: []))
  }

  // MARK: - Pictures

  private func openSession(_ call: VarlinkServiceCall) async throws {
    try await call.replyContinuing(OpenSessionReply(session: "s", results: []))
    for await results in results.stream {
      try await call.replyContinuing(OpenSessionReply(session: "s", results: results))
    }
  }

  private func requestImages(_ call: VarlinkServiceCall) async throws {
    let requests = try call.parameters(RequestImagesRequest.self).requests
    state.withLock { $0.requested.formUnion(requests.map(\.id)) }
    for request in requests {
      let modes: [ImageDeliveryMode?] = [nil, .opportunistic]
      if modes.contains(request.deliveryMode) { results.continuation.yield([result(request.id, isFinal: false)]) }
      results.continuation.yield([result(request.id, isFinal: true)])
    }
    try await call.reply(VarlinkEmpty())
  }

  /// Unlike photod, it sends results of cancelled requests.
  private func cancelRequests(_ call: VarlinkServiceCall) async throws {
    let ids = try call.parameters(CancelRequestsRequest.self).ids ?? []
    state.withLock { $0.cancelled.formUnion(ids) }
    for id in ids { results.continuation.yield([result(id, isFinal: true)]) }
    try await call.reply(CancelRequestsReply(cancelled: ids))
  }

  private func result(_ id: Int64, isFinal: Bool) -> ImageResult {
    ImageResult(
      requestID: id, isFinal: isFinal,
      image: ImageDescription(
        path: "/none", contentType: "image/jpeg", width: isFinal ? 128 : 32, height: isFinal ? 96 : 24, byteCount: 1,
        isDegraded: !isFinal, revision: "r"))
  }

  private func cache(_ name: String, _ call: VarlinkServiceCall) async throws {
    let request = try call.parameters(CachingRequest.self)
    let positions = request.assetIDs.compactMap { ids.firstIndex(of: $0) }.sorted()
    if let first = positions.min(), let last = positions.max() {
      let isRun = positions == Array(first...last)
      state.withLock { $0.caching.append("\(name) \(first)..<\(last + 1)\(isRun ? "" : " with gaps")") }
    }
    try await call.reply(VarlinkEmpty())
  }
}
