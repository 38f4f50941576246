import PhotoModel
import Synchronization

/// Work that waits until nothing changes in the folders, but not for ever: one file may change every second.
struct QuietWait {
  static let quietTime = Duration.seconds(1)
  static let longest = Duration.seconds(30)

  /// Since when the work waits.
  private var since: MonotonicTime?

  /// Whether the work may begin. Ask only while there is work.
  ///
  /// - Parameter lastChange: when something changed last.
  mutating func isOver(at now: MonotonicTime, lastChange: MonotonicTime) -> Bool {
    let begin = since ?? now
    let isOver = now - lastChange >= Self.quietTime || now - begin >= Self.longest
    since = isOver ? nil : begin
    return isOver
  }

  /// Begins to wait anew, because the work was done for another reason.
  mutating func end() { since = nil }
}

/// The time of the last change in the folders. Threads that read large files look at it.
final class LastChange: Sendable {
  private let nanoseconds = Atomic<Int64>(0)

  var time: MonotonicTime {
    get { MonotonicTime(nanoseconds: nanoseconds.load(ordering: .relaxed)) }
    set { nanoseconds.store(newValue.nanoseconds, ordering: .relaxed) }
  }

  /// Whether nothing has changed for a second.
  func isQuiet(at now: MonotonicTime) -> Bool { now - time >= QuietWait.quietTime }
}
