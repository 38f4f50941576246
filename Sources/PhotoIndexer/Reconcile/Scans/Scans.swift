import PhotoCatalog
import PhotoModel
import WatchRecords

/// The scans that are not decided: those under way, and those that have ended and wait for the others.
///
/// A file that one scan misses, another may find. So scans are decided when none is under way. There is at most one for
/// each number of a root.
struct Scans {
  private(set) var underWay: [UInt16: CatalogScan] = [:]
  /// In the order in which they ended.
  private(set) var ended: [CatalogScan] = []
  /// The new photos that are second names of known files, by the assets of these files, since the first of these scans
  /// began and until the last of them is decided. A file that the library could not look at in its known place counts as
  /// one with two names.
  private(set) var secondNames: [AssetID: AssetID] = [:]

  var areUnderWay: Bool { !underWay.isEmpty }
  private var isEmpty: Bool { underWay.isEmpty && ended.isEmpty }

  /// Whether a scan is undecided for which this holds.
  func contains(where isWanted: (CatalogScan) -> Bool) -> Bool {
    underWay.values.contains(where: isWanted) || ended.contains(where: isWanted)
  }

  /// The number of the scan under way in a root.
  func number(of rootID: RootID) -> UInt16? { underWay.first { $0.value.rootID == rootID }?.key }

  // MARK: Beginning and ending

  mutating func begin(_ scan: CatalogScan) {
    if isEmpty { secondNames = [:] }
    underWay[scan.root] = scan
  }

  /// Ends the scan of a root. If it is complete, the caller lets it wait for its decision.
  mutating func end(_ number: UInt16) -> CatalogScan? { underWay.removeValue(forKey: number) }

  mutating func wait(_ scan: CatalogScan) { ended.append(scan) }

  /// The scan that is decided next.
  mutating func takeNext() -> CatalogScan? { ended.isEmpty ? nil : ended.removeFirst() }

  /// Whether a later scan of the whole root waits as well.
  func isFollowed(_ scan: CatalogScan) -> Bool {
    ended.contains { $0.rootID == scan.rootID && $0.root == scan.root && $0.partOf == nil }
  }

  /// Forgets the scans of a root.
  ///
  /// - Returns: those that had ended.
  mutating func forget(_ number: UInt16) -> [CatalogScan] {
    underWay[number] = nil
    let undecided = ended.filter { $0.root == number }
    if !undecided.isEmpty { ended.removeAll { $0.root == number } }
    return undecided
  }

  /// Forgets all scans.
  ///
  /// - Returns: those that had ended.
  mutating func forgetAll() -> [CatalogScan] {
    defer { (underWay, ended) = ([:], []) }
    return ended
  }

  // MARK: Findings

  /// Forgets the second names when no scan is left that could miss a first one.
  mutating func forgetSecondNames() { secondNames = [:] }

  /// Notes that a new photo is a second name of known files. If a scan misses one of them, the new photo is its file.
  mutating func noteSecondName(_ assetID: AssetID, of known: some Sequence<AssetID>) {
    if isEmpty { return }
    for other in known { secondNames[other] = assetID }
  }

  /// Changes the scan under way in a root, if there is one.
  mutating func update(_ number: UInt16, _ change: (inout CatalogScan) -> Void) {
    if let index = underWay.index(forKey: number) { change(&underWay.values[index]) }
  }

  mutating func updateUnderWay(_ change: (inout CatalogScan) -> Void) {
    var index = underWay.values.startIndex
    while index != underWay.values.endIndex {
      change(&underWay.values[index])
      underWay.values.formIndex(after: &index)
    }
  }

  /// Changes every undecided scan.
  mutating func updateAll(_ change: (inout CatalogScan) -> Void) {
    updateUnderWay(change)
    for index in ended.indices { change(&ended[index]) }
  }

  /// Notes that a file is not in its place, for the scan of its root: the one under way, or else the last that ended.
  ///
  /// - Returns: false if there is none.
  mutating func noteMissing(_ assetID: AssetID, at place: Place, in rootID: RootID) -> Bool {
    if let number = number(of: rootID) {
      update(number) { $0.missing.insert(assetID, at: place) }
    } else if let index = ended.lastIndex(where: { $0.rootID == rootID }) {
      ended[index].missing.insert(assetID, at: place)
    } else {
      return false
    }
    return true
  }
}
