import PhotoModel

// Tests write times of files, and of the monotonic clock, as numbers of nanoseconds.

extension WallTime: ExpressibleByIntegerLiteral {
  package init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}

extension MonotonicTime: ExpressibleByIntegerLiteral {
  package init(integerLiteral nanoseconds: Int64) { self.init(nanoseconds: nanoseconds) }
}
