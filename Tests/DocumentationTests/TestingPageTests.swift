import Foundation
import Testing

/// The page "Testing photod" and the scripts of the tiers agree with the tests.
struct TestingPageTests {
  /// The rows of the page's tables by their variable.
  private static func rows() throws -> [String: Substring] {
    var rows: [String: Substring] = [:]
    for line in try Articles.text("Testing").split(separator: "\n") {
      if let match = line.prefixMatch(of: /\| `(PHOTOD_\w+)` \|/) { rows[String(match.1)] = line }
    }
    return rows
  }

  private static func sources() throws -> [String: String] {
    let folder = Articles.package.appending(path: "Tests")
    let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
    var sources: [String: String] = [:]
    for case let file as URL in files where file.pathExtension == "swift" {
      let name = file.path.dropFirst(folder.path.count + 1)
      sources[String(name)] = try String(contentsOf: file, encoding: .utf8)
    }
    return sources
  }

  @Test func everyVariableThatTestsReadIsOnThePage() throws {
    var read: Set<String> = []
    for (_, text) in try Self.sources() {
      for match in text.matches(
        of: /(?:effort\(|number\(|getenv\(|environment\(|environment\[\s*)"(PHOTOD_\w+)"(?!\] = )/)
      {
        read.insert(String(match.1))
      }
    }
    #expect(read.count > 25)
    #expect(read == Set(try Self.rows().keys))
  }

  @Test func everyLongRunNamesTestsThatExistAndItsValuesAreOnThePage() throws {
    let run = try ProgramRun(Articles.package.appending(path: "Scripts/soak"), ["--list"])
    #expect(run.status == 0)
    let (rows, sources) = (try Self.rows(), try Self.sources())
    for line in run.output.split(separator: "\n") {
      let fields = line.split(separator: " | ").map(String.init)
      try #require(fields.count == 3, "\(line)")
      for variable in fields[1].split(separator: " ") {
        let parts = variable.split(separator: "=")
        let row = try #require(rows[String(parts[0])], "\(variable)")
        #expect(row.contains(parts[1]), "\(variable): \(row)")
      }
      let pattern = try #require(fields[2].wholeMatch(of: #/\^(\w+)\\\.\(?([\w|]+)\)?/(\w*)/#), "\(line)")
      for suite in pattern.2.split(separator: "|") {
        let isThere = sources.contains { name, text in
          name.hasPrefix(pattern.1 + "/") && text.contains("struct \(suite) ")
            && (pattern.3.isEmpty || text.contains("func \(pattern.3)"))
        }
        #expect(isThere, "\(fields[0]): \(pattern.1).\(suite)/\(pattern.3)")
      }
    }
  }

  @Test func testsThatTheQuickTierLeavesOutExist() throws {
    let script = try String(contentsOf: Articles.package.appending(path: "Scripts/test-quick"), encoding: .utf8)
    let sources = try Self.sources()
    let patterns = script.matches(of: #/'\^(\w+)\\\.(?:\.\*)?\(?([\w|]*)\)?/? [|] /#)
    #expect(patterns.count == script.matches(of: #/\n  '/#).count)
    for pattern in patterns {
      for suite in pattern.2.split(separator: "|", omittingEmptySubsequences: false) {
        let isThere = sources.contains { name, text in
          name.hasPrefix(pattern.1 + "/") && (suite.isEmpty || text.contains("struct \(suite) "))
        }
        #expect(isThere, "\(pattern.0)")
      }
    }
  }

  @Test func testsThatJudgeTimeExist() throws {
    let script = try String(contentsOf: Articles.package.appending(path: "Scripts/test"), encoding: .utf8)
    let sources = try Self.sources()
    let patterns = script.matches(of: #/'\^(\w+)\\\.(\w*)/?(\w*) [|] /#)
    #expect(patterns.count == script.matches(of: #/\n  '/#).count)
    for pattern in patterns {
      let isThere = sources.contains { name, text in
        name.hasPrefix(pattern.1 + "/") && (pattern.2.isEmpty || text.contains("struct \(pattern.2) "))
          && (pattern.3.isEmpty || text.contains("func \(pattern.3)"))
      }
      #expect(isThere, "\(pattern.0)")
    }
  }
}
