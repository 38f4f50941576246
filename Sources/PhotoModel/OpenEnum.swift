/// An enum of the contract to which a later version of photod may add words.
///
/// A client decodes a word that it does not know as ``unknown``. Otherwise one new word would fail the whole reply.
/// `allCases` are the words of the contract.
public protocol OpenEnum: RawRepresentable, Codable, CaseIterable, Hashable, Sendable where RawValue == String {
  /// The case for words of later versions. photod never sends it, unless the contract has this word.
  static var unknown: Self { get }
}

extension OpenEnum {
  /// Decodes a word; one that this version does not know becomes ``unknown``.
  public init(from decoder: any Decoder) throws {
    self = Self(rawValue: try decoder.singleValueContainer().decode(String.self)) ?? .unknown
  }

  /// Reads a word of a request or a predicate: nil if the contract does not have it.
  package init?(request word: String) {
    guard let value = Self(rawValue: word), Self.allCases.contains(value) else { return nil }
    self = value
  }
}
