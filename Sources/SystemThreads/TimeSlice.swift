import CThread

/// How long a thread may run before the kernel looks for another one.
///
/// A thread that wakes on a busy machine waits until the running thread has used its time slice. That is checked at
/// each tick of the kernel, which takes up to 4 ms with 250 ticks a second. If the thread that wakes has a shorter
/// slice than the running one, it runs at once. A slice does not change how much processor time a thread gets.
///
/// It needs no privilege, and has an effect since Linux 6.12. If the kernel or a seccomp filter refuses a slice, calls
/// are answered as late as without it.
package enum TimeSlice {
  /// For threads between a call and its reply.
  package static let short = cthread_shortest_slice
  /// For work of clients that used much processor time recently. By default, a slice has up to 3 ms.
  package static let medium: UInt64 = 5_000_000
  /// For work that takes long.
  package static let long: UInt64 = 10_000_000

  /// Gives the calling thread a slice, in nanoseconds.
  package static func request(_ nanoseconds: UInt64) { _ = cthread_request_slice(nanoseconds) }

  /// Gives the calling thread the default slice again.
  package static func requestDefault() { _ = cthread_request_slice(0) }
}
