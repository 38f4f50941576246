import PhotoModel

// The messages of AuthorizationStatus and RequestAuthorization.

/// The access that a client has to the library, as PhotoKit's `PHAuthorizationStatus`.
public enum AuthorizationStatus: String, OpenEnum {
  /// The user has not been asked yet.
  case notDetermined
  /// The program may not have access, and the user can't allow it.
  case restricted
  /// The user has denied access.
  case denied
  /// The program has access to the whole library.
  case authorized
  /// The program has access to the photos that the user chose.
  case limited
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [AuthorizationStatus] = [.notDetermined, .restricted, .denied, .authorized, .limited]
}

/// The access that a client requests, as PhotoKit's `PHAccessLevel`.
public enum AccessLevel: String, OpenEnum {
  /// The program adds photos, and does not read others.
  case addOnly
  /// The program reads and changes the library.
  case readWrite
  /// A case of a later version, which this version does not know.
  case unknown

  /// The cases that this version knows, without `unknown`.
  public static let allCases: [AccessLevel] = [.addOnly, .readWrite]
}

/// The access of a client.
public struct Authorization: Codable, Hashable, Sendable {
  /// The access that the client has now.
  public let status: AuthorizationStatus
  /// The program of the client, by which photod knows it.
  public let client: String

  package init(status: AuthorizationStatus, client: String) {
    self.status = status
    self.client = client
  }
}

package struct AuthorizationRequest: Codable, Sendable {
  package var accessLevel: AccessLevel

  package init(accessLevel: AccessLevel) { self.accessLevel = accessLevel }
}

package struct AuthorizationReply: Codable, Sendable {
  package var status: AuthorizationStatus

  package init(status: AuthorizationStatus) { self.status = status }
}
