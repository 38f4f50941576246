extension Duration {
  private static let attosecondsPerNanosecond: Int64 = 1_000_000_000
  private static let nanosecondsPerSecond: Int64 = 1_000_000_000

  /// The same as `nanoseconds(_:)`, which is generic and slower.
  package init(wholeNanoseconds nanoseconds: Int64) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: Self.nanosecondsPerSecond)
    self.init(secondsComponent: seconds, attosecondsComponent: rest * Self.attosecondsPerNanosecond)
  }

  /// The number of nanoseconds. The rest is dropped. A number beyond 64 bits becomes the nearest that fits.
  package var wholeNanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: Self.nanosecondsPerSecond)
    let (sum, overflowsToo) = product.addingReportingOverflow(attoseconds / Self.attosecondsPerNanosecond)
    return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
  }

  /// The number of microseconds. The rest is dropped. A number beyond 64 bits becomes the nearest that fits.
  package var wholeMicroseconds: Int64 {
    let (seconds, attoseconds) = components
    let (product, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflowsToo) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000)
    return overflows || overflowsToo ? (seconds < 0 ? .min : .max) : sum
  }

  package static prefix func - (duration: Duration) -> Duration { .zero - duration }
}
