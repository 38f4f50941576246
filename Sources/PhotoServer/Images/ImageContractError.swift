import PhotoCatalog
import PhotoContract
import PhotoImages
import PhotoModel
import Varlink

/// The errors of `org.photod.images`.
enum ImageContractError {
  static func unavailable(_ message: String) -> VarlinkError {
    make("LibraryUnavailable", MessageError(message: message))
  }

  static func duplicate(_ id: Int64, _ message: String) -> VarlinkError {
    make("DuplicateRequest", RequestIDError(id: id, message: message))
  }

  static func noSuchAsset(_ id: AssetID) -> VarlinkError { make("NoSuchAsset", AssetIDsError(ids: [id])) }

  static func noSuchResource(_ id: AssetID, _ resource: Int, count: Int) -> VarlinkError {
    make(
      "NoSuchResource",
      ResourceError(
        assetID: id, resource: resource,
        message:
          "The asset \(id) has \(count) file\(count == 1 ? "" : "s"), and no resource \(resource). Give an index from 0 to \(count - 1)."
      ))
  }

  static func resourceUnavailable(_ path: String, _ message: String) -> VarlinkError {
    make("ResourceUnavailable", PathError(path: path, message: message))
  }

  static func resourceChanged(_ message: String) -> VarlinkError {
    make("ResourceChanged", MessageError(message: message))
  }

  static let readExpired = make(
    "ReadExpired",
    MessageError(message: "The reply was not read for 10 seconds, so the file was closed. Read again from the offset."))

  /// The error of the contract for an error of a request.
  ///
  /// - Parameters:
  ///   - session: the session that the call names.
  ///   - imageID: the picture that the call names.
  static func from(_ error: ImageRequestError, session: String = "", imageID: String = "") -> VarlinkError {
    switch error {
    case .tooManySessions(let limit):
      make(
        "TooManySessions",
        LimitError(
          limit: limit,
          message:
            "All \(limit) sessions that may be open at a time are open. Close the stream of one, or use one for several views."
        ))
    case .noSuchSession:
      make(
        "NoSuchSession",
        SessionError(
          session: session,
          message: "No session has this name. It ends when its stream is closed. Open another one with OpenSession."))
    case .duplicateRequest(let id):
      duplicate(
        id,
        "The id \(id) is not above the highest id of this session. Nothing of this call was accepted. Use higher ids."
      )
    case .tooManyRequests(let limit):
      make(
        "TooManyRequests",
        LimitError(
          limit: limit,
          message:
            "This call would exceed the limit of \(limit) requests. Nothing of it was accepted. Send fewer, or cancel some first."
        ))
    case .noSuchImage:
      make(
        "NoSuchImage",
        ImageIDError(
          imageID: imageID,
          message: "No picture has this name. Its bytes are kept for 60 seconds after it was sent. Request it again."))
    }
  }

  private static func make<Parameters: Encodable>(_ name: String, _ parameters: Parameters) -> VarlinkError {
    VarlinkError("org.photod.images.\(name)", parameters)
  }
}
