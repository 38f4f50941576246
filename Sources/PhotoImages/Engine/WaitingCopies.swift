import PhotoModel

/// The copies of files on shares that were made for embedded pictures, and that rendering needs again. Without them, each
/// file would be copied twice.
struct WaitingCopies: Sendable {
  /// The most copies that wait, and the most bytes of them. A larger file has no embedded picture.
  static let maximumCount = 8
  static let maximumBytes: Int64 = 32 << 20
  /// How long a copy waits, in seconds. The requests of a client that does not read its results wait without a limit.
  static let longestTime: UInt32 = 60

  /// A state of a file. A copy of an earlier state must not be used for a later one.
  private struct Source: Hashable {
    var assetID: AssetID
    var revision: UInt64
    var file: ImageFile

    init(_ plan: PicturePlan) { (assetID, revision, file) = (plan.work.assetID, plan.work.revision, plan.file) }
  }

  private struct Copy {
    var file: OpenImageFile
    var byteCount: Int64
    var since: UInt32
    /// The work that may need it.
    var work: Set<PicturePlan.WorkKey>
  }

  private var copies: [Source: Copy] = [:]
  /// The bytes of the copies, and those that are reserved.
  private var byteCount: Int64 = 0
  private var reservedCount = 0

  var count: Int { copies.count }

  private func hasRoom(for bytes: Int64) -> Bool {
    copies.count + reservedCount < Self.maximumCount && byteCount + bytes <= Self.maximumBytes
  }

  /// Reserves room for a copy that is made now.
  /// - Returns: false if there is no room.
  mutating func reserve(_ bytes: Int64) -> Bool {
    guard hasRoom(for: bytes) else { return false }
    reservedCount += 1
    byteCount += bytes
    return true
  }

  /// Gives the room back, before the copy is added.
  mutating func endReservation(of bytes: Int64) {
    reservedCount -= 1
    byteCount -= bytes
  }

  /// Adds a copy for the work of a plan, if it has room.
  mutating func add(_ file: OpenImageFile, of plan: PicturePlan, now: UInt32) {
    let source = Source(plan)
    if copies[source] != nil {
      copies[source]?.work.insert(plan.work)
      return
    }
    guard let bytes = file.copiedBytes, hasRoom(for: bytes) else { return }
    copies[source] = Copy(file: file, byteCount: bytes, since: now, work: [plan.work])
    byteCount += bytes
  }

  /// The copy of the file of a plan, for its work.
  mutating func find(_ plan: PicturePlan) -> OpenImageFile? {
    let source = Source(plan)
    copies[source]?.work.insert(plan.work)
    return copies[source]?.file
  }

  /// Lets a copy wait for other work on the same file.
  mutating func add(_ work: PicturePlan.WorkKey, after former: PicturePlan.WorkKey) {
    for (source, copy) in copies where copy.work.contains(former) { copies[source]?.work.insert(work) }
  }

  /// Removes the copies that no work needs any more. The caller closes them.
  mutating func removeUnused(isNeeded: (PicturePlan.WorkKey) -> Bool) -> [OpenImageFile] {
    remove { !$0.work.contains(where: isNeeded) }
  }

  mutating func removeOutdated(now: UInt32) -> [OpenImageFile] { remove { $0.since + Self.longestTime < now } }

  mutating func removeAll() -> [OpenImageFile] { remove { _ in true } }

  private mutating func remove(_ isRemoved: (Copy) -> Bool) -> [OpenImageFile] {
    guard !copies.isEmpty else { return [] }
    let removed = copies.filter { isRemoved($0.value) }
    for (source, copy) in removed {
      copies[source] = nil
      byteCount -= copy.byteCount
    }
    return removed.values.map(\.file)
  }
}
