import PhotoModel

/// The assets that commits touched: C of the definition, with what kind of fields, and those that left the library.
package struct TouchedAssets: Hashable, Sendable {
  /// Also those that a later commit touched back, or deleted.
  package var fields: [Int64: ChangedFields]
  package var deleted: Set<Int64>
  /// Those that something touched together, as a drive that is unplugged: too many to be named one by one.
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

  /// What was touched of an asset; `nil`: it was not touched.
  package func fields(of id: Int64) -> ChangedFields? {
    var all = fields[id]
    for group in groups where group.ids.contains(id) { all = (all ?? []).union(group.fields) }
    return all
  }

  /// Takes in assets that were touched together.
  package mutating func insert(_ ids: IDSet, _ fields: ChangedFields) {
    if !ids.isEmpty { groups.append(Group(ids: ids, fields: fields)) }
  }

  /// Takes in what a later commit touched.
  package mutating func merge(_ later: TouchedAssets) {
    fields.merge(later.fields) { $0.union($1) }
    deleted.formUnion(later.deleted)
    groups += later.groups
  }
}

/// A set of ids as one bit each, from the smallest to the largest that it has: ids are the daemon's own and dense, so that
/// a million of them take 125 kB.
package struct IDSet: Hashable, Sendable {
  /// Those before and after have no bits.
  private var words: [UInt64] = []
  /// The number of the first word: 64 ids each.
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
  /// - Complexity: amortized O(1) where they ascend, as those of a directory do by and large.
  package mutating func insert(_ id: Int64) {
    precondition(id >= 0, "id \(id) is negative")
    let word = id >> 6
    if words.isEmpty { first = word }
    if word < first {
      // Twice as many as needed: ids that descend don't move everything each time.
      let new = max(0, min(word, first - Int64(words.count)))
      words.insert(contentsOf: repeatElement(0, count: Int(first - new)), at: 0)
      first = new
    }
    let index = Int(word - first)
    if index >= words.count { words.append(contentsOf: repeatElement(0, count: index + 1 - words.count)) }
    words[index] |= 1 << UInt64(id & 63)
  }
}
