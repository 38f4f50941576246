import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The processor time that one piece of work for a client may take, and whether the client still wants it.
///
/// Long loops check ``mayGoOn`` every few thousand steps. A loop that must stop returns any value. The budget stays
/// spent, and the caller of the work checks it with ``check()`` before it uses the result.
package final class WorkBudget: Sendable {
  package enum Spent: Error, Hashable, Sendable {
    case timedOut
    /// The client has gone.
    case cancelled
  }

  /// The budget of the work on this thread; nil for work without one, such as the library's own.
  @TaskLocal package static var current: WorkBudget?

  /// Processor time of a thread, in nanoseconds.
  package typealias Clock = @Sendable () -> Int64

  private enum Code: Int, AtomicRepresentable { case open, timedOut, cancelled }

  private let code = Atomic(Code.open)
  private let clock: Clock
  private let end: Int64
  /// The budget of the work of which this is a part.
  private let whole: WorkBudget?
  /// The first check of the budget after this time calls ``onLong``. Then there is no such time any more.
  private let longFrom: Atomic<Int64>
  private let onLong: (@Sendable () -> Void)?

  /// Work that has taken more processor time is long.
  package static let longTime = Duration.milliseconds(20)

  /// - Parameters:
  ///   - start: when the work began, by the clock; nil: now.
  ///   - clock: by default the processor time of the calling thread, which must be the one that does the work.
  ///   - onLong: called once, on the thread of the work, when the work has taken ``longTime``.
  package init(
    _ time: Duration, from start: Int64? = nil, clock: @escaping Clock = WorkBudget.threadTime,
    onLong: (@Sendable () -> Void)? = nil
  ) {
    let start = start ?? clock()
    self.clock = clock
    end = start + time.wholeNanoseconds
    whole = nil
    self.onLong = onLong
    longFrom = Atomic(onLong == nil ? .max : start + Self.longTime.wholeNanoseconds)
  }

  /// Makes the budget for a part of the work on this thread. It is also spent when that of the whole work is.
  package init(_ time: Duration, within whole: WorkBudget?) {
    clock = whole?.clock ?? Self.threadTime
    end = clock() + time.wholeNanoseconds
    self.whole = whole
    longFrom = Atomic(.max)
    onLong = nil
  }

  /// The processor time that is left; zero if the budget is spent.
  package var left: Duration { mayGoOn ? .nanoseconds(max(0, end - clock())) : .zero }

  /// Whether the current work may go on; true without a budget.
  ///
  /// - Complexity: a read of the thread's clock, which takes some 200 ns.
  package static var mayGoOn: Bool { current?.mayGoOn ?? true }

  /// - Throws: ``Spent`` if the budget of the current work is spent.
  package static func check() throws(Spent) { try current?.check() }

  package var mayGoOn: Bool {
    guard code.load(ordering: .relaxed) == .open else { return false }
    if let whole, !whole.mayGoOn {
      _ = code.compareExchange(expected: .open, desired: whole.code.load(ordering: .relaxed), ordering: .relaxed)
      return false
    }
    let now = clock()
    if now >= longFrom.load(ordering: .relaxed) {
      longFrom.store(.max, ordering: .relaxed)
      onLong?()
    }
    guard now >= end else { return true }
    _ = code.compareExchange(expected: .open, desired: .timedOut, ordering: .relaxed)
    return false
  }

  /// Cancels the work. It may be called on any thread.
  package func cancel() { _ = code.compareExchange(expected: .open, desired: .cancelled, ordering: .relaxed) }

  package func check() throws(Spent) {
    guard !mayGoOn else { return }
    throw code.load(ordering: .relaxed) == .cancelled ? .cancelled : .timedOut
  }

  package static let threadTime: Clock = {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}

/// Checks ``WorkBudget/mayGoOn`` once in many steps of a loop.
///
/// The loops are in other targets. A call for each step would cost more than the step, so it is inlined there.
package struct BudgetedSteps {
  /// About a tenth of a millisecond of simple steps.
  @usableFromInline static let stride = 1 << 16
  @usableFromInline var left: Int

  @inlinable
  package init() { left = Self.stride }

  /// - Returns: false if the work must stop.
  @inlinable
  @inline(__always)
  package mutating func mayTake(_ count: Int = 1) -> Bool {
    left -= count
    return left > 0 || renew()
  }

  @usableFromInline
  @inline(never)
  mutating func renew() -> Bool {
    left = Self.stride
    return WorkBudget.mayGoOn
  }
}
