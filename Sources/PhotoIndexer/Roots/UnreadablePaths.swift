import Glibc
import PhotoModel

/// Folders and files that could not be read when they were last looked at.
struct UnreadablePaths {
  struct Entry: Sendable, Equatable {
    let path: [UInt8]
    let errorNumber: Int32
    /// When it was first found unreadable.
    let since: WallTime
  }

  private struct Problem {
    var errorNumber: Int32
    let since: WallTime
  }

  /// The entries, and the folders above them.
  private var tree = PathTree<Problem>()
  /// The paths of the entries that are no shares, by their places in the tree.
  private var order = OrderedQueue<PathTree<Problem>.Place, PathKey>()
  /// The places of the entries that are shares.
  private var shares: Set<PathTree<Problem>.Place> = []
  /// The dates of the entries that were forgotten before a listing, which reports them once more.
  private var lapsed: [[UInt8]: WallTime] = [:]
  /// Whether entries have changed since ``settle()``.
  private(set) var hasChanged = false
  private var sharesHaveChanged = false
  /// The paths that were found. Only some of them are logged, once each: the 1st, 10th, 100th, ...
  private(set) var found: Set<[UInt8]> = []
  /// The numbers of found paths at which one is logged. After the last, none is logged, and none needs to be
  /// remembered.
  private static let loggedCounts = [1, 10, 100, 1_000, mostFound]
  private static let mostFound = 10_000
  private var unlogged: [(path: [UInt8], errorNumber: Int32, count: Int)] = []
  /// The first of the paths, in order, that could not be read when this was last certain. Shares are not among them.
  private(set) var settledFirst: Entry?
  /// The number of these paths.
  private(set) var settledCount = 0
  /// The shares that were left out at that time, by path.
  private(set) var settledShares: [[UInt8]] = []

  var count: Int { order.count + shares.count }

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ path: [UInt8], errorNumber: Int32, at date: WallTime) {
    let place = tree.makePlace(path)
    let since = tree[place]?.since ?? lapsed[path] ?? date
    tree[place] = Problem(errorNumber: errorNumber, since: since)
    if errorNumber == EREMOTE {
      order.remove(place)
      sharesHaveChanged = shares.insert(place).inserted || sharesHaveChanged
    } else {
      removeShare(place)
      if !order.contains(place) { order.set(place, PathKey(path: path)) }
    }
    hasChanged = true
    if found.count < Self.mostFound, found.insert(path).inserted, Self.loggedCounts.contains(found.count) {
      unlogged.append((path, errorNumber, found.count))
    }
  }

  /// Forgets a folder and the names directly in it.
  mutating func remove(in path: [UInt8]) {
    guard let place = tree.place(of: path) else { return }
    for place in tree.children(of: place) + [place] {
      guard let problem = tree[place] else { continue }
      lapsed[tree.path(of: place)] = problem.since
      remove(place)
    }
  }

  /// Forgets each path that is neither a folder of the library nor in one: its folder has gone or has another path.
  ///
  /// - Parameter folder: nothing but this folder and what is in it is looked at; nil means everything.
  mutating func removeUnlessThere(below folder: [UInt8]? = nil, _ isThere: ([UInt8]) -> Bool) {
    guard let top = folder.map({ tree.place(of: $0) }) ?? PathTree<Problem>.top else { return }
    var isThereAlready: [PathTree<Problem>.Place: Bool] = [:]
    for place in tree.places(below: top) where tree[place] != nil {
      let folder = tree.parent(of: place)
      let isFolderThere = isThereAlready[folder] ?? isThere(tree.path(of: folder))
      isThereAlready[folder] = isFolderThere
      if !isFolderThere, !isThere(tree.path(of: place)) { remove(place) }
    }
  }

  private mutating func remove(_ place: PathTree<Problem>.Place) {
    order.remove(place)
    removeShare(place)
    tree[place] = nil
    hasChanged = true
  }

  private mutating func removeShare(_ place: PathTree<Problem>.Place) {
    sharesHaveChanged = shares.remove(place) != nil || sharesHaveChanged
  }

  /// Notes that no scan is under way, so that the present entries are certain.
  ///
  /// - Returns: the entries that are still to be logged.
  mutating func settle() -> [(path: [UInt8], errorNumber: Int32, count: Int)] {
    hasChanged = false
    lapsed = [:]
    settledFirst = order.first.flatMap { entry(at: $0.key.path) }
    settledCount = order.count
    if sharesHaveChanged {
      settledShares = shares.map { tree.path(of: $0) }.sorted { $0.lexicographicallyPrecedes($1) }
      sharesHaveChanged = false
    }
    defer { unlogged = [] }
    return unlogged
  }

  /// The entry of a path, or of the first folder above it that has one. Complexity: O(length of the path).
  func entry(hiding path: [UInt8]) -> Entry? {
    isEmpty ? nil : tree.places(on: path).lazy.compactMap { entry(of: $0) }.first
  }

  /// The path of the share that a path is on, of those that are left out and fulfil a condition.
  func share(of path: [UInt8], where condition: ([UInt8]) -> Bool) -> [UInt8]? {
    guard !shares.isEmpty else { return nil }
    return tree.places(on: path).lazy.filter { shares.contains($0) }.map { tree.path(of: $0) }.first(where: condition)
  }

  func entry(at path: [UInt8]) -> Entry? { tree.place(of: path).flatMap { entry(of: $0) } }

  private func entry(of place: PathTree<Problem>.Place) -> Entry? {
    tree[place].map { Entry(path: tree.path(of: place), errorNumber: $0.errorNumber, since: $0.since) }
  }

  /// All entries, in no order.
  var entries: [Entry] { (order.members + shares).compactMap { entry(of: $0) } }
}
