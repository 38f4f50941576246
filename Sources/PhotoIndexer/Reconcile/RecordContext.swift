import PhotoModel
import WatchRecords

/// The facts about the record that is being applied. They decide what its changes mean.
struct RecordContext {
  struct Rename {
    /// Whether earlier events of the folder from which the photo was renamed may have been lost.
    var mayHaveMissedEdit: Bool
    /// The change time of the file that photod-watch saw at the new name. The rename was not later, even if another file
    /// came to that name since. It is nil if no file was seen.
    let deadline: WallTime?
  }

  /// The kernel's events that the record reports.
  var event = FileEvent.none
  /// The rename of a file that the record reports. It explains another change time.
  var rename: Rename?
  /// Records that have no evidence of their own, such as the end of a scan, have that of the record before.
  var evidence = Evidence.event
  /// When the scan that is being decided began.
  var scanStart: MonotonicTime?
  /// The photos that this scan has missed.
  var missed: Set<AssetID> = []

  init() {}

  /// - Parameter former: the context of the record before.
  init(after former: RecordContext) { evidence = former.evidence }
}
