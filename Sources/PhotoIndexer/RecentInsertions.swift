import PhotoCatalog

/// The new assets of the last hour by their content: among them is the copy that a move to another disk has made before
/// the original goes.
///
/// While nothing leaves the library it is a list that grows by 24 bytes for a file that is itself new; only who asks has it
/// sorted. A first scan of photos that are older than an hour leaves nothing here. After a start what the catalog has of
/// the last hour is taken in when the first photo leaves (2 µs each).
struct RecentInsertions {
  /// From the end of the copy to the removal of the original, which for a tree comes after the copy of all of it.
  static let lifetime: Int64 = 3_600_000_000_000
  /// Of more the newest are known: 6 MiB of them, and as much again while photos leave.
  static let limit = 262_144

  private struct Entry {
    let assetID: Int64
    let fingerprint: UInt64
    /// Nanoseconds since 1970.
    let time: Int64
  }

  private var entries: [Entry] = []
  /// Those of the entries that were sorted until now: their places by content, the newest last.
  private var places: [UInt64: [Int32]] = [:]
  private var sortedCount = 0
  /// Nothing of the last hour is in the catalog that is not here.
  private var isLoaded: Bool

  /// - Parameter isNew: the catalog has no asset yet.
  init(isNew: Bool) { isLoaded = isNew }

  /// A file was inserted, or a young one has other content now.
  ///
  /// - Parameters:
  ///   - fileTime: when the file itself was made or changed last, by its file system (nanoseconds since 1970). What lay on
  ///     its disk for an hour is no copy of the last hour.
  ///   - time: of the insertion, nanoseconds since 1970.
  mutating func add(_ assetID: Int64, fingerprint: UInt64, fileTime: Int64, time: Int64) {
    guard age(of: fileTime, at: time) < Self.lifetime else { return }
    if entries.count >= 2 * Self.limit {
      entries.removeFirst(Self.limit)
      places = [:]
      sortedCount = 0
    }
    entries.append(Entry(assetID: assetID, fingerprint: fingerprint, time: time))
  }

  /// The assets of the last hour that had this content when they were inserted, oldest first.
  mutating func assets(fingerprint: UInt64, time: Int64, in catalog: some FileLookups) throws -> [Int64] {
    if !isLoaded {
      isLoaded = true
      try load(since: time - Self.lifetime, from: catalog)
    }
    if let last = entries.last, age(of: last.time, at: time) >= Self.lifetime {
      self = RecentInsertions(isNew: true)
    }
    while sortedCount < entries.count {
      places[entries[sortedCount].fingerprint, default: []].append(Int32(sortedCount))
      sortedCount += 1
    }
    var found: [Int64] = []
    for place in places[fingerprint] ?? [] {
      let entry = entries[Int(place)]
      if age(of: entry.time, at: time) < Self.lifetime && !found.contains(entry.assetID) { found.append(entry.assetID) }
    }
    return found
  }

  private mutating func load(since start: Int64, from catalog: some FileLookups) throws {
    var loaded: [Entry] = []
    try catalog.forEachNewFile(addedSince: start / 1000, limit: Self.limit) { assetID, fingerprint, fileTime, added in
      if age(of: fileTime, at: added * 1000) < Self.lifetime {
        loaded.append(Entry(assetID: assetID, fingerprint: fingerprint, time: added * 1000))
      }
    }
    // What was inserted since the start may be in both.
    entries = loaded.reversed() + entries
    places = [:]
    sortedCount = 0
  }
}
