/// The number of an ``AssetCollection`` in its library.
///
/// A collection keeps its id when it is renamed, and a folder album also when its folder is moved. No other collection of
/// the library ever gets the same id. An id of a collection says nothing about an ``AssetID`` with the same number. Ids of
/// different libraries are unrelated.
///
/// The ids of collections are positive. An id from outside may be any number. It names no collection if the library did
/// not assign it. An id is a plain integer in JSON.
@frozen
public struct CollectionID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  public let rawValue: Int64

  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  @inlinable
  public static func == (one: CollectionID, other: CollectionID) -> Bool { one.rawValue == other.rawValue }

  @inlinable
  public static func < (one: CollectionID, other: CollectionID) -> Bool { one.rawValue < other.rawValue }

  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension CollectionID: ExpressibleByIntegerLiteral {
  @inlinable
  public init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension CollectionID: LosslessStringConvertible {
  public var description: String { rawValue.description }

  public init?(_ description: String) {
    guard let rawValue = Int64(description) else { return nil }
    self.init(rawValue: rawValue)
  }
}
