import PhotoModel

/// The assets that one or more commits touched, with the kinds of fields that changed, and the assets that left the
/// library. They are the set C of ``FetchResultChangeDetails/full(from:to:touched:)``.
package struct TouchedAssets: Equatable, Sendable {
  /// The touched fields by asset. An asset counts even if a later commit changed it back or deleted it.
  package var fields: [AssetID: ChangedFields]
  package var deleted: Set<AssetID>
  /// Assets that one event touched together, for example the unplugging of a drive. A set of bits holds them, because
  /// an entry of `fields` for each would take too much memory.
  package private(set) var groups: [Group] = []

  package struct Group: Equatable, Sendable {
    package let ids: IDSet
    package let fields: ChangedFields
  }

  package init(fields: [AssetID: ChangedFields] = [:], deleted: Set<AssetID> = []) {
    self.fields = fields
    self.deleted = deleted
  }

  package var isEmpty: Bool { fields.isEmpty && deleted.isEmpty && groups.isEmpty }

  /// The touched fields of an asset, or `nil` if it was not touched.
  package func fields(of id: AssetID) -> ChangedFields? {
    var all = fields[id]
    for group in groups where group.ids.contains(id) { all = (all ?? []).union(group.fields) }
    return all
  }

  /// Whether clients receive the asset as changed. If it only got or lost a duplicate, it may enter or leave a list,
  /// but none of its published fields changed.
  package static func isChange(_ fields: ChangedFields) -> Bool { fields != .duplicates }

  /// Adds assets that were touched together.
  package mutating func insert(_ ids: IDSet, _ fields: ChangedFields) {
    if !ids.isEmpty { groups.append(Group(ids: ids, fields: fields)) }
  }

  /// Adds the assets that a later change touched. An asset that was deleted, and that this change did not delete, is
  /// back.
  package mutating func merge(_ later: TouchedAssets) {
    fields.merge(later.fields) { $0.union($1) }
    deleted = deleted.filter { later.fields[$0] == nil }.union(later.deleted)
    groups += later.groups
  }
}

/// A set of ids, stored as one bit for each number between its smallest and its largest id. photod assigns ids one
/// after the other, so a million of them take 125 kB.
package struct IDSet: Equatable, Sendable {
  /// The bits, 64 to a word. Ids before the first word or after the last are not in the set.
  private var words: [UInt64] = []
  /// The smallest id of the first word, divided by 64.
  private var first: Int64 = 0

  package init() {}

  package init(_ ids: some Sequence<AssetID>) { for id in ids { insert(id) } }

  package var isEmpty: Bool { words.isEmpty }

  /// Zeros at both ends are no difference. They depend on the order in which the ids came.
  package static func == (one: IDSet, other: IDSet) -> Bool { one.significant == other.significant }

  private var significant: (first: Int64, words: ArraySlice<UInt64>) {
    guard let start = words.firstIndex(where: { $0 != 0 }), let end = words.lastIndex(where: { $0 != 0 }) else {
      return (0, [])
    }
    return (first + Int64(start), words[start...end])
  }

  @inline(__always)
  package func contains(_ id: AssetID) -> Bool {
    let index = id.rawValue >> 6 - first
    guard index >= 0, index < words.count else { return false }
    return words[Int(index)] & 1 << UInt64(id.rawValue & 63) != 0
  }

  /// - Precondition: ids are not negative.
  /// - Complexity: amortized O(1) if ids ascend, as those of a directory mostly do.
  package mutating func insert(_ id: AssetID) {
    precondition(id >= 0, "id \(id) is negative")
    let word = id.rawValue >> 6
    if words.isEmpty { first = word }
    if word < first {
      // At least doubles the number of words, so that descending ids do not move all words each time.
      let new = max(0, min(word, first - Int64(words.count)))
      words.insert(contentsOf: repeatElement(0, count: Int(first - new)), at: 0)
      first = new
    }
    let index = Int(word - first)
    if index >= words.count { words.append(contentsOf: repeatElement(0, count: index + 1 - words.count)) }
    words[index] |= 1 << UInt64(id.rawValue & 63)
  }
}
