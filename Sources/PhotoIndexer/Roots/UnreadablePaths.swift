import Glibc

/// Folders and files that could not be read when they were last looked at.
struct UnreadablePaths {
  struct Entry: Sendable, Equatable {
    let path: [UInt8]
    let errorNumber: Int32
    /// When it was first found to be so, microseconds since 1970.
    let since: Int64
  }

  private struct Trouble {
    var errorNumber: Int32
    let since: Int64
  }

  /// By the folder that they are in, then by name.
  private var names: [[UInt8]: [[UInt8]: Trouble]] = [:]
  /// Since when the forgotten ones were so: a listing says it of them once more.
  private var lapsed: [[UInt8]: Int64] = [:]
  private(set) var count = 0
  /// Since ``settle()``.
  private(set) var hasChanged = false
  /// Each is told once, and of many only some: the 1st, 10th, 100th, ...
  private var told: Set<[UInt8]> = []
  private var untold: [(path: [UInt8], errorNumber: Int32, count: Int)] = []
  /// What could not be read when it was last certain, by path. Shares are not among it.
  private(set) var settled: [Entry] = []
  /// The shares that were left out then, by path.
  private(set) var settledShares: [[UInt8]] = []

  var isEmpty: Bool { count == 0 }

  /// - Parameter date: microseconds since 1970.
  mutating func insert(_ path: [UInt8], errorNumber: Int32, at date: Int64) {
    let (folder, name) = Self.split(path)
    if names[folder]?[name] == nil {
      count += 1
      names[folder, default: [:]][name] = Trouble(errorNumber: errorNumber, since: lapsed[path] ?? date)
    } else {
      names[folder]?[name]?.errorNumber = errorNumber
    }
    hasChanged = true
    if told.insert(path).inserted, [1, 10, 100, 1_000, 10_000].contains(told.count) {
      untold.append((path, errorNumber, told.count))
    }
  }

  /// Forgets a folder and what is directly in it.
  mutating func remove(in path: [UInt8]) {
    let (folder, name) = Self.split(path)
    let inside = names.removeValue(forKey: path) ?? [:]
    for (name, trouble) in inside { lapsed[path + [UInt8(ascii: "/")] + name] = trouble.since }
    var removed = inside.count
    if let trouble = names[folder]?.removeValue(forKey: name) {
      lapsed[path] = trouble.since
      removed += 1
    }
    if names[folder]?.isEmpty == true { names[folder] = nil }
    count -= removed
    hasChanged = hasChanged || removed > 0
  }

  /// Forgets what is neither a folder of the library nor in one: its folder has gone or has another path.
  mutating func removeUnlessThere(_ isThere: ([UInt8]) -> Bool) {
    for (folder, entries) in names where !isThere(folder) {
      let kept = entries.filter { isThere(folder + [UInt8(ascii: "/")] + $0.key) }
      guard kept.count < entries.count else { continue }
      names[folder] = kept.isEmpty ? nil : kept
      count -= entries.count - kept.count
      hasChanged = true
    }
  }

  /// No scan is under way, so what is known now is certain.
  ///
  /// - Returns: what the log is still to be told.
  mutating func settle() -> [(path: [UInt8], errorNumber: Int32, count: Int)] {
    hasChanged = false
    lapsed = [:]
    let sorted = entries.sorted { $0.path.lexicographicallyPrecedes($1.path) }
    settled = sorted.filter { $0.errorNumber != EREMOTE }
    settledShares = sorted.filter { $0.errorNumber == EREMOTE }.map(\.path)
    defer { untold = [] }
    return untold
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

  /// All of them, in no order.
  var entries: [Entry] {
    names.flatMap { folder, names in
      names.map { name, trouble in
        Entry(
          path: folder + [UInt8(ascii: "/")] + name, errorNumber: trouble.errorNumber, since: trouble.since)
      }
    }
  }

  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    return (Array(path[..<slash]), Array(path[slash...].dropFirst()))
  }
}
