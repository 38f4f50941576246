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

  /// Wakes the loops that do timed work.
  func wake() { wakeFeed.publish(wakeFeed.sequence + 1) }
}
