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

  /// The unreadable names by the folder that they are in.
  private var names: [[UInt8]: [[UInt8]: Problem]] = [:]
  /// The dates of the entries that were forgotten before a listing, which reports them once more.
  private var lapsed: [[UInt8]: WallTime] = [:]
  private(set) var count = 0
  /// Whether entries have changed since ``settle()``.
  private(set) var hasChanged = false
  /// The paths that were found. Only some of them are logged, once each: the 1st, 10th, 100th, ...
  private(set) var found: Set<[UInt8]> = []
  /// The numbers of found paths at which one is logged. After the last, none is logged, and none needs to be
  /// remembered.
  private static let loggedCounts = [1, 10, 100, 1_000, mostFound]
  private static let mostFound = 10_000
  private var unlogged: [(path: [UInt8], errorNumber: Int32, count: Int)] = []
  /// The paths that could not be read when this was last certain, in order. Shares are not among them.
  private(set) var settled: [Entry] = []
  /// The shares that were left out at that time, by path.
  private(set) var settledShares: [[UInt8]] = []

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ path: [UInt8], errorNumber: Int32, at date: WallTime) {
    let (folder, name) = Self.split(path)
    if names[folder]?[name] == nil {
      count += 1
      names[folder, default: [:]][name] = Problem(errorNumber: errorNumber, since: lapsed[path] ?? date)
    } else {
      names[folder]?[name]?.errorNumber = errorNumber
    }
    hasChanged = true
    if found.count < Self.mostFound, found.insert(path).inserted, Self.loggedCounts.contains(found.count) {
      unlogged.append((path, errorNumber, found.count))
    }
  }

  /// Forgets a folder and the names directly in it.
  mutating func remove(in path: [UInt8]) {
    let (folder, name) = Self.split(path)
    let inside = names.removeValue(forKey: path) ?? [:]
    for (name, problem) in inside { lapsed[path + [UInt8(ascii: "/")] + name] = problem.since }
    var removed = inside.count
    if let problem = names[folder]?.removeValue(forKey: name) {
      lapsed[path] = problem.since
      removed += 1
    }
    if names[folder]?.isEmpty == true { names[folder] = nil }
    count -= removed
    hasChanged = hasChanged || removed > 0
  }

  /// Forgets each path that is neither a folder of the library nor in one: its folder has gone or has another path.
  mutating func removeUnlessThere(_ isThere: ([UInt8]) -> Bool) {
    for (folder, entries) in names where !isThere(folder) {
      let kept = entries.filter { isThere(folder + [UInt8(ascii: "/")] + $0.key) }
      guard kept.count < entries.count else { continue }
      names[folder] = kept.isEmpty ? nil : kept
      count -= entries.count - kept.count
      hasChanged = true
    }
  }

  /// Notes that no scan is under way, so that the present entries are certain.
  ///
  /// - Returns: the entries that are still to be logged.
  mutating func settle() -> [(path: [UInt8], errorNumber: Int32, count: Int)] {
    hasChanged = false
    lapsed = [:]
    let sorted = entries.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    settled = sorted.filter { $0.errorNumber != EREMOTE }
    settledShares = sorted.filter { $0.errorNumber == EREMOTE }.map(\.path)
    defer { unlogged = [] }
    return unlogged
  }

  /// The entry of a path, or of the first folder above it that has one. Complexity: O(length of the path).
  func entry(hiding path: [UInt8]) -> Entry? {
    guard !isEmpty else { return nil }
    for end in path.indices.dropFirst() where path[end] == UInt8(ascii: "/") {
      if let entry = entry(at: Array(path[..<end])) { return entry }
    }
    return entry(at: path)
  }

  func entry(at path: [UInt8]) -> Entry? {
    let (folder, name) = Self.split(path)
    return names[folder]?[name].map { Entry(path: path, errorNumber: $0.errorNumber, since: $0.since) }
  }

  /// All entries, in no order.
  var entries: [Entry] {
    names.flatMap { folder, names in
      names.map { name, problem in
        Entry(
          path: folder + [UInt8(ascii: "/")] + name, errorNumber: problem.errorNumber, since: problem.since)
      }
    }
  }

  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    return (Array(path[..<slash]), Array(path[slash...].dropFirst()))
  }
}
