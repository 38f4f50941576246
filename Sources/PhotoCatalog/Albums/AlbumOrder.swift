import PhotoModel

/// The assets of an album in their order, while the operations of a journal are applied. It is a linked list, so the
/// time of an operation does not depend on the length of the album.
struct AlbumOrder {
  /// The asset after each asset. With `end` as the key, it is the first asset of the album.
  private var next: [AssetID: AssetID] = [:]
  /// The asset before each asset. With `end` as the key, it is the last asset of the album.
  private var previous: [AssetID: AssetID] = [:]

  /// The id in front of the first asset and behind the last one. No asset has it.
  private static let end: AssetID = 0

  var count: Int { max(next.count - 1, 0) }

  var ids: [AssetID] {
    var ids: [AssetID] = []
    ids.reserveCapacity(count)
    var id = next[Self.end] ?? Self.end
    while id != Self.end {
      ids.append(id)
      id = next[id] ?? Self.end
    }
    return ids
  }

  func contains(_ id: AssetID) -> Bool { id != Self.end && next[id] != nil }

  mutating func remove(_ ids: [AssetID]) {
    for id in ids where id != Self.end {
      guard let after = next.removeValue(forKey: id), let before = previous.removeValue(forKey: id) else { continue }
      next[before] = after
      previous[after] = before
    }
  }

  /// Adds the assets that are missing, and moves the others. They are placed at the end if the album lacks `before`, or
  /// if `before` is one of them.
  mutating func place(_ ids: [AssetID], before: AssetID?) {
    remove(ids)
    let after = before.flatMap { contains($0) ? $0 : nil } ?? Self.end
    var last = previous[after] ?? Self.end
    for id in ids where id != Self.end && id != last && next[id] == nil {
      next[last] = id
      previous[id] = last
      last = id
    }
    next[last] = after
    previous[after] = last
  }
}
