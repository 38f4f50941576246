/// The limits of calls, beside the bounds of their members in ``RequestBounds``. The interface files state these limits too,
/// and a test compares them.
package enum RequestLimits {
  /// The longest path that photod-watch reports.
  package static let maximumPathBytes = 65_535
  /// The most ids or paths of one call that reads assets.
  package static let maximumIDs = 1_000
  /// The most requests of one MakeImages.
  package static let maximumMadeImages = 100
  /// The ids in all requests of one PerformChanges. They take one turn of the library's queue, some ten milliseconds.
  package static let maximumChangedIDs = 1_000
  /// The bytes of the predicates and texts in all requests of one PerformChanges. They are compiled in the library's queue,
  /// which takes some ten milliseconds.
  package static let maximumQueryBytes = 65_536
  /// The bytes of the titles, captions and keywords in all requests of one PerformChanges, counted for each asset that gets
  /// them. They are written to the journal and to the index of words in the library's queue.
  package static let maximumEditedTextBytes = 4 << 20
  /// The most Unicode scalars of a client's name. The name is stored with every change and sent to all observers.
  package static let maximumClientNameLength = 64
  package static let defaultTimeoutSeconds = 30
  package static let maximumTimeoutSeconds = 86_400
}

/// How large replies may be, as the interface files state it.
package enum ReplyLimits {
  package static let maximumBytes = 1 << 20
  package static let defaultPage = 500
  package static let maximumPage = 5_000
  package static let idsPerPage = 40_000
  /// The ids in the first page of a list that takes several pages. A client shows the first screen when it has them.
  package static let idsInShortPage = 1_000
  /// The most bytes that an id takes in a list, with the comma.
  package static let bytesPerID = 21
  package static let changesPerPage = 1_000
  package static let defaultValues = 100
  package static let maximumValues = 10_000
}
