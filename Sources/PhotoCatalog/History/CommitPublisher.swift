import PhotoModel

/// Publishes the commits of one catalog to its observers.
///
/// The writer of the catalog owns no list and knows no observer. It calls ``publish(_:_:sequence:)`` after each COMMIT,
/// in the order of the commits.
package protocol CommitPublisher: Sendable {
  /// The sequence of the newest published commit.
  var feed: ChangeFeed { get }

  /// Whether the observers need the effects of a commit. Collecting those of a large commit takes long.
  func wants(_ record: CommitRecord) -> Bool

  /// Announces a commit.
  ///
  /// - Parameters:
  ///   - effects: nil if ``wants(_:)`` returned false.
  ///   - change: the commit as the history has it; nil if it is to be read from there.
  func publish(_ effects: CommitEffects?, _ change: PersistentChange?, sequence: Int64)
}
