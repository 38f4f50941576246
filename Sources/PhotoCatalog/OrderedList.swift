import PhotoModel

/// The list of one fetch at one commit, in a form that is brought up to date by what later commits touched. A copy costs
/// nothing, and shares with the original all that neither has changed.
package struct OrderedList: Sendable {
  /// In order. Of a fetch with a limit a reserve follows, so that one that leaves needs no new fetch.
  package internal(set) var entries: OrderedIDs
  /// No row of the fetch stands behind the last of these.
  var isWhole: Bool
  package let limit: Int?
  /// About what it has that the list it was made of doesn't, in bytes.
  package internal(set) var ownByteCount: Int

  /// The limit applied.
  package var count: Int { min(entries.count, limit ?? .max) }

  /// The limit applied.
  /// - Complexity: O(n)
  package var ids: [Int64] { entries.ids(in: 0..<count) }

  /// - Complexity: O(log n)
  package var digest: String { entries.digest(ofFirst: count).description }

  init(entries: OrderedIDs, isWhole: Bool, limit: Int?) {
    self.entries = entries
    self.isWhole = isWhole
    self.limit = limit
    ownByteCount = 0
    ownByteCount = byteCount
  }

  /// A list that is at hand as it is, in no order that could be kept up.
  package init(ids: [Int64]) { self.init(entries: OrderedIDs(ids: ids), isWhole: true, limit: nil) }

  /// By count and digest: of lists that differ, two in 2⁶¹ would be taken for the same.
  /// - Complexity: O(log n), at all sizes; where a photo changed but stayed, nobody compares a million ids.
  package func hasSameIDs(as other: OrderedList) -> Bool {
    count == other.count && entries.digest(ofFirst: count) == other.entries.digest(ofFirst: count)
  }

  /// About how much memory it takes, with all that it shares with others.
  package var byteCount: Int { 256 + entries.count * Self.bytesPerEntry }

  /// An id, its number, and its share of the nodes and maps.
  private static let bytesPerEntry = 26
  /// The nodes and pages from the root to a leaf that an edit copies.
  static let bytesPerEdit = 12 << 10

  mutating func noteEdits(_ count: Int) {
    ownByteCount = min(count * Self.bytesPerEdit, byteCount)
  }

  /// How many rows are fetched where a fetch ends at a limit.
  static func fetchCount(limit: Int) -> Int { limit + limit / 4 + 64 }
}
