import Glibc
import SystemErrors

/// The failure of a file that photod may not open. The catalog has only its text, so it is recognised by that.
enum ForbiddenFile {
  private static let errorNumbers = [EACCES, EPERM]
  static let failures = Set(errorNumbers.map(text))

  static func isFailure(_ failure: String) -> Bool { failures.contains(failure) }

  static func isError(_ errorNumber: Int32) -> Bool { errorNumbers.contains(errorNumber) }

  /// The failure of a file that can't be opened.
  static func text(_ errorNumber: Int32) -> String { "can't be opened: \(errorText(errorNumber))" }
}
