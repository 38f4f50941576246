/// What went wrong, on what, and the remedy.
public struct PhotoError: Error, Sendable, CustomStringConvertible {
  /// A stable word that programs may compare: `catalogUnreadable`, `NoSuchCollection`.
  public let code: String
  /// For a person: what failed, on what, and what to do about it.
  public let message: String
  /// What the system or a library said.
  public let cause: String?
  /// Where in the source it was noticed.
  public let location: String

  public init(
    _ code: String, _ message: String, cause: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause.map { String(describing: $0) }
    self.location = "\(file):\(line)"
  }

  public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
