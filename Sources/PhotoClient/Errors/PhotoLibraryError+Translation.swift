import PhotoContract
import Varlink

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// Translates errors of Varlink to those of the contract.
extension PhotoLibraryError {
  /// - Returns: a ``PhotoLibraryError``, or an unchanged `CancellationError`.
  static func translated(_ error: any Error, at socketPath: String) -> any Error {
    switch error {
    case is CancellationError, is PhotoLibraryError: error
    // photod closes the connections of all other users. Only root gets that far.
    case VarlinkClientError.connectionClosed where isOfAnotherUser(socketPath):
      PhotoLibraryError.permissionDenied(socketPath: socketPath)
    case let error as VarlinkError: PhotoLibraryError(error)
    case let error as VarlinkClientError: PhotoLibraryError(error)
    case let error as DecodingError: PhotoLibraryError.malformedReply(place(of: error))
    default: PhotoLibraryError.malformedReply("\(error)")
    }
  }

  private static func isOfAnotherUser(_ socketPath: String) -> Bool {
    var status = stat()
    return lstat(socketPath, &status) == 0 && status.st_uid != geteuid()
  }

  private static let noSocket = "there is no socket"
  private static let noListener = "no process listens"
  static let noAnswer = "it accepts no connections"

  /// Whether the socket shows that photod does not run. It may start a little later.
  package var isWithoutDaemon: Bool {
    guard case .unreachable(_, let reason) = self else { return false }
    return reason == Self.noSocket || reason == Self.noListener
  }

  init(_ error: VarlinkClientError) {
    self =
      switch error {
      case .noSuchSocket(let path): .unreachable(socketPath: path, reason: Self.noSocket)
      case .connectionRefused(let path): .unreachable(socketPath: path, reason: Self.noListener)
      case .connectionFailed(let path, let reason): .unreachable(socketPath: path, reason: reason)
      case .timedOut(let path): .unreachable(socketPath: path, reason: Self.noAnswer)
      case .permissionDenied(let path): .permissionDenied(socketPath: path)
      case .connectionClosed: .connectionClosed
      case .streamRunning, .replyTooLarge: .malformedReply(error.description)
      case .malformedReply(let reason): .malformedReply(reason)
      }
  }

  init(_ error: VarlinkError) {
    let asItIs = Self.unknown(
      name: error.name, parameters: String(decoding: error.parameters, as: UTF8.self))
    do {
      self = try Self.known(error) ?? asItIs
    } catch {
      // The name is known, but the parameters are not those of the contract.
      self = asItIs
    }
  }

  private static func known(_ error: VarlinkError) throws -> PhotoLibraryError? {
    func parameters<P: Decodable>(_ type: P.Type = P.self) throws -> P { try error.decodeParameters(P.self) }
    switch error.name {
    case "org.photod.library.InvalidPredicate":
      let p: PositionError = try parameters()
      return .invalidPredicate(message: p.message, position: p.position)
    case "org.photod.library.InvalidText":
      let p: PositionError = try parameters()
      return .invalidText(message: p.message, position: p.position)
    case "org.photod.library.UnknownSortKey":
      let p: UnknownKeyError = try parameters()
      return .unknownSortKey(key: p.key, known: p.known)
    case "org.photod.library.UnknownValueKey":
      let p: UnknownKeyError = try parameters()
      return .unknownValueKey(key: p.key, known: p.known)
    case "org.photod.library.NoSuchAsset":
      return .noSuchAsset(ids: try parameters(AssetIDsError.self).ids)
    case "org.photod.library.NoSuchCollection":
      let p: NoSuchCollectionError = try parameters()
      return .noSuchCollection(collection: p.collection, similar: p.similar)
    case "org.photod.library.AmbiguousCollection":
      let p: AmbiguousCollectionError = try parameters()
      return .ambiguousCollection(collection: p.collection, candidates: p.candidates, count: p.count)
    case "org.photod.library.ChangeTokenExpired":
      let p: TokenError = try parameters()
      return .changeTokenExpired(message: p.message, currentToken: p.currentToken)
    case "org.photod.library.ChangeRejected":
      let p: RejectionError = try parameters()
      return .changeRejected(requestIndex: p.requestIndex, message: p.message)
    case "org.photod.library.NotAuthorized":
      let p: AuthorizationError = try parameters()
      return .notAuthorized(status: p.status, message: p.message)
    case "org.photod.library.NotInLibrary":
      let p: PathError = try parameters()
      return .notInLibrary(path: p.path, message: p.message)
    case "org.photod.images.NoSuchAsset": return .noSuchAsset(ids: try parameters(AssetIDsError.self).ids)
    case "org.photod.images.NoSuchResource":
      return .noSuchResource(message: try parameters(ResourceError.self).message)
    case "org.photod.images.ResourceUnavailable":
      let p: PathError = try parameters()
      return .resourceUnavailable(path: p.path, message: p.message)
    case "org.photod.images.ResourceChanged":
      return .resourceChanged(message: try parameters(MessageError.self).message)
    case "org.photod.images.NoSuchImage":
      return .snapshotExpired(message: try parameters(ImageIDError.self).message)
    case "org.photod.images.TooManyRequests", "org.photod.images.TooManySessions":
      return .tooManyImageRequests(message: try parameters(LimitError.self).message)
    case "org.photod.images.NotAuthorized":
      let p: AuthorizationError = try parameters()
      return .notAuthorized(status: p.status, message: p.message)
    case "org.photod.library.SnapshotExpired", "org.photod.images.ReadExpired":
      return .snapshotExpired(message: try parameters(MessageError.self).message)
    case "org.photod.library.LibraryUnavailable", "org.photod.images.LibraryUnavailable",
      "org.photod.manage.Unavailable":
      return .libraryUnavailable(message: try parameters(MessageError.self).message)
    case "org.photod.manage.NotABackup":
      let p: PathError = try parameters()
      return .notABackup(path: p.path, message: p.message)
    case "org.photod.manage.CannotWrite":
      let p: PathError = try parameters()
      return .cannotWrite(path: p.path, message: p.message)
    case "org.photod.manage.Busy": return .busy(message: try parameters(MessageError.self).message)
    case "org.photod.library.StorageFull", "org.photod.manage.StorageFull":
      return .storageFull(message: try parameters(MessageError.self).message)
    case "org.photod.library.TimedOut": return .timedOut(message: try parameters(MessageError.self).message)
    case "org.photod.library.InternalError", "org.photod.manage.InternalError",
      "org.photod.images.InternalError":
      return .internalError(message: try parameters(MessageError.self).message)
    case "org.varlink.service.InvalidParameter":
      return .invalidParameter(try parameters(Parameter.self).parameter)
    case "org.varlink.service.MethodNotFound", "org.varlink.service.MethodNotImplemented":
      return .methodMissing(try parameters(Method.self).method)
    case "org.varlink.service.InterfaceNotFound":
      return .methodMissing(try parameters(Interface.self).interface)
    default: return nil
    }
  }

  private static func place(of error: DecodingError) -> String {
    let (context, missing): (DecodingError.Context, [any CodingKey]) =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context): (context, [])
      case .keyNotFound(let key, let context): (context, [key])
      @unknown default: (DecodingError.Context(codingPath: [], debugDescription: "\(error)"), [])
      }
    let place = (context.codingPath + missing).map(\.stringValue).joined(separator: ".")
    return place.isEmpty ? context.debugDescription : "\(place): \(context.debugDescription)"
  }

  private struct Parameter: Decodable { let parameter: String }
  private struct Method: Decodable { let method: String }
  private struct Interface: Decodable { let interface: String }
}
