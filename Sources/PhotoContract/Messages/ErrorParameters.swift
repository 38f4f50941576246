import PhotoModel

// The parameters of the errors of org.photod.library and org.photod.manage. Errors with the same parameters share a type.

/// The parameters of the errors that have only a message for a person.
package struct MessageError: Codable, Sendable {
  package var message: String

  package init(message: String) { self.message = message }
}

/// InvalidPredicate and InvalidText.
package struct PositionError: Codable, Sendable {
  package var message: String
  /// The position in the text, in Unicode scalars from 0.
  package var position: Int

  package init(message: String, position: Int) {
    self.message = message
    self.position = position
  }
}

/// UnknownSortKey and UnknownValueKey.
package struct UnknownKeyError: Codable, Sendable {
  package var key: String
  package var known: [String]

  package init(key: String, known: [String]) {
    self.key = key
    self.known = known
  }
}

/// NoSuchAsset.
package struct AssetIDsError: Codable, Sendable {
  package var ids: [AssetID]

  package init(ids: [AssetID]) { self.ids = ids }
}

/// NoSuchCollection.
package struct NoSuchCollectionError: Codable, Sendable {
  package var collection: String
  package var similar: [String]

  package init(collection: String, similar: [String]) {
    self.collection = collection
    self.similar = similar
  }
}

/// AmbiguousCollection.
package struct AmbiguousCollectionError: Codable, Sendable {
  package var collection: String
  package var candidates: [String]
  /// The number of collections that may be meant. An older photod names all of them, and does not send it.
  package var count: Int?

  package init(collection: String, candidates: [String], count: Int? = nil) {
    self.collection = collection
    self.candidates = candidates
    self.count = count
  }
}

/// ChangeTokenExpired.
package struct TokenError: Codable, Sendable {
  package var message: String
  package var currentToken: String

  package init(message: String, currentToken: String) {
    self.message = message
    self.currentToken = currentToken
  }
}

/// ChangeRejected.
package struct RejectionError: Codable, Sendable {
  package var requestIndex: Int
  package var message: String

  package init(requestIndex: Int, message: String) {
    self.requestIndex = requestIndex
    self.message = message
  }
}

/// NotAuthorized.
package struct AuthorizationError: Codable, Sendable {
  package var status: String
  package var message: String

  package init(status: String, message: String) {
    self.status = status
    self.message = message
  }
}

/// NotInLibrary, NotABackup and CannotWrite.
package struct PathError: Codable, Sendable {
  package var path: String
  package var message: String

  package init(path: String, message: String) {
    self.path = path
    self.message = message
  }
}
