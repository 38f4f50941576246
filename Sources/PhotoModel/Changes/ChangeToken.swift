/// A point in the history of one library. It is opaque outside the daemon, survives restarts and may expire. It never
/// refers to another state than the one it was made for.
public struct ChangeToken: Hashable, Sendable {
  /// The library: a random identifier that was made with its catalog.
  public let library: String
  /// Increases when the catalog is created, rebuilt or restored, or may have lost commits.
  public let epoch: Int64
  /// The sequence number of the last commit that is included.
  public let sequence: Int64

  /// Creates a token from its parts. Programs take tokens from replies instead, because photod refuses a token that it
  /// has not given out.
  public init(library: String, epoch: Int64, sequence: Int64) {
    self.library = library
    self.epoch = epoch
    self.sequence = sequence
  }
}

extension ChangeToken: LosslessStringConvertible, CustomStringConvertible {
  /// The text of the token, as it is in the contract. A program can store it.
  public var description: String { "\(library).\(epoch).\(sequence)" }

  /// The token with this text; `nil` if photod can't have made the text.
  public init?(_ description: String) {
    let parts = description.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, let epoch = Int64(parts[1]), let sequence = Int64(parts[2]),
      epoch >= 0, sequence >= 0
    else { return nil }
    self.init(library: String(parts[0]), epoch: epoch, sequence: sequence)
    // A token has only one text, so that comparing texts is comparing tokens.
    guard self.description == description else { return nil }
  }
}

extension ChangeToken: Codable {
  /// Reads the text of a token.
  ///
  /// - Throws: `DecodingError` if the text is no token.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let token = ChangeToken(text) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "'\(text)' is no change token")
    }
    self = token
  }

  /// Writes the text of the token.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}
