import FileContent
import PhotoCatalog
import PhotoModel

/// The new assets of the last hour by their content. One of them may be the copy that a move to another disk makes
/// before the original goes.
///
/// While no photo leaves the library, this is a list that grows by 48 bytes for each file that is itself new, and by twice
/// as much where inodes do not last. It is sorted when a caller looks for candidates. A first scan of photos that are older
/// than an hour adds nothing. After a start, the insertions of the last hour are loaded from the catalog when the first
/// photo leaves (2 µs each).
///
/// Many equal files may leave, in one transaction or in many. Two rules keep the work linear:
/// 1. The candidates are sorted by the time at which they were made, which is later than the one at which their originals
///    were added. So the files that were on a disk before its first scan are not examined for each other, although that scan
///    adds them in several commits.
/// 2. A candidate that is unfit for one file, for example because it is gone from the disk itself, is unfit for all. It is
///    set aside for two seconds, unless a record shows that its file is there.
struct RecentInsertions {
  /// The longest time from the end of the copy to the removal of the original. The originals of a tree are removed
  /// after the whole tree was copied.
  static let lifetime = Duration.seconds(3_600)
  /// The number of entries that are kept, the newest ones. They take 12 MiB, and as much again while photos leave.
  static let limit = 262_144
  private static let timeAside = Duration.seconds(2)

  private struct Entry {
    let assetID: AssetID
    let keys: Keys
    let time: WallTime
    let made: WallTime
    let originalsEnd: WallTime
  }

  /// The photos of which a new file may be the copy.
  struct Originals {
    /// They have one of these keys.
    let keys: Keys
    /// When the file was made. Of several copies, the one that was made first is preferred.
    let made: WallTime
    /// They were added before this. It is at most ``longestTick`` later than `made`.
    let end: WallTime
  }

  /// A file system may date files by a clock that is late by so much.
  static let longestTick = Reconciler.clockGrain

  /// The result of comparing a candidate with the file that leaves.
  enum Judgement {
    /// It can't be the copy of any file now.
    case unfit
    /// It may be the copy of another file.
    case passedOver
    /// No further candidate is needed.
    case last
  }

  private var entries: [Entry] = []
  /// The indexes of the entries that were sorted until now, by each of their keys, in the order of ``precedes(_:_:)``.
  private var places: [UInt64: [Int32]] = [:]
  private var sortedCount = 0
  /// Assets that left. Their entries are dropped when they are met, or when more assets have left than there are entries.
  private var gone: Set<AssetID> = []
  /// The candidates that were unfit a moment ago, in the order in which they were examined.
  private var setAside: [UInt64: [Int32]] = [:]
  /// The entries of each asset that was set aside.
  private var unfit: [AssetID: [Int32]] = [:]
  /// When these are candidates again. Within the transaction of this writer, they are not.
  private var asideEnd = MonotonicTime.boot
  private weak var writer: CatalogWriter?
  /// Whether all insertions of the last hour in the catalog are here.
  private var isLoaded: Bool
  /// The number of candidates that were examined.
  private(set) var examinedCount = 0
  /// The number of entries that were looked at to drop those of assets that left.
  private(set) var prunedCount = 0
  /// The entries, and the assets that left.
  var keptCount: Int { entries.count + gone.count }

  /// - Parameter isNew: whether the catalog has no asset yet.
  init(isNew: Bool) { isLoaded = isNew }

  /// The keys by which a copy of a file can be found and proven (see ``IdentityProof``): name, modification time and
  /// beginning; the hash with the name; the hash.
  ///
  /// A file whose inode does not last may be a photo that was renamed while no watcher saw it. Its other keys contain the
  /// volume and the modification time, which a rename does not change.
  ///
  /// Fingerprint and hash are digests already, so they are mixed with the rest and not hashed again. `Hasher` would
  /// take a twentieth of the time that the library has for a new photo.
  struct Keys {
    private let alike: UInt64
    private let named: UInt64
    private let hashed: UInt64

    init(_ row: FileRow) {
      let name = row.name.withUnsafeBytes { ContentFingerprint.of(head: $0, byteCount: row.byteCount) }
      alike = Self.mixed(
        (row.marks.fingerprint ?? 0) ^ name, with: UInt64(bitPattern: row.modificationTime.nanoseconds))
      guard let hash = row.marks.hash else {
        (named, hashed) = (0, 0)
        return
      }
      named = Self.mixed(hash.low, with: name)
      hashed = hash.high
    }

    /// - Parameter volumeID: the volume on which the file may have been renamed.
    init(_ row: FileRow, renamedOn volumeID: VolumeID) {
      let original = Keys(row)
      let place = Self.mixed(
        UInt64(bitPattern: volumeID.rawValue), with: UInt64(bitPattern: row.modificationTime.nanoseconds))
      alike = Self.mixed(original.alike, with: place)
      named = 0
      hashed = original.hashed == 0 ? 0 : Self.mixed(original.hashed, with: place)
    }

    /// Folds both halves of a product.
    private static func mixed(_ a: UInt64, with b: UInt64) -> UInt64 {
      let product = (a ^ 0x9E37_79B9_7F4A_7C15).multipliedFullWidth(by: b ^ 0xBF58_476D_1CE4_E5B9)
      return product.low ^ product.high
    }

    /// The key of files with this name, modification time and beginning.
    var ofAlike: UInt64 { alike }
    /// The key of files with this hash and name.
    var ofNamed: UInt64? { named == 0 ? nil : named }
    /// The key of files with this hash.
    var ofHashed: UInt64? { hashed == 0 ? nil : hashed }
    var all: [UInt64] { [ofAlike] + [ofNamed, ofHashed].compactMap { $0 } }
  }

  /// Adds a file that was inserted, or a young one whose content or marks have changed.
  ///
  /// - Parameters:
  ///   - fileTime: when the file itself was made or changed last, by its file system. A file that was on its disk for an
  ///     hour is no copy of the last hour.
  ///   - time: of the insertion.
  ///   - originals: the photos of which it may be the copy.
  mutating func add(
    _ assetID: AssetID, fileTime: WallTime, time: WallTime, originals: @autoclosure () -> [Originals]
  ) {
    guard age(of: fileTime, at: time) < Self.lifetime else { return }
    if entries.count >= 2 * Self.limit {
      entries.removeFirst(Self.limit)
      forgetOrder()
    }
    gone.remove(assetID)
    for original in originals() {
      entries.append(
        Entry(assetID: assetID, keys: original.keys, time: time, made: original.made, originalsEnd: original.end))
    }
  }

  /// The entries have other indexes now.
  private mutating func forgetOrder() {
    (places, setAside, unfit) = ([:], [:], [:])
    sortedCount = 0
  }

  /// Removes an asset that left the library.
  ///
  /// - Complexity: O(1) on average. The entries are pruned only after as many assets have left.
  mutating func remove(_ assetID: AssetID, time: WallTime) {
    guard !entries.isEmpty else { return }
    gone.insert(assetID)
    if gone.count > max(Self.fewGone, entries.count) { prune(at: time) }
  }

  /// So many assets are remembered in any case.
  private static let fewGone = 64

  /// Drops the entries of assets that left, and those that are older than an hour.
  private mutating func prune(at time: WallTime) {
    prunedCount += entries.count
    entries.removeAll { gone.contains($0.assetID) || age(of: $0.time, at: time) >= Self.lifetime }
    gone = []
    forgetOrder()
  }

  /// Whether an asset of the last hour may be a copy of a file.
  ///
  /// - Parameters:
  ///   - keys: those of the file.
  ///   - originals: computes the photos of which a file may be the copy, from the file and the time at which it was added.
  mutating func hasCandidates(
    for keys: [Keys], time: WallTime, in catalog: some FileLookups,
    originals: (_ copy: FileRow, _ added: WallTime) -> [Originals]
  ) throws -> Bool {
    if !isLoaded {
      isLoaded = true
      try load(since: time - Self.lifetime, from: catalog, originals: originals)
    }
    if let last = entries.last, age(of: last.time, at: time) >= Self.lifetime {
      self = RecentInsertions(isNew: true)
    }
    sortEntries()
    now = time
    return keys.contains { $0.all.contains { places[$0] != nil || setAside[$0] != nil } }
  }

  /// The time of the lookup.
  private var now = WallTime.unknown

  /// Sorts the entries that were added since the last photo left.
  private mutating func sortEntries() {
    var unsorted: Set<UInt64> = []
    while sortedCount < entries.count {
      let number = Int32(sortedCount)
      for key in entries[sortedCount].keys.all {
        // Most are in order already.
        if let last = places[key]?.last, precedes(number, last) { unsorted.insert(key) }
        places[key, default: []].append(number)
      }
      sortedCount += 1
    }
    for key in unsorted { places[key] = places[key]?.sorted { precedes($0, $1) } }
  }

  private func precedes(_ one: Int32, _ other: Int32) -> Bool {
    let times = (entries[Int(one)].made, entries[Int(other)].made)
    return times.0 == times.1 ? one < other : times.0 < times.1
  }

  /// A record shows that the asset has a file in its place, so it may be fit again.
  mutating func noteThere(_ assetID: AssetID) {
    guard !unfit.isEmpty, let numbers = unfit.removeValue(forKey: assetID) else { return }
    for number in numbers {
      for key in entries[Int(number)].keys.all where setAside[key] != nil {
        let place = firstIndex(in: places[key] ?? []) { !precedes($0, number) }
        places[key, default: []].insert(number, at: place)
      }
    }
  }

  /// All assets that were set aside are examined again in the next transaction.
  mutating func forgetUnfit() { asideEnd = .boot }

  /// Looks at the assets of the last hour with this key that may be copies, those that were made first at first.
  ///
  /// - Parameters:
  ///   - date: when the original was added. Files that were made before are passed over.
  ///   - judge: receives each asset once, though it may have been added several times.
  mutating func forEach(
    _ key: UInt64, ofOriginalAddedAt date: WallTime, in writer: CatalogWriter, uptime: MonotonicTime,
    _ judge: (AssetID) throws -> Judgement
  ) rethrows {
    if self.writer !== writer {
      self.writer = writer
      if uptime >= asideEnd {
        takeBackAll()
        asideEnd = uptime + Self.timeAside
      }
    }
    guard var list = places.removeValue(forKey: key) else { return }
    defer { if !list.isEmpty { places[key] = list } }
    var place = firstIndex(in: list) { entries[Int($0)].made + Self.longestTick > date }
    var judged: Set<AssetID> = []
    var kept = place
    defer { list.removeSubrange(kept..<place) }
    while place < list.count {
      let (number, entry) = (list[place], entries[Int(list[place])])
      place += 1
      if gone.contains(entry.assetID) || age(of: entry.time, at: now) >= Self.lifetime { continue }
      guard entry.originalsEnd > date, judged.insert(entry.assetID).inserted else {
        list[kept] = number
        kept += 1
        continue
      }
      examinedCount += 1
      let judgement = try judge(entry.assetID)
      if judgement == .unfit {
        unfit[entry.assetID, default: []].append(number)
        setAside[key, default: []].append(number)
      } else {
        list[kept] = number
        kept += 1
      }
      if judgement == .last { return }
    }
  }

  private mutating func takeBackAll() {
    for (key, aside) in setAside {
      var list: [Int32] = []
      // A candidate that was taken back by itself is in both lists.
      for number in ((places[key] ?? []) + aside).sorted(by: { precedes($0, $1) }) where number != list.last {
        list.append(number)
      }
      places[key] = list
    }
    (setAside, unfit) = ([:], [:])
  }

  /// The first index whose entry, and all after it, fulfil a condition.
  private func firstIndex(in list: [Int32], where isBehind: (Int32) -> Bool) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(list[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private mutating func load(
    since start: WallTime, from catalog: some FileLookups,
    originals: (_ copy: FileRow, _ added: WallTime) -> [Originals]
  ) throws {
    var loaded: [Entry] = []
    try catalog.forEachNewFile(addedSince: start, limit: Self.limit) { row, added in
      guard age(of: max(row.changeTime, row.birthTime), at: added) < Self.lifetime else { return }
      for original in originals(row, added) {
        loaded.append(
          Entry(assetID: row.assetID, keys: original.keys, time: added, made: original.made, originalsEnd: original.end)
        )
      }
    }
    // An asset that was inserted since the start may be in both.
    entries = loaded.reversed() + entries
    forgetOrder()
  }
}
