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
  /// The number itself.
  public let rawValue: Int64

  /// The id with this number, whether or not the library assigned it.
  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  /// Whether both have the same number.
  @inlinable
  public static func == (one: CollectionID, other: CollectionID) -> Bool { one.rawValue == other.rawValue }

  /// Whether the first id was assigned before the second one.
  @inlinable
  public static func < (one: CollectionID, other: CollectionID) -> Bool { one.rawValue < other.rawValue }

  /// Hashes the number.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }
}

extension CollectionID: ExpressibleByIntegerLiteral {
  /// The id with this number.
  @inlinable
  public init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension CollectionID: LosslessStringConvertible {
  /// The number in decimal digits.
  public var description: String { rawValue.description }

  /// The id with this number in decimal digits; `nil` if the text is no integer of 64 bits.
  public init?(_ description: String) {
    guard let rawValue = Int64(description) else { return nil }
    self.init(rawValue: rawValue)
  }
}
