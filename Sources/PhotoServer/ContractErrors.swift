import PhotoCatalog
import PhotoIndexer
import PhotoModel
import Varlink

/// The errors of `org.photod.library`, from those of the floors below.
enum ContractError {
  private static let interface = "org.photod.library"

  struct InvalidPredicate: Codable, Sendable { let message: String, position: Int }
  struct InvalidText: Codable, Sendable { let message: String, position: Int }
  struct UnknownSortKey: Codable, Sendable { let key: String, known: [String] }
  struct NoSuchAsset: Codable, Sendable { let ids: [Int64] }
  struct NoSuchCollection: Codable, Sendable { let collection: String, similar: [String] }
  struct AmbiguousCollection: Codable, Sendable { let collection: String, candidates: [String] }
  struct ChangeTokenExpired: Codable, Sendable { let message: String, currentToken: String }
  struct ChangeRejected: Codable, Sendable { let requestIndex: Int, message: String }
  struct NotInLibrary: Codable, Sendable { let path: String, message: String }
  struct Message: Codable, Sendable { let message: String }

  static func tokenExpired(_ message: String, current: ChangeToken) -> VarlinkError {
    make("ChangeTokenExpired", ChangeTokenExpired(message: message, currentToken: current.description))
  }

  static func snapshotExpired() -> VarlinkError {
    make(
      "SnapshotExpired", Message(message: "The reply was not read for 10 seconds. Fetch again, and read as it comes."))
  }

  static func unavailable(_ message: String) -> VarlinkError { make("LibraryUnavailable", Message(message: message)) }

  /// What is asked while a damaged catalog is replaced.
  static let damaged =
    "The catalog is damaged. photod makes it anew now, with everything that you typed: ask again in a moment."

  static func from(_ error: FetchError) -> VarlinkError {
    switch error {
    case .invalidPredicate(let message, let position):
      make("InvalidPredicate", InvalidPredicate(message: message, position: position))
    case .invalidText(let message, let position):
      make("InvalidText", InvalidText(message: message, position: position))
    case .unknownSortKey(let key, let known): make("UnknownSortKey", UnknownSortKey(key: key, known: known))
    case .noSuchCollection(let collection, let similar):
      make("NoSuchCollection", NoSuchCollection(collection: collection, similar: similar))
    case .ambiguousCollection(let collection, let candidates):
      make("AmbiguousCollection", AmbiguousCollection(collection: collection, candidates: candidates))
    case .invalidOption(let field, _): .invalidParameter("options.\(field)")
    }
  }

  static func from(_ error: LibraryError, method: String) -> VarlinkError {
    switch error {
    case .noSuchAsset(let ids): make("NoSuchAsset", NoSuchAsset(ids: ids))
    case .changeRejected(let index, let message):
      make("ChangeRejected", ChangeRejected(requestIndex: index, message: message))
    case .notImplemented: .methodNotImplemented("\(interface).\(method)")
    case .notInLibrary(let path, let message): make("NotInLibrary", NotInLibrary(path: path, message: message))
    case .timedOut(let message): make("TimedOut", Message(message: message))
    case .unavailable(let message): unavailable(message)
    case .storageFull(let message): make("StorageFull", Message(message: message))
    }
  }

  private static func make<Parameters: Encodable>(_ name: String, _ parameters: Parameters) -> VarlinkError {
    VarlinkError("\(interface).\(name)", parameters)
  }
}
