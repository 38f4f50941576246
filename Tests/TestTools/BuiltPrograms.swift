import Foundation

/// The programs under test.
package enum BuiltPrograms {
  /// The folder of the test bundle, if PHOTOD_PRODUCTS names no other. It is absolute: a program may be started from
  /// elsewhere.
  package static let folder: String = {
    if let named = ProcessInfo.processInfo.environment["PHOTOD_PRODUCTS"] { return named }
    let bundle = CommandLine.arguments.first { $0.contains(".xctest") }
    guard let bundle, let end = bundle.range(of: "/[^/]*\\.xctest", options: .regularExpression) else {
      return URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent().path
    }
    return URL(fileURLWithPath: String(bundle[..<end.lowerBound])).path
  }()

  /// Whether the examples were built with these tests. Programs of an earlier build may be there without that.
  package static var hasExamples: Bool {
    #if PHOTOD_EXAMPLES
      true
    #else
      false
    #endif
  }

  package static func path(_ name: String) -> String { folder + "/" + name }
}
