import PhotoCatalog
import PhotoModel
import WatchRecords

/// The time at which a file is read again, and the reason.
struct ReadRetry {
  /// The file was found but not read yet, so that it counts as pending: a sync reads it. A file that is damaged, or in
  /// which the disk fails, is not pending.
  let isPending: Bool
  /// The volume that the file was on when the retry was scheduled. Files of one volume do not wait for those of another.
  let volumeID: VolumeID
  fileprivate(set) var at: MonotonicTime
  /// The last delay.
  fileprivate(set) var delay: Duration
  /// The failure of the disk, or the lack of memory or descriptors, that kept the file from being read.
  fileprivate(set) var failure: Failure?
  /// A file that was seen in this place and is not the known file. If the known file turns up nowhere else, this file
  /// is the photo, saved anew.
  fileprivate(set) var standIn: FileIdentity?
  /// A record that has not come yet may decide about the file. The answer to a sync with a greater number shows that none
  /// is left, and the file is not read before. nil if nothing but the file decides.
  fileprivate(set) var awaitedSync: UInt64?

  struct Failure: Sendable {
    let path: [UInt8]
    let reason: String
    let since: WallTime
  }
}

/// The files that must be read again, by asset. They could not be read when they were found, or may not be complete
/// yet.
///
/// Each delay is twice the one before it, up to a limit. The limit for a failing disk is an hour.
struct ReadRetries {
  static let firstDelay = Duration.seconds(5)
  static let longestDelay = Duration.seconds(60)
  /// The longest delay for a file whose reading fails because of the disk.
  private static let longestDiskDelay = Duration.seconds(3_600)
  /// The first delay after a failure that may pass at once, such as a lack of descriptors.
  static let firstFailureDelay = Duration.seconds(1)

  private(set) var all: [AssetID: ReadRetry] = [:]
  /// The files that a sync must read.
  private var pendingIDs: Set<AssetID> = []
  /// The files about which a record may still decide.
  private(set) var awaitingRecords: Set<AssetID> = []
  /// The files in which the disk fails, by path.
  private var failing = OrderedQueue<AssetID, PathKey>()
  /// The files whose time had not come when ``advance(to:)`` was called last.
  private var later = OrderedQueue<AssetID, MonotonicTime>()
  /// The others in which the disk has not failed.
  private var readable: [VolumeID: OrderedQueue<AssetID, AssetID>] = [:]
  /// The others in which the disk failed. The one that has waited longest is first.
  private var overdue = OrderedQueue<AssetID, Turn>()
  /// The time of the last ``advance(to:)``.
  private var present = MonotonicTime.boot

  private struct Turn: Comparable {
    let at: MonotonicTime
    let id: AssetID

    static func < (one: Turn, other: Turn) -> Bool { (one.at, one.id) < (other.at, other.id) }
  }

  var isEmpty: Bool { all.isEmpty }

  subscript(id: AssetID) -> ReadRetry? { all[id] }

  // MARK: What is due

  /// The files that a sync must read. Complexity: O(n log n) for these files.
  var pending: [AssetID] { pendingIDs.sorted() }

  var pendingCount: Int { pendingIDs.count }

  var failures: [(assetID: AssetID, failure: ReadRetry.Failure)] {
    failing.members.compactMap { id in all[id]?.failure.map { (id, $0) } }
  }

  var failureCount: Int { failing.count }

  /// The failure of the file whose path is the first of all.
  var firstFailure: ReadRetry.Failure? { failing.first.flatMap { all[$0.member]?.failure } }

  /// Whether the time of a file has come about which a record may still decide.
  ///
  /// - Complexity: O(n) in such files, which are few.
  func mustSync(at uptime: MonotonicTime) -> Bool {
    awaitingRecords.contains { all[$0].map { $0.at <= uptime } ?? false }
  }

  func hasDue(at uptime: MonotonicTime) -> Bool {
    !readable.isEmpty || !overdue.isEmpty || later.first.map { $0.key <= uptime } == true
  }

  /// The volumes with files that are to be read now and in which the disk has not failed.
  mutating func readableVolumes(at uptime: MonotonicTime) -> Set<VolumeID> {
    advance(to: uptime)
    return Set(readable.keys)
  }

  /// Takes a file of a volume that is to be read now and in which the disk has not failed. Complexity: O(log n), as all
  /// files together may be asked for each time that the reading of one has ended.
  ///
  /// The caller gives it back with ``giveBack(_:)`` after all that it takes.
  mutating func takeReadable(on volumeID: VolumeID) -> AssetID? {
    guard let id = readable[volumeID]?.first?.member else { return nil }
    removeReadable(id, on: volumeID)
    return id
  }

  private mutating func removeReadable(_ id: AssetID, on volumeID: VolumeID) {
    readable[volumeID]?.remove(id)
    if readable[volumeID]?.isEmpty == true { readable[volumeID] = nil }
  }

  /// Takes a file that is to be read now and in which the disk failed: the one that has waited longest.
  mutating func takeFailing(at uptime: MonotonicTime) -> AssetID? {
    advance(to: uptime)
    guard let id = overdue.first?.member else { return nil }
    overdue.remove(id)
    return id
  }

  /// Makes those of the files due again that were not read, or have no later time.
  mutating func giveBack(_ ids: [AssetID]) {
    for id in ids { file(id) }
  }

  private mutating func advance(to uptime: MonotonicTime) {
    present = max(present, uptime)
    while let (id, at) = later.first, at <= present { file(id) }
  }

  private mutating func set(_ id: AssetID, _ retry: ReadRetry?) {
    // Nearly no file has a retry, and each file that is read asks for its removal.
    let former = all[id]
    if retry == nil, former == nil { return }
    if let former { removeReadable(id, on: former.volumeID) }
    all[id] = retry
    if retry?.isPending == true { pendingIDs.insert(id) } else { pendingIDs.remove(id) }
    if retry?.awaitedSync != nil { awaitingRecords.insert(id) } else { awaitingRecords.remove(id) }
    if let failure = retry?.failure { failing.set(id, PathKey(path: failure.path)) } else { failing.remove(id) }
    file(id)
  }

  /// Puts a file into the queue that its time and its failure decide.
  private mutating func file(_ id: AssetID) {
    later.remove(id)
    overdue.remove(id)
    guard let retry = all[id] else { return }
    removeReadable(id, on: retry.volumeID)
    guard retry.awaitedSync == nil else { return }
    if retry.at > present {
      later.set(id, retry.at)
    } else if retry.failure != nil {
      overdue.set(id, Turn(at: retry.at, id: id))
    } else {
      readable[retry.volumeID, default: OrderedQueue()].set(id, id)
    }
  }

  // MARK: Scheduling

  /// Schedules a file that was found but not read. If it could not be parsed before, its last delay is kept.
  ///
  /// - Parameters:
  ///   - volumeID: the volume that it is on.
  ///   - uptime: when it is read, if no sync reads it before.
  ///   - standIn: as in ``ReadRetry/standIn``.
  ///   - awaitedSync: as in ``ReadRetry/awaitedSync``. The time is then the one at which a sync is due.
  mutating func addPending(
    _ id: AssetID, on volumeID: VolumeID, at uptime: MonotonicTime, standIn: FileIdentity? = nil,
    awaitedSync: UInt64? = nil
  ) {
    set(
      id,
      ReadRetry(
        isPending: true, volumeID: volumeID, at: uptime, delay: all[id]?.delay ?? .zero, standIn: standIn,
        awaitedSync: awaitedSync))
  }

  /// Notes that no record is left that could decide about a file.
  mutating func endWaiting(of id: AssetID) {
    guard var retry = all[id], retry.awaitedSync != nil else { return }
    retry.awaitedSync = nil
    set(id, retry)
  }

  /// Schedules a young file that can't be parsed, because it may still be in the making.
  mutating func addIncomplete(_ id: AssetID, on volumeID: VolumeID, since uptime: MonotonicTime) {
    let delay = max(min((all[id]?.delay ?? .zero) * 2, Self.longestDelay), Self.firstDelay)
    set(id, ReadRetry(isPending: false, volumeID: volumeID, at: uptime + delay, delay: delay))
  }

  /// Schedules a file in which the disk failed. It is not pending, because no caller can wait for a disk.
  mutating func addFailing(
    _ id: AssetID, on volumeID: VolumeID, path: [UInt8], reason: String, since uptime: MonotonicTime, date: WallTime
  ) {
    let before = all[id].flatMap { $0.failure == nil ? nil : $0 }
    var retry = before ?? ReadRetry(isPending: false, volumeID: volumeID, at: uptime, delay: .zero)
    if retry.at <= uptime {
      retry.delay = min(max(retry.delay * 2, Self.firstFailureDelay), Self.longestDiskDelay)
      retry.at = uptime + retry.delay
    }
    retry.failure = .init(path: path, reason: reason, since: before?.failure?.since ?? date)
    set(id, retry)
  }

  /// Puts off a file that can't be reached and whose retry is due.
  mutating func putOff(_ id: AssetID, since uptime: MonotonicTime) {
    guard var retry = all[id], retry.at <= uptime else { return }
    retry.delay = min(max(retry.delay * 2, Self.firstDelay), Self.longestDelay)
    retry.at = uptime + retry.delay
    retry.failure = nil
    set(id, retry)
  }

  /// Puts off a file that is still pending after it was read. The reason is not the disk.
  mutating func putOffPending(_ id: AssetID, until uptime: MonotonicTime) {
    guard var retry = all[id], retry.isPending, retry.failure == nil else { return }
    retry.at = uptime
    set(id, retry)
  }

  // MARK: Ending

  /// The file was read, or is gone.
  mutating func remove(_ id: AssetID) { set(id, nil) }

  /// The file has the stat that the catalog has, so it need not be read because it was found.
  mutating func removePending(_ id: AssetID) {
    if all[id]?.isPending == true { remove(id) }
  }

  /// Gives an asset the retry of another one, whose file it has now.
  mutating func replace(_ id: AssetID, by retry: ReadRetry?) { set(id, retry) }

  /// Removes the file that stands in for the known one, and returns it.
  mutating func takeStandIn(of id: AssetID) -> FileIdentity? {
    guard var retry = all[id], let standIn = retry.standIn else { return nil }
    (retry.standIn, retry.awaitedSync) = (nil, nil)
    set(id, retry)
    return standIn
  }
}
