import WatchRecords

/// The place of a directory that photod-watch has numbered.
struct DirectoryPlace: Sendable, Hashable {
  let number: DirectoryNumber
  /// 0 for the top of a root.
  let parent: DirectoryNumber
  /// The root's absolute path for the top of a root.
  let name: [UInt8]
}

/// The places of the directories that photod-watch reported lately, or whose files were read ahead lately.
///
/// The catalog's tree has all directories. This is a bounded extract of it, together with the records that the library has
/// not applied yet. A place that was looked up or reported among the last ``limit`` ones is still here.
struct RecentPlaces {
  /// Some 100 bytes each.
  static let usualLimit = 4_096

  let limit: Int
  /// When `newer` is full, it becomes `older`, and the former `older` is forgotten.
  private var newer: [DirectoryNumber: DirectoryPlace] = [:]
  private var older: [DirectoryNumber: DirectoryPlace] = [:]

  init(limit: Int = Self.usualLimit) { self.limit = limit }

  var count: Int { newer.count + older.count }

  /// Takes over a record. It is newer than everything that the catalog's tree has.
  ///
  /// - Returns: whether a path may have changed.
  mutating func note(_ record: ReadAheadRecord) -> Bool {
    switch record {
    case .directory(let place, _): insert(place)
    case .directoryGone(let number):
      newer[number] = nil
      older[number] = nil
    case .rootOffline: break
    case .listingStarted, .listingEnded, .file, .other: return false
    }
    return true
  }

  /// Takes over a place that the catalog's tree has. A place that a record reported is newer, and stays.
  mutating func add(_ place: DirectoryPlace) {
    if self[place.number] == nil { insert(place) }
  }

  /// The path of a directory with a slash at its end. It is nil if the place of one of the directories above it is not
  /// here.
  mutating func path(of number: DirectoryNumber) -> [UInt8]? {
    guard let names = names(above: number).names else { return nil }
    var path: [UInt8] = []
    for name in names.reversed() {
      path += name
      if path.last != UInt8(ascii: "/") { path.append(UInt8(ascii: "/")) }
    }
    return path
  }

  /// The nearest directory, from this one upwards, whose place is not here.
  mutating func missing(above number: DirectoryNumber) -> DirectoryNumber? { names(above: number).missing }

  private mutating func names(above number: DirectoryNumber) -> (names: [[UInt8]]?, missing: DirectoryNumber?) {
    var names: [[UInt8]] = []
    var current = number
    while current != 0 {
      guard let place = self[current] else { return (nil, current) }
      // Records that contradict each other could make a directory its own ancestor.
      guard names.count < 100_000 else { return (nil, nil) }
      names.append(place.name)
      current = place.parent
    }
    return (names, nil)
  }

  /// A place that is looked up counts as recent.
  private subscript(number: DirectoryNumber) -> DirectoryPlace? {
    mutating get {
      if let place = newer[number] { return place }
      guard let place = older[number] else { return nil }
      insert(place)
      return place
    }
  }

  private mutating func insert(_ place: DirectoryPlace) {
    if newer.count >= limit, newer[place.number] == nil { (newer, older) = ([:], newer) }
    newer[place.number] = place
    older[place.number] = nil
  }
}
