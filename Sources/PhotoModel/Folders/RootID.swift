/// The number of a root in its library's catalog.
///
/// A root keeps its id while it is in the catalog, also when it is offline or no longer configured. No other root of the
/// library ever gets the same id. The ids are positive, and a larger id was assigned later. photod-watch has another
/// number for each root that it watches.
@frozen
package struct RootID: RawRepresentable, Hashable, Comparable, Sendable {
  package let rawValue: Int64

  @inlinable
  package init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  @inlinable
  package static func == (one: RootID, other: RootID) -> Bool { one.rawValue == other.rawValue }

  @inlinable
  package static func < (one: RootID, other: RootID) -> Bool { one.rawValue < other.rawValue }

  @inlinable
  package func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension RootID: ExpressibleByIntegerLiteral {
  @inlinable
  package init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension RootID: CustomStringConvertible {
  package var description: String { rawValue.description }
}
