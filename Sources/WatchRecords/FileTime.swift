// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-or-later

/// A time of a file, or of an event that names it: a moment by the wall clock, in nanoseconds since 1970.
///
/// In photod, it is a `WallTime`. photod-watch has another licence than the target of that type, so it can't import it.
@frozen
public struct FileTime: Hashable, Comparable, Sendable {
  public let nanoseconds: Int64

  @inlinable
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Stands for a time that is not known, such as the birth of a file on a file system that does not record it.
  public static let unknown = FileTime(nanoseconds: 0)

  @inlinable
  public static func == (one: FileTime, other: FileTime) -> Bool { one.nanoseconds == other.nanoseconds }

  @inlinable
  public static func < (one: FileTime, other: FileTime) -> Bool { one.nanoseconds < other.nanoseconds }

  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(nanoseconds) }
}
