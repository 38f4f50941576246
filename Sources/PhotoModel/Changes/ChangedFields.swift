/// The kinds of fields of an asset that a change touched. The names are those of `changedFields` in the contract.
public struct ChangedFields: OptionSet, Hashable, Sendable {
  /// A bit for each field. Programs that store fields store their ``names``.
  public let rawValue: UInt16

  /// The fields with these bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A file was written: its bytes or its modification time may differ. A program that only sets the time, such as `touch`,
  /// changes this field, too.
  public static let content = ChangedFields(rawValue: 1 << 0)
  /// Facts that are read from the content: dates, camera, dimensions and others.
  public static let metadata = ChangedFields(rawValue: 1 << 1)
  /// Whether it is a favorite.
  public static let favorite = ChangedFields(rawValue: 1 << 2)
  /// Whether it is hidden.
  public static let hidden = ChangedFields(rawValue: 1 << 3)
  /// Whether it is in the trash.
  public static let trashed = ChangedFields(rawValue: 1 << 4)
  /// Its keywords.
  public static let keywords = ChangedFields(rawValue: 1 << 5)
  /// The path of a file.
  public static let path = ChangedFields(rawValue: 1 << 6)
  /// Whether its volume is online.
  public static let availability = ChangedFields(rawValue: 1 << 7)
  /// The asset gained or lost a file.
  public static let resources = ChangedFields(rawValue: 1 << 8)

  /// Whether another asset has the same content. No field that clients see shows it, so it has no name.
  package static let duplicates = ChangedFields(rawValue: 1 << 15)

  /// The fields that have names.
  package static let all = ChangedFields(names.map(\.0))

  private static let names: [(ChangedFields, String)] = [
    (.content, "content"), (.metadata, "metadata"), (.favorite, "favorite"), (.hidden, "hidden"),
    (.trashed, "trashed"), (.keywords, "keywords"), (.path, "path"), (.availability, "availability"),
    (.resources, "resources"),
  ]

  /// The names, in the order of the contract.
  ///
  /// - Complexity: O(1), because the fields are few.
  public var names: [String] { Self.names.filter { contains($0.0) }.map(\.1) }

  /// Unknown names are ignored, because later versions may add some.
  public init(names: [String]) {
    self = Self.names.reduce(into: []) { fields, pair in if names.contains(pair.1) { fields.insert(pair.0) } }
  }
}
