/// Folders and files that could not be read when they were last looked at.
struct UnreadablePaths {
  /// By the folder that they are in, then by name: the number of the error.
  private var names: [[UInt8]: [[UInt8]: Int32]] = [:]
  private(set) var count = 0
  /// Since ``takeUntold()``.
  private(set) var hasChanged = false
  /// Each is told once, and of many only some: the 1st, 10th, 100th, ...
  private var told: Set<[UInt8]> = []
  private var untold: [(path: [UInt8], errorNumber: Int32, count: Int)] = []

  var isEmpty: Bool { count == 0 }

  mutating func insert(_ path: [UInt8], errorNumber: Int32) {
    let (folder, name) = Self.split(path)
    if names[folder, default: [:]].updateValue(errorNumber, forKey: name) == nil { count += 1 }
    hasChanged = true
    if told.insert(path).inserted, [1, 10, 100, 1_000, 10_000].contains(told.count) {
      untold.append((path, errorNumber, told.count))
    }
  }

  /// Forgets a folder and what is directly in it.
  mutating func remove(in path: [UInt8]) {
    let (folder, name) = Self.split(path)
    var removed = names.removeValue(forKey: path)?.count ?? 0
    if names[folder]?.removeValue(forKey: name) != nil { removed += 1 }
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

  /// What the log is still to be told; nothing has changed then.
  mutating func takeUntold() -> [(path: [UInt8], errorNumber: Int32, count: Int)] {
    hasChanged = false
    defer { untold = [] }
    return untold
  }

  /// In the order of their bytes.
  var first: (path: [UInt8], errorNumber: Int32)? {
    guard let folder = names.keys.min(by: { $0.lexicographicallyPrecedes($1) }),
      let (name, errorNumber) = names[folder]?.min(by: { $0.key.lexicographicallyPrecedes($1.key) })
    else { return nil }
    return (folder + [UInt8(ascii: "/")] + name, errorNumber)
  }

  private static func split(_ path: [UInt8]) -> (folder: [UInt8], name: [UInt8]) {
    let slash = path.lastIndex(of: UInt8(ascii: "/")) ?? 0
    return (Array(path[..<slash]), Array(path[slash...].dropFirst()))
  }
}
