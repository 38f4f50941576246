import PhotoCatalog
import PhotoModel

/// The observable state of one catalog: its newest commit, the lists that clients observe, and their differences.
///
/// The writer of the catalog calls ``publish(_:_:sequence:)`` after each COMMIT. Observations then bring their lists up to
/// date. Each distinct list is updated once, and each distinct difference is computed and encoded once.
package final class LiveLibrary: CommitPublisher {
  package let catalog: Catalog
  /// The sequence of the newest published commit.
  package let feed: ChangeFeed
  /// The effects of the newest commits. The effects of earlier commits are only in the history.
  package let commits: RecentCommits
  /// The newest commits, for clients that follow the history.
  package let history = RecentHistory()
  package let lists: LiveLists
  package let collections: LiveCollections
  package let differences = SharedDifferences()
  package let totals = ListTotals()

  /// - Throws: `PhotoError` when the catalog can't be read.
  package init(
    catalog: Catalog, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) throws {
    self.catalog = catalog
    feed = ChangeFeed(sequence: try catalog.read { try $0.sequence() })
    commits = RecentCommits(catalog: catalog)
    lists = LiveLists(catalog: catalog, feed: feed, recent: commits, now: now)
    collections = LiveCollections(catalog: catalog, feed: feed, recent: commits)
  }

  package func wants(_ record: CommitRecord) -> Bool { commits.wants(record) }

  /// The token of the newest published commit.
  package var token: ChangeToken { catalog.token(feed.sequence) }

  /// Announces a commit. The commits of one catalog are published in their order.
  ///
  /// - Parameters:
  ///   - effects: nil if ``wants(_:)`` returned false.
  ///   - change: the commit as the history has it; nil if it is to be read from there.
  package func publish(_ effects: CommitEffects?, _ change: PersistentChange?, sequence: Int64) {
    commits.append(effects, sequence: sequence)
    history.append(change, sequence: sequence)
    feed.publish(sequence)
  }
}
