import Synchronization

/// Work that waits until nothing changes in the folders, but not for ever: one file may change every second.
struct QuietWait {
  static let quietTime: Int64 = 1_000_000_000
  static let longest: Int64 = 30_000_000_000

  /// Since when the work waits, in monotonic nanoseconds.
  private var since: Int64?

  /// Whether the work may begin. Ask only while there is work.
  ///
  /// - Parameters:
  ///   - now: monotonic nanoseconds.
  ///   - lastChange: when something changed last.
  mutating func isOver(at now: Int64, lastChange: Int64) -> Bool {
    let begin = since ?? now
    let isOver = now - lastChange >= Self.quietTime || now - begin >= Self.longest
    since = isOver ? nil : begin
    return isOver
  }

  /// Begins to wait anew, because the work was done for another reason.
  mutating func end() { since = nil }
}

/// The monotonic time of the last change in the folders, in nanoseconds. Threads that read large files look at it.
final class LastChange: Sendable {
  private let atomic = Atomic<Int64>(0)

  var time: Int64 {
    get { atomic.load(ordering: .relaxed) }
    set { atomic.store(newValue, ordering: .relaxed) }
  }

  /// Whether nothing has changed for a second.
  func isQuiet(at now: Int64) -> Bool { now - time >= QuietWait.quietTime }
}
