import PhotoCatalog
import PhotoModel

/// The files that came a moment ago, and the deleted assets that they were taken for. Programs save by renaming a file
/// over a photo within ``Reconciler/atomicSaveAge`` of its birth.
///
/// This is kept in memory only. If photod restarts between the two halves of a save, the catalog's dates show that the
/// file is new. But if the file was taken for a deleted asset, nothing shows that any more, and the file is a photo of
/// its own.
struct RecentArrivals {
  struct Arrival {
    /// The inode and birth time of the file. An asset may get another file later.
    fileprivate let inode: UInt64
    fileprivate let birthTime: WallTime
    /// The file's birth. On file systems without birth times it is the time at which photod-watch read the event.
    let time: WallTime
    private let taken: Taken?

    /// The deleted asset for which the file was taken because of its content, as it was before. It is nil if the asset
    /// came with this file.
    var former: Tombstone? { taken?.former }

    init(of row: FileRow, at time: WallTime, insteadOf former: Tombstone?) {
      (inode, birthTime) = (row.inode, row.birthTime)
      self.time = time
      taken = former.map { Taken(former: $0) }
    }
  }

  /// A tombstone has some hundred bytes. Few arrivals have one, and a copied folder makes many arrivals.
  private final class Taken {
    let former: Tombstone

    init(former: Tombstone) { self.former = former }
  }

  private var arrivals: [AssetID: Arrival] = [:]
  /// The next size at which the old entries are removed.
  private var limit = 64

  /// - Parameters:
  ///   - row: the file, under the id of its asset.
  ///   - former: the asset before it got this file by its content, or nil for a new asset.
  ///   - eventTime: when photod-watch read the event, or unknown if a listing found the file, which may be old.
  ///   - now: the wall clock.
  mutating func note(_ row: FileRow, insteadOf former: Tombstone? = nil, eventTime: WallTime, now: WallTime) {
    let time = row.birthTime != .unknown ? row.birthTime : eventTime
    // The library may handle an event late, so the time at which photod-watch read it counts.
    let moment = eventTime != .unknown ? eventTime : now
    guard time != .unknown else { return }
    add(Arrival(of: row, at: time, insteadOf: former), of: row.assetID, at: moment)
  }

  /// photod-watch reads events in order, and puts some of them off for a moment.
  private static func isRecent(_ time: WallTime, at moment: WallTime) -> Bool {
    recentAges.contains(age(of: time, at: moment))
  }

  private static let recentAges = Reconciler.atomicSaveAge * -5..<Reconciler.atomicSaveAge * 5

  /// How this file came to its asset, if that was a moment ago.
  func arrival(of row: FileRow) -> Arrival? {
    arrivals[row.assetID].flatMap { $0.inode == row.inode && $0.birthTime == row.birthTime ? $0 : nil }
  }

  /// Notes that the file of a copy became the asset's file.
  ///
  /// - Parameter former: the asset as it was before.
  mutating func pass(from copy: FileRow, to assetID: AssetID, insteadOf former: Tombstone) {
    let known = arrivals.removeValue(forKey: copy.assetID)
    guard let time = copy.birthTime != .unknown ? copy.birthTime : known?.time else { return }
    add(Arrival(of: copy, at: time, insteadOf: former), of: assetID, at: known?.time ?? copy.changeTime)
  }

  private mutating func add(_ arrival: Arrival, of assetID: AssetID, at moment: WallTime) {
    guard Self.isRecent(arrival.time, at: moment) else { return }
    arrivals[assetID] = arrival
    guard arrivals.count >= limit else { return }
    arrivals = arrivals.filter { Self.isRecent($0.value.time, at: moment) }
    limit = max(64, 2 * arrivals.count)
  }
}
