/// The number of an asset in its library.
///
/// An asset keeps its id when its file is edited, renamed or moved. No other asset of the library ever gets the same id. A
/// deleted photo gets its id back if it returns within 30 days. Ids of different libraries are unrelated.
///
/// The ids of assets are positive, and most follow each other without gaps. A larger id was assigned later. An id from
/// outside may be any number. It names no asset if the library did not assign it.
///
/// An id is a plain integer in JSON. An array of ids has the memory layout of an array of `Int64`.
@frozen
public struct AssetID: RawRepresentable, Hashable, Comparable, Sendable, Codable {
  /// The number itself.
  public let rawValue: Int64

  /// The id with this number, whether or not the library assigned it.
  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  // The standard library's versions for all raw values are slower while they are not specialized.
  /// Whether both have the same number.
  @inlinable
  public static func == (one: AssetID, other: AssetID) -> Bool { one.rawValue == other.rawValue }

  /// Whether the first id was assigned before the second one.
  @inlinable
  public static func < (one: AssetID, other: AssetID) -> Bool { one.rawValue < other.rawValue }

  /// Hashes the number.
  @inlinable
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue) }

  // The standard library hashes an integer in one step with this method. Its default takes more steps, and a set of a
  // million ids would take 145 ms to build instead of 55 ms.
  @inlinable
  public func _rawHashValue(seed: Int) -> Int { rawValue._rawHashValue(seed: seed) }
}

extension AssetID: ExpressibleByIntegerLiteral {
  /// The id with this number.
  @inlinable
  public init(integerLiteral value: Int64) { self.init(rawValue: value) }
}

extension AssetID: LosslessStringConvertible {
  /// The number in decimal digits.
  public var description: String { rawValue.description }

  /// The id with this number in decimal digits; `nil` if the text is no integer of 64 bits.
  public init?(_ description: String) {
    guard let rawValue = Int64(description) else { return nil }
    self.init(rawValue: rawValue)
  }
}

/// Ranges of ids are collections of ids.
extension AssetID: Strideable {
  /// The number of steps from this id to another one, negative if that one is lower.
  @inlinable
  public func distance(to other: AssetID) -> Int { rawValue.distance(to: other.rawValue) }

  /// The id that many numbers later.
  @inlinable
  public func advanced(by distance: Int) -> AssetID { AssetID(rawValue: rawValue.advanced(by: distance)) }
}
