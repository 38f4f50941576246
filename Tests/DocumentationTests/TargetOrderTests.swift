import Foundation
import Testing

/// The order of the targets: a target imports only those on one side of it.
struct TargetOrderTests {
  private struct Target {
    var name: String
    var dependencies: [String]
  }

  /// The targets of Package.swift in its order, each with its dependencies within the package.
  private static func targets() throws -> [Target] {
    let manifest = try String(contentsOf: Articles.package.appending(path: "Package.swift"), encoding: .utf8)
    let list = try #require(manifest.range(of: "\n  targets: ["))
    let declaration = /\.(?:target|executableTarget|systemLibrary|testTarget|macro|plugin)\(\s*name: "([^"]+)"/
    let text = manifest[list.upperBound...]
    let matches = text.matches(of: declaration)
    let ends = matches.dropFirst().map(\.range.lowerBound) + [text.endIndex]
    let names = Set(matches.map { String($0.1) })
    return zip(matches, ends).map { match, end in
      let list = text[match.range.upperBound..<end].firstMatch(of: /dependencies: \[([^\]]*)\]/)?.1 ?? ""
      let words = list.matches(of: /"([^"]+)"/).map { String($0.1) }
      return Target(name: String(match.1), dependencies: words.filter(names.contains))
    }
  }

  private static func isC(_ name: String) -> Bool { name.wholeMatch(of: /C[A-Z].*/) != nil }

  @Test func aTargetImportsOnlyTargetsAboveItInThePackage() throws {
    let targets = try Self.targets()
    #expect(targets.count > 40 && targets.reduce(0) { $0 + $1.dependencies.count } > 100)
    var above: Set<String> = []
    for target in targets {
      for name in target.dependencies where !Self.isC(name) {
        #expect(above.contains(name), "\(target.name) imports \(name)")
      }
      above.insert(target.name)
    }
  }

  @Test func aTargetImportsOnlyTargetsBelowItInTheArticle() throws {
    let dependencies = Dictionary(uniqueKeysWithValues: try Self.targets().map { ($0.name, $0.dependencies) })
    let rows = try Articles.text("Architecture").split(separator: "\n").filter { $0.hasPrefix("| `") }
    var above: Set<String> = []
    for row in rows {
      let names = row.dropFirst(2).prefix { $0 != "|" }.matches(of: /`([^`]+)`/).map { String($0.1) }
      guard let first = names.first, dependencies[first] != nil else { continue }
      for name in names {
        let wrong = Set(dependencies[name] ?? []).intersection(above)
        #expect(wrong.isEmpty, "\(name) imports \(wrong.sorted()), which are above it")
      }
      above.formUnion(names)
    }
    #expect(above.count > 25)
  }
}
