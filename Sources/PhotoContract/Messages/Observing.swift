import PhotoModel

// The messages of Observe and ObserveCollections. Observation and CollectionObservation have files of their own.

package struct ObserveRequest: Codable, Sendable {
  package var options: FetchOptions?
  package var since: String?
  package var sinceDigest: String?
  package var sinceIDs: [AssetID]?
  package var objects: Bool?
  package var reloadOnly: Bool?
  package var unchanged: Bool?

  package init(
    options: FetchOptions? = nil, since: String? = nil, sinceDigest: String? = nil, sinceIDs: [AssetID]? = nil,
    objects: Bool? = nil, reloadOnly: Bool? = nil, unchanged: Bool? = nil
  ) {
    self.options = options
    self.since = since
    self.sinceDigest = sinceDigest
    self.sinceIDs = sinceIDs
    self.objects = objects
    self.reloadOnly = reloadOnly
    self.unchanged = unchanged
  }
}

package struct ObserveReply: Codable, Sendable, JSONWritable {
  package var observation: Observation

  package init(observation: Observation) { self.observation = observation }

  package func write(to writer: inout JSONWriter) { writer.object { $0.member("observation", observation) } }
}

package struct ObserveCollectionsRequest: Codable, Sendable {
  /// Words of ``AssetCollection/Kind``; all kinds if it is nil.
  package var kinds: [String]?
  package var unchanged: Bool?

  package init(kinds: [String]? = nil, unchanged: Bool? = nil) {
    self.kinds = kinds
    self.unchanged = unchanged
  }
}
