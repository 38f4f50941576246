import PhotoModel

// The catalog has the times of files in nanoseconds since 1970, and 0 for an unknown one. It has dates in microseconds
// since 1970, and ages in microseconds.

extension RawStatement {
  /// Binds the time of a file.
  func bind(_ index: Int32, time: WallTime) { bind(index, time.nanoseconds) }

  func bind(_ index: Int32, date: WallTime?) { bind(index, date?.microseconds) }

  func bind(_ index: Int32, age: Duration) { bind(index, age.wholeMicroseconds) }

  /// The time of a file.
  func time(_ column: Int32) -> WallTime { WallTime(nanoseconds: int64(column)) }

  func date(_ column: Int32) -> WallTime { WallTime(microseconds: int64(column)) }

  func optionalDate(_ column: Int32) -> WallTime? { isNull(column) ? nil : date(column) }

  func age(_ column: Int32) -> Duration { .microseconds(int64(column)) }
}
