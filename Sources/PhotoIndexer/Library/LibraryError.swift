import PhotoModel

/// The reason why a call on the library fails. Each is an error of `org.photod.library`.
package enum LibraryError: Error, Sendable, Equatable {
  case noSuchAsset([AssetID])
  case changeRejected(requestIndex: Int, message: String)
  /// A later version implements it.
  case notImplemented(String)
  case notInLibrary(path: String, message: String)
  case timedOut(String)
  case unavailable(String)
  case storageFull(String)
}
