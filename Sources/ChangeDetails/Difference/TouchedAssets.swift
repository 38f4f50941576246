import PhotoModel

/// The assets that commits touched (C of the definition) with the kinds of their fields, and the assets that left the
/// library.
package struct TouchedAssets: Hashable, Sendable {
  /// Includes assets that a later commit changed back or deleted.
  package var fields: [Int64: ChangedFields]
  package var deleted: Set<Int64>
  /// Assets that one event touched together, for example the unplugging of a drive. They are too many to be listed one
  /// by one.
  package private(set) var groups: [Group] = []

  package struct Group: Hashable, Sendable {
    package let ids: IDSet
    package let fields: ChangedFields
  }

  package init(fields: [Int64: ChangedFields] = [:], deleted: Set<Int64> = []) {
    self.fields = fields
    self.deleted = deleted
  }

  package var isEmpty: Bool { fields.isEmpty && deleted.isEmpty && groups.isEmpty }

  /// The touched fields of an asset, or `nil` if it was not touched.
  package func fields(of id: Int64) -> ChangedFields? {
    var all = fields[id]
    for group in groups where group.ids.contains(id) { all = (all ?? []).union(group.fields) }
    return all
  }

  /// Adds assets that were touched together.
  package mutating func insert(_ ids: IDSet, _ fields: ChangedFields) {
    if !ids.isEmpty { groups.append(Group(ids: ids, fields: fields)) }
  }

  /// Adds the assets that a later commit touched.
  package mutating func merge(_ later: TouchedAssets) {
    fields.merge(later.fields) { $0.union($1) }
    deleted.formUnion(later.deleted)
    groups += later.groups
  }
}

/// A set of ids, as one bit for each number from its smallest to its largest id. photod assigns the ids densely, so a
/// million of them take 125 kB.
package struct IDSet: Hashable, Sendable {
  /// Ids before the first word and after the last are not in the set.
  private var words: [UInt64] = []
  /// The number of the first word. A word holds 64 ids.
  private var first: Int64 = 0

  package init() {}

  package init(_ ids: some Sequence<Int64>) { for id in ids { insert(id) } }

  package var isEmpty: Bool { words.isEmpty }

  @inline(__always)
  package func contains(_ id: Int64) -> Bool {
    let index = id >> 6 - first
    guard index >= 0, index < words.count else { return false }
    return words[Int(index)] & 1 << UInt64(id & 63) != 0
  }

  /// - Precondition: ids are not negative.
  /// - Complexity: amortized O(1) if ids ascend, as those of a directory mostly do.
  package mutating func insert(_ id: Int64) {
    precondition(id >= 0, "id \(id) is negative")
    let word = id >> 6
    if words.isEmpty { first = word }
    if word < first {
      // Reserves twice the space that is needed, so that descending ids do not move everything each time.
      let new = max(0, min(word, first - Int64(words.count)))
      words.insert(contentsOf: repeatElement(0, count: Int(first - new)), at: 0)
      first = new
    }
    let index = Int(word - first)
    if index >= words.count { words.append(contentsOf: repeatElement(0, count: index + 1 - words.count)) }
    words[index] |= 1 << UInt64(id & 63)
  }
}
