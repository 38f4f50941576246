import PhotoCatalog

/// The new assets of the last hour by their content: among them is the copy that a move to another disk has made before
/// the original goes.
///
/// While nothing leaves the library it is a list that grows by 40 bytes for a file that is itself new; only who asks has it
/// sorted. A first scan of photos that are older than an hour leaves nothing here. After a start what the catalog has of
/// the last hour is taken in when the first photo leaves (2 µs each).
///
/// Many equal files may leave together. A candidate that is unfit for one of them in a transaction is unfit for all, so it
/// is set aside until the next transaction: each is looked at once.
struct RecentInsertions {
  /// From the end of the copy to the removal of the original, which for a tree comes after the copy of all of it.
  static let lifetime: Int64 = 3_600_000_000_000
  /// Of more the newest are known: 10 MiB of them, and as much again while photos leave.
  static let limit = 262_144

  private struct Entry {
    let assetID: Int64
    let keys: Keys
    /// Nanoseconds since 1970.
    let time: Int64
  }

  /// What a candidate is for the file that leaves.
  enum Judgement {
    /// It can't be the copy of any file in this transaction.
    case unfit
    /// It may be another's.
    case passedOver
    /// No further candidate is needed.
    case last
  }

  private var entries: [Entry] = []
  /// The places of those entries that were sorted until now, by each of their keys, in order.
  private var places: [UInt64: [Int32]] = [:]
  private var sortedCount = 0
  /// Assets that left, or whose content changed: their places are dropped when they are met.
  private var gone: Set<Int64> = []
  /// What was unfit in the transaction of this writer.
  private var setAside: [UInt64: [Int32]] = [:]
  private weak var writer: CatalogWriter?
  /// Nothing of the last hour is in the catalog that is not here.
  private var isLoaded: Bool
  /// How many candidates were looked at.
  private(set) var examinedCount = 0

  /// - Parameter isNew: the catalog has no asset yet.
  init(isNew: Bool) { isLoaded = isNew }

  /// What can prove a copy to be a file (see ``IdentityProof``), the best first: name, modification time and beginning;
  /// the hash with the name; the hash. These are keys of a table of this process.
  struct Keys {
    private let alike: UInt64
    private let named: UInt64
    private let hashed: UInt64

    init(_ row: FileRow) {
      alike = Self.key { hasher in
        hasher.combine(row.marks.fingerprint)
        hasher.combine(row.byteCount)
        hasher.combine(row.name)
        hasher.combine(row.modificationTime)
      }
      guard let hash = row.marks.hash else {
        (named, hashed) = (0, 0)
        return
      }
      named = Self.key { hasher in
        hasher.combine(hash)
        hasher.combine(row.name)
      }
      hashed = Self.key { $0.combine(hash) }
    }

    private static func key(_ combine: (inout Hasher) -> Void) -> UInt64 {
      var hasher = Hasher()
      combine(&hasher)
      return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    var all: [UInt64] { hashed == 0 ? [alike] : [alike, named, hashed] }
  }

  /// A file was inserted, or a young one has other content now, or other marks of it are known.
  ///
  /// - Parameters:
  ///   - fileTime: when the file itself was made or changed last, by its file system (nanoseconds since 1970). What lay on
  ///     its disk for an hour is no copy of the last hour.
  ///   - time: of the insertion, nanoseconds since 1970.
  mutating func add(_ row: FileRow, fileTime: Int64, time: Int64) {
    guard age(of: fileTime, at: time) < Self.lifetime else { return }
    if entries.count >= 2 * Self.limit {
      entries.removeFirst(Self.limit)
      places = [:]
      setAside = [:]
      sortedCount = 0
    }
    gone.remove(row.assetID)
    entries.append(Entry(assetID: row.assetID, keys: Keys(row), time: time))
  }

  /// It left the library.
  mutating func remove(_ assetID: Int64) {
    if !entries.isEmpty { gone.insert(assetID) }
  }

  /// Whether an asset of the last hour may be a copy of this file.
  mutating func hasCandidates(for row: FileRow, time: Int64, in catalog: some FileLookups) throws -> Bool {
    if !isLoaded {
      isLoaded = true
      try load(since: time - Self.lifetime, from: catalog)
    }
    if let last = entries.last, age(of: last.time, at: time) >= Self.lifetime {
      self = RecentInsertions(isNew: true)
    }
    // What is too old for all that comes; a clock that was set back keeps some of them longer.
    while sortedCount < entries.count {
      for key in entries[sortedCount].keys.all { places[key, default: []].append(Int32(sortedCount)) }
      sortedCount += 1
    }
    now = time
    return Keys(row).all.contains { places[$0] != nil || setAside[$0] != nil }
  }

  /// The time of the question, nanoseconds since 1970.
  private var now: Int64 = 0

  /// Looks at the assets of the last hour with this key, oldest first.
  ///
  /// - Parameters:
  ///   - date: those that were added before are passed over; microseconds since 1970.
  ///   - judge: gets each once, though it may have been added several times.
  mutating func forEach(
    _ key: UInt64, addedAfter date: Int64, in writer: CatalogWriter, _ judge: (Int64) throws -> Judgement
  ) rethrows {
    if self.writer !== writer {
      for (key, unfit) in setAside { places[key] = ((places[key] ?? []) + unfit).sorted() }
      setAside = [:]
      self.writer = writer
    }
    guard var list = places.removeValue(forKey: key) else { return }
    defer { if !list.isEmpty { places[key] = list } }
    // They are in the order in which they were added, unless the clock was set back.
    var place = firstIndex(in: list, after: date * 1000)
    var judged: Set<Int64> = []
    var kept = place
    defer { list.removeSubrange(kept..<place) }
    while place < list.count {
      let (number, entry) = (list[place], entries[Int(list[place])])
      place += 1
      if gone.contains(entry.assetID) || age(of: entry.time, at: now) >= Self.lifetime { continue }
      guard judged.insert(entry.assetID).inserted else {
        list[kept] = number
        kept += 1
        continue
      }
      examinedCount += 1
      let judgement = try judge(entry.assetID)
      if judgement == .unfit {
        setAside[key, default: []].append(number)
      } else {
        list[kept] = number
        kept += 1
      }
      if judgement == .last { return }
    }
  }

  private func firstIndex(in list: [Int32], after time: Int64) -> Int {
    var (low, high) = (0, list.count)
    while low < high {
      let middle = (low + high) / 2
      if entries[Int(list[middle])].time > time { high = middle } else { low = middle + 1 }
    }
    return low
  }

  private mutating func load(since start: Int64, from catalog: some FileLookups) throws {
    var loaded: [Entry] = []
    try catalog.forEachNewFile(addedSince: start / 1000, limit: Self.limit) { row, added in
      if age(of: max(row.changeTime, row.birthTime), at: added * 1000) < Self.lifetime {
        loaded.append(Entry(assetID: row.assetID, keys: Keys(row), time: added * 1000))
      }
    }
    // What was inserted since the start may be in both.
    entries = loaded.reversed() + entries
    places = [:]
    setAside = [:]
    sortedCount = 0
  }
}
