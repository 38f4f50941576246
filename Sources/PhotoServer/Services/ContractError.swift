import PhotoCatalog
import PhotoContract
import PhotoIndexer
import PhotoLive
import PhotoModel
import Varlink

/// Translates the errors of lower layers to those of `org.photod.library`.
enum ContractError {
  private static let interface = "org.photod.library"

  static func tokenExpired(_ message: String, current: ChangeToken) -> VarlinkError {
    make("ChangeTokenExpired", TokenError(message: message, currentToken: current.description))
  }

  static func snapshotExpired(_ reason: String) -> VarlinkError {
    make(
      "SnapshotExpired",
      MessageError(message: reason + " Fetch the ids with FetchIDs, and the assets by their ids at your own speed."))
  }

  static let tooManyLists = make("SnapshotExpired", excess)

  /// The message for calls that ended with ``ClientLists/Excess``.
  static let excess = MessageError(
    message:
      "The lists that photod holds for clients take more than \(ClientLists.maximumBytes >> 20) MiB, and this process has the most of them. Read replies to their end, observe fewer lists, or give them a fetchLimit."
  )

  static func budgetSpent(_ method: String) -> VarlinkError {
    make(
      "TimedOut",
      MessageError(
        message:
          "\(method) took more than two seconds of processor time. Ask for less: a shorter predicate without MATCHES, or a fetchLimit."
      ))
  }

  static func unavailable(_ message: String) -> VarlinkError {
    make("LibraryUnavailable", MessageError(message: message))
  }

  /// The message for calls while a damaged catalog is replaced.
  static let damaged =
    "The catalog is damaged. photod rebuilds it now, with your favorites, albums and edits. Repeat the call in a moment."

  static func from(_ error: FetchError) -> VarlinkError {
    switch error {
    case .invalidPredicate(let message, let position):
      make("InvalidPredicate", PositionError(message: message, position: position))
    case .invalidText(let message, let position):
      make("InvalidText", PositionError(message: message, position: position))
    case .unknownSortKey(let key, let known): make("UnknownSortKey", UnknownKeyError(key: key, known: known))
    case .unknownValueKey(let key, let known): make("UnknownValueKey", UnknownKeyError(key: key, known: known))
    case .noSuchCollection(let collection, let similar):
      make("NoSuchCollection", NoSuchCollectionError(collection: collection, similar: similar))
    case .ambiguousCollection(let collection, let candidates, let count):
      make(
        "AmbiguousCollection",
        AmbiguousCollectionError(collection: collection, candidates: candidates, count: count))
    case .invalidOption(let field): .invalidParameter("options.\(field)")
    }
  }

  static func from(_ error: LibraryError, method: String) -> VarlinkError {
    switch error {
    case .noSuchAsset(let ids): make("NoSuchAsset", AssetIDsError(ids: ids))
    case .changeRejected(let index, let message):
      make("ChangeRejected", RejectionError(requestIndex: index, message: message))
    case .noSuchCollection(let id):
      make("NoSuchCollection", NoSuchCollectionError(collection: "id:\(id)", similar: []))
    case .changeTokenExpired(let current):
      tokenExpired(
        "The token of ifUnchangedSince has expired, or is of another library. Fetch the photos again.", current: current
      )
    case .notImplemented: .methodNotImplemented("\(interface).\(method)")
    case .notInLibrary(let path, let message): make("NotInLibrary", PathError(path: path, message: message))
    case .timedOut(let message): make("TimedOut", MessageError(message: message))
    case .unavailable(let message): unavailable(message)
    case .storageFull(let message): make("StorageFull", MessageError(message: message))
    }
  }

  private static func make<Parameters: Encodable>(_ name: String, _ parameters: Parameters) -> VarlinkError {
    VarlinkError("\(interface).\(name)", parameters)
  }
}
