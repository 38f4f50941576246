import Testing

import struct Foundation.URL

@testable import PredicateLanguage

/// Documentation/predicates.md is complete and correct.
@Suite struct PredicateDocumentTests {
  private let lines: [Substring]

  init() throws {
    let package = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")
    let file = package.appending(path: "Documentation/predicates.md").standardizedFileURL
    lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
  }

  @Test func everyKeyIsDocumentedWithItsType() {
    for key in PredicateKey.allCases {
      let type =
        switch key.valueType {
        case .boolean: "boolean"
        case .integer, .real: "number"
        case .string: "text"
        case .date: "date"
        case .mediaType: "media type"
        case .mediaSubtype: "media subtype"
        case .place: "place"
        case .dateSource: "date source"
        }
      let row = "| `\(key.rawValue)` | \(key.isList ? "list of " : "")\(type) |"
      #expect(lines.filter { $0.hasPrefix(row) }.count == 1, "\(row)")
    }
  }

  @Test func everyExampleIsAPredicate() throws {
    var isExample = false
    var examples: [String] = []
    for line in lines {
      if line.hasPrefix("```") {
        isExample = line == "```predicate"
      } else if isExample {
        examples.append(String(line))
      }
    }
    // The examples in the table of dates.
    examples += lines.filter { $0.hasPrefix("| `creationDate ") && !$0.contains("| date |") }
      .compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    #expect(examples.count > 20)
    for example in examples {
      #expect(throws: Never.self, "\(example)") { try Predicate(parsing: example) }
    }
  }
}
