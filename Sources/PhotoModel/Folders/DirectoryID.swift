/// The number of a directory in its library's catalog.
///
/// A directory keeps its id when it is renamed or moved. No other directory of the library ever gets the same id. The ids
/// are positive, and a larger id was assigned later. photod-watch numbers directories in another way.
@frozen
package struct DirectoryID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  @inlinable
  package init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  @inlinable
  package static func == (one: DirectoryID, other: DirectoryID) -> Bool { one.rawValue == other.rawValue }

  @inlinable
  package static func < (one: DirectoryID, other: DirectoryID) -> Bool { one.rawValue < other.rawValue }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension DirectoryID: ExpressibleByIntegerLiteral {
  @inlinable
  package init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension DirectoryID: CustomStringConvertible {
  package var description: String { rawValue.description }
}
