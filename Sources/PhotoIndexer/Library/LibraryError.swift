import PhotoCatalog
import PhotoModel

/// The reason why a call on the library fails. Each is an error of `org.photod.library`.
package enum LibraryError: Error, Sendable, Equatable {
  case noSuchAsset([AssetID])
  case noSuchCollection(CollectionID)
  case changeRejected(requestIndex: Int, message: String)
  case changeTokenExpired(current: ChangeToken)
  /// A later version implements it.
  case notImplemented(String)
  case notInLibrary(path: String, message: String)
  case timedOut(String)
  case unavailable(String)
  case storageFull(String)
}

extension LibraryError {
  init(_ failure: ChangeFailure) {
    switch failure.reason {
    case .noSuchCollection(let id): self = .noSuchCollection(id)
    case .noSuchAssets(let ids): self = .noSuchAsset(ids)
    case .rejected(let message):
      self = .changeRejected(requestIndex: failure.index, message: message)
    }
  }
}
