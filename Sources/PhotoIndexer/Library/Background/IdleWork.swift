import PhotoModel

/// The work that waits until nothing changes, and the signal for all work that no event requests.
struct IdleWork {
  /// Its sequence rises when there is timed work. While there is none, photod does not wake.
  let wakeFeed = ChangeFeed(sequence: 0)
  /// The time of the last change in any root.
  let lastChange = LastChange()
  /// The scans of roots in which photos are missing.
  var suspectWait = QuietWait()
  var words = WordIndexing()
  /// The sync that shows whether records are left that decide about files (``ReadRetry/awaitedSync``). nil if none was
  /// asked for, or if all lanes have answered it.
  var recordSync: RecordSync?

  struct RecordSync {
    let number: UInt64
    /// The next one may be asked for after this time, also if this one is not answered.
    let end: MonotonicTime
    /// The lanes that have not answered yet.
    var lanes: Set<Int> = []
  }

  /// Wakes the loops that do timed work.
  func wake() { wakeFeed.publish(wakeFeed.sequence + 1) }
}
