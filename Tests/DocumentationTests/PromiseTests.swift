import Foundation
import Testing

/// Each promise in "What photod promises" names its tests, and these tests exist.
struct PromiseTests {
  struct Promise: CustomTestStringConvertible, Sendable {
    /// The event that the promise is about.
    let part: String
    let rule: String
    let tests: [String]
    let seen: String

    var testDescription: String { part }
  }

  /// The rows of the article's tables: the event, the promise, the tests for it, and the observed result.
  static func promises() throws -> [Promise] {
    try Articles.text("Promises").split(separator: "\n").compactMap { line in
      let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
        .map { $0.trimmingCharacters(in: .whitespaces) }
      guard cells.count == 4, !cells[0].hasPrefix("---"), cells[0] != "what happens" else { return nil }
      let tests = cells[2].matches(of: /`(\w+)`/).map { String($0.1) }
      return Promise(part: cells[0], rule: cells[1], tests: tests, seen: cells[3])
    }
  }

  /// The names of all test functions in the package.
  private static func testNames() throws -> Set<String> {
    let folder = Articles.package.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var names: Set<String> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let text = try String(contentsOf: file, encoding: .utf8)
      // `@Test`, its traits over one or several lines, and then the function.
      for match in text.matches(of: /@Test(?:\([^@]*?\))?\s+(?:@\w+\s+)*func (\w+)\(/) { names.insert(String(match.1)) }
    }
    return names
  }

  @Test func everyPromiseNamesTestsThatExist() throws {
    let names = try Self.testNames()
    let promises = try Self.promises()
    #expect(promises.count >= 22)
    for promise in promises {
      #expect(!promise.tests.isEmpty && !promise.seen.isEmpty && !promise.rule.isEmpty, "\(promise.part)")
      for test in promise.tests { #expect(names.contains(test), "\(promise.part): there is no test \(test)") }
    }
  }
}
