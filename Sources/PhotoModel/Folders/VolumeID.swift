/// The number of a volume in its library's catalog. A volume is a file system, or a part of one with inodes of its own.
///
/// A volume keeps its id across boots and mounts, because the catalog knows it by its identity and never by a device
/// number. No other volume of the library ever gets the same id. The ids are positive.
@frozen
package struct VolumeID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  @inlinable
  package init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  @inlinable
  package static func == (one: VolumeID, other: VolumeID) -> Bool { one.rawValue == other.rawValue }

  @inlinable
  package static func < (one: VolumeID, other: VolumeID) -> Bool { one.rawValue < other.rawValue }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension VolumeID: ExpressibleByIntegerLiteral {
  @inlinable
  package init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension VolumeID: CustomStringConvertible {
  package var description: String { rawValue.description }
}
