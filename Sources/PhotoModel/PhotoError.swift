/// An error with a code for programs and a message for people.
public struct PhotoError: Error, Sendable, CustomStringConvertible {
  /// A stable word that programs may compare: `catalogUnreadable`, `NoSuchCollection`.
  public let code: String
  /// Text for a person: the failed action, its object, and the remedy.
  public let message: String
  /// The text of the underlying error, if the system or a library reported one.
  public let cause: String?
  /// The place in the source where the error was detected.
  public let location: String

  /// Creates an error. Its location is the place of this call in the source, unless `file` and `line` name another one.
  public init(
    _ code: String, _ message: String, cause: (any Error)? = nil, file: StaticString = #fileID, line: UInt = #line
  ) {
    self.code = code
    self.message = message
    self.cause = cause.map { String(describing: $0) }
    self.location = "\(file):\(line)"
  }

  /// The message, followed by the cause if there is one.
  public var description: String { cause.map { "\(message) (\($0))" } ?? message }
}
