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
    if let name = parameters.clientName { connections.name(call, name) }
    let token = try await libraryTurns.run(for: call.peer) {
      try await library.perform(
        parameters.requests.map {
          .editAssets(
            $0.editAsset?.ids ?? [], .init(isFavorite: $0.editAsset?.isFavorite, isHidden: $0.editAsset?.isHidden))
        }, clientName: parameters.clientName
      ).token
    }
    try await call.reply(ChangeResult(token: token.description, createdAlbumIDs: []))
  }

  private static func checkIDCount(of requests: [ChangeRequest]) throws {
    var count = 0
    for (index, request) in requests.enumerated() {
      count += request.editAsset?.ids.count ?? 0
      guard count <= RequestLimits.maximumChangedIDs else {
        throw VarlinkError.invalidParameter("requests[\(index)].editAsset.ids")
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
