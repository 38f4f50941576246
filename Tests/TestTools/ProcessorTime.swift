import Glibc

/// Runs `body` and measures the processor time that it takes on the thread of the caller.
///
/// Tests that judge the cost of a computation use it. The elapsed time also counts the waiting for other tests and for
/// other programs.
package func measuringProcessorTime<Value>(_ body: () throws -> Value) rethrows -> (value: Value, time: Duration) {
  let start = processorTime()
  let value = try body()
  return (value, processorTime() - start)
}

private func processorTime() -> Duration {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
}
