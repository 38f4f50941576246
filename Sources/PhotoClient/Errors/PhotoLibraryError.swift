import PhotoContract
import PhotoModel
import Varlink

/// Why the library could not answer: the errors of `org.photod.library`, and errors on the way to the daemon.
///
/// ``message`` says what is wrong and on what. ``remedy`` says what to do about it. Both are sentences for a person.
public enum PhotoLibraryError: Error, Hashable, Sendable {
  /// The position is an index of the predicate's Unicode scalars, from 0.
  case invalidPredicate(message: String, position: Int)
  /// The position is an index of the search text's Unicode scalars, from 0.
  case invalidText(message: String, position: Int)
  /// This daemon has no such sort key. `known` are the keys that it has.
  case unknownSortKey(key: String, known: [String])
  /// This daemon has no values of such a key. `known` are the keys that it has.
  case unknownValueKey(key: String, known: [String])
  /// These assets do not exist. Nothing was changed.
  case noSuchAsset(ids: [AssetID])
  /// There is no such collection. `similar` are names that it may be a misspelling of.
  case noSuchCollection(collection: String, similar: [String])
  /// The candidates are the first of `count` collections; nil if they are all.
  case ambiguousCollection(collection: String, candidates: [String], count: Int? = nil)
  /// The history does not reach back to this token.
  case changeTokenExpired(message: String, currentToken: String)
  /// The pages of a list, or a picture, were not read in time, or the list is no longer known.
  case snapshotExpired(message: String)
  /// One of the requests can't be carried out. Nothing was changed.
  case changeRejected(requestIndex: Int, message: String)
  /// The program has no access to the library. `status` is a word of ``/PhotoContract/AuthorizationStatus``.
  case notAuthorized(status: String, message: String)
  /// The daemon runs but can't do its work, or it is stopping.
  case libraryUnavailable(message: String)
  /// The disk that holds the catalog is full.
  case storageFull(message: String)
  /// The library does not have this file.
  case notInLibrary(path: String, message: String)
  /// The library was not up to date within the time of the call.
  case timedOut(message: String)

  /// There is no such file, or it is no catalog that can be restored.
  case notABackup(path: String, message: String)
  /// A backup, or the file of an asset, can't be written to this path.
  case cannotWrite(path: String, message: String)
  /// Another backup, restore or check is running.
  case busy(message: String)

  /// There is no picture of the asset.
  case noImage(kind: ImageFailure.Kind, message: String)
  /// So many sessions or requests for pictures are open that photod refuses more.
  case tooManyImageRequests(message: String)
  /// The asset has no file with this index.
  case noSuchResource(message: String)
  /// The file of an asset can't be opened or read.
  case resourceUnavailable(path: String, message: String)
  /// The file of an asset has changed. The parts that were read must be discarded.
  case resourceChanged(message: String)

  /// This daemon has no such parameter, or the value is out of bounds.
  case invalidParameter(String)
  /// This daemon's version does not have the method.
  case methodMissing(String)
  /// A bug in the daemon. Its log has more.
  case internalError(message: String)
  /// An error that this version does not know, with its parameters as JSON.
  case unknown(name: String, parameters: String)

  /// No daemon answers at the socket.
  case unreachable(socketPath: String, reason: String)
  /// The socket belongs to another user.
  case permissionDenied(socketPath: String)
  /// The daemon closed the connection before it replied: it was stopped, it died, or a limit was reached. It refuses
  /// connections beyond its limits, and closes the one whose messages take the most memory if all take too much.
  case connectionClosed
  /// The connection was lost after changes were sent, and before the reply. They were made as a whole, or not at all. See
  /// ``PhotoLibrary/performChanges(ifUnchangedSince:undoGroup:isolation:_:)`` for how to find out.
  case changeOutcomeUnknown
  /// The received message is no reply to this call.
  case malformedReply(String)
}

extension PhotoLibraryError: CustomStringConvertible {
  /// The problem and its subject, as one sentence without its full stop, unless the daemon wrote more.
  public var message: String {
    switch self {
    case .invalidPredicate(let message, _): message
    case .unknownSortKey(let key, _): "there is no sort key '\(key)'"
    case .unknownValueKey(let key, _): "there are no values of a key '\(key)'"
    case .noSuchAsset(let ids):
      ids.count == 1
        ? "no asset has the id \(ids[0])" : "no assets have the ids \(ids.map(String.init).joined(separator: ", "))"
    case .noSuchCollection(let collection, _): "there is no album '\(collection)'"
    case .ambiguousCollection(let collection, let candidates, let count):
      "\(count ?? candidates.count) albums are called '\(collection)'"
    case .changeTokenExpired(let message, _): Self.split(message).message
    case .invalidText(let message, _), .changeRejected(_, let message), .notAuthorized(_, let message),
      .snapshotExpired(let message),
      .libraryUnavailable(let message), .storageFull(let message), .notInLibrary(_, let message),
      .timedOut(let message), .notABackup(_, let message), .cannotWrite(_, let message), .busy(let message),
      .noImage(_, let message), .tooManyImageRequests(let message), .noSuchResource(let message),
      .resourceUnavailable(_, let message), .resourceChanged(let message):
      Self.split(message).message
    case .invalidParameter(let name): "photod does not take the value given for '\(name)'"
    case .methodMissing(let method): "this photod does not have the method \(method)"
    case .internalError(let message): "photod failed: \(message)"
    case .unknown(let name, let parameters): "photod replied with \(name) \(parameters)"
    case .unreachable(let path, let reason): "photod is not reachable at \(path): \(reason)"
    case .permissionDenied(let path): "\(path) belongs to another user"
    case .connectionClosed: "photod closed the connection before it replied"
    case .changeOutcomeUnknown:
      "the connection to photod was lost before it replied, so it is unknown whether the changes were made"
    case .malformedReply(let reason): "the reply does not fit this call: \(reason)"
    }
  }

  /// The remedy.
  public var remedy: String {
    switch self {
    case .invalidPredicate: "Correct the predicate at this position."
    case .invalidText(let message, _):
      Self.split(message).remedy
        ?? "A word consists of letters and digits. Words in quotes must stand next to each other."
    case .unknownSortKey(_, let known), .unknownValueKey(_, let known): "The keys are \(known.joined(separator: ", "))."
    case .noSuchAsset(let ids):
      ids.count == 1
        ? Self.deletedAsset
        : "They may have been deleted. Their ids are never given to other assets. `photoctl query` lists the assets with their ids."
    case .noSuchCollection(_, let similar):
      similar.isEmpty
        ? "Name an album as 'smart:favorites', 'album:Title', 'folder:/path' or 'id:42', or by its title."
        : "Similar albums are \(similar.map { "'\($0)'" }.joined(separator: ", "))."
    case .ambiguousCollection(_, let candidates, let count):
      "Name one of them\((count ?? 0) > candidates.count ? ", such as" : ":") "
        + "\(candidates.map { "'\($0)'" }.joined(separator: ", "))."
    case .changeTokenExpired(let message, let current):
      "\(Self.split(message).remedy ?? "Fetch again, and continue from the current token.") The current token is \(current)."
    case .snapshotExpired(let message): Self.split(message).remedy ?? "Fetch again, and read the pages without a pause."
    case .changeRejected(let index, let message):
      Self.split(message).remedy ?? "Nothing was changed. Correct request \(index), and send all of them again."
    case .notAuthorized(_, let message): Self.split(message).remedy ?? "Ask the user for access."
    case .libraryUnavailable(let message): Self.split(message).remedy ?? "The status of photod has the reason."
    case .storageFull(let message): Self.split(message).remedy ?? "Make room on the disk that holds the catalog."
    case .notInLibrary(_, let message): Self.split(message).remedy ?? "`photoctl why` has the reason."
    case .timedOut(let message): Self.split(message).remedy ?? "Try again with more time."
    case .notABackup(_, let message): Self.split(message).remedy ?? "`photoctl backup --list` lists the backups."
    case .cannotWrite(_, let message): Self.split(message).remedy ?? "Choose another file."
    case .busy(let message): Self.split(message).remedy ?? "Try again when it has ended."
    case .noImage(let kind, let message): Self.split(message).remedy ?? Self.remedy(for: kind, message)
    case .tooManyImageRequests(let message): Self.split(message).remedy ?? "Cancel some, or wait for their results."
    case .noSuchResource(let message): Self.split(message).remedy ?? "Give the index of one of its resources."
    case .resourceUnavailable(_, let message): Self.split(message).remedy ?? "Check its drive and its permissions."
    case .resourceChanged(let message): Self.split(message).remedy ?? "Discard what was read, and read again."
    case .invalidParameter:
      "The interface states the bounds (`varlink help org.photod.library`). Or the versions of this program and of photod differ."
    case .methodMissing: "Install a photod and a client of the same version."
    case .internalError: "This is a bug of photod. Its log has more: `journalctl --user -u photod`."
    case .unknown: "This program is older than photod. Install the same version of both."
    case .unreachable(_, Self.noAnswer):
      "It hangs, or it is too busy. Restart it with `systemctl --user restart photod`, or end it and start it again."
    case .unreachable(_, let reason) where reason.hasPrefix("socket: "):
      "The limit of open files may be reached (`ulimit -n`). Close some of them, and try again."
    case .unreachable(let path, _) where !isWithoutDaemon:
      "Check the path of the socket. The standard one is \(PhotoLibrary.standardSocketPath)\(path == PhotoLibrary.standardSocketPath ? "" : ", and PHOTOD_SOCKET may name another")."
    case .unreachable(let path, _) where path != PhotoLibrary.standardSocketPath:
      "Start the photod that serves this socket, or choose another socket. PHOTOD_SOCKET may name it."
    case .unreachable:
      "Run `systemctl --user start photod.socket`, or run `photod` in another terminal. For the photod of `make run`, set the PHOTOD_SOCKET that it prints."
    case .permissionDenied: "Each user has a photod. Connect to your own, or run this program as that user."
    case .connectionClosed:
      "It was stopped, it died, or a limit was reached, such as 1,024 connections of one program. Its log has the reason: `journalctl --user -u photod`, or the output of photod if systemd did not start it."
    case .changeOutcomeUnknown:
      "Read the history since a token from before the call. If it has a commit with this program's origin and these changes, they were made. If not, make them again."
    case .malformedReply: "Check that photod listens there. Install a photod and a client of the same version."
    }
  }

  private static let deletedAsset =
    "It may have been deleted. Its id is never given to another asset. `photoctl query` lists the assets with their ids."

  private static func remedy(for kind: ImageFailure.Kind, _ message: String) -> String {
    switch kind {
    case .noSuchAsset:
      deletedAsset
    case .unavailable: "If its drive is not connected, connect it. If the file is gone, `photoctl why` has the reason."
    case .unreadable: "Open the file in another program to see whether it is damaged."
    // The message names the package if it is missing.
    case .unsupported where message.contains("photod-images"): "Install the package photod-images, and try again."
    case .unsupported where message.contains("photod-videos"): "Install the package photod-videos, and try again."
    case .unsupported where message.contains("video"):
      "Convert the file to a more common format, such as MP4 with H.264."
    case .unsupported: "Convert the file to a more common format, such as JPEG, TIFF or PNG."
    case .tooLarge: "Request another file of the asset, such as a JPEG beside a RAW."
    case .storageFull: "Make room on the disk that holds the cache."
    case .unknown: "This program is older than photod. Install the same version of both."
    }
  }

  /// The message and the remedy.
  public var description: String { "\(message). \(remedy)" }

  /// Splits the daemon's message: its first sentence says what is wrong, the rest what to do.
  private static func split(_ text: String) -> (message: String, remedy: String?) {
    guard let end = text.firstRange(of: ". ") else {
      return (text.hasSuffix(".") ? String(text.dropLast()) : text, nil)
    }
    return (String(text[..<end.lowerBound]), String(text[end.upperBound...]))
  }
}

/// Runs calls and translates their errors, so that only ``PhotoLibraryError`` and `CancellationError` are thrown.
///
/// - Parameter socketPath: the socket of the calls.
func translatingErrors<R>(at socketPath: String, _ body: () async throws -> R) async throws -> R {
  do {
    return try await body()
  } catch {
    throw PhotoLibraryError.translated(error, at: socketPath)
  }
}
