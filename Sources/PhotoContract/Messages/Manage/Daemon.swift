import PhotoModel

// The messages of Status, Explain and Rescan.

package struct StatusReply: Codable, Sendable {
  package var status: LibraryStatus

  package init(status: LibraryStatus) { self.status = status }
}

package struct ExplainRequest: Codable, Sendable {
  package var path: String

  package init(path: String) { self.path = path }
}

/// Why a path is, or is not, in the library.
public struct PathExplanation: Codable, Hashable, Sendable {
  /// One of indexed, unreadable, pending, offline, ignored, empty, notMedia, missing, outside. Later daemons may have
  /// more.
  public let state: String
  /// Sentences for a person.
  public let reason: String
  /// The asset to which the file belongs; nil if the library does not have it.
  public let assetID: AssetID?

  package init(state: String, reason: String, assetID: AssetID?) {
    self.state = state
    self.reason = reason
    self.assetID = assetID
  }
}

package struct RescanRequest: Codable, Sendable {
  package var path: String?
  package var dryRun: Bool?
  package var confirm: Bool?

  package init(path: String? = nil, dryRun: Bool? = nil, confirm: Bool? = nil) {
    self.path = path
    self.dryRun = dryRun
    self.confirm = confirm
  }
}

/// The result of a rescan.
public struct RescanResult: Codable, Hashable, Sendable {
  /// The number of assets that the library gained.
  public let inserted: Int
  /// The number of assets that changed.
  public let updated: Int
  /// The number of assets that the library lost.
  public let removed: Int
  /// How many of ``removed`` would stay for now, because so many are missing at once. It is `nil` if there are none,
  /// and if this was no dry run.
  public let heldBack: Int?
  /// The paths of some of the assets in ``removed``, at most 3. It is `nil` if there are none, and if this was no dry
  /// run.
  public let removedExamples: [String]?

  /// Creates the result of a rescan. Only a dry run has `heldBack` and `removedExamples`.
  public init(
    inserted: Int, updated: Int, removed: Int, heldBack: Int? = nil, removedExamples: [String]? = nil
  ) {
    self.inserted = inserted
    self.updated = updated
    self.removed = removed
    self.heldBack = heldBack
    self.removedExamples = removedExamples
  }
}
