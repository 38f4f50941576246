import PhotoModel

/// Where the assets were that a watch has told of, so that it can say which one went, and from where one came.
struct SeenPaths: Sendable {
  private var paths: [Int64: String] = [:]
  /// In the order in which they were seen first; also some that are forgotten already.
  private var order: [Int64] = []
  private let capacity: Int

  /// - Parameter capacity: when more are seen, the oldest are forgotten: a watch may run for months.
  init(capacity: Int = 10_000) { self.capacity = capacity }

  subscript(id: Int64) -> String? { paths[id] }

  mutating func note(_ asset: Asset) {
    guard let path = asset.listedPath else { return }
    if paths.updateValue(path, forKey: asset.id) == nil { order.append(asset.id) }
    // What is deleted is not used again, so that an id is in the order once.
    if order.count > capacity { paths[order.removeFirst()] = nil }
  }

  mutating func forget(_ ids: [Int64]) {
    for id in ids { paths[id] = nil }
  }

  /// - Complexity: O(n) in what is seen.
  mutating func rename(_ rename: RenamedDirectory) {
    let prefix = rename.fromPath + "/"
    for (id, path) in paths where path.hasPrefix(prefix) {
      paths[id] = rename.toPath + "/" + path.dropFirst(prefix.count)
    }
  }
}
