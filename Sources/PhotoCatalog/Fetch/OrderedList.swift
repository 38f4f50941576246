import ChangeDetails
import PhotoModel

/// The list of one fetch at one commit, in a form that can be updated with the touched assets of later commits. A copy
/// costs nothing, and shares all unchanged parts with the original.
package struct OrderedList: Sendable {
  /// The entries in order. For a fetch with a limit, a reserve follows, so that a removal needs no new fetch.
  package internal(set) var entries: OrderedIDs
  /// Whether the fetch has no rows after the last entry.
  var isWhole: Bool
  package let limit: Int?
  /// The approximate size of the parts that it does not share with the list from which it was made, in bytes.
  package internal(set) var ownByteCount: Int
  /// The same object in all lists that were made from one fetched list. Lists with different origins share no parts.
  package let origin: Origin
  /// The sum of ``ownByteCount`` of the lists that led from the fetched one to this one. The difference of two of them
  /// bounds what the lists do not share.
  package private(set) var editedByteCount = 0

  package final class Origin: Sendable {}

  /// The number of ids, with the limit applied.
  package var count: Int { min(entries.count, limit ?? .max) }

  /// The ids, with the limit applied.
  /// - Complexity: O(n)
  package var ids: [AssetID] { entries.ids(in: 0..<count) }

  /// - Complexity: O(log n)
  package var digest: String { entries.digest(ofFirst: count).description }

  init(entries: OrderedIDs, isWhole: Bool, limit: Int?) {
    self.entries = entries
    self.isWhole = isWhole
    self.limit = limit
    origin = Origin()
    ownByteCount = 0
    ownByteCount = byteCount
  }

  /// A list that is given as it is, in an order that can't be updated.
  package init(ids: [AssetID]) { self.init(entries: OrderedIDs(ids: ids), isWhole: true, limit: nil) }

  var first: AssetID? { count > 0 ? entries[0] : nil }
  var last: AssetID? { count > 0 ? entries[count - 1] : nil }

  /// Whether the asset is in the list, and not only in its reserve.
  /// - Complexity: O(log n)
  func shows(_ id: AssetID) -> Bool { entries.position(of: id).map { $0 < count } ?? false }

  /// Compares count and digest. Two different lists are taken as equal with a probability of 2⁻⁶¹.
  /// - Complexity: O(log n), so a million ids are not compared when a photo changed but stayed in its place.
  package func hasSameIDs(as other: OrderedList) -> Bool {
    count == other.count && entries.digest(ofFirst: count) == other.entries.digest(ofFirst: count)
  }

  /// The approximate memory that it takes, including parts that it shares with other lists.
  package var byteCount: Int { Self.byteCount(ofEntries: entries.count) }

  package static func byteCount(ofEntries count: Int) -> Int { 256 + count * bytesPerEntry }

  /// An id, its number, and its share of the nodes and maps.
  private static let bytesPerEntry = 26
  /// The size of the nodes and pages from the root to a leaf that an edit copies.
  static let bytesPerEdit = 12 << 10

  mutating func noteEdits(_ count: Int) {
    ownByteCount = min(count * Self.bytesPerEdit, byteCount)
    editedByteCount += ownByteCount
  }

  /// The number of rows that are fetched for a list with a limit.
  static func fetchCount(limit: Int) -> Int { limit + limit / 4 + 64 }
}
