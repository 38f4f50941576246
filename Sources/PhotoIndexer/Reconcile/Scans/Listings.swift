import PhotoCatalog
import PhotoModel
import WatchRecords

/// The listing of one directory while it is under way.
struct CatalogListing {
  let directoryID: DirectoryID
  let evidence: Evidence
  /// Files of the catalog that the listing has not named yet.
  private(set) var unnamed: [[UInt8]: FileRow]
  /// The names that the listing has named, and those that another record has changed. `unnamed` is no longer valid for
  /// them, so they are looked up in the catalog.
  private var handled = HandledNames()

  init(directoryID: DirectoryID, evidence: Evidence, unnamed: [[UInt8]: FileRow]) {
    self.directoryID = directoryID
    self.evidence = evidence
    self.unnamed = unnamed
  }

  /// Whether the catalog may hold a file of this name here.
  func mayKnow(_ name: [UInt8]) -> Bool { unnamed[name] != nil || handled.contains(name) }

  /// Whether the listing has named a file, or another record has changed it.
  func hasHandled(_ name: [UInt8]) -> Bool { handled.contains(name) }

  /// Takes a file that the listing names.
  ///
  /// - Returns: the row that the catalog had when the listing began, or nil; and whether the file must be looked up in
  ///   the catalog again.
  fileprivate mutating func name(_ name: [UInt8]) -> (row: FileRow?, mustLookUp: Bool) {
    guard handled.insert(name) else { return (nil, true) }
    // On a first scan, there are none, and a lookup would hash the name once more.
    return (unnamed.isEmpty ? nil : unnamed.removeValue(forKey: name), false)
  }

  /// Removes a place, because something other than this listing changed the file there.
  fileprivate mutating func forget(_ place: Place) {
    guard place.directoryID == directoryID else { return }
    _ = handled.insert(place.name)
    unnamed[place.name] = nil
  }
}

/// A set of names that are mostly inserted in the order of their bytes, which is that of photod-watch. For these, a
/// comparison with the last name takes the place of a hash, which would be a fiftieth of the library's work for a new photo.
private struct HandledNames {
  private var inOrder: [[UInt8]] = []
  private var others: Set<[UInt8]> = []

  func contains(_ name: [UInt8]) -> Bool {
    if !others.isEmpty, others.contains(name) { return true }
    var (low, high) = (0, inOrder.count)
    while low < high {
      let middle = (low + high) / 2
      if inOrder[middle].lexicographicallyPrecedes(name) { low = middle + 1 } else { high = middle }
    }
    return low < inOrder.count && inOrder[low] == name
  }

  /// - Returns: whether the name is new.
  mutating func insert(_ name: [UInt8]) -> Bool {
    if let last = inOrder.last, !last.lexicographicallyPrecedes(name) {
      return !contains(name) && others.insert(name).inserted
    }
    guard others.isEmpty || !others.contains(name) else { return false }
    inOrder.append(name)
    return true
  }
}

/// The listings that are under way. Each lane of photod-watch has at most one, which may span batches.
struct Listings {
  /// The lane whose records are applied.
  private(set) var lane = 0
  /// The roots of that lane, or nil for all.
  private(set) var laneRoots: Set<UInt16>?
  /// The listing in that lane.
  private(set) var current: CatalogListing?
  /// The listings in other lanes.
  private var others: [Int: CatalogListing] = [:]
  /// Directories of the catalog that came back to the disk. Files that they lack may still come back too.
  private var returned: Set<DirectoryID> = []

  /// The directories whose listings are under way.
  var directories: [DirectoryID] { ([current].compactMap { $0 } + others.values).map(\.directoryID) }

  /// Selects the lane of the records that follow.
  mutating func turn(to lane: Int, of roots: Set<UInt16>? = nil) {
    laneRoots = roots
    guard lane != self.lane else { return }
    others[self.lane] = current
    self.lane = lane
    current = others.removeValue(forKey: lane)
  }

  // MARK: The current listing

  /// - Parameter rows: the files that the catalog has in the directory.
  mutating func begin(_ id: DirectoryID, evidence: Evidence, rows: [FileRow]) {
    var unnamed: [[UInt8]: FileRow] = [:]
    for row in rows { unnamed[row.name] = row }
    // After a directory has come back, for example on a drive, its files count as unchanged unless their stat differs.
    current = CatalogListing(
      directoryID: id, evidence: returned.contains(id) ? .scan : evidence, unnamed: unnamed)
  }

  /// Takes a file of the listed directory. The place must be in that directory.
  mutating func name(_ place: Place) -> (row: FileRow?, mustLookUp: Bool) { current!.name(place.name) }

  mutating func end() -> CatalogListing? {
    defer { current = nil }
    return current
  }

  /// Ends the return of a directory whose listing is complete.
  ///
  /// - Returns: the evidence for the files that the listing lacks. A directory that has come back may still be filling:
  ///   no event reported that these files were removed.
  mutating func evidenceOfMissing(in listing: CatalogListing) -> Evidence {
    returned.remove(listing.directoryID) == nil ? listing.evidence : .scan
  }

  // MARK: Other records

  mutating func noteReturn(of id: DirectoryID) { returned.insert(id) }

  /// Removes a place from the listings, because something other than a listing changed the file there.
  mutating func forget(_ place: Place) {
    current?.forget(place)
    guard !others.isEmpty else { return }
    for lane in others.keys { others[lane]?.forget(place) }
  }

  /// Ends the listings of some directories.
  mutating func end(where isGone: (DirectoryID) -> Bool) {
    if let directory = current?.directoryID, isGone(directory) { current = nil }
    if !others.isEmpty { others = others.filter { !isGone($0.value.directoryID) } }
  }

  /// Forgets everything about some directories whose root is reported anew.
  mutating func forget(_ directories: some Sequence<DirectoryID>) { returned.subtract(directories) }

  /// Forgets everything about all roots.
  mutating func forgetAll() { (current, others, returned) = (nil, [:], []) }
}
