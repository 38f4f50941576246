import CFoundationGuard
import Foundation
import Glibc

/// The programs under test.
package enum BuiltPrograms {
  /// The folder of the test bundle, if PHOTOD_PRODUCTS names no other. It is absolute: a program may be started from
  /// elsewhere.
  package static let folder: String = {
    foundationguard_use()
    if let named = ProcessInfo.processInfo.environment["PHOTOD_PRODUCTS"] { return named }
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") }
    guard let bundle, let end = bundle.range(of: "/[^/]*\\.xctest", options: .regularExpression) else {
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }
    return URL(fileURLWithPath: String(bundle[..<end.lowerBound])).path
  }()

  /// Whether the examples were built, which takes PHOTOD_EXAMPLES=1.
  package static let hasExamples = access(path("AlbumListExample"), X_OK) == 0

  package static func path(_ name: String) -> String { folder + "/" + name }
}
