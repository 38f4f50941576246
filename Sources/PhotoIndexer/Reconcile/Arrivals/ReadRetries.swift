import PhotoCatalog
import PhotoModel
import WatchRecords

/// The time at which a file is read again, and the reason.
struct ReadRetry {
  /// The file was found but not read yet, so that it counts as pending: a sync reads it. A file that is damaged, or in
  /// which the disk fails, is not pending.
  let isPending: Bool
  fileprivate(set) var at: MonotonicTime
  /// The last delay.
  fileprivate(set) var delay: Duration
  /// The failure of the disk, or the lack of memory or descriptors, that kept the file from being read.
  fileprivate(set) var failure: Failure?
  /// A file that was seen in this place and is not the known file. If the known file turns up nowhere else, this file
  /// is the photo, saved anew.
  fileprivate(set) var standIn: FileIdentity?

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

  var isEmpty: Bool { all.isEmpty }

  subscript(id: AssetID) -> ReadRetry? { all[id] }

  // MARK: What is due

  /// The files that a sync must read.
  var pending: [AssetID] { all.filter { $0.value.isPending }.keys.sorted() }

  var pendingCount: Int { all.values.count { $0.isPending } }

  var failures: [(assetID: AssetID, failure: ReadRetry.Failure)] {
    all.compactMap { assetID, retry in retry.failure.map { (assetID, $0) } }
  }

  func hasDue(at uptime: MonotonicTime) -> Bool { all.values.contains { $0.at <= uptime } }

  /// The files to be read now.
  ///
  /// - Returns: those in which the disk has not failed, and the others: the one that has waited longest is first.
  func due(at uptime: MonotonicTime) -> (readable: [AssetID], failing: [AssetID]) {
    let due = all.filter { $0.value.at <= uptime }
    let failing = due.filter { $0.value.failure != nil }.sorted { ($0.value.at, $0.key) < ($1.value.at, $1.key) }
    return (due.filter { $0.value.failure == nil }.keys.sorted(), failing.map(\.key))
  }

  // MARK: Scheduling

  /// Schedules a file that was found but not read.
  ///
  /// - Parameters:
  ///   - uptime: when it is read, if no sync reads it before.
  ///   - standIn: as in ``ReadRetry/standIn``.
  mutating func addPending(_ id: AssetID, at uptime: MonotonicTime, standIn: FileIdentity? = nil) {
    all[id] = ReadRetry(isPending: true, at: uptime, delay: .zero, standIn: standIn)
  }

  /// Schedules a young file that can't be parsed, because it may still be in the making.
  mutating func addIncomplete(_ id: AssetID, since uptime: MonotonicTime) {
    let delay = max(min((all[id]?.delay ?? .zero) * 2, Self.longestDelay), Self.firstDelay)
    all[id] = ReadRetry(isPending: false, at: uptime + delay, delay: delay)
  }

  /// Schedules a file in which the disk failed. It is not pending, because no caller can wait for a disk.
  mutating func addFailing(
    _ id: AssetID, path: [UInt8], reason: String, since uptime: MonotonicTime, date: WallTime
  ) {
    let before = all[id].flatMap { $0.failure == nil ? nil : $0 }
    var retry = before ?? ReadRetry(isPending: false, at: uptime, delay: .zero)
    if retry.at <= uptime {
      retry.delay = min(max(retry.delay * 2, Self.firstFailureDelay), Self.longestDiskDelay)
      retry.at = uptime + retry.delay
    }
    retry.failure = .init(path: path, reason: reason, since: before?.failure?.since ?? date)
    all[id] = retry
  }

  /// Puts off a file that can't be reached and whose retry is due.
  mutating func putOff(_ id: AssetID, since uptime: MonotonicTime) {
    guard let retry = all[id], retry.at <= uptime else { return }
    let delay = min(max(retry.delay * 2, Self.firstDelay), Self.longestDelay)
    all[id] = ReadRetry(isPending: retry.isPending, at: uptime + delay, delay: delay, standIn: retry.standIn)
  }

  /// Puts off a file that is still pending after it was read. The reason is not the disk.
  mutating func putOffPending(_ id: AssetID, until uptime: MonotonicTime) {
    guard let retry = all[id], retry.isPending, retry.failure == nil else { return }
    all[id]!.at = uptime
  }

  // MARK: Ending

  /// The file was read, or is gone.
  mutating func remove(_ id: AssetID) { all[id] = nil }

  /// The file has the stat that the catalog has, so it need not be read because it was found.
  mutating func removePending(_ id: AssetID) {
    if all[id]?.isPending == true { all[id] = nil }
  }

  /// Gives an asset the retry of another one, whose file it has now.
  mutating func replace(_ id: AssetID, by retry: ReadRetry?) { all[id] = retry }

  /// Removes the file that stands in for the known one, and returns it.
  mutating func takeStandIn(of id: AssetID) -> FileIdentity? {
    defer { all[id]?.standIn = nil }
    return all[id]?.standIn
  }
}
